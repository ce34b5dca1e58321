"""Many learners and settings side by side in one reading of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from ouzel.comparison.confidence import Difference, Differences
from ouzel.comparison.contestant import Contestant, entered
from ouzel.comparison.grid import Candidate
from ouzel.errors import OuzelError
from ouzel.evaluation.counts import Clock
from ouzel.evaluation.curve import Curve
from ouzel.evaluation.delay import late_labels
from ouzel.evaluation.metrics import Scores
from ouzel.evaluation.mistakes import mistakes_of
from ouzel.evaluation.report import of_answers
from ouzel.evaluation.warnings import SORTED, warnings_of
from ouzel.learners.protocol import Multiclass
from ouzel.model.model import Model
from ouzel.model.room import make_room_for
from ouzel.streams.block import Block
from ouzel.streams.block_stream import as_stream

if TYPE_CHECKING:
    from ouzel.comparison.hindsight import Regret

PATIENCE = 1.0  # seconds
WARM_UP = 32  # examples a model that is thrown away learns, so that no compilation is timed


class Entry:
    """One candidate at work: its model, its figures, its time."""

    def __init__(self, candidate: Candidate, delay: int | str = 0, keep_margins: bool = False, **options: Any) -> None:
        self.candidate = candidate
        make: Any = Contestant if entered(candidate.learner) else Model
        self.model: Any = make(candidate.learner, **options, **candidate.settings)
        if delay and not isinstance(self.model, Model):
            raise OuzelError(f"{candidate.learner}: learns what it is given at once; leave out", delay=delay)
        self.delayed = late_labels(self.model, delay)
        self.scores = Scores(self.model.task)
        self.curve = Curve(self.scores)
        self.updates = 0  # as the learner counts them, or else examples whose loss was not zero
        self.clock = Clock()
        self.mistakes: np.ndarray | None = None  # of the last block; None of numbers, pairs, and weights other than 1
        self.differences: Differences | None = None  # from the candidates that it is compared with
        self.place = 0  # among them
        self.margins: list[np.ndarray] | None = [] if keep_margins else None  # of all examples
        self.regret: Regret | None = None

    def above(self, other: Entry) -> Difference | None:
        """Return how much larger its error rate is than another's, or None where nothing is known of that."""
        if self.differences is None or self is other:
            return None
        return self.differences.between(self.place, other.place)

    @property
    def figure(self) -> float:
        """Return the measure to compare, lower being better: error rate, or root mean squared error of numbers."""
        figure = self.scores.rmse if self.model.task.numbers else self.scores.error_rate
        return float("inf") if figure is None or figure != figure else figure

    @property
    def levels(self) -> tuple[float, ...]:
        """Return the levels of intervals or sets that are kept; a learner that is not of Ouzel keeps none."""
        return getattr(self.model, "interval", ())

    @property
    def intervals(self) -> list[dict[str, Any]]:
        """Return coverage and size of intervals or sets, by level."""
        return of_answers(self.model, self.scores)["intervals"] if self.levels else []

    @property
    def seconds(self) -> float:
        """Spent learning; the compilation of kernels is left out."""
        return self.clock.seconds["learning"]

    @property
    def nonzeros(self) -> int | None:
        """Weights that are not zero, the constant's left out; None for learners of a byte budget."""
        if self.model.learner.budgeted:
            return None
        return int(np.count_nonzero(self.model.slot_weights()[:, 1:]))

    @property
    def warnings(self) -> list[str]:
        """Remark on a candidate in addition to its figures: that it diverged, or is no better than a constant."""
        return [line for line in warnings_of(self.model, self.scores) if line != SORTED]  # which is of the stream

    def learn(self, block: Block) -> None:
        """Predict, count and learn a block."""
        with self.clock.on("learning"):
            parts = [self.model.learn(block)] if self.delayed is None else [*self.delayed.learn(block)]
        own = getattr(self.model.states[0], "updates", None) if isinstance(self.model.module, Multiclass) else None
        counts = not self.model.task.numbers and not self.model.task.groups
        mistakes = []
        for learnt in parts:
            self.updates += int(np.count_nonzero(learnt.losses > 0.0))
            self.curve.add(learnt)
            if self.margins is not None:
                self.margins.append(learnt.margins)
            counts = counts and bool((learnt.importances == 1.0).all())
            mistakes += [mistakes_of(self.model.task, learnt).astype(np.float64)] if counts else []
        self.updates = self.updates if own is None else int(own[0])
        self.mistakes = np.concatenate(mistakes) if counts else None

    def settle(self) -> None:
        """Learn what still waits for its label at the end of the stream."""
        if self.delayed is not None:
            self.delayed.evaluate_pending()

    def make_room_for(self, block: Block) -> None:
        """Have room for the features of a block; a learner that is not of Ouzel finds room by itself."""
        if isinstance(self.model, Model):
            make_room_for(self.model, block)

    def to_json(self) -> dict[str, Any]:
        """Settings and results as JSON values."""
        return {
            **self.candidate._asdict(),
            "examples": self.scores.examples,
            **{name: value for name, value in self.scores.figures().items() if value is not None},
            "intervals": self.intervals,
            "nonzeros": self.nonzeros,
            "updates": self.updates,
            "bytes_used": self.model.bytes_used,
            "seconds": self.seconds,
            "warnings": self.warnings,
            **({} if self.regret is None else self.regret.to_json()),
        }


