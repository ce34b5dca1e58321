"""River's benchmark page compared with Ouzel's default: progressive validation in the files' own order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ouzel.estimators.online import OnlineClassifier, OnlineRegressor
from ouzel.evaluation.progressive import progressive_validation
from ouzel.evaluation.report import Report
from reproduce.benchmarks.plots import draw_strips
from reproduce.benchmarks.published import CLASSES, NUMBERS, Measure, page
from reproduce.benchmarks.river_sets import is_available, river_datasets, stream_of
from reproduce.provenance import DataFolder
from reproduce.writing import listed, markdown_table, write_report

NAME = "river"
DEFAULT = "Ouzel"
OURS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    f"{DEFAULT}, half-life 1000": {"forget": 1000.0},
    f"{DEFAULT}, pa1 standardised": {"learner": "pa1", "standardize": True},
    f"{DEFAULT}, arow standardised": {"learner": "arow", "standardize": True},
    f"{DEFAULT}, adagrad standardised": {"learner": "adagrad", "standardize": True},
}
"""The default with no setting at all, and others whose settings are chosen by hand."""
QUICK = ("Phishing", "ChickWeights")


class Column(NamedTuple):
    """A column of the page, published and ours."""

    measure: Measure
    published: dict[str, float]
    ours: dict[str, float]

    @property
    def rank(self) -> int:
        """The place of the default among all models of the page: one more than those that are better."""
        sign = 1.0 if self.measure.greater_is_better else -1.0
        mine = self.ours[DEFAULT]
        return 1 + sum(sign * figure > sign * mine for figure in self.published.values())

    @property
    def best(self) -> str:
        """The best model of the page."""
        choose = max if self.measure.greater_is_better else min
        return choose(self.published, key=self.published.__getitem__)

    def losses(self, figures: dict[str, float]) -> list[float]:
        """Figures as errors: what is missing to 1 of a share, otherwise themselves."""
        return [1.0 - figure if self.measure.greater_is_better else figure for figure in figures.values()]


def f1(report: Report) -> float:
    """Return the F1 of the second class, the positive one."""
    assert report.confusion is not None
    table = np.array(report.confusion)
    right, wrong = table[1, 1], table[0, 1] + table[1, 0]
    return float(2 * right / (2 * right + wrong)) if right + wrong else 0.0


def figure_of(report: Report, figure: str) -> float:
    """One figure of the page by its name there."""
    if figure == "F1":
        return f1(report)
    return float(getattr(report, figure.lower()))


class SetResult(NamedTuple):
    """Reports of our learners on a set, and seconds of processor of the default once its kernels are compiled."""

    reports: dict[str, Report]
    seconds: float


def validate(data: DataFolder, name: str, settings: dict[str, Any]) -> Report:
    """Validate one learner progressively on a set."""
    kind = OnlineRegressor if name in NUMBERS else OnlineClassifier
    with stream_of(data, name) as stream:
        return progressive_validation(kind(**settings), stream)


def evaluate(data: DataFolder, name: str) -> SetResult:
    """Validate our learners on a set."""
    found = {}
    for title, settings in OURS.items():
        if name in NUMBERS and settings.get("learner") in ("pa1", "arow"):
            continue
        found[title] = validate(data, name, settings)
        print(f"{name}: {title}", flush=True)
    begun = os.times().user
    validate(data, name, OURS[DEFAULT])
    return SetResult(found, os.times().user - begun)


def run(data: DataFolder, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Write and print the tables of classes and of numbers; draw the errors of all models, set by set."""
    for name in ("elec2.csv.xz", "smtp.csv.xz") if not quick else ("elec2.csv.xz",):
        data / name
    river_datasets()
    names = [name for name in (*CLASSES, *NUMBERS) if (name in QUICK or not quick) and is_available(name)]
    away = [name for name in (*CLASSES, *NUMBERS) if not quick and name not in names]
    found = {name: evaluate(data, name) for name in names}
    columns = page()
    placed = [
        Column(
            measure,
            published,
            {title: figure_of(report, measure.figure) for title, report in found[measure.set_name].reports.items()},
        )
        for measure, published in columns.items()
        if measure.set_name in found
    ]
    unknown = [measure for measure in columns if measure.set_name in away]
    of_classes = [column for column in placed if column.measure.greater_is_better]
    of_numbers = [column for column in placed if not column.measure.greater_is_better]
    parts = [
        "## Classes: accuracy, and F1 where it is said",
        table(of_classes, [columns[measure] for measure in unknown], unknown),
        "## Numbers",
        table(of_numbers, [], []),
        "## More of the default",
        details_table(found),
    ]
    draw_strips(
        output / f"{NAME}.png",
        {
            column.measure.title: (column.losses(column.published), column.losses(column.ours)[0])
            for column in placed
            if column.measure.figure in ("accuracy", "RMSE")
        },
        "error, the default's = 1",
        ("models of River's page", "Ouzel, no setting"),
    )
    title = "River's benchmark page, compared with the default learner"
    write_report(output, NAME, title, "\n\n".join(parts), conclusion(placed, away), f"ouzel reproduce {NAME}")


