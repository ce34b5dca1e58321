"""How a stream is to be read: what all readers are told."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from ouzel.errors import OuzelError
from ouzel.ranges import Bits, Count, Seed, checked
from ouzel.streams.limits import USUAL, Limits

ON_ERROR = ("raise", "skip")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `ouzel.read`; a reader takes note of those that its format has a use for."""

    bits: Bits = 18
    seed: Seed = 0
    label: str | None = None  # the column of a table that holds the label
    label_positive: str | None = None  # this label (or any list of labels with it) is +1, every other -1
    weight: str | None = None  # the column with importance weights
    group: str | None = None  # the column with query ids
    text: tuple[str, ...] = ()  # columns read as words
    ignore: tuple[str, ...] = ()  # columns left out
    columns: tuple[str, ...] = ()  # names of the columns of a table without a header
    skip_lines: Annotated[Count, "lines to leave out at the start of a table"] = 0
    delimiter: str | None = None  # of a CSV file
    query: str | None = None  # a file with the number of examples of each group, as LightGBM has them
    unlabelled: bool = False  # whether a table may lack a label, as for prediction
    on_error: str = "raise"  # what to do about a bad line: "raise", or "skip" and count it
    limits: Limits = USUAL  # of what a piece of the stream may take; given as {"line": "1GB"}

    def __post_init__(self) -> None:
        for name, value in checked(Options, vars(self)).items():
            object.__setattr__(self, name, value)
        if self.on_error not in ON_ERROR:
            raise OuzelError(f"on_error must be 'raise' or 'skip'; got {self.on_error!r}")
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n\0'
        ):
            raise OuzelError(
                f"delimiter must be one ASCII character, such as ; (a tab is the format tsv); got {self.delimiter!r}"
            )
        roles = [*filter(None, (self.label, self.weight, self.group)), *self.text]
        twice = next((column for column in roles if roles.count(column) > 1), None)
        if twice is not None:
            raise OuzelError(f"column {twice!r} is named twice; label, weight, group and text are different columns")


def make_options(given: dict[str, Any]) -> Options:
    """Options of keyword arguments; a single column name stands for a tuple of one."""
    known = {field.name for field in fields(Options)}
    for name in given:
        if name not in known:
            raise OuzelError(f"there is no option {name!r} of reading; there are {', '.join(sorted(known))}")
    lists = ("text", "ignore", "columns")
    tidy: dict[str, Any] = {
        k: (v,) if k in lists and isinstance(v, str) else tuple(v) if k in lists else v for k, v in given.items()
    }
    values: dict[str, Any] = {name: value for name, value in tidy.items() if value is not None}
    if "limits" in values:
        values["limits"] = Limits.of(values["limits"])
    return Options(**values)
