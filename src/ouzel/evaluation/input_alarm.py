"""Alarms when inputs or scores change, labelled or not: two test martingales for each frequent feature, up and down.

The first examples say which features are watched, the most frequent ones, and give each its mean c and spread s. Of
the examples after them the martingales of `alarm.py` watch exp(z) and exp(-z), z = (x - c) / s: only ranks of z count,
and z is coarse by a sixth. With k features each watches at a rate of 1 / (2 k) of that for inputs, so that any raises
a false alarm with at most that probability (Bonferroni). Of the stated rate errors have one half and inputs the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ouzel.evaluation.alarm import MOST_EVENTS, Alarm, Rate
from ouzel.evaluation.formatting import figure
from ouzel.model.model import Model
from ouzel.ranges import ranged
from ouzel.streams.block import Block

FIRST = 1000  # examples that say what is watched
MOST = 50  # features
SHARE = 0.05  # of the first examples that have a feature
FURTHEST = 20.0  # spreads


class InputDrift(NamedTuple):
    """A change of a feature: the example that showed it, whether it is higher now, and its mean at first."""

    example: int
    feature: str
    higher: bool
    before: float

    def __str__(self) -> str:
        way, before = "higher" if self.higher else "lower", f"its mean was {figure(self.before)} at first"
        return f"alarm at example {self.example:,}: {self.feature} is {way} than it was; {before}"


class InputAlarm(Alarm):
    """Alarms of errors, and of features.

    >>> import ouzel
    >>> alarm, random = InputAlarm(0.01), np.random.default_rng(0)
    >>> X = random.normal(size=(5000, 3)).astype(np.float32)
    >>> X[4000:, 1] += 1.0
    >>> for block in ouzel.blocks_from(X):
    ...     alarm.see(ouzel.Model("ogd"), block)
    >>> [(event.feature, event.higher, event.example > 4000) for event in alarm.changes]
    [('1', True, True)]
    """

    @ranged
    def __init__(self, rate: Rate = 0.01, numbers: bool = False) -> None:
        super().__init__(rate / 2.0, numbers)
        self._stated = float(rate)
        self.changes: deque[InputDrift] = deque(maxlen=MOST_EVENTS)  # the last alarms
        self.changed = 0  # alarms so far
        self.rows = self.begun = 0  # examples seen, and those seen before any was watched
        self.first: list[Block] = []
        self.features = np.zeros(0, np.int64)  # ids
        self.center, self.spread = np.zeros(0), np.zeros(0)
        self.watchers: list[tuple[Alarm, Alarm]] = []

    @property
    def stated(self) -> float:
        """The given rate, of all that is watched."""
        return self._stated

    def see(self, model: Model, block: Block) -> None:
        """Watch the features of a block, with labels or without; the model names them."""
        start = 0
        if not self.begun:
            start = min(block.rows, FIRST - sum(part.rows for part in self.first))
            self.first.append(block.slice(0, start))
            self.rows += start
            if sum(part.rows for part in self.first) < FIRST:
                return
            self._begin()
        rest = block.slice(start, block.rows)
        found = _changes(self.watchers, self._values(rest), self.center, self.spread)
        for example, place, higher in found:
            name, center = str(model.feature_name(int(self.features[place]))), float(self.center[place])
            self.changes.append(InputDrift(self.begun + example, name, higher, center))
        self.changed += len(found)
        self.rows += rest.rows

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values. First examples are not kept: if they are too few, others will be."""
        inputs: dict[str, Any] = {"stated": self.stated, "rows": self.rows, "begun": self.begun}
        inputs |= {"features": self.features.tolist(), "changed": self.changed}
        inputs |= {"center": self.center.tolist(), "spread": self.spread.tolist()}
        inputs |= {"watchers": [[watcher.to_json() for watcher in pair] for pair in self.watchers]}
        return {**super().to_json(), "inputs": inputs | {"changes": [list(event) for event in self.changes]}}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> InputAlarm:
        """Return the alarms that gave `to_json`."""
        inputs = stored["inputs"]
        found = cls(inputs["stated"])
        found._restore(stored)
        found.rows, found.begun, found.changed = (int(inputs[name]) for name in ("rows", "begun", "changed"))
        found.features = np.array(inputs["features"], np.int64)
        found.center, found.spread = (np.array(inputs[name], np.float64) for name in ("center", "spread"))
        pairs = [[Alarm.from_json({"numbers": False} | one) for one in pair] for pair in inputs["watchers"]]
        found.watchers = [(up, down) for up, down in pairs]
        found.changes += [InputDrift(int(n), str(name), bool(up), float(c)) for n, name, up, c in inputs["changes"]]
        if not len(found.features) == len(found.center) == len(found.spread) == len(found.watchers):
            raise ValueError("as many features as watchers")
        if not (np.isfinite(found.center).all() and (found.spread > 0.0).all()):
            raise ValueError("means and spreads")
        return found

    def _begin(self) -> None:
        """Choose features, and what their values are measured by."""
        ids, counts = np.unique(np.concatenate([block.indices for block in self.first]), return_counts=True)
        often = counts >= SHARE * FIRST
        order = np.argsort(-counts[often], kind="stable")[:MOST]
        self.features = np.sort(ids[often][order]).astype(np.int64)
        values = np.concatenate([self._values(block) for block in self.first])
        spread = values.std(axis=0)
        varies = spread > 1e-6 * np.abs(values).max(axis=0, initial=1e-300)
        self.features, self.center, self.spread = self.features[varies], values.mean(axis=0)[varies], spread[varies]
        rate = self.stated / max(4.0 * len(self.features), 1.0)
        self.watchers = [(Alarm(rate), Alarm(rate)) for _ in self.features]
        self.first, self.begun = [], self.rows

    def _values(self, block: Block) -> np.ndarray:
        """Values (n, features), 0 where an example has none."""
        found = np.zeros((block.rows, len(self.features)))
        rows = np.repeat(np.arange(block.rows), np.diff(block.offsets).astype(np.int64))
        here = slice(int(block.offsets[0]), int(block.offsets[-1]))
        ids, values = block.indices[here].astype(np.int64), block.values[here]
        if len(self.features):
            places = np.minimum(np.searchsorted(self.features, ids), len(self.features) - 1)
            watched = self.features[places] == ids
            found[rows[watched], places[watched]] = values[watched]
        return found


