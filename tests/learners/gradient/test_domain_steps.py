"""`from_domain` sets what the corollaries ask, and regret on that domain is below their bounds."""

import numpy as np
import pytest

import ouzel
from ouzel.learners.catalogue import find
from ouzel.model.settings import resolve_settings
from ouzel.terms.losses import Logistic, derivative, value
from tests.learners.streams import dense, sparse_rows

DIMENSION, ROUNDS, RADIUS = 8, 300, 2.0


def constrained(X, y):
    """A vector of small loss in the l2 ball, by projected gradient descent."""
    w = np.zeros(DIMENSION)
    for _ in range(500):
        w += 0.5 / len(X) * X.T @ (y / (1 + np.exp(y * (X @ w))))
        w *= min(1.0, RADIUS / np.linalg.norm(w))
    return w


@pytest.mark.interpreted
@pytest.mark.parametrize("full", [False, True], ids=["corollary-6", "corollary-11"])
@pytest.mark.parametrize("dual", [False, True], ids=["mirror-descent", "dual-averaging"])
@pytest.mark.parametrize("noise", [0.3, 30.0], ids=["separable", "random-labels"])
def test_regret_on_the_domain_is_below_the_bound(full, dual, noise):
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 3, seed=1, noise=noise)
    rows = rows._replace(values=np.clip(rows.values, -1.0, 1.0))
    X = dense(rows, DIMENSION)
    learner = find(f"adagrad-{'full' if full else 'eager'}{'-rda' if dual else ''}")
    settings = resolve_settings(learner, {"penalty": f"l2-ball(radius={RADIUS})", "from_domain": True})
    margins, state = np.empty(ROUNDS), learner.module.init(DIMENSION, settings)
    learner.module.learn_rows(state, rows, targets, np.ones(ROUNDS, np.float32), settings, margins)
    slopes = np.array([derivative(Logistic(), p, t) for p, t in zip(margins, targets, strict=True)])
    for T in (20, 80, 300):
        best = constrained(X[:T], targets[:T])
        pairs = zip(margins, X[:T] @ best, targets[:T], strict=False)
        regret = sum(value(Logistic(), p, t) - value(Logistic(), q, t) for p, q, t in pairs)
        G = slopes[:T, None] * X[:T]
        gradients = np.linalg.norm(G, "nuc") if full else np.linalg.norm(G, axis=0).sum()
        bound = (2.0 * RADIUS if dual else 2.0 * RADIUS * np.sqrt(2.0)) * gradients
        bound += settings.damping * (best @ best if not full else RADIUS)

        assert regret <= bound


def test_steps_are_those_of_the_corollaries():
    box = {"penalty": "box(low=-1, high=2)", "from_domain": True}
    mirror, dual = (resolve_settings(find(f"adagrad-eager{rda}"), box) for rda in ("", "-rda"))

    assert (mirror.learning_rate, mirror.damping) == (3.0 / np.sqrt(2.0), 0.0)
    assert (dual.learning_rate, dual.damping) == (2.0, 1.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "from_domain needs a domain for the weights"),
        ({"penalty": "l2-ball(radius=1)", "loss": "squared", "dual_averaging": True}, "needs a loss of bounded slope"),
    ],
)
def test_what_has_no_bound_is_refused(given, message):
    with pytest.raises(ouzel.OuzelError, match=message):
        resolve_settings(find("adagrad-full"), {"from_domain": True, **given})
