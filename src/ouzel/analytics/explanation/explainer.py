"""What outliers have in common: attributes whose presence makes a row more, or less, likely to be an outlier.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section 8.1. Each
attribute of a row (column=value) is an example of its own, positive if the row is an outlier; conjunctions of two
attributes likewise. With p = P(outlier | attribute) its weight tends to log(p / (1 - p)), or to the log odds ratio
    w = log(p / (1 - p)) - log(N+ / N-)
if examples of the commoner kind of row count N_rare / N_common, as they do by default: attributes that say nothing then
have the weight 0, however rare outliers are. The relative risk is
    r = P(outlier | attribute) / P(outlier | no such attribute) = p / ((N+ - n p) / (N - n)),
with n the attribute's support. So attributes are found here; of those in the active set outliers and inliers are
counted as well (see `counted`, where we depart from the paper), and the risk told is that of the rows counted since an
attribute entered: what stands for those before is of the class that let it enter, and would exaggerate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.analytics import counted
from ouzel.analytics.sketch import Analysis, Bytes, HeapSize, Width, arguments, pair_slot, slots_of_items
from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, int64
from ouzel.learners.shared_settings import L2, Rate
from ouzel.ranges import Range, Seed, ranged
from ouzel.sketches.top_k import find
from ouzel.streams.frames import as_table
from ouzel.streams.guard import one_line

SIDES = ("high", "low", "both")
ENTRY = counted.ENTRY + 4  # bytes of an attribute in the active set: 4 for how many examples stand for rows before


class Explanation(NamedTuple):
    """An attribute of `StreamingExplainer.top`."""

    attribute: str
    weight: float
    risk: float  # relative risk, of the rows counted
    support: int  # rows that had it since it entered the active set


class Entries(NamedTuple):
    """What is noted of each attribute in the active set."""

    held: counted.Held
    uncounted: np.ndarray  # (k,) float32  how many of these stand for rows before it entered; inliers below 0
    origins: np.ndarray  # (k, 2) int64  where it stood in the block at work, for its name; -1 where named already


class Beside(NamedTuple):
    """What is kept beside the sketch."""

    rows: np.ndarray  # (2,) int64  inliers and outliers
    entries: Entries


@force_inline
def _learn(state, slot, outlier, first, second, entries, settings):
    """Learn one attribute; if it is new to the active set, note where it stood and what stands for rows before."""
    before = find(state, slot)
    room = state.taken[0] < len(state.keys)
    entry = counted.learn_counted(state, slot, outlier, entries.held, settings)
    if entry >= 0 and before < 0:
        often = np.float32(0.0 if room else entries.held.often[entry])
        entries.uncounted[entry] = often if state.weights[entry] > 0.0 else -often
        entries.origins[entry, 0] = first
        entries.origins[entry, 1] = second


@kernel
def learn_attributes(state, offsets, slots, outliers, conjunctions, balanced, rows, entries, settings):
    """Learn the attributes `slots[offsets[i]:offsets[i + 1]]` of rows i; `rows` (2,) counts inliers and outliers."""
    for i in range(len(outliers)):
        rows[1 if outliers[i] else 0] += 1
        if balanced:
            counted.balance(state, entries.held, rows[1], rows[0], settings)
        for a in range(offsets[i], offsets[i + 1]):
            _learn(state, slots[a], outliers[i], a, np.int64(-1), entries, settings)
            if conjunctions:
                for b in range(a + 1, offsets[i + 1]):
                    _learn(state, pair_slot(slots[a], slots[b]), outliers[i], a, b, entries, settings)


class StreamingExplainer(Analysis):
    """Attributes that mark outliers, with their relative risks, in one pass within a byte budget.

    Parameters
    ----------
    budget : bytes, a number or a size such as "32KB"
    order : 1 for attributes, 2 for their conjunctions as well
    balanced : let the commoner of outliers and inliers count less, so that what says nothing has the weight 0;
        False for the paper's examples, all of which count alike
    learning_rate, schedule, l2 : of the AWM-Sketch, for attributes outside of the active set; see `AWMSketchClassifier`
    heap_size, width : of the active set and the sketch, instead of what the budget gives
    seed : of the hash functions

    Examples
    --------
    >>> rows = [{"city": "Rome", "kind": "rent"}, {"city": "Rome", "kind": "fee"}, {"city": "Bonn", "kind": "fee"}]
    >>> explainer = StreamingExplainer("4KB").partial_fit(rows * 200, [True, False, False] * 200)
    >>> explainer.top(1)[0].attribute
    'kind=rent'
    """

    kind = "an explanation"

    @ranged
    def __init__(
        self,
        budget: Bytes | str = "32KB",
        *,
        order: Annotated[int, Range(1, 2, whole=True), "1 for attributes, 2 for pairs of them, too"] = 1,
        balanced: bool = True,
        learning_rate: Rate = 0.5,
        l2: L2 = 0.0,
        schedule: Any = "inverse-time",
        heap_size: HeapSize = 0,
        width: Width = 0,
        seed: Seed = 0,
    ) -> None:
        super().__init__(arguments(locals()))

    @classmethod
    def sizes(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """The sizes of the sketch: a fifth of the budget for its counters, the rest for the active set."""
        order, size = parameters["order"], parameters["budget"]
        if order not in (1, 2):
            raise OuzelError(f"order is 1 for attributes or 2 for pairs of them, too; got {order}")
        entries = parameters["heap_size"] or size // (ENTRY + 4)
        counters = parameters["width"] or (size - ENTRY * entries) // 4
        if entries < 1 or counters < 1:
            raise OuzelError(f"a budget of {size} bytes is too small; give at least {ENTRY + 4} bytes")
        return {"heap_size": entries, "width": counters}

    @classmethod
    def layout(cls, parameters: dict[str, Any]) -> Beside:
        """What the arrays beside the sketch are made of."""
        entries = cls.sizes(parameters)["heap_size"]
        return Beside(
            rows=int64(2),
            entries=Entries(
                held=counted.layout(entries),
                uncounted=float32(entries, least=-counted.MOST, most=counted.MOST),
                origins=int64(entries, 2, fill=-1, least=-1, most=-1),
            ),
        )

    @property
    def rows(self) -> np.ndarray:
        """Numbers (2,) of inliers and outliers."""
        return self.beside.rows

    @property
    def bytes_used(self) -> int:
        """4 bytes for each id, weight and counter, and 8 for what is counted of each attribute in the active set."""
        return self.model.bytes_used + (ENTRY - 8) * len(self.entries.uncounted)

    def partial_fit(self, rows: Any, outliers: Any) -> StreamingExplainer:
        """Learn rows and whether each (n,) is an outlier.

        Rows are mappings from column to value, None for no value; or a pandas, polars or Arrow table.
        """
        flags = np.asarray(outliers, np.bool_)
        if hasattr(rows, "__arrow_c_stream__"):
            with one_line("table"):
                rows = as_table(rows).to_pylist()
        names, offsets = [], [0]
        for row in rows:
            names += [f"{column}={value}" for column, value in row.items() if value is not None]
            offsets.append(len(names))
        if len(offsets) != len(flags) + 1:
            raise OuzelError(f"{len(offsets) - 1} rows, but {len(flags)} outliers or not; give one for each row")
        return self.learn_slots(np.array(offsets), slots_of_items(names, self.seed), flags, names.__getitem__)

    def learn_slots(
        self, offsets: np.ndarray, slots: np.ndarray, outliers: np.ndarray, name_of: Callable[[int], str]
    ) -> StreamingExplainer:
        """Learn rows in compressed form: offsets (n + 1,), slots (attributes,) uint32; `name_of` names a position."""
        order, balanced = self.parameters["order"], self.parameters["balanced"]
        learn_attributes(
            self.state, offsets, slots, outliers, order > 1, balanced, self.rows, self.entries, self.model.settings
        )
        self.model.examples += len(outliers)
        origins = self.entries.origins
        for entry in np.flatnonzero(origins[:, 0] >= 0):
            name = " & ".join(name_of(int(k)) for k in origins[entry] if k >= 0)
            self.model.names.remember(int(self.state.keys[entry]) - 1, name)
        origins[:] = -1
        if len(self.model.names) > 2 * len(self.entries.uncounted):
            self.forget_names()
        return self

    def top(self, k: int = 20, side: str = "high", min_support: int = 1) -> list[Explanation]:
        """The k attributes of largest risk ("high"), of smallest ("low"), or of either, by its logarithm ("both")."""
        slots, weights, counts = self.found(side, min_support)
        risks, support = true_risks(counts, self.rows), counts.sum(axis=1)
        return [
            Explanation(self.name(slots[i]), float(weights[i]), float(risks[i]), int(support[i]))
            for i in range(min(max(k, 0), len(slots)))
        ]

    def found(self, side: str = "both", min_support: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Slots, weights and counts (n, 2), inliers first, of all in the active set, in the order of `top`."""
        if side not in SIDES:
            raise OuzelError(f"side must be one of {', '.join(SIDES)}; got {side!r}")
        slots, weights = self.active()
        counts = self.counts_of(slots)
        risks = np.log(true_risks(counts, self.rows))
        order = np.argsort(-np.abs(risks), kind="stable")
        wanted = counts.sum(axis=1)[order] >= min_support
        if side != "both":
            wanted &= risks[order] > 0 if side == "high" else risks[order] < 0
        order = order[wanted]
        return slots[order], weights[order], counts[order]

    def counts_of(self, slots: np.ndarray) -> np.ndarray:
        """Inliers and outliers (n, 2) that had attributes (n,) uint32 since these entered the active set."""
        place = {slot: entry for entry, slot in enumerate(self.state.keys.tolist())}
        uncounted = self.entries.uncounted[[place.get(slot, 0) for slot in slots.tolist()]].astype(np.int64)
        counts = counted.counts_of(self.state, slots, self.entries.held, self.model.settings)
        return np.maximum(counts - np.maximum(uncounted[:, None] * [1, -1], 0), 0)[:, ::-1]

    def risk(self, attribute: str) -> float:
        """The relative risk of one attribute, `column=value`: of its counts if held, else by the sketch's weight."""
        slots = slots_of_items([attribute], self.seed)
        counts = self.counts_of(slots)
        if counts.any():
            return float(true_risks(counts, self.rows)[0])
        inliers, outliers = np.maximum(self.rows, 1)
        odds = np.exp(self.weights_of(slots)[0]) * (outliers / inliers if self.parameters["balanced"] else 1.0)
        return float(odds / (1.0 + odds) * (inliers + outliers) / outliers)


def true_risks(counts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Relative risks of attributes with counts (n, 2) among `rows` (2,) inliers and outliers.

    Half a row is added to each count of outliers and a whole one to each of rows, so that none is 0 or infinite.

    >>> true_risks(np.array([[60, 40]]), np.array([800, 200])).round(2).tolist()
    [2.25]
    """
    inliers, outliers = counts[:, 0], counts[:, 1]
    here = (outliers + 0.5) / (inliers + outliers + 1.0)
    elsewhere = (rows[1] - outliers + 0.5) / (rows.sum() - inliers - outliers + 1.0)
    return np.asarray(here / elsewhere)
