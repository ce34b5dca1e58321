"""The one place where whatever goes wrong in reading becomes one line.

What reads a source does so within `reading`, what reads data in memory within `one_line`. Whatever a library raises
there (PyArrow, a decompressor, a decoder, a conversion) is a DataError then, whichever reader it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from ouzel.errors import DataError, OuzelError
from ouzel.streams.sources.compression import DamagedError
from ouzel.streams.sources.source import Source

FAMILIES = (
    ArithmeticError,
    BufferError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,  # also of recursion, and of what is not implemented
    TypeError,
    ValueError,  # also of Unicode
)
LIBRARIES = ("_csv", "_lzma", "pyarrow", "struct", "zlib", "zstandard")  # those with errors of no such family
LONGEST = 160  # characters of what a library says


@contextmanager
def reading(source: Source, format: str) -> Iterator[None]:
    """Read a source in here; it is closed at the end, and what goes wrong is one line that names it."""
    with closing(source):
        try:
            yield
        except Exception as error:
            if not is_of_library(error):
                raise
            if isinstance(error, DamagedError) or (isinstance(error, OSError) and error.errno is not None):
                raise source.broken(error) from error
            if isinstance(error, MemoryError):
                raise DataError.at(source.name, f"does not fit into memory ({reason_of(error)})") from error
            found = f"is not a sound {format} file ({reason_of(error)})"
            raise DataError.at(source.name, found, advice="copy it or write it again") from error


@contextmanager
def one_line(name: str) -> Iterator[None]:
    """Convert data in memory in here: what goes wrong is one line that calls the data by `name`."""
    try:
        yield
    except Exception as error:
        if not is_of_library(error):
            raise
        raise DataError.at(name, f"cannot be read ({reason_of(error)})") from error


def is_of_library(error: Exception) -> bool:
    """Whether an error may be due to the data. A mistake of our own, such as a failed assertion, is not."""
    if isinstance(error, OuzelError):
        return False
    return isinstance(error, FAMILIES) or type(error).__module__.partition(".")[0] in LIBRARIES


def reason_of(error: Exception | str) -> str:
    """What an error says, or any other text, in part of a line."""
    several = isinstance(error, Exception) and len(error.args) > 1 and not isinstance(error, (OSError, UnicodeError))
    text = "; ".join(map(str, error.args)) if several and isinstance(error, Exception) else str(error)
    said = " ".join(text.split()) or type(error).__name__
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
