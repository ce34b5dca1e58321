"""What `ouzel train` does: make or resume a model, learn, keep checkpoints, tell the result."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ouzel import persistence
from ouzel.cli.screen import Display, answer, aside, print_json
from ouzel.cli.train import DEFAULT_LEARNER
from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import Report, Validation
from ouzel.learners import catalogue
from ouzel.learners.settings import resolve_settings
from ouzel.models import Model
from ouzel.streams.reading import read
from ouzel.terms.names import to_json


def settings_given(pairs: list[str] | None, **named: Any) -> dict[str, Any]:
    """Settings from options of their own and from NAME=VALUE pairs."""
    given = {name: value for name, value in named.items() if value is not None}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise OuzelError(f"--set takes NAME=VALUE; got {pair!r}")
        given[name.replace("-", "_")] = value
    return given


class Run:
    """One run over some files."""

    def __init__(
        self,
        files: list[str],
        reading: dict[str, Any],
        learner: str | None,
        given: dict[str, Any],
        common: dict[str, Any],
        *,
        resume: Path | None,
        model: Path | None,
        quiet: bool,
    ) -> None:
        self.files = files
        self.reading = reading
        self.path = model
        self.quiet = quiet
        self.learnt_before = 0  # examples of these files that an interrupted run has learnt
        if resume is not None and resume == model and not resume.exists():
            aside.print(f"{resume} does not exist yet: starting from nothing")
            resume = None
        if resume is None:
            chosen = {name: value for name, value in common.items() if value is not None}
            self.model = Model(learner or DEFAULT_LEARNER, **chosen, **given)
        else:
            self.model, extra = persistence.load_model(resume)
            _check_no_contradiction(self.model, resume, learner, given, common)
            if extra.get("files") == files and not extra.get("finished"):
                self.learnt_before = int(extra["position"])
        self.stream = self._open()

    def learn(self, passes: int, holdout_every: int, point_every: int, checkpoint_every: int) -> Report:
        """Learn the files, saving on the way and at the end."""
        validation = Validation(self.model, holdout_every, point_every)
        report = validation.report
        position = 0  # examples of these files, over all passes
        saved = self.learnt_before
        with Display(self.stream, self.quiet) as display:
            for number in range(passes):
                if number:
                    self.stream = self._open()
                try:
                    for block in self.stream:
                        start = min(max(self.learnt_before - position, 0), block.rows)
                        position += start
                        block = block.slice(start, block.rows)
                        while block.rows:
                            room = checkpoint_every - position % checkpoint_every if checkpoint_every else block.rows
                            validation.learn(block.slice(0, room))
                            position += min(room, block.rows)
                            block = block.slice(min(room, block.rows), block.rows)
                            if checkpoint_every and position - saved >= checkpoint_every:
                                self._save(position, finished=False)
                                saved = position
                        report.skipped = self.stream.skipped
                        display.update(report)
                except OuzelError:
                    if self.path is not None and position:
                        self._save(position, finished=False)
                        aside.print(f"the {position:,} examples before this line are saved in {self.path}")
                    raise
                finally:
                    report.seconds_reading += self.stream.seconds
            validation.finish()
            display.update(report)
        if self.path is not None:
            self._save(position, finished=True)
        return report

    def _open(self) -> Any:
        return read(self.files, bits=self.model.bits, seed=self.model.seed, **self.reading)

    def _save(self, position: int, finished: bool) -> None:
        assert self.path is not None
        persistence.save(self.model, self.path, {"files": self.files, "position": position, "finished": finished})


def _check_no_contradiction(
    model: Model, path: Path, learner: str | None, given: dict[str, Any], common: dict[str, Any]
) -> None:
    """A setting given again must be the one in the file."""
    if learner is not None and catalogue.find(learner).name != model.learner.name:
        raise OuzelError(f"{path} holds a {model.learner.name} model; --learner {learner} contradicts it")
    for name, value in common.items():
        if value is not None and value != getattr(model, name):
            raise OuzelError(f"{path} was made with {name} {getattr(model, name)}; {value} contradicts it")
    stored = to_json(model.settings)
    asked = to_json(resolve_settings(model.learner, given))
    for name in given:
        field = "penalty" if name in ("l1", "l2") and name not in stored else name
        if asked[field] != stored[field]:
            raise OuzelError(f"{path} was made with {name} {_shown(stored[field])}; {given[name]} contradicts it")


def _shown(value: Any) -> str:
    return str(value) if not isinstance(value, dict) else " ".join(map(str, value.values()))


def feature_name(model: Model, feature: int) -> str:
    """What a person calls a feature."""
    if feature == -1:
        return "(intercept)"
    return model.names.name(feature) or str(feature)


def announce(report: Report, run: Run, top: int, path: Path | None, plot: Path | None, json: bool) -> None:
    """Print the result."""
    model = report.model
    if json:
        print_json(report.to_json())
        return
    for line in result_lines(report):
        answer.print(line)
    if top:
        show_top(model, top)
    if path is not None:
        answer.print(f"model written to {path} ({path.stat().st_size:,} bytes)")
    if plot is not None:
        answer.print(f"plot written to {plot}")


def result_lines(report: Report) -> list[str]:
    """The answer in a few lines."""
    model = report.model
    found = report.to_json()
    error = "RMSE" if model.task == "regression" else "error rate"
    lines = [
        f"{report.examples:,} examples, {model.dimension - 1:,} features, learner {model.learner.name}",
        f"{error} {report.error_rate:.5f}, mean loss {report.mean_loss:.5f}"
        + (f", AUC {found['auc']:.4f}" if found.get("auc") is not None else "")
        + (f", MAE {found['mae']:.5f}" if "mae" in found else ""),
    ]
    if report.holdout is not None and not math.isnan(report.holdout.error_rate):
        lines.append(f"held out: {report.holdout.examples:,} examples, {error} {report.holdout.error_rate:.5f}")
    total = report.seconds_reading + report.seconds_learning
    lines.append(
        f"{total:.2f} s ({report.seconds_reading:.2f} waiting for data, {report.seconds_learning:.2f} learning), "
        f"{report.nonzeros / max(total, 1e-9):,.0f} features/s"
    )
    if report.skipped:
        lines.append(f"{report.skipped:,} bad lines skipped")
    if model.unlabelled:
        lines.append(f"{model.unlabelled:,} examples without a label left out")
    return lines


def show_top(model: Model, n: int) -> None:
    """Tables of the heaviest features."""
    from rich.table import Table

    columns = model.top(n)
    known = model.classes.known
    order = model.classes.order() if len(columns) > 1 else [0]
    sign = -1.0 if len(columns) == 1 and model.classes.reversed_pair() else 1.0
    for k in order[:10]:
        positive = max(known, key=lambda label: (isinstance(label, str), label)) if len(known) == 2 else None
        title = f"class {known[k]}" if len(columns) > 1 else f"for {positive}" if positive is not None else ""
        table = Table(title=title or None, title_justify="left", box=None, padding=(0, 2, 0, 0))
        table.add_column("feature", overflow="fold")
        table.add_column("weight", justify="right")
        for feature, weight in columns[k]:
            table.add_row(feature_name(model, feature), f"{sign * weight:+.4f}")
        answer.print(table)
    if len(order) > 10:
        answer.print(f"… and {len(order) - 10} classes more; see `ouzel top`")
