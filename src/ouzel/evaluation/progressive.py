"""Progressive validation: every example is predicted, then learnt, and the predictions are what is counted.

The figures are those of the first pass, in which no example had been seen when it was predicted; later passes, and
examples held out, are reported beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

from ouzel.deferred import deferred
from ouzel.errors import OuzelError, RoomError
from ouzel.evaluation.counts import Clock, FeaturesSeen
from ouzel.evaluation.curve import Curve
from ouzel.evaluation.formatting import NAMES, figure
from ouzel.evaluation.metrics import Scores
from ouzel.evaluation.report import Report, report_of
from ouzel.model.model import Model
from ouzel.model.room import own_model
from ouzel.model.tasks.task import Outcome
from ouzel.ranges import Count, Range, ranged
from ouzel.streams.block import Block
from ouzel.streams.block_stream import BlockStream, as_stream

if TYPE_CHECKING:
    from ouzel.evaluation import delay as delays
    from ouzel.evaluation import holdout, mistakes
    from ouzel.evaluation import input_alarm as alarms
else:
    alarms = deferred("ouzel.evaluation.input_alarm")
    delays = deferred("ouzel.evaluation.delay")
    mistakes = deferred("ouzel.evaluation.mistakes")
    holdout = deferred("ouzel.evaluation.holdout")

Passes = Annotated[int, Range(1, 1000, whole=True), "passes over the stream"]
Holdouts = Annotated[Count, "every n-th example is predicted and never learnt; 0 for none, else 2 or more"]
AlarmRate = Annotated[float, Range(0.0, 0.5), "rate of false alarms over the whole life; 0 for no alarms"]
Reading = Iterable[Block] | Callable[[], Iterable[Block]]


def progressive_validation(
    model: Any,
    stream: Reading,
    *,
    holdout_every: int = 0,
    passes: int = 1,
    alarm: float = 0.0,
    alarm_inputs: bool = False,
    delay: int | str = 0,
    on_progress: Callable[[Run], None] | None = None,
) -> Report:
    """Learn a stream and report how well each example was predicted before it was learnt.

    `model` is a `Model` or an estimator. With `holdout_every` every n-th example is predicted and never learnt. More
    than one pass needs a stream that can be read again: a list of blocks, or a function that opens a stream.
    With `delay` the label of each example comes so many examples late, or a time such as "2h" by the times that rows
    are named by (`id` of reading), and it is learnt then; examples of classes that no label has named yet are not
    predicted. With `alarm` the report's `drift` has rises of the error; if nothing changes, there is any with at most
    this probability. With `alarm_inputs` changes of frequent features raise alarms, too: `input_drift`.
    `on_progress` is called with the run after every block; without it, a notebook shows how far the stream is learnt.

    Examples
    --------
    >>> from ouzel.streams.memory import blocks_from
    >>> examples = [({"sun": 1.0}, "dry"), ({"cloud": 1.0}, "wet")] * 50
    >>> report = progressive_validation(Model("ogd"), blocks_from(examples))
    >>> report.examples, report.error_rate
    (100, 0.02)
    """
    watch: dict[str, Any] = {"alarm": alarm, "alarm_inputs": alarm_inputs, "delay": delay}
    run = Run(own_model(model, begin=True), holdout_every=holdout_every, passes=passes, **watch)
    from ouzel.evaluation.notebook import line_for

    line = line_for(None if callable(stream) else stream) if on_progress is None else None
    run.over(stream, on_progress if line is None else lambda run: line.tell(run.examples, _standing(run)))
    if line is not None:
        line.tell(run.examples, _standing(run), last=True)
    return run.report()


class Run:
    """One progressive validation under way: where it stands in its stream, what it has counted."""

    @ranged
    def __init__(
        self,
        model: Model,
        *,
        holdout_every: Holdouts = 0,
        passes: Passes = 1,
        alarm: AlarmRate = 0.0,
        alarm_inputs: bool = False,
        delay: int | str = 0,
    ) -> None:
        if holdout_every == 1:
            raise OuzelError("must be 2 or more, or 0 to hold out nothing; got 1", subject="holdout_every")
        if model.task.groups and holdout_every:
            raise OuzelError(
                "a ranking learns groups, of which holdout_every would hold out single examples; leave it out"
            )
        if alarm and model.task.groups:
            raise OuzelError("alarms watch the errors of examples, and a ranking learns groups; leave alarm out")
        if delay and (holdout_every or passes > 1):
            raise OuzelError("late labels are those of one pass, without held-out examples; leave out", delay=delay)
        self.model = model
        self.delayed = delays.late_labels(model, delay) if delay else None
        self.alarm = alarms.alarm_for(alarm, alarm_inputs, model.task.numbers) if alarm else None
        self.passes = passes
        self.holdout_every = holdout_every
        self.incomplete = False  # whether an error or an interruption fell into the learning of a block
        self.passed = 0  # passes ended
        self.row = 0  # examples of the present pass behind us, with or without a label
        self.by_pass = [Scores(model.task) for _ in range(passes)]
        self.curve = Curve(self.by_pass[0])
        self.holdouts = [holdout.Holdout(holdout_every, model) for _ in range(passes if holdout_every else 0)]
        self._waits: list[Any] = [*self.holdouts, *([self.delayed] if self.delayed else [])]
        self.features = FeaturesSeen()
        self.examples = 0  # of the first pass; in a ranking the scores count pairs
        self.nonzeros = 0
        self.skipped = 0
        self.clock = Clock()

    @property
    def scores(self) -> Scores:
        """The figures of the first pass."""
        return self.by_pass[0]

    @property
    def position(self) -> tuple[int, int]:
        """Passes ended and examples of the present pass behind us."""
        return self.passed, self.row

    @ranged
    def over(
        self,
        stream: Reading,
        on_progress: Callable[[Run], None] | None = None,
        checkpoint_every: Annotated[Count, "examples between two checkpoints; 0 for none"] = 0,
        on_checkpoint: Callable[[], None] | None = None,
    ) -> None:
        """Run over the rest of the stream; call `on_checkpoint` every `checkpoint_every` examples.

        A stream that `leaves_out` what the run has behind it begins with what comes then.
        """
        if self.passes > 1 and not callable(stream) and iter(stream) is stream:
            raise OuzelError("this stream can be read once only; for more passes give a function that opens it")
        while self.passed < self.passes:
            blocks = self._opened(stream) if callable(stream) else as_stream(stream)
            self._one_pass(blocks, on_progress, checkpoint_every, on_checkpoint)

    def _opened(self, stream: Callable[[], Iterable[Block]]) -> BlockStream:
        """Return a stream of its own; it emits names again, as a budgeted model forgets them."""
        blocks = as_stream(stream())
        if not self.model.budgeted:
            blocks.emit_names_once()
        return blocks

    def learn(self, block: Block) -> Outcome:
        """Learn a block that comes next, or hold out its part; return what was predicted before of what was learnt."""
        self.incomplete = True
        try:
            with self.clock.on("learning"):
                learnt = self._learn_and_count(block)
        except RoomError:
            self.incomplete = False
            raise
        self.incomplete = False
        return learnt

    @property
    def pending(self) -> bool:
        """Whether examples were held out that are not judged yet, or predicted that are not learnt yet."""
        return any(part.waiting for part in self._waits)

    def evaluate_pending(self) -> None:
        """Judge what was held out, and learn what waits for its label: before a run that was cut off is saved."""
        before = self.model.examples
        for part in self._waits:
            part.evaluate_pending()
        self.examples += self.model.examples - before

    def go_on(self, row: int) -> None:
        """Return to the first pass, after `row` of its examples: a log continues after its end."""
        self.passed, self.row = 0, row

    def go_on_watching(self, stored: dict[str, Any]) -> None:
        """Go on with the alarm of the run that gave `to_json`, if it had one."""
        if "alarm" not in stored:
            return
        try:
            self.alarm = alarms.restored(stored["alarm"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise OuzelError(f"what the file notes of its alarm is not sound ({error!r}); train it again") from None

    def report(self) -> Report:
        """The figures so far."""
        return report_of(self)

    def to_json(self) -> dict[str, Any]:
        """Where the run stands and all it has counted, no time; to be taken when `over` calls `on_checkpoint`."""
        return {
            "position": list(self.position),
            "by_pass": [scores.to_json() for scores in self.by_pass[: self.passed + 1]],
            "holdouts": [held_out.scores.to_json() for held_out in self.holdouts[: self.passed + 1]],
            "curve": self.curve.to_json(),
            "examples": self.examples,
            "nonzeros": self.nonzeros,
            **({} if self.alarm is None else {"alarm": self.alarm.to_json()}),
        }

    def restore(self, stored: dict[str, Any]) -> None:
        """Stand where the run stood that gave `to_json`; what no run can have given is an OuzelError."""
        try:
            self._restore(stored)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise OuzelError(f"what the file notes of its run is not sound ({error!r}); train it again") from None

    def _restore(self, stored: dict[str, Any]) -> None:
        self.passed, self.row = map(int, stored["position"])
        if not (0 <= self.passed <= self.passes and self.row >= 0):
            raise ValueError(f"position {self.position} of {self.passes} passes")
        classes = len(self.model.classes)
        for scores, part in zip(self.by_pass, stored["by_pass"], strict=False):
            scores.restore(part, classes)
        for held_out, part in zip(self.holdouts, stored["holdouts"], strict=False):
            held_out.scores.restore(part, classes)
        self.curve.restore(stored["curve"])
        self.go_on_watching(stored)
        self.nonzeros = int(stored["nonzeros"])
        self.examples = int(stored.get("examples", self.scores.examples))

    def _one_pass(
        self,
        blocks: BlockStream,
        on_progress: Callable[[Run], None] | None,
        checkpoint_every: int,
        on_checkpoint: Callable[[], None] | None,
    ) -> None:
        stretch = self.holdouts[0].stretch if self.holdouts else 1
        due = self.row + checkpoint_every
        behind = 0 if blocks.leaves_out else self.row  # examples learnt before a checkpoint
        while True:
            with self.clock.on("reading"):
                block = next(blocks, None)
                if block is not None:
                    self.features.add(block)
            if block is None:
                break
            start = min(behind, block.rows)
            behind -= start
            while start < block.rows:
                stop = block.rows
                if self.holdouts:
                    stop = min(stop, start + stretch - self.row % stretch)
                if checkpoint_every and stretch == 1 and not self.model.task.groups:  # these stay whole
                    stop = min(stop, start + due - self.row)
                self.learn(block.slice(start, stop))
                start = stop
                if on_checkpoint is not None and checkpoint_every and self.row >= due and self.row % stretch == 0:
                    due = self.row + checkpoint_every
                    on_checkpoint()
                if on_progress is not None and self.holdouts and start < block.rows:
                    on_progress(self)
            self.skipped = blocks.skipped
            if on_progress is not None:
                on_progress(self)
        self.skipped = blocks.skipped
        self.evaluate_pending()
        self.passed, self.row = self.passed + 1, 0

    def _learn_and_count(self, block: Block) -> Outcome:
        rows = block.rows
        self.nonzeros += block.nonzeros
        held_out = self.holdouts[self.passed] if self.holdouts else None
        if held_out is not None:
            block = held_out.divide(block, self.row)
        before = self.model.examples
        parts = self.delayed.learn(block) if self.delayed else [self.model.learn(block, unseen=not self.passed)]
        watching = None if self.passed else self.alarm
        for learnt in parts:
            if watching is not None:
                watching.add(mistakes.errors_of(self.model.task, learnt))
            (self.by_pass[self.passed] if self.passed else self.curve).add(learnt)
        if watching is not None:
            watching.see(self.model, block)
        if not self.passed:
            self.examples += self.model.examples - before
        self.row += rows
        if held_out is not None and self.row % held_out.stretch == 0:
            held_out.evaluate_pending()
        return learnt


def _standing(run: Run) -> str:
    """The error so far, in words."""
    scores = run.scores
    name = "rmse" if scores.task.numbers else "error_rate"
    return f"{NAMES[name]} {figure(getattr(scores, name))}"
