"""Plots of tests of models: the confusion matrix, and the calibration of probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.evaluation.curve_plots import draw_calibration
from ouzel.plotting.axes import new_figure, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CLASSES = 30  # of a confusion matrix that is drawn
MOST_COUNTS = 12  # of one whose counts are written


def draw_tests(found: Mapping[str, Any], path: str | None) -> Figure:
    """Draw the confusion matrix of the first model, and the calibration of all models with probabilities."""
    name, first = next(iter(found.items()))
    confused = first.confusion is not None and 2 <= len(first.confusion) <= MOST_CLASSES
    calibration = {name: report.calibration for name, report in found.items() if report.calibration}
    if not (confused or calibration):
        raise OuzelError("there is nothing to draw: a test's picture is of classes and probabilities, not of numbers")
    figure = new_figure(width=4.6 * (confused + bool(calibration)))
    panels = list(figure.subplots(1, confused + bool(calibration), squeeze=False)[0])
    if confused:
        _draw_confusion(panels.pop(0), name, first)
    if calibration:
        draw_calibration(panels.pop(0), calibration)
    return save(figure, path)


def _draw_confusion(axes: Any, name: str, report: Any) -> None:
    counts = np.array(report.confusion, float)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    labels = [str(label) for label in report.classes[: len(counts)]]
    axes.set(xticks=range(len(labels)), yticks=range(len(labels)), xlabel="predicted", ylabel="true")
    axes.set_xticklabels(labels, rotation=45 if max(map(len, labels)) > 3 else 0)
    axes.set_yticklabels(labels)
    axes.set_title(f"{name}\n{report.examples:,} examples, shares of rows", fontsize=9)
    if len(labels) <= MOST_COUNTS:
        for row, column in np.ndindex(*counts.shape):
            dark = shares[row, column] > 0.5
            text = f"{counts[row, column]:,.0f}"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
