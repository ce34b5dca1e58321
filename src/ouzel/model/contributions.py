"""Why examples are predicted as they are: by column, by value and by pair of columns, each a sum that is true."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

from ouzel.learners.rows import Rows
from ouzel.model.explainer import Explainer, Parts, explainer_of, labels_of_margins
from ouzel.model.model import Model
from ouzel.model.weight_errors import errors_of_weights
from ouzel.streams.block import Block
from ouzel.streams.dates import LATEST, text_of_date
from ouzel.streams.feature_columns import is_part_of_date
from ouzel.streams.feature_space import DATE
from ouzel.streams.labels import Label
from ouzel.streams.missing import NA_FEATURE

ROWS = 10  # of a list, beside what sums up the rest
AVERAGE, REST, PAIRS = "(average example)", "(everything else)", "(pairs of columns)"
ABSENT = "(absent words)"
BETWEEN = " × "  # the columns of a pair
MANY = 8  # words of a column that are written out


class ByColumn(NamedTuple):
    """What columns add to the margins of examples; with the average they add up to the margins."""

    columns: list[str]
    added: np.ndarray  # (n, C, K)
    average: np.ndarray  # (n, K)
    classes: list[Label]  # which the K margins speak for; empty of numbers and of groups to rank


def by_column(model: Model, block: Block) -> ByColumn:
    """Return what each column adds to the margins of the examples of a block."""
    rows, margins = model.numbered_rows(block), model.margins(block)
    explainer = explainer_of(model, rows)
    parts = [*_parts(explainer, rows, margins)]
    labels = [] if model.task.numbers or model.task.groups else labels_of_margins(model)
    count = margins.shape[1] if margins.ndim == 2 else 1
    added = [explainer.by_column(part.owners) for part in parts]
    nothing = np.zeros((0, len(explainer.columns), count))
    return ByColumn(
        explainer.columns,
        np.stack(added) if added else nothing,
        np.stack([part.average for part in parts]) if parts else nothing[:, 0],
        labels,
    )


def explained(model: Model, block: Block, n: int = ROWS) -> Iterator[list[dict[str, Any]]]:
    """Yield what is added to the margins of each example of a block, see `contributions`."""
    return contributions(model, model.numbered_rows(block), model.margins(block), n, _columns_of(block))


def contributions(
    model: Model, rows: Rows, margins: np.ndarray, n: int = ROWS, given: Collection[str] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Yield a list for each example, with an entry for each class, or for the one column of margins.

    `rows` hold the features as they came, by id + 1 and the constant one as 0, and `margins` (n,) or (n, classes) the
    model's predictions. An example is compared with the average example: each score of it has the mean that it has in
    the examples learnt. There are three lists, of at most `n` rows, the largest first, and a row for everything else:

    - `columns`: what each column of the table adds (`streams/feature_columns.py`), and the margin of the average
      example; they add up to the margin.
    - `features`: the same by value. A column with one value, such as a number or a word, is one row, with what the
      absent words of that column would have added; the words of a text are a row each. What pairs of columns add, and
      columns do not add by themselves, is one row.
    - `pairs`: what these pairs add.

    `weight` is what one more of a feature would add, as far as that is linear: a linear model's feature contributes
    weight × (value − mean of the examples learnt), not weight × value; curves of the default learner, and absent words,
    come on top. It is None, as the value is, of rows that are no feature. `interval` is what a feature adds at the
    ends of the 95 % interval of its weight, where that is known (`weight_errors.py`). The default learner averages
    probabilities of several models and cuts their scores; how it is parted, `learners/auto/attribution.py` says. Values
    that are cut add what the cut ones do. A learner of a byte budget knows no means: there an example is compared with
    one that has no features.

    The value of a column is `(missing)` where the example says so, or where it is not among the columns `given`, those
    of a table. It is 0 where there is nothing else in its place.
    """
    if not (model.task.numbers or model.task.groups or len(model.classes)):
        yield from ([] for _ in range(len(margins)))
        return
    explainer, errors = explainer_of(model, rows), errors_of_weights(model)
    labels = labels_of_margins(model)
    for parts in _parts(explainer, rows, margins):
        lists = _Lists(explainer, parts, errors, n, given)
        yield [lists.of_class(label, k) for k, label in enumerate(labels)]


