"""Streaming explanation of outliers: attributes that make a row more, or less, likely to be an outlier.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section 8.1. Each
attribute of a row (column=value) is an example of its own, positive if the row is an outlier; conjunctions of two
attributes likewise. With p = P(outlier | attribute) its weight tends to log(p / (1 - p)), or to the log odds ratio
    w = log(p / (1 - p)) - log(N+ / N-)
if examples of the more frequent kind of row count N_rare / N_common, the default: then uninformative attributes
have the weight 0, however rare outliers are. The relative risk is
    r = P(outlier | attribute) / P(outlier | no such attribute) = p / ((N+ - n p) / (N - n)),
with n the number of rows that have the attribute. So attributes are found here; their risks are those of counts, and
lie in an interval, as an attribute is counted exactly only since it entered the active set (see `attribute_counts`,
where we depart from the paper).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.analytics.explanation import attribute_counts
from ouzel.analytics.explanation.attribute_counts import CELL, DEPTH, ENTRY, Counts, learn_attributes
from ouzel.analytics.explanation.risks import Counted, true_risks
from ouzel.analytics.sketch import Analysis, Bytes, HeapSize, Width, arguments, slots_of_items
from ouzel.errors import OuzelError
from ouzel.learners.shared_settings import L2, Rate
from ouzel.model.model import Model
from ouzel.ranges import Range, Seed, ranged
from ouzel.streams.frames import as_table
from ouzel.streams.sources.error_context import wrap_errors

SIDES = ("high", "low", "both")
SIGNIFICANT = 0.05
LEAST = ENTRY + CELL * DEPTH + 4  # bytes of a budget: one attribute, one cell a row, one counter


class Explanation(NamedTuple):
    """An attribute of `StreamingExplainer.top`."""

    attribute: str
    weight: float
    risk: float  # relative risk, of the rows counted and an estimate of those before
    support: int  # rows that had it since it entered the active set, counted exactly
    since: int  # the row, from 1, from which on it is counted
    missed: int  # at most so many rows before had it; 0 where `risk` and `support` are exact
    risk_low: float  # the true risk lies between this
    risk_high: float  # and this


class StreamingExplainer(Analysis):
    """Attributes that mark outliers, with their relative risks, in one pass within a byte budget.

    Parameters
    ----------
    budget : bytes, a number or a size such as "1MB"
    order : 1 for attributes, 2 for their conjunctions as well
    balanced : lower the importance of the more frequent of outliers and inliers, so that uninformative attributes have
        the weight 0; False for the paper's examples, whose importances are equal
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
    version = 2  # 1: attributes had no bounds

    @ranged
    def __init__(
        self,
        budget: Bytes | str = "1MB",
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
        attribute_counts.begin(self.side, self.seed)

    def _assemble(self, parameters: dict[str, Any], model: Model, side: Any) -> None:
        """Set the parts of the analysis: new ones, or those of a file."""
        super()._assemble(parameters, model, side)
        self.owners[:] = self.state.keys

    @classmethod
    def sizes(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the sizes of the sketch: counters get a tenth of the budget, active set and bounds the rest."""
        order, size = parameters["order"], parameters["budget"]
        if order not in (1, 2):
            raise OuzelError(f"order is 1 for attributes or 2 for pairs of them, too; got {order}")
        entries = parameters["heap_size"] or size // (ENTRY + 8)
        counters = parameters["width"] or (size - ENTRY * entries - CELL * DEPTH * cls.cells(parameters)) // 4
        if entries < 1 or counters < 1:
            raise OuzelError(f"a budget of {size} bytes is too small; give at least {LEAST} bytes")
        return {"heap_size": entries, "width": counters}

    @classmethod
    def cells(cls, parameters: dict[str, Any]) -> int:
        """Return the number of cells in each row of the Count-Min sketch: a tenth of the budget."""
        return int(max(parameters["budget"] // (ENTRY + 8) // (2 * DEPTH), 1))

    @classmethod
    def layout(cls, parameters: dict[str, Any]) -> Counts:
        """Return the layout of the arrays next to the sketch."""
        return attribute_counts.layout(cls.sizes(parameters)["heap_size"], cls.cells(parameters))

    @property
    def rows(self) -> np.ndarray:
        """Number (2,) of inliers and outliers."""
        return self.side.rows

    @property
    def bytes_used(self) -> int:
        """Memory in bytes: 4 for each id, weight and counter, and counts and bounds of the active set."""
        return self.model.bytes_used + (ENTRY - 8) * len(self.entries.since) + 4 * self.side.cells.size

    def partial_fit(self, rows: Any, outliers: Any) -> StreamingExplainer:
        """Learn rows and whether each (n,) is an outlier.

        Rows are mappings from column to value, None for no value; or a pandas, polars or Arrow table.
        """
        flags = np.asarray(outliers, np.bool_)
        if hasattr(rows, "__arrow_c_stream__"):
            with wrap_errors("table"):
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
            self.state, offsets, slots, outliers, order > 1, balanced, self.owners, self.side, self.model.settings
        )
        self.model.examples += len(outliers)
        origins = self.entries.origins
        for entry in np.flatnonzero(origins[:, 0] >= 0):
            name = " & ".join(name_of(int(k)) for k in origins[entry] if k >= 0)
            self.model.names.remember(int(self.state.keys[entry]) - 1, name)
        origins[:] = -1
        if len(self.model.names) > 2 * len(self.entries.since):
            self.forget_names()
        return self

    def top(self, k: int = 20, side: str = "high", min_support: int = 1) -> list[Explanation]:
        """Return the k attributes with the highest risk ("high"), lowest risk ("low") or largest |log risk| ("both").

        Only attributes that were counted on at least half of their rows, by estimate, are ranked.
        """
        found = self.found(side, min_support)
        low, high = found.interval
        return [
            Explanation(
                attribute=self.name(found.slots[i]),
                weight=float(found.weights[i]),
                risk=float(found.risks[i]),
                support=int(found.support[i]),
                since=int(found.since[i]),
                missed=int(found.missed[i].sum()),
                risk_low=float(low[i]),
                risk_high=float(high[i]),
            )
            for i in range(min(max(k, 0), len(found.slots)))
        ]

    def counted(self) -> Counted:
        """Return all attributes in the active set, those with the largest |weight| first."""
        slots, weights = self.active()
        entry_of = self._entries()
        entries = np.array([entry_of[slot] for slot in slots.tolist()], np.int64)
        return self._counted(slots, weights, entries)

    def found(self, side: str = "both", min_support: int = 1) -> Counted:
        """Return the attributes that `top` ranks, in its order."""
        if side not in SIDES:
            raise OuzelError(f"must be one of {', '.join(SIDES)}; got {side!r}", subject="side")
        found = self.counted()
        found = found.where(found.mostly_counted & (found.support >= min_support))
        risks = np.log(found.risks)
        order = np.argsort(-np.abs(risks), kind="stable")
        if side != "both":
            order = order[risks[order] > 0 if side == "high" else risks[order] < 0]
        return found.where(order)

    def least_support(self, side: str = "high") -> int:
        """Return the least rows of an attribute for which chance cannot explain that all or none are outliers.

        That chance is p^n, of n rows where a share p of all rows is so; times the attributes that are compared it is
        5 % at most (Bonferroni). Of `both` sides the larger number.
        """
        most = int(self.state.taken[0]) / SIGNIFICANT
        shares = (self.rows[::-1] + 0.5) / (self.rows.sum() + 1.0)  # of outliers, and of inliers
        high, low = (max(1, ceil(log(max(most, 1.0)) / -log(share))) for share in shares.tolist())
        return {"high": high, "low": low, "both": max(high, low)}[side]

    def unranked(self, min_support: int = 1) -> int:
        """Return the number of attributes not ranked because less than half of their rows may have been counted."""
        found = self.counted()
        return int((~found.mostly_counted & (found.support + found.missed.sum(axis=1) >= min_support)).sum())

    def risk(self, attribute: str) -> float:
        """Return the relative risk of an attribute, `column=value`: of its counts, or of the sketch's weight."""
        slots = slots_of_items([attribute], self.seed)
        entry = self._entries().get(int(slots[0]))
        if entry is not None:
            return float(self._counted(slots, self.weights_of(slots), np.array([entry])).risks[0])
        inliers, outliers = np.maximum(self.rows, 1)
        odds = np.exp(self.weights_of(slots)[0]) * (outliers / inliers if self.parameters["balanced"] else 1.0)
        return float(odds / (1.0 + odds) * (inliers + outliers) / outliers)

    def risk_interval(self, attribute: str) -> tuple[float, float]:
        """Return two bounds of the true relative risk of an attribute, `column=value`."""
        slots = slots_of_items([attribute], self.seed)
        entry = self._entries().get(int(slots[0]))
        if entry is not None:
            low, high = self._counted(slots, self.weights_of(slots), np.array([entry])).interval
            return float(low[0]), float(high[0])
        inliers, outliers = np.minimum(attribute_counts.bounds(self.side, slots)[0], self.rows)
        ends = true_risks(np.array([[inliers, 0], [0, outliers]]), self.rows)
        return float(ends[0]), float(ends[1])

    def _entries(self) -> dict[int, int]:
        """Map each slot of the active set to its entry."""
        return {slot: entry for entry, slot in enumerate(self.state.keys[: self.state.taken[0]].tolist())}

    def _counted(self, slots: np.ndarray, weights: np.ndarray, entries: np.ndarray) -> Counted:
        """Return attributes with the counts of their entries (n,) in the active set."""
        stored = self.entries
        return Counted(
            slots=slots,
            weights=weights,
            counts=stored.counts[entries].astype(np.int64),
            missed=stored.missed[entries].astype(np.int64),
            estimated=attribute_counts.estimated_missed(self.side, entries),
            since=stored.since[entries].astype(np.int64),
            rows=self.rows,
        )
