"""Features as sketched online Newton sees them: by a scale for each, which follows the gradients.

Three views, by `Settings.diagonal` and `Settings.normalised`:
- as they are;
- D^-1/2 x, D the sums of squared gradients, `first_square` to begin with (Luo et al. 2016, section 5.2);
- normalised: c D^-1/4 x / n, n the largest size of each feature, D the sums of squared gradients of x / n, and
  c^4 = t / N with N the sum of all squared lengths of x / n.

The last is the default. A step on D^-1/4 x is AdaGrad's own, D^-1/2 g, where one on D^-1/2 x falls as 1 / t: what is
sketched falls with it, so that the first examples outweigh all others for good, and the sketch has nothing to add.
With n and c, as in the normalised updates of Ross, Mineiro & Langford (2013), units and lengths do not matter. A
value larger than any seen of its feature counts, in predictions, as the largest seen.

As printed, D has the gradients before an example alone (`earlier`); then a feature's first step is longer than all
after it by |x| over the root of D, which ruins what is learnt from features in the hundreds. Otherwise, as in the
paper's own experiments by Vowpal Wabbit, only predictions are made so, and what is sketched and the step have the
current one too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.sketches.spectral.low_rank_table import LEAD, square_of


@force_inline
def is_normalised(settings):
    """Whether features are normalised."""
    return settings.diagonal and settings.normalised


@force_inline
def first_scale(settings):
    """The scale of a slot first seen: D^-1/2, or D^-1/4 for a largest size of 1."""
    if settings.diagonal:
        return settings.first_square ** (-0.25 if settings.normalised else -0.5)
    return 1.0


@force_inline
def level(lengths):
    """c: lengths (2,) are t and N."""
    return np.sqrt(np.sqrt(lengths[0] / lengths[1])) if lengths[1] > 0.0 else 1.0


@force_inline
def view(state, indices, values, settings, work):
    """Write an example's values as they are seen to `work.scaled`; return how many slots with a value are new.

    What is known of the slots goes to `work.scales` and `work.largest`: arithmetic on it takes four features at once.
    """
    new, table = 0, state.sketch.table
    scaled, scales, largest = work.scaled, work.scales, work.largest
    for k in range(len(indices)):
        scales[k] = table[indices[k], 1]
        new += scales[k] == 0.0 and values[k] != 0.0
    if is_normalised(settings):
        c = level(state.lengths)
        for k in range(len(indices)):
            largest[k] = state.largest[indices[k]]
        for k in range(len(indices)):
            scaled[k] = c * scales[k] * min(max(np.float64(values[k]), -largest[k]), largest[k])
    else:
        for k in range(len(indices)):
            scaled[k] = scales[k] * values[k]
    return new


@force_inline
def measure(state, indices, values, settings, work):
    """Note the largest sizes, and the length of an example so measured."""
    if is_normalised(settings):
        largest, parts = work.largest, work.parts
        for k in range(len(indices)):
            if abs(values[k]) > largest[k]:
                _grow(state, indices[k], abs(values[k]))
                work.scales[k], largest[k] = state.sketch.table[indices[k], 1], abs(values[k])
        for k in range(len(indices)):
            parts[k] = values[k] / (largest[k] if largest[k] > 0.0 else 1.0)
        square = square_of(parts, len(indices))
        if square > 0.0:  # what has no features says nothing of lengths
            state.lengths[0] += 1.0
            state.lengths[1] += square


@force_inline
def _grow(state, slot, size):
    """Measure a slot by a larger size from now on."""
    before = state.largest[slot]
    state.sketch.table[slot, 1] *= (before if before > 0.0 else 1.0) / np.float64(size)
    state.largest[slot] = size


@force_inline
def adapt(state, indices, values, slope, settings, work):
    """Add g^2 to D, and write to `work.scaled` the example as the step sees it."""
    scaled, scales, table = work.scaled, work.scales, state.sketch.table
    if is_normalised(settings):
        c = level(state.lengths)
        for k in range(len(indices)):
            root = values[k] * scales[k]  # (x / n) D^-1/4
            part = slope * root * scales[k] * work.largest[k]  # g D^-1/2
            scales[k] /= np.sqrt(np.sqrt(1.0 + part * part))
            scaled[k] = c * (root if settings.earlier else values[k] * scales[k])
    elif settings.diagonal:
        for k in range(len(indices)):
            root = values[k] * scales[k]
            part = slope * root
            scales[k] /= np.sqrt(1.0 + part * part)
            scaled[k] = root if settings.earlier else values[k] * scales[k]
    if settings.diagonal:
        for k in range(len(indices)):
            table[indices[k], 1] = scales[k]


def fade_scales(state: Any, kept: float, settings: Any) -> None:
    """Decay D, no further than to where it began; weights of the features as they are stay."""
    if not settings.diagonal:
        return
    sketch = state.sketch
    table, before = sketch.table, sketch.table[:, 1].copy()
    weight = (table * sketch.coefficients).sum(axis=1) * before  # row by row, so that the bits of one are its own
    ratio, first = kept ** (-0.25 if settings.normalised else -0.5), np.full(len(table), first_scale(settings))
    if settings.normalised:
        first = np.divide(first, state.largest, out=first, where=state.largest > 0.0)
    table[:, 1] = np.where(before > 0.0, np.minimum(before * ratio, first), 0.0)
    sketch.coefficients[LEAD:] /= ratio
    table[:, 0] = 0.0
    scaled = np.divide(weight, table[:, 1], out=np.zeros_like(weight), where=before > 0.0)
    table[:, 0] = scaled - (table * sketch.coefficients).sum(axis=1)
