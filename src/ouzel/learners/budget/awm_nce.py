"""AWM-Sketch for many classes, learnt by noise-contrastive estimation.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section 9: a sketch for
each of M classes, the prediction the class of highest score; and for large M, where every example would be learnt M
times, the reduction of Gutmann & Hyvarinen (2010), "Noise-contrastive Estimation", AISTATS, to a binary problem: tell
the true class from k classes drawn from a noise distribution q, here the frequencies of the classes seen so far. Of a
pair of example x and class c with score s_c(x), the log-odds of "true" are
    s_c(x) - log(k q(c)),
so that each of 1 + k pairs is one update of logistic regression. Scores then tend to log p(c | x), without a sum over
classes. A class may be drawn more than once, and the true one, too.

What a sketch learns is how far an example raises its class above the class's frequency: with s_c(x) = log q(c) + u_c(x)
the log-odds are u_c(x) - log k, and a class of which nothing is known yet is predicted as often as it comes. (Sketches
of s itself would first have to learn that each of many classes is rare, one update at a time.) Predictions take q with
one more example of every class.

An example is learnt 1 + k times instead of M times; but all M scores are computed, as predictions need them. With
`scored` 0 nothing is predicted while learning (scores are not numbers), which is what makes many classes fast. Each
class has the whole budget, 4 bytes of it for its count. Draws repeat with the seed.
"""

from __future__ import annotations

from math import log
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.layout import float64, made_from, uint64
from ouzel.learners.budget import awm
from ouzel.learners.budget.awm import learn_shifted
from ouzel.learners.budget.settings import fields
from ouzel.learners.gains.parts import First, Gains
from ouzel.learners.loops import learning_scores, predicting_scores
from ouzel.learners.shared_settings import byte_budget
from ouzel.ranges import SWITCH, Range
from ouzel.sketches import active_set, reservoir
from ouzel.sketches.reservoir import random_word
from ouzel.terms.losses import Logistic

BUDGETED = True
MULTICLASS = True
LOSS = Logistic()
SHARED = ("tables", "rows", "cells", "signed")  # of a sketch, alike for all classes

score_row = awm.predict_row


class State(NamedTuple):
    keys: np.ndarray  # (classes, k) uint32  here and below as in active_set.State, a row a class
    weights: np.ndarray  # (classes, ...) float32
    bounds: np.ndarray  # (classes, ceil(k / 64) + 1) float32
    places: np.ndarray  # (classes, 2^p) uint16, see top_k
    taken: np.ndarray  # (classes, 1) int64
    tables: np.ndarray  # (depth, 4, 256) uint32
    rows: np.ndarray  # (depth,) float32
    cells: np.ndarray  # (1024,) uint32
    signed: np.ndarray  # (1024,) float32
    scale: np.ndarray  # (classes, 2) float64
    counts: np.ndarray  # (classes,) float64  examples of each class: q times their number
    random: np.ndarray  # (2,) uint64  nothing; state of the random numbers


FIELDS: Any = fields(
    "loss",
    budget=(Annotated[float, byte_budget(20.0, each=9), "bytes to keep for each class"], 8192.0),
    noise=(Annotated[float, Range(1.0, 65536.0, whole=True), "k, classes drawn an example"], 10.0),
    scored=(Annotated[bool, SWITCH, "predict an example before it is learnt"], True),
)


class Settings(FIELDS):
    """Settings of noise-contrastive estimation."""


def _sketches(state: State) -> list[active_set.State]:
    """The sketch of each class, its arrays shared with the state."""
    named = dict(zip(active_set.State._fields, state, strict=False))
    return [
        active_set.State(**{name: array if name in SHARED else array[c] for name, array in named.items()})
        for c in range(len(state.counts))
    ]


def _stacked(sketches: list[active_set.State], counts: np.ndarray, random: np.ndarray) -> State:
    """One state of many sketches."""
    first = sketches[0]
    arrays = [
        getattr(first, name) if name in SHARED else np.stack([getattr(sketch, name) for sketch in sketches])
        for name in active_set.State._fields
    ]
    return State._make([*arrays, counts, random])


def _settings(settings: Settings) -> awm.Settings:
    return awm.Settings(LOSS, settings.budget - 4.0, *settings[1:-2])


