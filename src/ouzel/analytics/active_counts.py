"""Counts of the items in the active set, whose weights are logarithms of ratios of counts.

Outside of the active set an item's weight is that of the AWM-Sketch, by gradient steps (Tai et al. 2018, section 8).
For an item in the active set, its n1 positive and n2 negative examples are counted, and its weight is
    w = log((a1 n1 + 1 / rate) / (a2 n2 + 1 / rate)),
the logistic regression of one-sparse examples, solved: what gradient steps waver about, and what Newton's method, whose
steps fall with the information n1 n2 / (n1 + n2), arrives at; a1 and a2 are the importances of either class. The
pseudo-counts 1 / rate keep weights of rare items small, and comparable with those outside: n gradient steps from 0 in
one direction lead to log(1 + rate n), nearly, and so do n counts. This departs from the paper's Algorithm 2, whose
steps stay as large as they began: at the rate 0.5 a weight wavers by a half for ever.

Only n = n1 + n2 is stored next to the weight, 4 bytes: n1 is the whole number nearest to what w and n say of it, which
up to 2^24 examples is the right one in spite of single precision. From then on both counts are halved from time to
time, and later examples count more.

An item that enters with the weight w of the sketch had occurred before, unless it is collisions that gave it this
weight. For what was not counted stand (e^|w| - 1) / rate examples of the class that w points to, which make the weight
of its counts w again. One that enters while there is room had not occurred, and is counted from its first example.
"""

from __future__ import annotations

from math import exp, floor, log
from typing import NamedTuple

import numpy as np

from ouzel.analytics.sketch import ONE
from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import float64, uint32
from ouzel.learners.budget import awm
from ouzel.learners.budget.decaying_weights import SMALLEST_SCALE, next_step
from ouzel.sketches import active_set
from ouzel.sketches.active_set import fold
from ouzel.sketches.top_k import find, set_weight

ENTRY = 12  # bytes of an item in the active set: id, weight, number of examples
MOST = 1 << 24  # examples; beyond, counts are halved, both alike
LARGEST = 25.0  # |weight|: above that of any counts
SLOWEST = 1e-3  # steps below are taken for it when counts stand for them
DRIFT = 1.0 / 64  # of the balance of classes, up to which weights of counts stay what they are


class ItemCounts(NamedTuple):
    """Arrays with the counts of the items in the active set."""

    often: np.ndarray  # (k,) uint32  n: examples of each
    importances: np.ndarray  # (2,) float64  a1, a2: of positive and negative examples
    word: np.ndarray  # (1,) uint32  the slot at work


def layout(entries: int) -> ItemCounts:
    """Return the layout of the counts of `entries` items."""
    return ItemCounts(
        often=uint32(entries),
        importances=float64(2, fill=1.0, least=2.0**-53, most=1.0),
        word=uint32(1, scratch=True),
    )


@force_inline
def pseudo_counts(settings):
    """Return the pseudo-count that is added to each count of a weight."""
    return 1.0 / max(settings.learning_rate, SLOWEST)


@force_inline
def counts_at(state, item_counts, entry, pseudo):
    """Return the positive and negative examples of an entry."""
    often = np.float64(item_counts.often[entry])
    odds = exp(min(max(state.weights[entry] * state.scale[0], -LARGEST), LARGEST))
    first = (odds * (item_counts.importances[1] * often + pseudo) - pseudo) / (
        item_counts.importances[0] + odds * item_counts.importances[1]
    )
    first = min(max(floor(first + 0.5), 0.0), often)
    return first, often - first


@force_inline
def set_counts(state, item_counts, entry, first, second, pseudo):
    """Set the counts of an entry, and the weight that follows from them."""
    while first + second > MOST:
        first, second = floor(0.5 * first + 0.5), floor(0.5 * second + 0.5)
    item_counts.often[entry] = np.uint32(first + second)
    ratio = (item_counts.importances[0] * first + pseudo) / (item_counts.importances[1] * second + pseudo)
    set_weight(state, entry, np.float32(log(ratio) / state.scale[0]))


@force_inline
def learn_counted(state, slot, positive, item_counts, settings):
    """Learn an example of a slot; return its entry, -1 if it is not in the active set."""
    pseudo = pseudo_counts(settings)
    entry = find(state, slot)
    if entry >= 0:
        first, second = counts_at(state, item_counts, entry, pseudo)
        next_step(state, settings)
        if state.scale[0] < SMALLEST_SCALE:
            fold(state)
        set_counts(state, item_counts, entry, first + positive, second + (not positive), pseudo)
        return entry
    room = state.taken[0] < len(state.keys)
    importance = np.float32(item_counts.importances[0 if positive else 1])
    item_counts.word[0] = slot
    awm.learn_row(state, item_counts.word, ONE, 1.0 if positive else -1.0, importance, settings)
    entry = find(state, slot)
    if entry >= 0:
        weight = state.weights[entry] * state.scale[0]
        if room:
            set_counts(state, item_counts, entry, np.float64(positive), np.float64(not positive), pseudo)
        else:
            often = (exp(min(abs(weight), LARGEST)) - 1.0) * pseudo / item_counts.importances[0 if weight > 0.0 else 1]
            often = max(floor(often + 0.5), 1.0)
            set_counts(
                state, item_counts, entry, often if weight > 0.0 else 0.0, 0.0 if weight > 0.0 else often, pseudo
            )
    return entry


@force_inline
def balance(state, item_counts, first, second, settings):
    """Balance the classes: lower the importance of the more frequent of `first` positive, `second` negative examples.

    Weights of counts are renewed when the balance has drifted by more than a 64th.
    """
    first, second = max(np.float64(first), 1.0), max(np.float64(second), 1.0)
    if abs(item_counts.importances[0] * first - item_counts.importances[1] * second) <= DRIFT * min(first, second):
        return
    pseudo = pseudo_counts(settings)
    rare, common = min(1.0, second / first), min(1.0, first / second)
    for entry in range(state.taken[0]):
        positive, negative = counts_at(state, item_counts, entry, pseudo)
        ratio = (rare * positive + pseudo) / (common * negative + pseudo)
        set_weight(state, entry, np.float32(log(ratio) / state.scale[0]))
    item_counts.importances[0], item_counts.importances[1] = rare, common


@kernel
def _look_up(state, slots, item_counts, out, settings):
    for k in range(len(slots)):
        entry = find(state, slots[k])
        if entry >= 0:
            out[k, 0], out[k, 1] = counts_at(state, item_counts, entry, pseudo_counts(settings))


def counts_of(
    state: active_set.State, slots: np.ndarray, item_counts: ItemCounts, settings: awm.Settings
) -> np.ndarray:
    """Return positive and negative examples (n, 2) int64 of slots (n,) uint32, zeros outside the active set."""
    out = np.zeros((len(slots), 2), np.int64)
    _look_up(state, slots, item_counts, out, settings)
    return out
