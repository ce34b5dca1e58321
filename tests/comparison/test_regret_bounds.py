"""Bounds of theorems on regret: above it, as slow computations have them, and absent where they do not hold."""

import numpy as np
import pytest

import ouzel
from ouzel.comparison.hindsight import best_fixed
from ouzel.comparison.regret import examples_of
from ouzel.comparison.regret_bounds import ADAGRAD, NEWTON, bound_of, within_bound
from ouzel.model.model import Model
from ouzel.terms.losses import Logistic, derivative

BOUNDED = {
    "adagrad": {},
    "adagrad-rda": {"damping": 4.0},
    "ons": {"largest": 3.0, "from_theory": "yes", "loss": "squared"},
}


def stream(numbers=False, rows=100):
    random = np.random.default_rng(3)
    X = (random.standard_normal((300, 3)) * (random.random((300, 3)) < 0.7)).astype(np.float32)
    targets = np.tanh(X @ np.array([0.5, -1.0, 0.2])) + 0.3 * random.standard_normal(300)
    return ouzel.blocks_from(X, np.clip(targets, -2.0, 2.0) if numbers else targets > 0.2, block_rows=rows)


@pytest.mark.parametrize("name", BOUNDED)
def test_regret_is_within_the_bound_of_the_theorem(name):
    numbers = BOUNDED[name].get("loss") == "squared"
    options = {"scale_targets": False} if numbers else {}
    (entry,) = ouzel.compare(name, stream(numbers), settings=BOUNDED[name], regret=True, **options).entries

    assert entry.regret.theorem == (NEWTON if name == "ons" else ADAGRAD)
    for point in entry.regret.curve:
        assert point.bound is not None
        assert point.regret <= point.bound


def slow_bound_of_adagrad(X, targets, best, rate, damping, dual):
    """Theorem 5, with AdaGrad itself in NumPy: the bound, and the weights at the end."""
    weights, squares, reach = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.abs(best).max()
    total = np.zeros(X.shape[1])
    for x, y in zip(X, targets, strict=True):
        gradient = derivative(Logistic(), float(weights @ x), y) * x
        reach = reach if dual else max(reach, np.abs(best - weights).max())
        squares, total = squares + gradient**2, total + gradient
        metric = damping + np.sqrt(squares)
        weights = -rate * total / metric if dual else weights - rate * gradient / metric
    size = np.sqrt(squares).sum()
    return damping / rate * (best @ best) + reach**2 * size / (rate if dual else 2.0 * rate) + rate * size, weights


@pytest.mark.parametrize("name", ["adagrad", "adagrad-rda"])
def test_the_bound_of_adagrad_is_that_of_a_slow_adagrad(name):
    (block,) = stream(rows=300)
    model = Model(name, learning_rate=0.5, damping=4.0)
    margins = model.learn(block).margins
    examples, best = examples_of(block, model, True), np.array([0.3, -0.5, 4.0, 1.0])

    bound, weights = slow_bound_of_adagrad(
        examples.matrix.toarray(), examples.targets, best, 0.5, 4.0, name == "adagrad-rda"
    )

    np.testing.assert_allclose(model.weights()[0, :4], weights, rtol=1e-4, atol=1e-5)
    assert bound_of(model, examples, margins, best) == pytest.approx(bound, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ogd", {}),  # no theorem is kept of it
        ("adagrad", {"l1": 0.1}),
        ("adagrad", {"standardize": True}),
        ("adagrad", {"forget": 100}),
        ("adagrad-rda", {"damping": 1e-3}),  # gradients are larger
        ("ons", {"largest": float("inf")}),
        ("ons", {"largest": 3.0, "curvature": 0.25}),  # more than the loss has
        ("ons", {"largest": 0.01, "curvature": 0.25}),  # the best predict more
    ],
)
def test_there_is_no_bound_where_the_assumptions_do_not_hold(name, options):
    (block,) = stream(rows=300)
    model = Model(name, **options)
    margins = model.learn(block).margins

    assert bound_of(model, examples_of(block, model, True), margins, np.ones(4)) is None


def test_weights_are_made_smaller_until_online_newton_may_have_them():
    (block,) = stream(rows=300)
    model = Model("ons", largest=0.5, from_theory="yes")
    margins = model.learn(block).margins
    examples = examples_of(block, model, True)
    best = best_fixed(*examples, loss=Logistic())

    weights, loss = within_bound(model, examples, best)

    assert bound_of(model, examples, margins, best.weights) is None
    assert bound_of(model, examples, margins, weights) is not None
    assert np.abs(examples.matrix @ weights).max() == pytest.approx(0.5)
    assert loss > best.loss