def table(placed: Sequence[Column], more: Sequence[dict[str, float]], unknown: Sequence[Measure]) -> str:
    """A line a model, those of the page first; then the place of the default, `–` where a set is not at hand."""
    published = [*(column.published for column in placed), *more]
    models = list(dict.fromkeys(model for figures in published for model in figures))
    head = ["model", *(column.measure.title for column in placed), *(measure.title for measure in unknown)]
    digits = [number_of_digits(column.measure) for column in placed] + [4] * len(unknown)
    lines = [
        [model, *(formatted(column.get(model), count) for column, count in zip(published, digits, strict=True))]
        for model in models
    ]
    for title in OURS:
        figures = [column.ours.get(title) for column in placed]
        if any(figure is not None for figure in figures):
            cells = (formatted(figure, count) for figure, count in zip(figures, digits, strict=False))
            lines.append([f"**{title}**", *cells, *("–" for _ in unknown)])
    ranks = (f"{column.rank} of {len(column.published) + 1}" for column in placed)
    lines.append([f"place of {DEFAULT}", *ranks, *("–" for _ in unknown)])
    return markdown_table(head, lines)


def number_of_digits(measure: Measure) -> int:
    """Digits after the point: SMTP has one positive in 3,000."""
    return 6 if measure == Measure("SMTP", "accuracy") else 4 if measure.greater_is_better else 3


def formatted(figure: float | None, digits: int) -> str:
    """A figure, or a dash."""
    return "–" if figure is None else f"{figure:.{digits}f}"


def details_table(found: dict[str, SetResult]) -> str:
    """Table of the default's examples, log-losses, areas under the ROC curve, and seconds."""
    lines = []
    for name, (reports, seconds) in found.items():
        report = reports[DEFAULT]
        losses = "–" if report.log_loss is None else f"{report.log_loss:.4f}"
        area = "–" if report.auc is None else f"{report.auc:.4f}"
        lines.append([name, f"{report.examples:,}", losses, area, f"{seconds:.2f}"])
    return markdown_table(["set", "examples", "log-loss", "AUC", "seconds"], lines)


def conclusion(placed: Sequence[Column], away: Sequence[str]) -> str:
    """Sentences on the protocol, and on the ranks of the default."""
    won = [column.measure.title for column in placed if column.rank == 1]
    lost = [f"{column.measure.title} ({column.rank}, behind {column.best})" for column in placed if column.rank > 1]
    missing = (
        f"{listed(list(away))}: not at hand, as River fetches them from the network; run again after it has."
        if away
        else ""
    )
    return f"""{REMARKS} The default is first on {listed(won)}; it is not on {listed(lost)}. {missing}"""


REMARKS = """
Published: docs/benchmarks of online-ml/river at 7468665, the figures after the last example; each example is predicted
and then learnt, in the order of the file. River's linear models stand behind its StandardScaler there; models whose
first answers are none are not asked to answer for those, ours count every example. The default is
`ouzel.OnlineClassifier()` or `ouzel.OnlineRegressor()` on `ouzel.read(file)`. Its seconds are of processor, with
writing River's set as a table and reading it, on a shared machine; River's are of runs that measured memory as well,
and are not quoted.
"""
