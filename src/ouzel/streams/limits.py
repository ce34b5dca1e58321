"""Limits of the pieces of a stream, so that no file, however odd, takes all memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ouzel.errors import DataError, OuzelError
from ouzel.numerals import as_size

MOST = 1 << 62


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most bytes that each kind of piece may take.

    >>> Limits.of({"line": "1GB"}).line == 2**30, Limits().word
    (True, 1048576)
    """

    line: int = 32 << 20  # a line of text, a row of a CSV file or its header
    word: int = 1 << 20  # a label, the name of a feature or a column, a word
    unpacked: int = 1 << 30  # a file that must be unpacked, or copied from a pipe, before it can be read
    batch: int = 1 << 30  # a record batch of an Arrow file, a row group of a Parquet file as it is stored
    label: int = 4 << 10  # a label, for it is the name of a class: models, reports and answers repeat it

    @classmethod
    def of(cls, given: Mapping[str, Any] | Limits | None) -> Limits:
        """The usual limits, except those given, such as {"line": "1GB"}."""
        if isinstance(given, Limits):
            return given
        known = [field.name for field in fields(cls)]
        sizes = {}
        for name, size in (given or {}).items():
            if name not in known:
                raise OuzelError(f"there is no limit {name!r} of reading; there are {', '.join(known)}")
            sizes[name] = _checked(name, size)
        return cls(**sizes)

    @property
    def longest_label(self) -> int:
        """The most bytes of a label, which is also a word."""
        return min(self.word, self.label)

    def passed_by(self, size: int) -> str:
        """The limit that a label of this size passes, "" if none."""
        return "word" if size > self.word else "label" if size > self.label else ""

    def expected(self, limit: str) -> str:
        """The advice of an error where the limit of a word, or that of a label, is passed."""
        kinds = {"word": "a label, a name or a word", "label": "a label"}
        return f"expected {kinds[limit]} of at most {in_units(getattr(self, limit))}"

    def longer(self, limit: str) -> dict[str, str]:
        """A limit of twice the size, as the option that raises it is given."""
        return {limit: in_units(2 * getattr(self, limit))}

    def exceeded(self, name: str, limit: str, found: str) -> DataError:
        """The error of a piece that passes a limit: what was `found` in the source `name`, and how to go on."""
        size = getattr(self, limit)
        advice = "if that is meant, raise it with"
        found = f"{found}, more than the limit of {in_units(size)}"
        return DataError.at(name, found, advice=advice, limits=self.longer(limit))


USUAL = Limits()
UNLIMITED = Limits(line=MOST, word=MOST, unpacked=MOST, batch=MOST, label=MOST)
"""For data in memory."""


def in_units(size: int) -> str:
    """A number of bytes as users may write it.

    >>> in_units(1 << 20), in_units(3 << 30), in_units(1500)
    ('1MB', '3GB', '1500')
    """
    for unit, power in (("GB", 30), ("MB", 20), ("KB", 10)):
        if size >= 1 << power and size % (1 << power) == 0:
            return f"{size >> power}{unit}"
    return str(size)


def _checked(name: str, size: object) -> int:
    number = as_size(str(size))
    if not 1 <= number <= MOST:
        raise OuzelError(f"the limit {name} is a size of at least 1 byte, such as 64MB; got {size!r}")
    return int(number)
