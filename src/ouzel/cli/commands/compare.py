"""`ouzel compare`: trains learners with several settings side by side and reads the file once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from ouzel.cli import model_options, options
from ouzel.cli.model_options import GROUPS_OF_LEARNERS, LEARNER
from ouzel.cli.parameters import MODEL, Kind, only, option
from ouzel.errors import OuzelError
from ouzel.files import check_place
from ouzel.learners.catalogue import LEARNERS
from ouzel.ranges import Range, check

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
        from ouzel.evaluation.comparison.grid import candidates, learner_names, parse_grid, parse_range

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
    each: Annotated[bool, option("Compare on each file separately.")] = False,
    format: options.Format = None,
    columns: options.Reading,
    table: Annotated[
        str | None, option("Write the table to this file, by its suffix.", takes="CSV|MD|TEX", panel="Report")
    ] = None,
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
    chosen = candidates.chosen(given)
    model = {name: value for name, value in preparation.prepared.items() if value is not None}
    model["intercept"] = not preparation.no_intercept
    model |= {"bits": reading.get("bits", 18), "seed": reading.get("seed", 0)}
    model |= {"task": task.task, "pairs": task.pairs or 0} if task.task else {}
    from ouzel.cli.commands.contest import Contest

    contest = Contest(files, chosen, jobs, format, reading, model, plot, table, save_best, quiet=json_)

    def run(contest: Contest) -> list[dict[str, Any]]:
        if shuffles:
            from ouzel.cli.commands.compare_shuffles import compare_in_orders

            return compare_in_orders(contest, shuffles)
        from ouzel.cli.commands.compare_once import compare_once

        return compare_once(contest, top, reference, given)

    if each:
        from ouzel.cli.commands.compare_each import compare_each

        results = compare_each(contest, run)
    else:
        results = run(contest)
    if json_:
        from ouzel.evaluation.report import as_json

        print(json.dumps(as_json(results)))
    elif plot is not None:
        print(f"\nplot drawn in {plot}")


def _check_files(each: bool, shuffles: int, table: str | None, save_best: str | None) -> None:
    """Refuse files that could not be written at the end, before anything is read."""
    if save_best is not None and (each or shuffles):
        raise OuzelError("--save-best is of one reading; leave out --per-file and --shuffles")
    if table is not None:
        from ouzel.evaluation.comparison.tables import check_table_path

        check_table_path(table)
    if save_best is not None:
        check_place(Path(save_best))