def entries_of(candidates: Sequence[Candidate], **options: Any) -> list[Entry]:
    """Candidates about to begin; OuzelError if some learn classes and others numbers."""
    entries = [Entry(candidate, **options) for candidate in candidates]
    numbers = [entry.candidate.learner for entry in entries if entry.model.task.numbers]
    if 0 < len(numbers) < len(entries):
        raise OuzelError(
            f"{', '.join(dict.fromkeys(numbers))} learn numbers, and the others classes; compare them apart"
        )
    return entries


def compare(
    candidates: Sequence[Candidate],
    stream: Iterable[Block],
    *,
    jobs: int = 1,
    delay: int | str = 0,
    on_progress: Callable[[list[Entry]], None] | None = None,
    on_wait: Callable[[list[str]], None] | None = None,
    on_refusal: Callable[[str], None] | None = None,
    **options: Any,
) -> list[Entry]:
    """Let every candidate learn the stream, block by block, `jobs` at a time; `options` go to every `Model`.

    With `delay` labels come so many examples late. Those that cannot hold so many features as are met are left out, and
    `on_refusal` is told why; `on_wait` is told the learners that a block takes long. With several jobs matrices are
    multiplied by one thread each.

    >>> from ouzel.streams.memory import blocks_from
    >>> stream = blocks_from([({"sun": 1.0}, "dry"), ({"cloud": 1.0}, "wet")] * 50)
    >>> candidates = [Candidate("ogd", None, None, None, {"learning_rate": rate}) for rate in (0.5, 1.0)]
    >>> [entry.scores.examples for entry in compare(candidates, stream)]
    [100, 100]
    """
    entries = entries_of(candidates, delay=delay, **options)
    begin_differences(entries)
    with ThreadPoolExecutor(max(1, jobs)) as pool, threadpool_limits(1 if jobs > 1 else None):
        for number, block in enumerate(as_stream(stream)):
            entries = that_fit(entries, block, on_refusal)
            if number == 0:
                warm_up([entry.candidate for entry in entries], block, options)
            learn_side_by_side(pool, entries, block, on_wait)
            count_differences(entries)
            if on_progress is not None:
                on_progress(entries)
    for entry in entries:
        entry.settle()
    return entries


def learn_side_by_side(
    pool: ThreadPoolExecutor,
    entries: Sequence[Entry],
    block: Block,
    on_wait: Callable[[list[str]], None] | None = None,
) -> None:
    """Let all learn a block; every `PATIENCE` seconds, pass the learners that have not finished to `on_wait`."""
    names = {pool.submit(entry.learn, block): entry.candidate.learner for entry in entries}
    waiting = set(names)
    while waiting:
        _, waiting = wait(waiting, PATIENCE if on_wait is not None else None)
        if waiting and on_wait is not None:
            on_wait([name for future, name in names.items() if future in waiting])
    for future in names:
        future.result()  # which raises what was raised


def begin_differences(entries: Sequence[Entry]) -> None:
    """Have the mistakes of candidates compared as they come."""
    differences = Differences(len(entries)) if len(entries) > 1 else None
    for place, entry in enumerate(entries):
        entry.differences, entry.place = differences, place


def count_differences(entries: Sequence[Entry]) -> None:
    """Compare the mistakes of the last block; no more of these candidates if some cannot be compared."""
    differences = entries[0].differences
    if differences is None:
        return
    mistakes = [entry.mistakes for entry in entries if entry.mistakes is not None]
    if len(mistakes) < len(entries):
        for entry in entries:
            entry.differences = None
        return
    if len(entries) < len(differences.sums):  # some were left out
        differences.keep([entry.place for entry in entries])
        for place, entry in enumerate(entries):
            entry.place = place
    differences.add(np.stack(mistakes))


def certainly_best(entries: Sequence[Entry]) -> Entry | None:
    """Return the candidate whose error rate is lower than that of each other, at the level of `confidence`, or None."""
    best = min(entries, key=lambda entry: entry.figure)
    differences = best.differences
    if differences is None or differences.examples == 0:
        return None
    others = [entry for entry in entries if entry is not best]
    return best if all(differences.certain(entry.place, best.place) for entry in others) else None


def that_fit(entries: Sequence[Entry], block: Block, on_refusal: Callable[[str], None] | None = None) -> list[Entry]:
    """The entries that can hold a block's features; an error if none can."""
    left = []
    refusals: dict[str, list[str]] = {}
    for entry in entries:
        try:
            entry.make_room_for(block)
            left.append(entry)
        except OuzelError as error:
            names = refusals.setdefault(str(error), [])
            if entry.candidate.learner not in names:
                names.append(entry.candidate.learner)
    for reason, names in refusals.items():
        if not left:
            raise OuzelError(reason)
        if on_refusal is not None:
            on_refusal(f"left out: {', '.join(names)}: {reason}")
    return left


def warm_up(candidates: Sequence[Candidate], block: Block, options: dict[str, Any]) -> None:
    """Have every kernel compiled that the candidates will need."""
    kinds = {
        (candidate.learner, candidate.l1 is None, candidate.budget is None, candidate.words): candidate
        for candidate in candidates
    }
    for candidate in kinds.values():
        Entry(candidate, **options).learn(block.slice(0, min(WARM_UP, block.rows)))


def best_of_rows(entries: Sequence[Entry]) -> list[list[Entry]]:
    """For each row of the table (a learner with one penalty and budget) the best, and all that tie with it."""
    rows: dict[Any, list[Entry]] = {}
    for entry in entries:
        rows.setdefault(entry.candidate.row, []).append(entry)
    best = []
    for row in rows.values():
        least = min(entry.figure for entry in row)
        best.append([entry for entry in row if entry.figure == least])
    return best
