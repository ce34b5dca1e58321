"""Output of a training: status lines and checkpoints by time while it waits for its stream; at its end the plotted
curve, metrics added to a table, and the report with the important features.
"""

from __future__ import annotations

import json
import textwrap
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ouzel.cli.ui.column_tables import ROWS, TWO_SCALES, columns_to_show
from ouzel.cli.ui.outputs import Written, added_to, titled, write_outputs
from ouzel.deferred import deferred
from ouzel.errors import OuzelError, printable
from ouzel.evaluation.formatting import WIDTH, feature_lines, fitting, importance_lines, named, ranking, settings

if TYPE_CHECKING:
    from ouzel.cli.ui.progress import Screen
    from ouzel.evaluation.report import Report
    from ouzel.model import importance
    from ouzel.model.importance import Ranked
    from ouzel.model.model import Model
    from ouzel.training.session import Session
else:
    importance = deferred("ouzel.model.importance")

MOST_CLASSES_SHOWN = 20
JSON_EVERY = 10.0  # seconds between two lines of JSON
LINE_EVERY = 60.0  # seconds between two lines on a screen that is not a terminal
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class OutputOptions(NamedTuple):
    """Options of the output of a training, apart from its model."""

    plot: str | None
    to: str | None
    top: int
    as_json: bool