def reasons(model: Model, block: Block, n: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the `n` largest contributions to the margin of each example, or to the largest of its margins.

    Columns have their name, value and contribution; words of a column that has several, and crosses, are named by
    themselves.
    """
    rows, margins = model.numbered_rows(block), model.margins(block)
    if not (model.task.numbers or model.task.groups or len(model.classes)):
        yield from ([] for _ in range(len(margins)))
        return
    explainer, errors = explainer_of(model, rows), errors_of_weights(model)
    for parts in _parts(explainer, rows, margins):
        yield _Lists(explainer, parts, errors, n, _columns_of(block)).reasons_of(int(np.argmax(parts.margins)))


def _columns_of(block: Block) -> Collection[str] | None:
    """The columns of a table; None of examples that have what features they like."""
    return block.space.kinds if block.space.fixed_columns else None


def _parts(explainer: Explainer, rows: Rows, margins: np.ndarray) -> Iterator[Parts]:
    margins = np.atleast_2d(margins.T).T.astype(np.float64)
    for row, (start, stop) in enumerate(zip(rows.offsets[:-1].tolist(), rows.offsets[1:].tolist(), strict=True)):
        yield explainer.parts(rows.indices[start:stop], rows.values[start:stop], margins[row])


class _Lists:
    """The lists of one example."""

    def __init__(
        self, explainer: Explainer, parts: Parts, errors: np.ndarray | None, n: int, given: Collection[str] | None
    ) -> None:
        self.explainer, self.parts, self.errors, self.n, self.given = explainer, parts, errors, n, given
        self.owner = explainer.owner[parts.places]
        self.columns = explainer.by_column(parts.owners)  # (C, K)
        count = len(explainer.columns)
        self.present: dict[int, list[int]] = {}
        for number, owner in enumerate(self.owner.tolist()):
            self.present.setdefault(owner, []).append(number)
        # A row of `features` is a column with one value at most, a value of one with several, or its absent words.
        several = sorted(owner for owner, numbers in self.present.items() if len(numbers) > 1 and owner < count)
        self.with_several, self.among_several = np.array(several, np.int64), np.empty(0, np.int64)
        self.values = parts.owners[:count]
        if several:
            self._part_words(count)

    def _part_words(self, count: int) -> None:
        """Have a row for each value of the columns with several, and for their absent words, in place of the column."""
        explainer, parts = self.explainer, self.parts
        self.among_several = np.flatnonzero(np.isin(self.owner, self.with_several))
        alone = parts.owners[:count].copy()
        own = parts.own.copy()
        if len(parts.curves):
            places = {place: number for number, place in enumerate(parts.places.tolist())}
            for k, feature in enumerate(explainer.effect_features.tolist()):
                if feature in places:
                    own[places[feature]] += parts.curves[k]
        absent = alone[self.with_several]
        np.subtract.at(
            absent, np.searchsorted(self.with_several, self.owner[self.among_several]), own[self.among_several]
        )
        alone[self.with_several] = 0.0
        self.values = np.concatenate([alone, own[self.among_several], absent])

    def of_class(self, label: Any, k: int) -> dict[str, Any]:
        """Return the entry of a class."""
        margin, average, count = float(self.parts.margins[k]), float(self.parts.average[k]), len(self.columns)
        columns, rest = self._most(self.columns[:, k])
        by_column = [self._column(place, added) for place, added in columns]
        values, others = self._most(self.values[:, k])
        features = [self._feature(place, k, added) for place, added in values]
        by_pairs = self.parts.owners[count:, k]
        most, left = self._most(by_pairs)
        pairs = [{"name": self._pair(place), "contribution": added} for place, added in most]
        if rest:
            by_column.append({"name": REST, "value": None, "contribution": rest})
        by_column.append({"name": AVERAGE, "value": None, "contribution": average})
        if by_pairs.any():
            features.append(_entry(PAIRS, None, None, float(by_pairs.sum())))
        if others:
            features.append(_entry(REST, None, None, others))
        if left:
            pairs.append({"name": REST, "contribution": left})
        features.append(_entry(AVERAGE, None, None, average))
        remainder = margin - sum(entry["contribution"] for entry in by_column)
        found = {"class": label, "margin": margin, "remainder": remainder}
        return {**found, "columns": by_column, "features": features, "pairs": pairs}

    def reasons_of(self, k: int) -> list[dict[str, Any]]:
        """Return the largest contributions to a margin: of columns, of each word of a text, of crosses."""
        count, found = len(self.columns), []
        crosses = np.flatnonzero(self.owner >= count)
        own, owners = self.parts.own[crosses, k], self.parts.owners[:, k : k + 1].copy()
        np.subtract.at(owners[:, 0], self.owner[crosses], own)
        columns = self.explainer.by_column(owners)[:, 0]
        dates = [place for place in self.with_several.tolist() if self._date(place)]
        by_value = self.values[count:, k].copy()
        owners_of_values = np.append(self.owner[self.among_several], self.with_several)
        by_value[np.isin(owners_of_values, dates)] = 0.0
        columns[np.setdiff1d(self.with_several, dates)] = 0.0
        rows = np.concatenate([columns, by_value, own])
        for place, added in self._most(rows)[0]:
            if place >= len(self.values):
                feature = int(self.parts.places[crosses[place - len(self.values)]])
                found.append({"name": str(self._name(feature)), "value": None, "contribution": added})
                continue
            feature_entry = self._feature(place, k, added)
            entry = self._column(place, added) if place < count else {**feature_entry, "value": None}
            ends = feature_entry.get("interval")
            found.append({**entry, "interval": ends} if ends else entry)
        if len(found) < self.n:  # there is nothing else
            found.append({"name": AVERAGE, "value": None, "contribution": float(self.parts.average[k])})
        return found

    def _most(self, added: np.ndarray) -> tuple[list[tuple[int, float]], float]:
        """Return the places and values of the largest, largest first, and the sum of the rest."""
        sizes = np.abs(added)
        places = np.argpartition(-sizes, self.n - 1)[: self.n] if len(sizes) > self.n else np.arange(len(sizes))
        places = places[np.lexsort((places, -sizes[places]))]
        places = places[sizes[places] > 0.0]
        rest = 0.0 if len(sizes) <= self.n else float(added.sum() - added[places].sum())
        return list(zip(places.tolist(), added[places].tolist(), strict=True)), rest

    def _name(self, feature: int) -> str | int:
        """The name of a feature, by its place among all."""
        return self.explainer.name_of(feature)

    def _column(self, place: int, added: float) -> dict[str, Any]:
        """The entry of a column: its number, its date, or its words."""
        column = self.explainer.columns[place]
        value: float | str | None = None
        present = self.present.get(place, [])
        words = [self.explainer.word_of(int(self.parts.places[k])) for k in present[:MANY]]
        spoken = [word for word in words if word is not None]
        if spoken and len(spoken) == len(words):
            value = " ".join(spoken) + (" …" if len(present) > MANY else "")
        elif words:
            value = shortest(self.parts.values[present[words.index(None)]])
            value = self._date(place, value) or value
        elif self._is_missing(column):
            value = NA_FEATURE
        elif self.explainer.has_only_numbers(place):
            value = 0.0
        return {"name": column, "value": value, "contribution": added}

    def _date(self, place: int, seconds: float = 0.0) -> str:
        """The date of a column, or the time of day, of its seconds; empty of a column of something else."""
        column, present = self.explainer.columns[place], self.present.get(place, [])
        is_date = self.explainer.model.space.kinds.get(column) == DATE or (
            len(present) > 1 and any(is_part_of_date(self._name(int(self.parts.places[k])), column) for k in present)
        )
        return text_of_date(seconds) if is_date and abs(seconds) < LATEST else ""

    def _feature(self, place: int, k: int, added: float) -> dict[str, Any]:
        """The entry of a row of `features`."""
        count = len(self.columns)
        if place >= count + len(self.among_several):
            column = self.explainer.columns[self.with_several[place - count - len(self.among_several)]]
            return _entry(f"{column} {ABSENT}", None, None, added)
        present = [int(self.among_several[place - count])] if place >= count else self.present.get(place, [])
        only = int(self.explainer.only[place]) if place < count else -1
        if present:
            number = present[0]
            feature, value = int(self.parts.places[number]), shortest(self.parts.values[number])
            weight, own = float(self.parts.weights[number, k]), float(self.parts.own[number, k])
            beyond = own / weight if weight else 0.0
        else:
            column = self.explainer.columns[place]
            if self._is_missing(column):
                return _entry(f"{column}={NA_FEATURE}", 1.0, 0.0, added)
            if only < 0:
                return _entry(column, None, None, added)
            feature, value = only, 0.0
            weight = float((self.explainer.weights[only] * self.parts.slopes[k]).sum())
            beyond = float(self.explainer.zeros[only] - self.explainer.means[only])
        entry = _entry(str(self._name(feature)), value, weight, added)
        error = np.nan if self.errors is None else self.errors[self.explainer.slots[feature]] * abs(beyond)
        if np.isnan(error) or (place < count and only < 0):
            return entry
        return {**entry, "interval": [added - float(error), added + float(error)]}

    def _is_missing(self, column: str) -> bool:
        """Whether a column without a feature is missing, and not 0, as the example or its table says."""
        return (self.given is not None and column not in self.given) or self.explainer.lacks(column, self.parts.unknown)

    def _pair(self, place: int) -> str:
        return BETWEEN.join(self.explainer.owners[len(self.columns) + place])


def shortest(value: float) -> float:
    """Return the number of the fewest digits that has the 32 bits of a value: 1.095, not 1.0950000286.

    >>> shortest(np.float32(1.095))
    1.095
    """
    return float(str(np.float32(value)))


def _entry(name: str, value: float | None, weight: float | None, contribution: float) -> dict[str, Any]:
    return {"name": name, "value": value, "weight": weight, "contribution": contribution}
