"""What outliers have in common: attributes whose presence makes a row more, or less, likely to be an outlier.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section 8.1. Each
attribute of a row (column=value) is an example of its own, positive if the row is an outlier; conjunctions of two
attributes likewise. With p = P(outlier | attribute) its weight tends to log(p / (1 - p)), or to the log odds ratio
    w = log(p / (1 - p)) - log(N+ / N-)
if examples of the commoner kind of row count N_rare / N_common, as they do by default: attributes that say nothing then
have the weight 0, however rare outliers are. The relative risk is
    r = P(outlier | attribute) / P(outlier | no such attribute) = p / ((N+ - n p) / (N - n)),
with n the attribute's support, counted from when it entered the active set.

We depart from the paper in the step of attributes in the active set. Once the information about one, the sum I of
importance p (1 - p) over its examples, exceeds 4, its step is 1 / (1 / rate + I - 4), that of Newton's method, so that
its weight settles instead of wavering (section 9 leaves rates of their own for features open).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.analytics.sketch import ONE, Analysis, Bytes, HeapSize, Width, pair_slot, slots_of_items, slowing
from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float32, int64, uint32
from ouzel.learners.budget import awm
from ouzel.learners.shared_settings import L2, Rate
from ouzel.ranges import Range, Seed, ranged
from ouzel.sketches.top_k import find
from ouzel.streams.guard import one_line
from ouzel.streams.memory import as_table

SIDES = ("high", "low", "both")
ENTRY = 16  # bytes of an attribute in the active set: id, weight, support, information


class Explanation(NamedTuple):
    """An attribute of `StreamingExplainer.top`."""

    attribute: str
    weight: float
    risk: float  # estimated relative risk
    support: int  # rows that had it since it entered the active set


class Entries(NamedTuple):
    """What is noted of each attribute in the active set."""

    support: np.ndarray  # (k,) uint32
    information: np.ndarray  # (k,) float32
    origins: np.ndarray  # (k, 2) int64  where it stood in the block at work, for its name; -1 where named already
    word: np.ndarray  # (1,) uint32  the slot at work


class Beside(NamedTuple):
    """What is kept beside the sketch."""

    rows: np.ndarray  # (2,) int64  inliers and outliers
    entries: Entries


@force_inline
def _learn(state, slot, target, importance, first, second, entries, settings):
    """Learn one attribute; count its support, and note where it stood if it is new to the active set."""
    entries.word[0] = slot
    before = find(state, slot)
    if before >= 0:
        rate = settings.learning_rate
        divisor = slowing(state, entries.word, entries.information, before, importance, rate, settings)
        importance = np.float32(importance / divisor)
    awm.learn_row(state, entries.word, ONE, target, importance, settings)
    entry = find(state, slot)
    if entry >= 0:
        if before < 0:
            entries.support[entry] = 0
            entries.information[entry] = 0.0
            entries.origins[entry, 0] = first
            entries.origins[entry, 1] = second
        entries.support[entry] += np.uint32(1)


@kernel
def learn_attributes(state, offsets, slots, outliers, conjunctions, balanced, rows, entries, settings):
    """Learn the attributes `slots[offsets[i]:offsets[i + 1]]` of rows i; `rows` (2,) counts inliers and outliers."""
    for i in range(len(outliers)):
        rows[1 if outliers[i] else 0] += 1
        own, other = (rows[1], rows[0]) if outliers[i] else (rows[0], rows[1])
        importance = np.float32(min(1.0, max(other, 1) / own)) if balanced else np.float32(1.0)
        target = 1.0 if outliers[i] else -1.0
        for a in range(offsets[i], offsets[i + 1]):
            _learn(state, slots[a], target, importance, a, np.int64(-1), entries, settings)
            if conjunctions:
                for b in range(a + 1, offsets[i + 1]):
                    slot = pair_slot(slots[a], slots[b])
                    _learn(state, slot, target, importance, a, b, entries, settings)


class StreamingExplainer(Analysis):
    """Attributes that mark outliers, with their relative risks, in one pass within a byte budget.

    Parameters
    ----------
    budget : bytes, a number or a size such as "32KB"
    order : 1 for attributes, 2 for their conjunctions as well
    balanced : let the commoner of outliers and inliers count less, so that what says nothing has the weight 0;
        False for the paper's examples, all of which count alike
    learning_rate, schedule, l2 : of the AWM-Sketch; see `AWMSketchClassifier`
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
        l2: L2 = 1e-6,
        schedule: Any = "inverse-time",
        heap_size: HeapSize = 0,
        width: Width = 0,
        seed: Seed = 0,
    ) -> None:
        parameters = {
            "budget": budget,
            "order": order,
            "balanced": balanced,
            "learning_rate": learning_rate,
            "l2": l2,
            "schedule": schedule,
            "heap_size": heap_size,
            "width": width,
            "seed": seed,
        }
        super().__init__(parameters)

    @classmethod
    def sizes(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """The sizes of the sketch."""
        order, size = parameters["order"], parameters["budget"]
        if order not in (1, 2):
            raise OuzelError(f"order is 1 for attributes or 2 for pairs of them, too; got {order}")
        entries = parameters["heap_size"] or size // (2 * ENTRY)
        counters = parameters["width"] or (size - ENTRY * entries) // 4
        if entries < 1 or counters < 1:
            raise OuzelError(f"a budget of {size} bytes is too small; give at least {2 * ENTRY} bytes")
        return {"heap_size": entries, "width": counters}

    @classmethod
    def layout(cls, parameters: dict[str, Any]) -> Beside:
        """What the arrays beside the sketch are made of."""
        entries = cls.sizes(parameters)["heap_size"]
        return Beside(
            rows=int64(2),
            entries=Entries(
                support=uint32(entries),
                information=float32(entries, least=0.0),
                origins=int64(entries, 2, fill=-1, least=-1, most=-1),
                word=uint32(1, scratch=True),
            ),
        )

    @property
    def rows(self) -> np.ndarray:
        """Numbers (2,) of inliers and outliers."""
        return self.beside.rows

    @property
    def entries(self) -> Entries:
        """What is noted of the attributes in the active set."""
        return self.beside.entries

    @property
    def bytes_used(self) -> int:
        """4 bytes for each id, weight and counter, and 8 more for what is noted of each attribute in the active set."""
        return self.model.bytes_used + 8 * len(self.entries.support)

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
        if len(self.model.names) > 2 * len(self.entries.support):
            self.forget_names()
        return self

    def top(self, k: int = 20, side: str = "high", min_support: int = 1) -> list[Explanation]:
        """The k attributes of largest weight ("high"), of smallest ("low"), or of largest magnitude ("both")."""
        slots, weights, support = self.found(side, min_support)
        risks = self.risks(weights, support)
        return [
            Explanation(self.name(slots[i]), float(weights[i]), float(risks[i]), int(support[i]))
            for i in range(min(max(k, 0), len(slots)))
        ]

    def found(self, side: str = "both", min_support: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Slots, weights and support of all in the active set, in the order of `top`."""
        if side not in SIDES:
            raise OuzelError(f"side must be one of {', '.join(SIDES)}; got {side!r}")
        slots, weights = self.active()
        own = dict(zip(self.state.keys.tolist(), self.entries.support.tolist(), strict=True))
        support = np.array([own.get(slot, 0) for slot in slots.tolist()], np.int64)
        wanted = support >= min_support
        if side != "both":
            wanted &= weights > 0 if side == "high" else weights < 0
        return slots[wanted], weights[wanted], support[wanted]

    def risks(self, weights: np.ndarray, support: np.ndarray) -> np.ndarray:
        """The relative risks that weights (n,) and support (n,) tell of."""
        inliers, outliers = np.maximum(self.rows, 1)
        odds = np.exp(weights) * (outliers / inliers if self.parameters["balanced"] else 1.0)
        share = odds / (1.0 + odds)
        others = np.maximum(inliers + outliers - support, 1)
        base = np.maximum(outliers - support * share, 0.5) / others
        return np.asarray(share / base)

    def risk(self, attribute: str) -> float:
        """The estimated relative risk of one attribute, `column=value`, as of one without support."""
        return float(self.risks(np.array([self.weight(attribute)]), np.zeros(1))[0])


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