class ScoreAlarm:
    """Alarms when the scores of a model change that does not learn meanwhile; labels are not needed.

    Each column of scores has two martingales, as a feature of `InputAlarm` has; all of the rate is theirs.

    >>> alarm, random = ScoreAlarm(0.01), np.random.default_rng(0)
    >>> alarm.add(random.normal(size=(4000, 1)))
    []
    >>> [(change.higher, change.example > 4000) for change in alarm.add(random.normal(1.0, 1.0, size=(1000, 1)))][:1]
    [(True, True)]
    """

    @ranged
    def __init__(self, rate: Rate = 0.01, names: Sequence[str] = ("score",)) -> None:
        self.names = list(names)
        each = float(rate) / (2.0 * len(self.names))
        self._watchers = [(Alarm(each), Alarm(each)) for _ in self.names]
        self._first: list[np.ndarray] = []
        self._begun = 0  # scores before the first one watched
        self._center, self._spread = np.zeros(len(self.names)), np.ones(len(self.names))

    def add(self, scores: np.ndarray) -> list[InputDrift]:
        """Watch scores (n, columns) in their order; return the changes found."""
        scores = np.asarray(scores, np.float64)
        if self._begun < FIRST:
            part, scores = np.split(scores, [FIRST - self._begun])
            self._first.append(part)
            self._begun += len(part)
            if self._begun < FIRST:
                return []
            first = np.concatenate(self._first)
            self._first, self._center, self._spread = [], first.mean(axis=0), np.maximum(first.std(axis=0), 1e-300)
        return [
            InputDrift(self._begun + example, self.names[place], higher, float(self._center[place]))
            for example, place, higher in _changes(self._watchers, scores, self._center, self._spread)
        ]


def _changes(
    watchers: Sequence[tuple[Alarm, Alarm]], values: np.ndarray, center: np.ndarray, spread: np.ndarray
) -> list[tuple[int, int, bool]]:
    """Bet on values (n, columns); return example, column, and whether it is higher, of each alarm by example."""
    scaled = np.clip((values - center) / spread, -FURTHEST, FURTHEST)
    found = []
    for place, pair in enumerate(watchers):
        for watcher, sign in zip(pair, (1.0, -1.0), strict=True):
            found += [(event.example, place, sign > 0.0) for event in watcher.add(np.exp(sign * scaled[:, place]))]
    return sorted(found, key=lambda change: change[0])


def first_of_each(changes: Iterable[InputDrift], shown: set[tuple[str, bool]]) -> Iterator[InputDrift]:
    """Yield the first change of each feature to higher and to lower values; `shown` are those of before."""
    for change in changes:
        if (change.feature, change.higher) not in shown:
            shown.add((change.feature, change.higher))
            yield change


def alarm_for(rate: float, inputs: bool, numbers: bool) -> Alarm:
    """Return an alarm of errors, or of errors and inputs; `numbers` says whether errors are those of numbers."""
    return InputAlarm(rate, numbers) if inputs else Alarm(rate, numbers)


def restored(stored: dict[str, Any]) -> Alarm:
    """Return the alarm that gave `to_json`, of either kind."""
    return InputAlarm.from_json(stored) if "inputs" in stored else Alarm.from_json(stored)
