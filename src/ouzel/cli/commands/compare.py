"""`ouzel compare`: trains learners with several settings side by side and reads the file once."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from ouzel.cli import model_options, options
from ouzel.cli.model_options import GROUPS_OF_LEARNERS, LEARNER
from ouzel.cli.parameters import MODEL, Kind, choice, only, option
from ouzel.cli.ui.outputs import titled
from ouzel.errors import OuzelError
from ouzel.files import check_place
from ouzel.learners import catalogue
from ouzel.learners.catalogue import LEARNERS
from ouzel.ranges import Range, check

if TYPE_CHECKING:
    from ouzel.comparison.compare import Comparison
    from ouzel.comparison.grid import Candidate
    from ouzel.comparison.one_pass import Entry

JOBS = Range(1, 1024, whole=True)


LEARNERS_LISTED = Kind("LEARNERS", words=lambda: (*GROUPS_OF_LEARNERS, *LEARNERS), listed=True)


@dataclass(frozen=True)
class Candidates:
    """Options of the learners that are compared, and of their settings."""

    panel: ClassVar = "Learner"
    learners: Annotated[
        str,
        option(
            "Names a,b,c; all, all-multiclass, all-budgeted; module:name of River's or scikit-learn's.",
            takes=LEARNERS_LISTED,
        ),
    ] = "ogd,adagrad"
    step_sizes: Annotated[str | None, option("2^-3:2^6, 1e-3:1e1, or 0.1,0.5.", takes="RANGE")] = None
    l1: Annotated[str | None, option("Strengths of the l1 penalty: 1e-8:1e-1.", takes="RANGE")] = None
    budget: Annotated[str | None, option("Byte budgets: 2KB,4KB,8KB.", takes="BYTES,…")] = None
    grid: Annotated[
        list[str] | None,
        option("Values of any setting: sketch_size=5,10; may be repeated.", takes="NAME=RANGE"),
    ] = None

    def chosen(self, settings: dict[str, Any]) -> list[Any]:
        """Return the candidates, all with these settings where they have them."""
        from ouzel.comparison.grid import candidates, learner_names, parse_grid, parse_range

        return candidates(
            learner_names(self.learners),
            steps=parse_range(self.step_sizes) if self.step_sizes else (),
            l1=parse_range(self.l1) if self.l1 else (),
            budgets=self.budget.split(",") if self.budget else (),
            settings=settings,
            grid=dict(map(parse_grid, self.grid or ())),
        )


def compare(
    files: options.Files,
    *,
    candidates: Candidates,
    task: model_options.Task,
    learning: Annotated[model_options.Learning, only("loss", "l2", "set_")],
    preparation: model_options.Preparation,
    top: Annotated[
        int,
        option("Show the recovery error of this number of the largest weights, against --reference.", panel="Report"),
    ] = 0,
    reference: Annotated[
        str,
        option("Learner without a budget against which recovery is measured.", takes=LEARNER, panel="Report"),
    ] = "unbounded",
    shuffles: Annotated[int, option("Number of random orders, in memory: mean and standard deviation.")] = 0,
    jobs: Annotated[int, option("Learners that run at the same time.", "-j")] = 1,
    delay: options.Delay = None,
    regret: Annotated[
        bool,
        option("Regret against the best fixed weights in hindsight, in memory; with the bounds of theorems."),
    ] = False,
    each: Annotated[bool, option("Compare on each file separately.")] = False,
    format: options.Format = None,
    columns: options.Reading,
    table: Annotated[
        str | None, option("Write the table to this file, by its suffix.", takes="CSV|MD|TEX", panel="Report")
    ] = None,
    columns_as: Annotated[
        str,
        option("With --per-file: what the columns of --table are.", takes=choice("files", "learners"), panel="Report"),
    ] = "files",
    save_best: Annotated[
        str | None,
        option("Write the model with the lowest error here.", takes=MODEL, panel="Saving and resuming"),
    ] = None,
    plot: options.Plot = None,
    json_: options.Json = False,
) -> None:
    """Train many learners and settings in one pass, and show the best of each learner.

    Example: ouzel compare a9a.svm.xz --learners ogd,son-oja
    """
    reading, given = columns.keywords(), learning.settings
    if task.task == "ranking" and shuffles:
        raise OuzelError("--shuffles takes examples apart that a ranking needs in groups; leave one of them out")
    check("--jobs", JOBS, jobs)
    options.check_counts(shuffles=shuffles, top=top, pairs=task.pairs)
    options.check_plot(plot)
    _check_files(each, shuffles, table, save_best)
    if columns_as != "files" and not (each and table):
        raise OuzelError("--columns-as applies to the table of --per-file; give --per-file and --table FILE too")
    chosen = candidates.chosen(given)
    model = {name: value for name, value in preparation.prepared.items() if value is not None}
    model["intercept"] = not preparation.no_intercept
    model |= {"bits": reading.get("bits", 18), "seed": reading.get("seed", 0)}
    model |= {"task": task.task, "pairs": task.pairs or 0} if task.task else {}
    contest = Contest(
        chosen, jobs, format, reading, model, shuffles, quiet=json_, delay=options.delay_of(delay), regret=regret
    )
    if top:
        contest = replace(contest, top=top, reference=reference_of(reference, given))
    found = contest.on_each(files) if each else contest.on(files)
    if table is not None:
        found.write(table, columns_as)
    if save_best is not None:
        contest.save(min(found.entries, key=lambda entry: entry.figure).model, save_best)
    if plot is not None:
        found.plot(plot)
    if json_:
        from ouzel.evaluation.report import as_json

        results: list[dict[str, Any]] = found.to_json()
        if each:
            results = [row | {"file": file} for row, file in zip(results, files, strict=True)]
        print(json.dumps(as_json(results)))
    elif plot is not None:
        print(f"\nplot drawn in {plot}")


@dataclass(frozen=True)
class Contest:
    """Candidates, and how they read and learn each of several streams; it shows what it finds unless `quiet`."""

    chosen: list[Candidate]
    jobs: int
    format: str | None
    reading: dict[str, Any]  # options of the stream
    model: dict[str, Any]  # options of the models
    shuffles: int
    quiet: bool
    reference: Candidate | None = None
    top: int = 0
    delay: int | str = 0  # of labels, in examples or a time
    regret: bool = False

    def on(self, files: list[str]) -> Comparison:
        """Compare on files as one stream."""
        from ouzel.cli.ui.progress import Screen
        from ouzel.comparison.compare import Watch, run
        from ouzel.comparison.one_pass import certainly_best
        from ouzel.comparison.results import name_of
        from ouzel.comparison.shuffles import join
        from ouzel.streams.label_remarks import classes_in
        from ouzel.streams.read import read

        title = f"{self.shuffles} orders" if self.shuffles else f"{len(self.chosen)} candidates"
        with Screen(title, quiet=self.quiet) as screen:
            decided: list[str] = []

            def show(entries: list[Entry]) -> None:
                screen.show_scores(entries[0].scores)
                best = None if decided else certainly_best(entries)
                if best is not None:
                    decided.append(name_of(best.candidate))
                    examples = f"{best.scores.examples:,} examples"
                    screen.say(f"{decided[0]} is better than every other after {examples}, with 95 % at any time")

            watch = Watch(
                show,
                lambda done: screen.step(done, self.shuffles),
                screen.wait,
                screen.say,
                lambda done, rows: screen.update(f"best fixed weights of {done:,} of {rows:,} examples"),
            )
            settings = {
                "delay": self.delay,
                "regret": self.regret,
                "jobs": self.jobs,
                "reference": self.reference,
                "top": self.top,
                "watch": watch,
                **self.model,
            }
            with read(files, format=self.format, **self.reading) as stream:
                screen.stream = stream
                block = join(stream) if self.shuffles else stream.first()
                remarks = classes_in(block) if self.labels_decide else []
                if not self.shuffles:
                    found = run(self.chosen, stream, title=titled(files), **settings)
                for line in [*stream.remarks, *remarks]:
                    screen.say(line)
                if stream.options.label_positive is not None:
                    stream.options.label_positive.require_seen(titled(files))
            if self.shuffles:
                found = run(self.chosen, block, shuffles=self.shuffles, title=titled(files), **settings)
        if not self.quiet:
            self._show(found)
        return found

    def on_each(self, files: list[str]) -> Comparison:
        """Compare on each file separately; the table has a column for each, and mean ranks."""
        from ouzel.comparison.compare import Comparison
        from ouzel.comparison.results import title_of

        found: dict[str, Comparison] = {}
        for file in files:
            if not self.quiet:
                print(f"{file}:\n")
            found[title_of(file, found)] = self.on([file])
            if not self.quiet:
                print()
        whole = Comparison((), (), files=found)
        if not self.quiet:
            self._show(whole)
        return whole

    @property
    def labels_decide(self) -> bool:
        """Whether labels alone decide between classes and numbers: no task and no loss is given."""
        from ouzel.model.tasks.choose import learns_numbers

        learners = [LEARNERS.get(entry.learner) for entry in self.chosen if "loss" not in entry.settings]
        return "task" not in self.model and any(found is not None and learns_numbers(found) for found in learners)

    def save(self, model: Any, path: str) -> None:
        """Write the best model with its reading options; raise an OuzelError if it is another library's."""
        from ouzel.model import persistence
        from ouzel.model.model import Model

        if not isinstance(model, Model):
            raise OuzelError(f"--save-best: the least error is that of {model.learner.name}, which only it can save")
        persistence.save(model, path, {"reading": self.reading})
        print(f"model of {model.learner.name} written to {path}", file=sys.stderr)

    def _show(self, found: Comparison) -> None:
        from ouzel.cli.ui.tables import show
        from ouzel.evaluation.formatting import figure

        show(found.table)
        if found.reference is not None:
            best = f"{found.reference.candidate.learner} (error {figure(found.reference.figure)})"
            print(f"recovery: of the {found.top} heaviest weights, against {best}")


def reference_of(learner: str, settings: dict[str, Any]) -> Candidate:
    """Return the candidate that recovery is measured against."""
    from ouzel.comparison.grid import Candidate

    fields = catalogue.find(learner).settings._fields
    fixed = {name: value for name, value in settings.items() if name in fields}
    return Candidate(learner, None, None, None, fixed)


def _check_files(each: bool, shuffles: int, table: str | None, save_best: str | None) -> None:
    """Refuse files that could not be written at the end, before anything is read."""
    if save_best is not None and (each or shuffles):
        raise OuzelError("--save-best is of one reading; leave out --per-file and --shuffles")
    if table is not None:
        from ouzel.comparison.tables import check_table_path

        check_table_path(table)
    if save_best is not None:
        check_place(Path(save_best))