class Figures(Protocol):
    """Further figures of a training."""

    @property
    def facts(self) -> list[str]:
        """Lines for a screen."""

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON values."""


def report_training(
    options: OutputOptions,
    report: Report,
    model: Model,
    files: Sequence[str],
    output: str | None,
    saved: Written,
    more: Mapping[str, Figures | None] = MappingProxyType({}),
) -> None:
    """Write the outputs of a training on `files`, with `more` figures; `saved` is the output of its model file."""
    figures = {name: given for name, given in more.items() if given is not None}

    def draw(path: str) -> None:
        report.plot(path, f"{titled(files)}, {report.examples:,} examples")

    def answer() -> dict[str, Any]:
        added = {name: given.to_json() for name, given in figures.items()}
        return {**report.to_json(), "model": output, **added}

    def show() -> None:
        show_answer(model, report, options.top)
        for given in figures.values():
            print("\n".join(map(printable, given.facts)))

    added = added_to(options.to, files, lambda: [{"model": output, **vars(report)}])
    write_outputs([saved, (options.plot, "curve drawn in", draw), added], answer if options.as_json else None, show)


def show_answer(model: Model, report: Report, top: int) -> None:
    """Print the summary to standard output."""
    print()
    heading = f"{report.learner}  {settings(report.settings)}"
    print(textwrap.fill(heading, WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False))
    for name, value in report.facts:
        print(f"  {name:<13}{printable(value)}")
    if top > 0:
        _show_features(model, top)
    for warning in report.warnings:
        print("\n" + textwrap.fill(f"warning: {printable(warning)}", WIDTH))
    print()


def _show_features(model: Model, top: int) -> None:
    """Print the most important features, and before them the columns of a table, if they are several and others.

    A learner of a byte budget forgets the names of light features, and so does not know their columns.
    """
    features = named(importance.most_important(model, top))
    columns: list[tuple[Any, Ranked]] = []
    if model.space.kinds and not model.budgeted:
        ranked = importance.column_importance(model)
        shown = columns_to_show(model, features, [columns for _, columns in ranked])
        columns = [(label, of_table) for (label, _), of_table in zip(ranked, shown, strict=True) if len(of_table) > 1]
    rows, of_class = min(top, ROWS), len(features) > 1
    print()
    if columns:
        print(f"most important columns{' of each class' if of_class else ''}")
        if of_class:
            _show_classes(
                [(label, [f"{name} {size:.3g}" for name, size in of_table[:rows]]) for label, of_table in columns]
            )
        for line in [] if of_class else importance_lines("column", columns[0][1], rows):
            print(line)
        print()
    if of_class:
        by = "" if model.budgeted else " (effect of one standard deviation)"
        print(f"{ranking(model)} features of each class{by}")
        effects = [(label, [each for each in column[:top] if each.effect]) for label, column in features]
        _show_classes([(label, [f"{each.name} {each.effect:+.3g}" for each in column]) for label, column in effects])
    else:
        label, column = features[0]
        speaks = label is not None and len(model.classes) > 1  # of one class alone weights have no side
        print(f"{ranking(model)} features" + (f" (positive weights speak for {printable(label)})" if speaks else ""))
        for line in feature_lines(column):
            print(line)
    if columns:
        print(f"\n{TWO_SCALES}")


def _show_classes(rows: list[tuple[Any, list[str]]]) -> None:
    """Print a line of each class: as many of its names and figures as fit."""
    for label, parts in rows[:MOST_CLASSES_SHOWN]:
        shown = fitting([*map(printable, parts)], WIDTH - 13, "  ")
        print(f"  {printable(label):<10} " + "  ".join(shown))
    if len(rows) > MOST_CLASSES_SHOWN:
        print(f"  … and of {len(rows) - MOST_CLASSES_SHOWN:,} more: ouzel top MODEL")


def checkpoints_of(text: str | None, output: str | None) -> tuple[int, float]:
    """Return the examples and the seconds between two checkpoints of the model `output`; 0 for none.

    >>> checkpoints_of("1000", "m"), checkpoints_of("30s", "m"), checkpoints_of(None, None)
    ((1000, 0.0), (0, 30.0), (0, 0.0))
    """
    if text is None:
        return 0, 0.0
    if text.isdigit():
        return int(text), 0.0
    number, unit = text[:-1], text[-1:]
    if number.isdigit() and int(number) and unit in UNITS:
        if output is None:
            raise OuzelError("--checkpoint-every needs --model OUT: the file to write")
        return 0, int(number) * UNITS[unit]
    raise OuzelError(f"--checkpoint-every takes a number of examples, or a time such as 30s, 5m or 1h; got {text!r}")


class Heartbeat:
    """Callback that saves and reports while a training waits."""

    def __init__(self, session: Session, screen: Screen, every: float, json_: bool) -> None:
        self.session, self.screen, self.every, self.json_ = session, screen, every, json_
        self.begun = self.reported = self.saved = time.monotonic()
        self.first = session.model.examples

    def beat(self) -> None:
        """Save the model and report the status when they are due."""
        session, now = self.session, time.monotonic()
        if session.opened_at is None:
            return
        due = bool(self.every) and now - self.saved >= self.every and session.saved != session.model.examples
        if due and not session.run.pending:
            session.save(finished=False)
            self.saved = time.monotonic()
        behind = None if session.log_stream is None else session.log_stream.lag
        self.screen.show_scores(session.run.scores, "" if behind is None else f"{behind:,} behind")
        endless = session.following or {}
        if not endless.get("follow") and not endless.get("until"):
            return
        if self.json_ and (now - self.reported >= JSON_EVERY or (due and self.saved >= now)):
            from ouzel.evaluation.report import as_json

            print(json.dumps(as_json(self._standing(behind))), flush=True)
            self.reported = now
        elif not (self.json_ or self.screen.live) and now - self.reported >= LINE_EVERY:
            self.screen.say(_words(self._standing(behind)))
            self.reported = now

    def _standing(self, behind: int | None) -> dict[str, Any]:
        model, scores = self.session.model, self.session.run.scores
        join_stats = None if self.session.log_stream is None else self.session.log_stream.join_stats
        seconds = max(time.monotonic() - self.begun, 1e-9)
        return {
            "examples": model.examples,
            "examples_per_second": round((model.examples - self.first) / seconds, 1),
            "behind": behind,
            "saved": self.session.saved,
            "error_rate": scores.error_rate,
            "mean_loss": scores.mean_loss,
            **({} if join_stats is None else {"joined": join_stats.to_json()}),
        }


def _words(standing: dict[str, Any]) -> str:
    """Return the status of a training in one line."""
    parts = [f"{standing['examples']:,} examples", f"{standing['examples_per_second']:,.0f}/s"]
    if standing["error_rate"] is not None:
        parts.append(f"error {standing['error_rate']:.4f}")
    if standing["behind"] is not None:
        parts.append(f"{standing['behind']:,} behind")
    saved = "nothing saved" if standing["saved"] is None else f"{standing['saved']:,} saved"
    return time.strftime("%H:%M:%S ") + ", ".join([*parts, saved])
