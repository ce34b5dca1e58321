"""Lines about the data that a model learns: values and labels of 1,000 times their usual size, and scattered groups.

Where features are standardised their running scales find such values (`learners/auto/turning.py`). Of other learners
the blocks are compared with the sample that importances go by (`learners/feature_moments.py`): all of them as long as
every example is in it, and then those that hold a value twice as large as any before, so that it costs next to nothing.
A learner of a byte budget keeps no moments, and no line is shown.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import ouzel.kernels.announce  # noqa: F401 it prints a notice while kernels are compiled
from ouzel.learners import feature_moments, protocol
from ouzel.learners.auto.outliers import FAR, KNOWN_FROM, STRIKING
from ouzel.learners.auto.standardisation import OUTLIER, SEEN, Features
from ouzel.streams.block import Block
from ouzel.streams.feature_space import CATEGORY, NUMBER, FeatureSpace, reconcile

COLUMN, LABEL, GROUP, KINDS = "column", "label", "group", "kinds"  # kinds of remarks: a model makes one of each
SAY = {NUMBER: ("numbers", "numeric"), CATEGORY: ("words", "categorical")}  # what values are, and the option
UNKNOWN = "leave the cell empty if it stands for an unknown value"
SCALED = f"such values hardly move the scale; {UNKNOWN}"
CUT = f"this learner cuts it at 6; {UNKNOWN}"
UNSCALED = f"this learner takes it as it is; --standardize auto keeps such values from spoiling a column; {UNKNOWN}"
AGAIN = "belongs to the group of earlier rows, with other groups in between"
SCATTERED = "each run of rows is learnt as a group of its own; if it is one group, sort the rows by group"
FAR_LABEL = "it is learnt as one 3 standard deviations from the mean; leave the cell empty if the label is unknown"


class Remark(NamedTuple):
    """A line for people."""

    kind: str
    about: str  # what has the value
    row: int  # of the stream, from 1 on
    found: str  # what there is in that row
    advice: str

    def __str__(self) -> str:
        return self.line(f"row {self.row}")

    def line(self, row: str) -> str:
        """The line, with what its row is called."""
        return f"{self.about}: {row} {self.found}; {self.advice}"


def outlier_of(model: Any) -> int:
    """The slot of the first feature that had a value of 1,000 times its usual size; 0 if none had."""
    return 0 if model.scales is None else int(model.scales.totals[OUTLIER])


def reconcile_to_predict(model: Any, space: FeatureSpace) -> None:
    """Refuse examples whose features the model cannot know; note what is to be said of their columns."""
    reconcile(model.space, space)
    model.remark = model.remarks.of_kinds(model, space) or model.remark


def absent_classes(model: Any) -> str | None:
    """A line on classes that were given a weight and have had no example."""
    weights = model.preparation.class_weights
    absent = [] if weights is None else weights.absent(model.classes)
    if not absent:
        return None
    known = reprlib.repr(model.classes.in_order()).strip("[]") or "none yet"
    some = reprlib.repr(absent).strip("[]")
    return f"class_weight: no example is of the class{'es' * (len(absent) > 1)} {some}; the classes are {known}"


class Remarks:
    """Those that a model has made, one of each kind."""

    def __init__(self) -> None:
        self.made: dict[str, Remark] = {}
        self.largest = 0.0  # value of the blocks that were looked at

    def of_block(self, model: Any, block: Block, before: int) -> str | None:
        """What is to be said of a block just learnt; `before` it, `outlier_of` the model was that.

        Nothing is said where a value is of an earlier block, and its scale was put right now.
        """
        found: list[Remark] = []
        if block.rows and COLUMN not in self.made:
            scaled, earlier = model.scales is not None, model.preparation.earlier
            if scaled and earlier is None:
                found += _in_scaled_columns(model, block, before)
            else:  # in the block with which scaling begins its values are held against those before it
                found += self._in_columns(model, block, earlier or model.preparation.moments, scaled)
        model.preparation.earlier = None
        if block.rows and LABEL not in self.made and protocol.offers(model.module, protocol.ScalesLabels):
            found += _in_labels(model, block)
        if block.groups is not None and model.task.groups and GROUP not in self.made:
            found += _in_groups(model, block, block.groups)
        self.made |= {remark.kind: remark for remark in found}
        return "\n".join(map(str, found)) or None

    def of_kinds(self, model: Any, space: FeatureSpace) -> str | None:
        """What is to be said of examples whose columns hold other values than the model was learnt from, one by one.

        A value alone is a number or a word as it comes, as in dictionaries; of a table, columns decide. So codes that
        were learnt as words may be read as numbers, and none of them is known.
        """
        if model.space.kinds or not model.space.open_vocabulary or not space.kinds or KINDS in self.made:
            return None
        learnt: dict[str, set[str]] = {}
        for _, name in model.names.to_json():
            column, equals, _ = name.partition("=")
            learnt.setdefault(column, set()).add(CATEGORY if equals else NUMBER)
        for column, kind in space.kinds.items():
            other = learnt.get(column, set()) - {kind}
            if kind in SAY and column in learnt and kind not in learnt[column] and other & SAY.keys():
                before, option = SAY[next(iter(other))]
                found = f"holds {SAY[kind][0]} here, and the model learnt it as {before}, from values one at a time"
                remark = Remark(
                    KINDS, f"column {column!r}", 0, found, f"if they are the same, give {option}={column!r}"
                )
                self.made[KINDS] = remark
                return f"{remark.about} {remark.found}; {remark.advice}"
        return None

    def _in_columns(self, model: Any, block: Block, moments: Any, scaled: bool) -> Iterator[Remark]:
        """The first value of 1,000 times the root mean square of its feature, and far beyond all of the sample."""
        here = slice(int(block.offsets[0]), int(block.offsets[-1]))
        if moments is None or here.stop == here.start or moments.sampled[0] < KNOWN_FROM:
            return
        values, ids = block.values[here], block.indices[here]
        largest = max(float(values.max()), -float(values.min()))
        if largest <= 2.0 * self.largest and model.examples > feature_moments.FIRST:
            return
        self.largest = max(largest, self.largest)
        slots = ids if model.slot_map is None else model.slot_map.slots_of(ids)
        slots = slots.astype(np.int64) + (model.slot_map is None)  # of which some may be unknown
        known = np.flatnonzero((slots > 0) & (slots < len(moments.sums)))
        most = max(STRIKING**2 / moments.sampled[0], FAR**2) * moments.sums[slots[known], 1].astype(np.float64)
        striking = known[(values[known].astype(np.float64) ** 2 > most) & (most > 0.0)]
        cut = model.preparation.automatic
        if len(striking):
            yield _of_place(model, block, here.start + int(striking[0]), SCALED if scaled else CUT if cut else UNSCALED)


def _in_scaled_columns(model: Any, block: Block, before: int) -> Iterator[Remark]:
    slot = outlier_of(model)
    if slot == before:
        return
    feature = (slot if model.slot_map is None else int(model.slot_map.numbers[slot])) - 1
    here = np.arange(int(block.offsets[0]), int(block.offsets[-1]))
    places = here[block.indices[here] == feature]
    mean, usual = _usual(model.scales, slot)
    striking = np.abs(block.values[places].astype(np.float64) - mean) > STRIKING * usual
    if striking.any():
        yield _of_place(model, block, int(places[striking.argmax()]), SCALED)


def _in_labels(model: Any, block: Block) -> Iterator[Remark]:
    mean, spread = model.module.label_scale(model.states[0])
    striking = np.abs(block.labels - mean) > STRIKING * spread
    if spread > 0.0 and model.examples >= KNOWN_FROM and striking.any():
        row = int(striking.argmax())
        yield Remark(LABEL, "label", _number(model, block, row), _far(block.labels[row]), FAR_LABEL)


def _in_groups(model: Any, block: Block, groups: np.ndarray) -> Iterator[Remark]:
    """The first row of a group that came before, with others between."""
    begun = np.flatnonzero(np.append(True, np.diff(groups) != 0)) if len(groups) else np.empty(0, np.int64)
    known, first = np.unique(groups[begun], return_index=True)
    if len(known) < len(begun):
        row = int(np.delete(begun, first)[0])
        yield Remark(GROUP, "groups", _number(model, block, row), AGAIN, SCATTERED)


def _far(value: float) -> str:
    return f"has the value {value:.7g}, over 1,000 times its usual size"


def _of_place(model: Any, block: Block, place: int, advice: str) -> Remark:
    """A remark on a value of a block."""
    row = int(np.searchsorted(block.offsets, place, side="right")) - 1
    name = model.feature_name(int(block.indices[place]))
    return Remark(COLUMN, f"column {name!r}", _number(model, block, row), _far(block.values[place]), advice)


def _number(model: Any, block: Block, row: int) -> int:
    """Which row of the stream, from 1 on, a row of a block just learnt is."""
    return 1 + (model.examples - block.rows + row if block.numbers is None else int(block.numbers[row]))


def _usual(features: Features, slot: int) -> tuple[float, float]:
    """Where the values of a feature lie, and how far from there."""
    _, mean, squares, largest = features.moments[slot]
    if largest >= 0.0:
        return 0.0, float(largest)
    return float(mean), float(np.sqrt(squares / features.totals[SEEN]))
