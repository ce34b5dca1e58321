"""Remarks on examples: columns and labels that change their type, columns unknown to the model, and what it remarks.

In a service each value is what its type says. So a word after numbers is learnt, as a category, and not refused; but it
may be a mistake of a client, which nobody would see.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from ouzel.model.model import Model
from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import Block
from ouzel.streams.feature_columns import columns_of_feature
from ouzel.streams.feature_names import FeatureNames
from ouzel.streams.feature_space import TEXT, column_key
from ouzel.streams.kernels.new_names import empty_seen_set, new_ids
from ouzel.streams.labels import Label
from ouzel.streams.missing import NA_FEATURE

AMONG_NUMBERS = "learnt as a category of its own; if it stands for an unknown value, send null"
NEW_CLASS = "learnt as a class of its own; if it is a mistake, `ouzel rollback` goes back before it"
AMONG_WORDS = "learnt as a number; send it as text, or begin with --categorical {}"
MOST_LINES = 20  # that are kept
MOST_COLUMNS = 100_000  # that are remembered
MOST_UNKNOWN = 20  # names in an answer


LABEL = "(label)"  # among the names of columns that have a remark


class ColumnRemarks:
    """The last remarks on a stream of examples."""

    def __init__(self, bits: int) -> None:
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        self._unsaid: list[str] = []
        self._seen = empty_seen_set(bits)
        self._numbers: set[str] = set()  # columns that have had numbers
        self._words: set[str] = set()
        self._remarked: set[str] = set()
        self._learnt: set[str] = set()  # columns of the first names of the model
        self._names = 0  # how many these are

    def add(self, line: str) -> None:
        """Add a line."""
        self.lines.append(line)
        self._unsaid.append(line)

    def unsaid(self) -> list[str]:
        """Return the lines since the last call."""
        found, self._unsaid = self._unsaid, []
        return found

    def look(self, model: Model, block: Block, last: int) -> None:
        """Look at a block that a model has learnt, whose last example has the number `last`."""
        names = block.names
        if names is None or len(self._remarked) >= MOST_LINES or len(self._numbers) + len(self._words) > MOST_COLUMNS:
            return
        new = new_ids(self._seen, names.ids)
        if not len(new):
            return
        text, spans = names.text.tobytes(), zip(names.starts[new].tolist(), names.ends[new].tolist(), strict=True)
        found = [text[start:end].decode("utf-8", "replace") for start, end in spans]
        words: dict[str, tuple[str, int]] = {}  # the first word of each column, and its id
        for name, feature in zip(found, names.ids[new].tolist(), strict=True):
            column, mark, word = name.partition("=")
            if mark and word != NA_FEATURE:
                words.setdefault(column, (word, feature))
        numbers = {name: id for name, id in zip(found, names.ids[new].tolist(), strict=True) if "=" not in name}
        for column, (word, feature) in words.items():
            if column in numbers or column in self._numbers or self._knows(model, column):
                number = self._number(block, last, feature)
                self._remark(column, f"example {number:,} has the word {word[:40]!r} among numbers, {AMONG_NUMBERS}")
        for column in numbers.keys() & self._words:
            number = self._number(block, last, numbers[column])
            self._remark(column, f"example {number:,} has a number among words, {AMONG_WORDS.format(column)}")
        self._numbers |= numbers.keys()
        self._words |= words.keys()

    def look_at_labels(self, model: Model, targets: np.ndarray, known: int, last: int) -> None:
        """Look at the classes (n,) of a block that a model of `known` classes has learnt, up to the example `last`."""
        classes = model.classes.known
        before = {_kind_of(label) for label in classes[: max(known, 1)]}
        for place in range(known, len(classes)):
            if before.isdisjoint({_kind_of(classes[place])}) and LABEL not in self._remarked:
                self._remarked.add(LABEL)
                number = last - len(targets) + 1 + int(np.argmax(targets == place))
                kinds = " and ".join(sorted(before))
                self.add(
                    f"example {number:,} has the label {classes[place]!r:.60}, and classes are {kinds}: {NEW_CLASS}"
                )

    def unknown(self, model: Model, block: Block, texts: Sequence[str] = ()) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows to predict that have no column of the model, each with its columns.

        `texts` are columns whose words are features. Yields nothing for a model that may have forgotten names: one with
        a byte budget, or with more names than it keeps.
        """
        names = model.names
        if block.names is None or not block.nonzeros or model.budgeted or names.full or not len(names):
            return
        firsts = np.take(block.indices, block.offsets[:-1], mode="clip").tolist()  # of empty rows: of another row
        rows = names.missing(firsts)
        if not rows:
            return
        own, space = FeatureNames(), model.space
        own.add(block.names)
        space = space._replace(kinds={**space.kinds, **dict.fromkeys(texts, TEXT)})
        for row in rows:
            ids = block.indices[int(block.offsets[row]) : int(block.offsets[row + 1])].tolist()
            called = [own.name(ids[place]) for place in names.missing(ids)]
            if not ids or len(called) < len(ids) or None in called:  # one is known, or a number
                continue
            columns = dict.fromkeys(column for name in called if name for column in columns_of_feature(name, space))
            if columns and self._columns_of(model).isdisjoint(columns) and columns.keys().isdisjoint(space.kinds):
                yield row, [*columns][:MOST_UNKNOWN]

    def _columns_of(self, model: Model) -> set[str]:
        """Return the columns of the names that a model has learnt; of names that were looked at before, at no cost."""
        if self._names < len(model.names):
            self._learnt |= {name.partition("=")[0] for name in model.names.later(self._names)}
            self._names = len(model.names)
        return self._learnt

    def _knows(self, model: Model, column: str) -> bool:
        """Return whether a model has learnt numbers of a column."""
        try:
            key = column_key(column)
        except ValueError:
            return False
        return isinstance(key, str) and model.names.name(feature_id(key, model.seed, model.bits)) == column

    def _number(self, block: Block, last: int, feature: int) -> int:
        """Return the number of the first example with a feature."""
        places = np.flatnonzero(block.indices[: int(block.offsets[-1])] == feature)
        place = int(places[0]) if len(places) else int(block.offsets[-1]) - 1
        return last - block.rows + int(np.searchsorted(block.offsets, place, side="right"))

    def _remark(self, column: str, line: str) -> None:
        if column not in self._remarked:
            self._remarked.add(column)
            self.add(f"column {column!r}: {line}")


def _kind_of(label: Label) -> str:
    return "words" if isinstance(label, str) else "truth values" if isinstance(label, bool) else "numbers"
