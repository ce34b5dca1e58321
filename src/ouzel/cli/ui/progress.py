"""Progress of a stream on standard error: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ouzel.errors import listed, printable
from ouzel.evaluation.curve import ORIGIN, Point
from ouzel.evaluation.formatting import NAMES, figure, short
from ouzel.evaluation.metrics import Scores
from ouzel.evaluation.progressive import Run
from ouzel.kernels.announce import shown_by
from ouzel.model.tasks.task import Task
from ouzel.streams.block_stream import BlockStream

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from ouzel.model.model import Model

ERRORS, LOSSES = ("error so far", "since last"), ("loss so far", "since last")
LONGEST_TITLE = 18
DOUBTFUL = 200  # classes, from which on they may be numbers
MOST_SAID = 5  # labels of a line
ENOUGH = 1000  # examples, among which the positive label is looked for


class Screen:
    """Screen with the table of a run at powers of two, and its state; silent with `quiet`."""

    def __init__(self, title: str, stream: BlockStream | None = None, quiet: bool = False) -> None:
        self.quiet = quiet
        self.live = sys.stderr.isatty() and not quiet
        self.stream = stream
        self.title = title
        self.last = ORIGIN
        self.doubted = False
        self.label_sought = False  # whether the positive label was looked for
        self.remark: str | None = None  # the last one shown
        self.classes_before = self.classes_said = 0  # of a model that is resumed
        self.alarms = 0  # that were shown
        self.changed: set[tuple[str, bool]] = set()  # features whose alarms were shown
        self.begun = time.perf_counter()
        self.progress: Progress | None = None
        self.task: TaskID | None = None

    @cached_property
    def console(self) -> Console:
        """The terminal, on which lines are printed above what is live. Elsewhere Rich is not needed, nor imported."""
        from rich.console import Console

        return Console(stderr=True, highlight=False)

    def __enter__(self) -> Self:
        self._compiling = shown_by(self.say)
        self._compiling.__enter__()
        if self.live:
            self._begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._compiling.__exit__(kind, error, None)
        if self.live:
            self._end()

    def _begin(self) -> None:
        """Show the live line."""
        from ouzel.cli.ui.live_line import live_line

        self.progress = live_line(self.console)
        self.task = self.progress.add_task(clipped(self.title), total=None, standing="")
        self.progress.start()

    def _end(self) -> None:
        """Remove the live line."""
        if self.progress is not None:
            self.progress.stop()

    def say(self, line: str) -> None:
        """Print a line above the live one, unless the screen is quiet."""
        if not self.quiet:
            self.print(line)

    def print(self, line: str) -> None:
        """Print a line above the live one."""
        line = printable(line, but="\n")
        if self.live:
            self.console.print(line, soft_wrap=True, markup=False, emoji=False)
        else:
            print(line, file=sys.stderr)

    def show(self, run: Run) -> None:
        """Print the new rows of the run's table, and show its state."""
        if self.quiet:
            return
        self._doubt(run)
        self._say_absent_label(run)
        self._say_new_classes(run)
        if run.model.remark not in (None, self.remark):
            self.remark = run.model.remark
            self.say(run.model.remark)
        if run.alarm is not None and run.alarm.raised > self.alarms:
            for event in list(run.alarm.events)[self.alarms - run.alarm.raised :]:
                self.say(str(event))
            self.alarms = run.alarm.raised
        self._say_changes(run)
        for point in run.curve.powers_of_two():
            if point.examples > self.last.examples and point.examples & (point.examples - 1) == 0:
                self._row(point, run.model.task)
        self.show_scores(run.scores)

    def _doubt(self, run: Run) -> None:
        """Warn once if nearly every example has a class of its own."""
        classes, examples = len(run.model.classes), run.model.examples
        if not self.doubted and classes >= DOUBTFUL and 4 * classes > examples:
            self.doubted = True
            self.say(f"{classes:,} classes in {examples:,} examples: is this the label?")
            self.say("For numbers to predict stop (Ctrl-C), and choose --loss squared.")

    def _say_absent_label(self, run: Run) -> None:
        """Say once, after enough examples, that none of several labels is the positive one so far."""
        positive = None if self.stream is None else self.stream.options.label_positive
        if positive is None or self.label_sought or run.model.examples < ENOUGH:
            return
        self.label_sought = True
        if positive.absence is not None and len(positive.others) > 1 and 1 not in run.model.classes.known:
            self.say(f"so far {positive.absence}; to name another, stop (Ctrl-C) and give --label-positive LABEL")

    def resume(self, model: Model) -> None:
        """Note the classes of a model that goes on learning."""
        self.classes_before = self.classes_said = len(model.classes)

    def _say_new_classes(self, run: Run) -> None:
        """Say which labels a resumed model did not have, the first ones."""
        known, before, said = run.model.classes.known, self.classes_before, self.classes_said
        positive = None if self.stream is None else self.stream.options.label_positive
        if not 0 < before <= said < min(len(known), before + MOST_SAID) or positive is not None:
            return
        more, had = ([str(label) for label in some] for some in (known[said:], known[:before]))
        one, self.classes_said = len(more) == 1, len(known)
        labels = f"label {more[0]} is" if one else f"labels {listed(more, MOST_SAID)} are"
        learnt = "one more class" if one else "more classes"
        self.say(f"the {labels} new to the model, which has {listed(had, MOST_SAID)}: learnt as {learnt}")

    def _say_changes(self, run: Run) -> None:
        """Print the first alarm of each feature that has become higher, or lower."""
        changes = getattr(run.alarm, "changes", ())
        if changes:
            from ouzel.evaluation.input_alarm import first_of_each

            for change in first_of_each(changes, self.changed):
                self.say(str(change))

    def show_scores(self, scores: Scores, aside: str = "") -> None:
        """Show the state of the stream: examples, rate, error so far, and a further text."""
        seconds = max(time.perf_counter() - self.begun, 1e-9)
        name = "rmse" if scores.error_rate is None else "error_rate"
        error = f"{NAMES[name]} {figure(getattr(scores, name))}"
        size, position = (None, 0) if self.stream is None else (self.stream.size, self.stream.position)
        what = "pairs" if scores.task.groups else "examples"
        self._update(
            f"{scores.examples:,} {what} {short(scores.examples / seconds)}/s {error} {aside}",
            position if size else 0,
            size,
        )

    def step(self, done: int, total: int) -> None:
        """Show how many steps are done."""
        self._update(f"{done} of {total}", done, total)

    def wait(self, names: list[str]) -> None:
        """Show which learners a comparison waits for."""
        if self.progress is not None and self.task is not None:
            text = ", ".join(dict.fromkeys(names))
            self.progress.update(self.task, standing=f"waiting for {text if len(text) <= 40 else text[:39] + '…'}")

    def update(self, standing: str, completed: int = 0, total: int | None = None) -> None:
        """Show the state of other work, and how much of it is done."""
        self._update(standing, completed, total)

    def finish(self, run: Run) -> None:
        """Print the last row of the table."""
        points = run.curve.points
        if not self.quiet and points and points[-1].examples > self.last.examples:
            self._row(points[-1], run.model.task)

    def _update(self, standing: str, completed: int, total: int | None) -> None:
        if self.progress is not None and self.task is not None:
            self.progress.update(self.task, total=total, completed=completed, standing=standing)

    def _row(self, point: Point, task: Task) -> None:
        errors = not task.numbers
        if self.last is ORIGIN:
            names = ("pairs" if task.groups else "examples", *(ERRORS if errors else ()), *LOSSES)
            self.say("".join(f"{name:>14}" for name in names))
        since = point.since(self.last)
        numbers = [point.error_rate, since.error_rate] if errors else []
        numbers += [point.mean_loss, since.mean_loss]
        self.say(f"{point.examples:>14,}" + "".join(f"{in_column(number):>14}" for number in numbers))
        self.last = point


def clipped(title: str) -> str:
    """Shorten a title to its part of the live line.

    >>> clipped("rcv1_binary_sample.svm.xz")
    'rcv1_binary_sampl…'
    """
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"


def in_column(number: float) -> str:
    """Format a number in at most twelve characters.

    >>> in_column(0.25), in_column(1102423380000.0)
    ('0.2500', '1.1024e+12')
    """
    plain = f"{number:.4f}"
    return plain if len(plain) <= 12 else f"{number:.4e}"
