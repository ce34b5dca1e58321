"""Small streams of several classes, and how the learners of several classes take them."""

import numpy as np

from ouzel.learners import catalogue
from ouzel.learners.rows import Rows
from ouzel.model.settings import resolve_settings

GAUSSIAN = ["cw", "cw-variance", "arow", "scw1", "scw2", "narow", "nherd", "iellip"]
FULL = [f"{name}-full" for name in ("sop", *GAUSSIAN)]
FIRST_ORDER = ["perceptron", "perceptron-uniform", "ogd-multiclass", "pa", "pa1", "pa2", "romma", "aromma", "alma"]
ALL = ["elementwise-ons", *FIRST_ORDER, "sop", *GAUSSIAN, *FULL]


def stream(n, d, classes, seed):
    """Dense X (n, d) and the classes (n,) of a noisy linear rule."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(3).astype(np.float32).astype(float)
    return X, (X @ rng.normal(size=(d, classes)) + rng.normal(size=(n, classes))).argmax(axis=1)


def rows_of(X, keep_zeros=False):
    """X as rows, zeros left out or stored."""
    kept = np.ones(X.shape, bool) if keep_zeros else X != 0.0
    offsets = np.concatenate([[0], kept.sum(axis=1).cumsum()]).astype(np.uint64)
    return Rows(offsets, np.nonzero(kept)[1].astype(np.uint32), X[kept].astype(np.float32))


def learn(name, X, y, classes, *, importance=1.0, state=None, rows=None, **given):
    """(module, state, scores before learning, settings) after a pass."""
    learner = catalogue.find(name)
    settings = resolve_settings(learner, given)
    state = learner.module.init(X.shape[1], classes, settings) if state is None else state
    scores = np.empty((len(y), classes))
    importances = np.full(len(y), importance, np.float32)
    rows = rows_of(X) if rows is None else rows
    learner.module.learn_rows(state, rows, y.astype(np.int64), importances, settings, scores)
    return learner.module, state, scores, settings
