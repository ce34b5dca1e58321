"""Lines of JSON as examples, by the reader of files: names, missing values, kinds and refusals mean the same."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ouzel.errors import OuzelError
from ouzel.model.model import Model
from ouzel.streams.block import Block
from ouzel.streams.crosses.crossing import Crosser
from ouzel.streams.options import make_options
from ouzel.streams.tables.kinds import ColumnKinds
from ouzel.streams.text.json_examples import Example, LongWordError
from ouzel.streams.text.json_objects import JsonExamples, object_of, said_of

ID = "_id"  # the member that names an example: it is no feature
FIELD = re.compile(r"""(?:'([^']*)'|"([^"]*)"): """)
MOST_KEY = 255  # characters of an id


class Refused(NamedTuple):
    """Why a line is not learnt or predicted: the sentence of the readers, and where in the line it applies."""

    error: str
    field: str | None = None
    column: int | None = None


class Line(NamedTuple):
    """A line that is an example."""

    text: bytes  # without newlines
    example: Example
    key: str | None


SPACES = bytes.maketrans(b"\r\n", b"  ")


class Reading:
    """How a service reads lines, as its model file says: what a value is, is what its type says."""

    def __init__(self, model: Model, stored: dict[str, Any]) -> None:
        given = {**stored, "bits": model.bits, "seed": model.seed, "space": model.space, "inherited": tuple(stored)}
        self.options = make_options(given)
        self.label = self.options.label or "label"
        kinds = ColumnKinds(self.options)
        self._crosser, self._asked_crosser = Crosser(self.options), Crosser(self.options)
        self._labelled = JsonExamples(self.options, kinds, "the stream")
        ignored = (*self.options.ignore, *([self.options.weight] if self.options.weight else []))
        self._asked = JsonExamples(replace(self.options, weight=None, ignore=ignored, unlabelled=True), kinds, "")

    def line(self, text: bytes, key: str | None = None, asked: bool = False) -> Line | Refused:
        """The example of a line, to learn or `asked` about, or why it is not one; its key is that given, or its id."""
        text = text.translate(SPACES).strip()
        limits = self.options.limits
        if len(text) > limits.line:
            return Refused(f"found {len(text):,} bytes; expected at most {limits.line:,}")
        try:
            row = object_of(text)
            key = key or _key_of(row.get(ID))
            return Line(text, (self._asked if asked else self._labelled).example(row, "example"), key)
        except OuzelError as error:
            return Refused(str(error))
        except (ValueError, RecursionError) as error:
            found, expected = said_of(error)
            if isinstance(error, LongWordError):
                expected = limits.of_words
            field = FIELD.match(found)
            column = error.colno if isinstance(error, json.JSONDecodeError) else None
            return Refused(f"found {found}; {expected}", field and (field[1] or field[2]), column)

    def unlabelled(self, line: Line) -> Refused | None:
        """Why a line cannot be learnt that has no label."""
        if line.example[1] is not None:
            return None
        return Refused(f"found no label; expected {self.label!r} to be a number or a name", self.label)

    def block(self, examples: Sequence[Example], asked: bool = False) -> Block:
        """Examples, one to ROWS, as one block; those to learn are for one thread to ask for."""
        (block,) = (self._asked if asked else self._labelled).blocks(examples)
        if not self.options.crossed:
            return block
        (block,) = self._asked_crosser.parts(block, whole=True) if asked else self._crosser.parts(block, whole=True)
        return block


def _key_of(given: Any) -> str | None:
    """The key that an id is; ValueError if it cannot be one."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (str, int)) or not 0 < len(str(given)) <= MOST_KEY:
        raise ValueError(f"{ID!r}: {given!r:.100}; expected a name of 1 to {MOST_KEY} characters")
    return str(given)
