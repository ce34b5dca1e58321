"""Test of a model on labelled examples that it does not learn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.errors import DataError
from ouzel.evaluation.formatting import NAMES, figure
from ouzel.evaluation.metrics import Scores, confusion_in_order
from ouzel.evaluation.report import as_json, of_answers
from ouzel.model.model import Model
from ouzel.model.room import own_model
from ouzel.streams.block import Block
from ouzel.streams.block_stream import as_stream
from ouzel.streams.labels import tidy

SHOWN = 5  # classes that an error names

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class TestReport:
    """Figures of a model on a stream; what does not apply to its task is not among them."""

    __test__ = False  # the name is not one of a test of ours

    learner: str
    task: str
    examples: int  # predicted; of a ranking, pairs
    left_out: int  # without a label, or of a class that the model does not know
    figures: dict[str, float]
    rare_class: Any  # the rarer of two classes, which average precision, precision, recall and F1 are of
    classes: list[Any]
    confusion: list[list[int]] | None  # rows are the true class, columns the predicted, in the order of `classes`
    calibration: list[tuple[float, float]]  # (mean probability, share that came true) of bins
    calibration_before: list[tuple[float, float]]  # the same before probabilities are recalibrated
    calibration_error_before: float | None
    intervals: list[dict[str, Any]]  # for each level: coverage, size, in all and over time

    def plot(self, path: str | None = None) -> Figure:
        """Draw the confusion matrix and calibration; write an .svg, .png or .pdf file if named.

        Returns a figure of matplotlib, which a notebook shows.
        """
        from ouzel.evaluation.confusion_plots import draw_tests

        return draw_tests({self.learner: self}, path)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The figures for people: a name and a line of each."""
        left_out = f"   {self.left_out:,} left out" if self.left_out else ""
        shown = [(NAMES.get(name, name.replace("_", " ")), figure(value)) for name, value in self.figures.items()]
        return [*shown, ("examples", f"{self.examples:,}{left_out}")]

    def _repr_html_(self) -> str:
        from ouzel.evaluation import html_tables

        return html_tables.facts(self.learner, self.task, self.facts)

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        found: dict[str, Any] = as_json(self.__dict__)
        return found


def evaluate(model: Any, stream: Iterable[Block]) -> TestReport:
    """The figures of a model, or of an estimator, on the labelled examples of a stream; nothing is learnt.

    Raises DataError if no example has a label that the model knows.

    Examples
    --------
    >>> from ouzel.streams.memory import blocks_from
    >>> examples = [({"sun": 1.0}, "dry"), ({"cloud": 1.0}, "wet")] * 50
    >>> model = Model("ogd")
    >>> for block in blocks_from(examples):
    ...     outcome = model.learn(block)
    >>> evaluate(model, blocks_from([*examples, ({"sun": 1.0}, "snow")])).figures["error_rate"]
    0.0
    """
    own: Model = own_model(model)
    scores = Scores(own.task)
    rows = predicted = 0
    unknown: Any = None
    has_columns = False
    for block in as_stream(stream):
        has_columns = has_columns or bool(block.space.kinds)
        outcome = own.evaluate(block)
        scores.add(outcome)
        rows += block.rows
        predicted += block.rows if own.task.groups else len(outcome.targets)
        unknown = _first_label(block) if unknown is None and not scores.examples else unknown
    if not scores.examples:
        known = ", ".join(map(repr, own.classes.in_order()[:SHOWN])) + ", …" * (len(own.classes) > SHOWN)
        labels = f" that the model knows: the first is {unknown!r}, the model has {known}" if known else ""
        lacking = f"no example has a label{'' if unknown is None else labels}"
        if not has_columns:
            raise DataError(f"{lacking}; give examples with labels of the model")
        raise DataError(f"{lacking}; name the column of labels with", label="COLUMN")
    figures = {name: figure for name, figure in scores.figures().items() if figure is not None}
    order = own.classes.order()
    return TestReport(
        learner=own.learner.name,
        task=own.task.name,
        examples=scores.examples,
        left_out=rows - predicted,
        figures=figures,
        rare_class=None if scores.rare_class is None else own.classes.known[scores.rare_class],
        classes=[own.classes.known[place] for place in order],
        confusion=confusion_in_order(scores, order),
        **of_answers(own, scores),
    )


def _first_label(block: Block) -> Any:
    """The first label of a block; None if it has none."""
    labels = block.labels[~np.isnan(block.labels)]
    if not len(labels):
        return None
    return tidy(labels[0]) if block.label_names is None else block.label_names[int(labels[0])]
