"""Reading of corpora for the mutual information of their pairs, optionally with exact counts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from ouzel.analytics.exact import ExactCounts, correlation, known, rank_correlation, share_found
from ouzel.analytics.items import LINES, find_item_format, lines_of, text_column
from ouzel.analytics.pmi.streaming_pmi import SETTLED, StreamingPMI
from ouzel.analytics.pmi.token_pairs import true_pairs
from ouzel.analytics.pmi.tokens import Tokens
from ouzel.analytics.sketch import learn_all, pair_slot
from ouzel.errors import OuzelError
from ouzel.streams.formats.batches import record_batches
from ouzel.streams.options import Options
from ouzel.streams.sources.error_context import error_context
from ouzel.streams.sources.source import Source

THRESHOLDS = tuple(float(k) for k in range(13))  # of true PMI, for recall


def texts_of(source: Source, format: str | None, column: str | None, options: Options) -> Generator[list[str]]:
    """Yield the lines of a text, or the cells of a table's column, in blocks without blank ones."""
    columns = [] if column is None else [column]
    known = find_item_format(source, format, columns)
    with error_context(source, LINES if known is None else known.name):
        if known is not None and known.is_table:
            for batch in record_batches(source, options, known, lambda count: None, columns):
                yield [text for text in text_column(batch, str(column), source.name).to_pylist() if text]
            return
        if known is not None:
            raise OuzelError(
                f"{source.name}: is {known.name}, which holds no text; expected lines, or a table and", column="NAME"
            )
        yield from lines_of(source, options.limits)


class Corpus:
    """Reading of texts: the learner, and optionally exact counts of tokens and pairs."""

    def __init__(self, model: StreamingPMI, exact: bool = False) -> None:
        self.model = model
        self.tokens = ExactCounts() if exact else None
        self.pairs = ExactCounts() if exact else None
        self.true_pairs = 0
        self._members: list[np.ndarray] = []  # (n, 3) of different pairs: their slot and those of both tokens
        self.interrupted = False

    @property
    def exact(self) -> bool:
        """Whether exact counts are known."""
        return self.tokens is not None

    def over(
        self,
        sources: Sequence[Source],
        format: str | None,
        column: str | None,
        options: Options,
        on_progress: Callable[[], None] = lambda: None,
    ) -> None:
        """Learn sources up to their end or an interruption."""
        parts = (texts for source in sources for texts in texts_of(source, format, column, options))
        self.interrupted = not learn_all(parts, self.learn, on_progress)

    def learn(self, texts: list[str]) -> None:
        """Learn some texts or events, and count them exactly if `exact`."""
        model = self.model
        events = model.parameters["events"]
        tokens = Tokens.of_sequences([texts], model.seed) if events else model.tokenise(texts, model.seed)
        if self.tokens is not None and self.pairs is not None:
            ends = tokens.ends[:0] if events else tokens.ends
            window, position = model.entries.window.copy(), model.entries.position.copy()
            slots, members = true_pairs(tokens.slots, ends, window, position)
            found, at = np.unique(slots, return_index=True)
            self._members.append(np.column_stack([found, members[at]]))
            self.tokens.add(tokens.slots, np.zeros(len(tokens.slots), np.uint8))
            self.pairs.add(slots, np.zeros(len(slots), np.uint8))
            self.true_pairs += len(slots)
        model.learn(tokens, ended=not events)

    def exact_pmi(self, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return true PMI (n,) and counts (n,) of pairs of slots (n, 2); a count of 0 is taken as one half."""
        assert self.tokens is not None
        assert self.pairs is not None
        slots = np.array([pair_slot(first, second) for first, second in members], np.uint32)
        counts = self.pairs.of(slots)[:, 0]
        alone = np.stack([self.tokens.of(members[:, side])[:, 0] for side in (0, 1)]) / max(self.model.seen, 1)
        return np.log(np.maximum(counts, 0.5) / max(self.true_pairs, 1)) - np.log(alone).sum(axis=0), counts

    def table(self, top: int, least: int = SETTLED) -> list[dict[str, Any]]:
        """Return the pairs of `StreamingPMI.estimates`, with exact PMI and counts if known."""
        rows: list[dict[str, Any]] = [pair._asdict() for pair in self.model.estimates(top, least)]
        if self.exact:
            exact, counts = self.exact_pmi(self.model.listed(least)[0].members[: len(rows)])
            for row, true, count in zip(rows, exact.tolist(), counts.tolist(), strict=True):
                row |= {"exact_pmi": true, "count": count}
        return rows

    def recalls(self, least: int = SETTLED) -> list[dict[str, Any]]:
        """Return the recall of pairs whose PMI reaches a threshold, of `least_count(least)` occurrences or more.

        Thresholds are whole numbers.
        """
        if self.pairs is None:
            return []
        joined = np.concatenate(self._members) if self._members else np.empty((0, 3), np.uint32)
        _, first = np.unique(joined[:, 0], return_index=True)
        often = self.pairs.counts[:, 0] >= self.model.least_count(least)
        members = joined[first][often, 1:]
        listed = self.model.listed(least)[0].members
        found = np.array([pair_slot(first, second) for first, second in listed], np.uint32)
        exact = self.exact_pmi(members)[0] if len(members) else np.empty(0)
        shares = share_found(found, self.pairs.slots[often], exact, tuple(np.exp(THRESHOLDS)))
        return [
            {"pmi": threshold, "pairs": count, "recall": share}
            for threshold, (count, share) in zip(THRESHOLDS, shares, strict=True)
        ]

    def correlation(self, above: float = 0.0, least: int = SETTLED) -> tuple[int, float, float]:
        """Return the number of listed pairs with an estimated PMI `above` a number, and correlations with exact values.

        Pearson's correlation and Spearman's, of ranks. Pairs below 0, which are not what is looked for, would make
        both higher: they are far from the others.
        """
        found, estimated = self.model.listed(least)
        wanted = estimated > above
        exact = self.exact_pmi(found.members[wanted])[0]
        return int(wanted.sum()), correlation(estimated[wanted], exact), rank_correlation(estimated[wanted], exact)

    def to_json(self, top: int, least: int = SETTLED) -> dict[str, Any]:
        """Return all results as JSON values."""
        above = self.model.complete_above
        answer: dict[str, Any] = {
            "pairs": self.table(top, least),
            "tokens": self.model.seen,
            "bytes_used": self.model.bytes_used,
            "least_count": self.model.least_count(least),
            "complete_above": above if np.isfinite(above) else None,
            "complete": self.model.complete,
        }
        if self.exact:
            retrieved, r, ranks = self.correlation(least=least)
            answer |= {"retrieved": retrieved, "correlation": known(r), "rank_correlation": known(ranks)}
            answer |= {"recall": self.recalls(least)}
        return answer