def layout(dimension: int, classes: int, settings: Settings) -> State:
    """What a state for so many classes is made of; it takes any slot, whatever the dimension."""
    sketch = awm.layout(dimension, _settings(settings))
    arrays = [
        part if name in SHARED else part._replace(shape=(classes, *part.shape))
        for name, part in sketch._asdict().items()
    ]
    return State._make([*arrays, float64(classes, least=0.0), uint64(2)])


def begin(state: State, settings: Settings) -> None:
    """Let whatever comes enter any class, and hash and draw as the seed says."""
    active_set.begin(state, int(settings.sketch_seed))
    reservoir.begin(state.random, int(settings.sketch_seed))


init, grow = made_from(layout, begin)


def check(state: State, settings: Settings) -> None:
    """Refuse sketches whose slots could not be found."""
    for sketch in _sketches(state):
        active_set.check(sketch)


@force_inline
def _sketch(state, c):
    """The sketch of a class."""
    return active_set.State(
        state.keys[c],
        state.weights[c],
        state.bounds[c],
        state.places[c],
        state.taken[c],
        state.tables,
        state.rows,
        state.cells,
        state.signed,
        state.scale[c],
    )


@force_inline
def _draw(state, total):
    """A class drawn by the frequencies so far."""
    left = total * (np.float64(random_word(state.random) >> np.uint64(11)) + 0.5) / 9007199254740992.0
    c = 0
    while c < len(state.counts) - 1 and left >= state.counts[c]:
        left -= state.counts[c]
        c += 1
    return c


@force_inline
def predict_row(state, indices, values, settings, scores):
    """Write the scores (classes,) of one example."""
    total = state.counts.sum() + len(scores)
    for c in range(len(scores)):
        scores[c] = score_row(_sketch(state, c), indices, values, settings) + log((state.counts[c] + 1.0) / total)


@force_inline
def learn_row(state, indices, values, target, importance, settings, scores):
    """Learn one example in place; `scores` (classes,) takes the predictions made before learning."""
    if settings.scored > 0.0:
        predict_row(state, indices, values, settings, scores)
    else:
        scores[:] = np.nan
    if importance == 0.0:
        return
    state.counts[target] += 1.0
    total = state.counts.sum()
    shift = -log(max(settings.noise, 1.0))
    for draw in range(max(int(settings.noise), 1) + 1):
        c = np.int64(target) if draw == 0 else np.int64(_draw(state, total))
        sign = 1.0 if draw == 0 else -1.0
        learn_shifted(_sketch(state, c), indices, values, sign, importance, shift, LOSS, settings)


learn_rows = learning_scores(learn_row)
predict_rows = predicting_scores(predict_row)


def top(state: State, n: int, settings: Settings, classes: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Slots and weights of the n heaviest of each class; of two classes, of the second's less the first's."""
    own, sketches = _settings(settings), _sketches(state)
    if classes > 2:
        return [awm.top(sketch, n, own) for sketch in sketches[:classes]]
    slots = members(state).astype(np.uint32)
    weights = awm.estimates(sketches[1], slots, own) - awm.estimates(sketches[0], slots, own)
    order = np.lexsort((slots, -np.abs(weights)))[:n]
    return [(slots[order].astype(np.int64), weights[order])]


def members(state: State) -> np.ndarray:
    """Slots in the active set of any class."""
    return np.unique(np.concatenate([awm.members(sketch) for sketch in _sketches(state)]))


def bytes_used(state: State) -> int:
    """4 bytes for each id and each weight, and for each count of a class."""
    return sum(awm.bytes_used(sketch) + 4 for sketch in _sketches(state))


def gains(base: State, state: State, settings: Settings) -> Gains:
    """What a worker has learnt beyond its base, of each class as of an awm; counts add up."""
    pairs = zip(_sketches(base), _sketches(state), strict=True)
    counted = state.counts - base.counts
    return {
        "sketches": {str(c): awm.gains(*pair, _settings(settings)) for c, pair in enumerate(pairs)},
        "counts": counted,
        "random": First((float(counted.sum()), int(state.random[1])), state.random),
    }


def onto(base: State, gains: Gains, settings: Settings) -> State:
    """The average model of each class (see awm); random numbers go on as with who has learnt most."""
    own, parts = _settings(settings), gains["sketches"].values()
    merged = [awm.onto(sketch, part, own) for sketch, part in zip(_sketches(base), parts, strict=True)]
    random = gains["random"].content if gains["counts"].any() else base.random
    return _stacked(merged, base.counts + gains["counts"], random.copy())
