"""Conversion of the errors of libraries to a DataError of one line.

Readers of a source work within `error_context`, readers of data in memory within `wrap_errors`. Any error that a
library raises there (PyArrow, a decompressor, a decoder, a conversion) becomes a DataError.
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
    RuntimeError,  # with RecursionError and NotImplementedError
    TypeError,
    ValueError,  # with UnicodeError
)
LIBRARIES = ("_csv", "_lzma", "pyarrow", "struct", "zlib", "zstandard")  # whose errors belong to no such family
LONGEST = 160  # characters of a library's message


@contextmanager
def error_context(source: Source, format: str) -> Iterator[None]:
    """Close a source at the end, and turn errors of libraries into a DataError that names it."""
    with closing(source):
        try:
            yield
        except Exception as error:
            if not is_library_error(error):
                raise
            if isinstance(error, DamagedError) or (isinstance(error, OSError) and error.errno is not None):
                raise source.broken(error) from error
            if isinstance(error, MemoryError):
                raise DataError.at(source.name, f"does not fit into memory ({reason_of(error)})") from error
            found = f"is not a sound {format} file ({reason_of(error)})"
            raise DataError.at(source.name, found, advice="copy it or write it again") from error


@contextmanager
def wrap_errors(name: str) -> Iterator[None]:
    """Turn errors of libraries into a DataError that names the data in memory by `name`."""
    try:
        yield
    except Exception as error:
        if not is_library_error(error):
            raise
        raise DataError.at(name, f"cannot be read ({reason_of(error)})") from error


def is_library_error(error: Exception) -> bool:
    """Whether an error may be due to the data, unlike a mistake of our own, such as a failed assertion."""
    if isinstance(error, OuzelError):
        return False
    return isinstance(error, FAMILIES) or type(error).__module__.partition(".")[0] in LIBRARIES


def reason_of(error: Exception | str) -> str:
    """Return the message of an error, or another text, shortened for a line."""
    several = isinstance(error, Exception) and len(error.args) > 1 and not isinstance(error, (OSError, UnicodeError))
    text = "; ".join(map(str, error.args)) if several and isinstance(error, Exception) else str(error)
    said = " ".join(text.split()) or type(error).__name__
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
