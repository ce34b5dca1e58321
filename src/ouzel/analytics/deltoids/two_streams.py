"""Reading of two files or pipes for their relative deltoids, optionally with true ratios and baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ouzel.analytics.deltoids.interleave import interleave
from ouzel.analytics.deltoids.paired_count_min import PairedCountMin
from ouzel.analytics.deltoids.relative_deltoids import RelativeDeltoids
from ouzel.analytics.exact import ExactCounts, known, log_ratios, recall
from ouzel.analytics.items import Items, count_rows, find_item_format, items_of
from ouzel.analytics.sketch import learn_all
from ouzel.errors import OuzelError
from ouzel.streams.options import Options
from ouzel.streams.read import open_source
from ouzel.streams.sources.source import Source

THRESHOLDS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
MORE_MEMORY = 8  # the second rival's, in the paper's Figure 10


@dataclass
class TwoStreams:
    """Reading of two streams: the learner, and optionally exact counts and baselines."""

    model: RelativeDeltoids
    exact: ExactCounts | None = None
    rivals: dict[str, PairedCountMin] = field(default_factory=dict)
    interrupted: bool = False

    @classmethod
    def start(cls, model: RelativeDeltoids, exact: bool = False, compare: bool = False) -> TwoStreams:
        """Start a reading; `exact` counts exactly, `compare` adds Count-Min sketches with 1x and 8x the memory."""
        rivals = {}
        if compare:
            budget = model.parameters["budget"]
            heap_size = len(model.owners)
            rivals = {
                "count-min": PairedCountMin(budget, heap_size=heap_size, seed=model.seed),
                f"count-min x{MORE_MEMORY}": PairedCountMin(budget * MORE_MEMORY, heap_size=heap_size, seed=model.seed),
            }
        return cls(model, ExactCounts() if exact or compare else None, rivals)

    def over(self, stream: Iterator[tuple[Items, np.ndarray]], on_progress: Callable[[], None] = lambda: None) -> None:
        """Learn a stream of items with the streams they come from, up to its end or an interruption."""
        self.interrupted = not learn_all(
            stream, lambda part: self.learn(part[0].slots, part[1], part[0].name_of), on_progress
        )

    def learn(
        self, slots: np.ndarray, which: np.ndarray, name_of: Callable[[int], str | None] = lambda k: None
    ) -> None:
        """Learn some items with the learner and all baselines."""
        self.model.learn_slots(slots, which, name_of)
        for rival in self.rivals.values():
            rival.learn_slots(slots, which)
        if self.exact is not None:
            self.exact.add(slots, which)

    @property
    def offset(self) -> float:
        """Logarithm of the divisor of ratios of counts: 1, or with `shares` the ratio of the streams' lengths."""
        return float(log_ratios(self.model.seen[None])[0]) if self.model.parameters["shares"] else 0.0

    def rows(self, top: int) -> list[dict[str, Any]]:
        """Return the items with the largest ratios, with their true counts if known."""
        slots = self.model.heaviest(top)[0]
        intervals = [{"low": low, "high": known(high)} for low, high in self.model.intervals(top)]
        found = zip(self.model.top(top), intervals, strict=True)
        rows: list[dict[str, Any]] = [deltoid._asdict() | interval for deltoid, interval in found]
        if self.exact is not None:
            counts = self.exact.of(slots)
            for row, pair, true in zip(rows, counts.tolist(), log_ratios(counts) - self.offset, strict=True):
                row |= {"first": pair[0], "second": pair[1], "true_ratio": float(np.exp(true))}
        return rows

    def recalls(self) -> list[dict[str, Any]]:
        """Return the recall of each method: the share it retrieves of items whose true ratio reaches a threshold."""
        if self.exact is None:
            return []
        size = len(self.model.owners)
        shares = {"awm": self.share_found(self.model.heaviest(size)[0])}
        shares |= {name: self.share_found(rival.top(size)[0]) for name, rival in self.rivals.items()}
        items = [count for count, _ in recall(np.empty(0, np.uint32), self.exact, THRESHOLDS, self.offset)]
        return [
            {"ratio": threshold, "items": items[k]} | {name: share[k] for name, share in shares.items()}
            for k, threshold in enumerate(THRESHOLDS)
        ]

    def to_json(self, top: int) -> dict[str, Any]:
        """Return all results as JSON values."""
        answer: dict[str, Any] = {
            "items": self.rows(top),
            "seen": self.model.seen.tolist(),
            "bytes_used": self.model.bytes_used,
        }
        return answer | ({"recall": self.recalls()} if self.exact else {})

    def share_found(self, slots: np.ndarray) -> list[float | None]:
        """Return for each threshold the share of the items above it that are in `slots`; None without such items."""
        assert self.exact is not None
        return [share for _, share in recall(slots, self.exact, THRESHOLDS, self.offset)]


def open_both(
    paths: Sequence[str], columns: Sequence[str], format: str | None, options: Options
) -> tuple[list[Source], Iterator[tuple[Items, np.ndarray]]]:
    """Open two sources; return them and their interleaved items."""
    if list(paths).count("-") > 1:
        raise OuzelError("standard input is one stream; name another file or pipe beside it")
    sources = [open_source(path) for path in paths]
    formats = [find_item_format(source, format, columns) for source in sources]
    lengths = [count_rows(source, how, options.limits) for source, how in zip(sources, formats, strict=True)]
    first, second = (items_of(source, how, columns, options) for source, how in zip(sources, formats, strict=True))
    return sources, interleave(first, second, (lengths[0], lengths[1]))
