"""The labels of numbers to predict: their moments and range, and what setting these anew makes of the models."""

from __future__ import annotations

from math import isfinite, sqrt

from ouzel.kernels.jit import inline_source
from ouzel.learners.auto import outliers
from ouzel.learners.auto.number_gains import (
    BOLD,
    BOLD_SQUARES,
    DEVIATIONS,
    HIGH,
    LOW,
    MEAN,
    RECORD,
    SAFE,
    SAFE_SQUARES,
    WEIGHT,
)
from ouzel.learners.auto.standardisation import CONSTANT

TINY = 1e-300  # beside a number that is divided by


@inline_source
def note_label(state, target, weight, centred):
    """Welford's update of the moments and range of labels; their spread about mean or 0, and the label as it counts."""
    labels = state.labels
    first, variance = labels[WEIGHT] == 0.0, labels[DEVIATIONS] / max(labels[WEIGHT], TINY)
    gap = target - labels[MEAN]
    sound = variance > CONSTANT * labels[MEAN] * labels[MEAN]
    counts = outliers.counted_gap(labels[RECORD:], target, gap, variance, sound)
    if counts != gap:
        target = labels[MEAN] + counts
    labels[LOW] = target if first else min(labels[LOW], target)
    labels[HIGH] = target if first else max(labels[HIGH], target)
    labels[WEIGHT] += weight
    change = target - labels[MEAN]
    labels[MEAN] = min(max(labels[MEAN] + change * (weight / labels[WEIGHT]), labels[LOW]), labels[HIGH])
    labels[DEVIATIONS] += max(weight * change * (target - labels[MEAN]), 0.0)
    variance = labels[DEVIATIONS] / labels[WEIGHT]
    return sqrt(variance if centred else variance + labels[MEAN] ** 2), target


@inline_source
def review_labels(state, centred):
    """Set mean and spread of the labels anew where a window shows that they are wrong; the models go along.

    The factor that the weights were multiplied by is returned, or 0 if nothing changed.
    """
    labels = state.labels
    mean, before = labels[MEAN], labels[DEVIATIONS] / labels[WEIGHT]
    low, high = labels[RECORD + outliers.WINDOW + outliers.LOW], labels[RECORD + outliers.WINDOW + outliers.HIGH]
    moved, variance = outliers.reviewed_numbers(labels[RECORD:], mean, before)
    square = variance / before if centred else (variance + moved * moved) / (before + mean * mean)
    unit = 0.0
    if variance != before and before > 0.0 and isfinite(square):
        labels[MEAN], labels[DEVIATIONS], labels[LOW], labels[HIGH] = moved, variance * labels[WEIGHT], low, high
        unit = sqrt(square)
        for slot in range(len(state.table)):
            row = state.table[slot]
            row[SAFE] *= unit
            row[BOLD] *= unit
            row[SAFE_SQUARES] *= square
            row[BOLD_SQUARES] *= square
        for place in range(len(state.block.weights)):
            state.block.weights[place, 0] *= unit
    return unit
