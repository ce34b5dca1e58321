"""Each Gaussian learner takes the step that its paper's problem has as solution, with two classes and with more."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtri

from ouzel.learners import catalogue
from ouzel.learners.gaussian.confidence_weighted import normal_quantile
from ouzel.model.settings import resolve_settings
from tests.learners.classes import GAUSSIAN, learn, stream
from tests.oracles.margin_rules import PHI, RULES, margins, scores

D = 3


def divergence(w, S, w0, S0):
    """Kullback-Leibler divergence of N(w, S) from N(w0, S0)."""
    P0, shift = np.linalg.inv(S0), w - w0
    return 0.5 * (np.linalg.slogdet(S0)[1] - np.linalg.slogdet(S)[1] + np.trace(P0 @ S) + shift @ P0 @ shift - len(w))


def solve(name, w0, S0, x, y):
    """Mean and covariance that solve the problem in which the paper defines the rule."""
    d = len(w0)
    below = np.tril_indices(d)

    def unpack(p):
        L = np.zeros((d, d))
        L[below] = p[d:-1]
        L[np.diag_indices(d)] = np.exp(np.diag(L))
        return p[:d], L @ L.T

    def short(p):
        """How far the margin is from what the confidence asks for."""
        w, S = unpack(p)
        spread = x @ S @ x
        return PHI * (spread if name == "cw-variance" else np.sqrt(spread)) - y * (w @ x)

    def cost(p):
        w, S = unpack(p)
        price = {"arow": 0.5 * (max(0.0, 1 - y * (w @ x)) ** 2 + x @ S @ x), "scw1": p[-1], "scw2": p[-1] ** 2}
        return divergence(w, S, w0, S0) + price.get(name, 0.0)

    L0 = np.linalg.cholesky(S0)
    start = np.concatenate([w0, np.where(np.eye(d), np.log(np.diag(L0)), L0)[below], [0.0]])
    start[-1] = max(0.0, short(start))
    soft = name.startswith("scw")
    rules = [] if name == "arow" else [{"type": "ineq", "fun": lambda p: (p[-1] if soft else 0.0) - short(p)}]
    rules += [{"type": "ineq", "fun": lambda p: p[-1]}] if soft else []
    found = minimize(cost, start, method="SLSQP", constraints=rules, options={"ftol": 1e-14, "maxiter": 1000})
    assert found.success
    return unpack(found.x)


def prepared(name, table, S):
    """A state with these weights (d, classes) and covariance."""
    learner = catalogue.find(name)
    state = learner.module.init(*table.shape, resolve_settings(learner, {}))
    state.table[:] = table
    state.covariance[:] = S
    state.extent[0] = len(S)
    return state


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["cw", "cw-variance", "scw1", "scw2", "arow"])
def test_a_step_solves_the_problem_that_defines_the_rule(name, seed):
    rng = np.random.default_rng(seed)
    w0, root = rng.normal(size=D).astype(np.float32).astype(float), rng.normal(size=(D, D))
    S0, x = root @ root.T + 0.3 * np.eye(D), rng.normal(size=D).round(2).astype(np.float32)
    y = int(w0 @ x <= 0)  # a mistake
    state = prepared(f"{name}-full", np.column_stack([-w0, w0]) / 2, S0 / 2)

    _, state, _, _ = learn(f"{name}-full", x[None, :], np.array([y]), 2, state=state)

    w, S = solve(name, w0, S0, x.astype(float), 2 * y - 1)
    np.testing.assert_allclose(state.table[:, 1] - state.table[:, 0], w, atol=2e-3)
    np.testing.assert_allclose(2 * state.covariance, S, atol=5e-3)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["cw", "cw-variance", "scw1", "scw2", "arow"])
def test_with_three_classes_a_step_solves_the_problem_of_the_pair(name, seed):
    rng = np.random.default_rng(seed)
    table, root = rng.normal(size=(2, 3)).astype(np.float32).astype(float), rng.normal(size=(2, 2))
    S0, x = root @ root.T + 0.3 * np.eye(2), rng.normal(size=2).round(2).astype(np.float32)
    target, third, wrong = (x @ table).argsort()  # a mistake
    state = prepared(f"{name}-full", table, S0)

    _, state, _, _ = learn(f"{name}-full", x[None, :], np.array([target]), 3, state=state)

    w0 = np.concatenate([table[:, target], table[:, wrong]])
    w, S = solve(name, w0, np.kron(np.eye(2), S0), np.concatenate([x, -x]).astype(float), 1)
    np.testing.assert_allclose(state.table[:, [target, wrong]].T.ravel(), w, atol=2e-3)
    np.testing.assert_allclose(state.covariance, S[:2, :2], atol=5e-3)  # of the true class
    np.testing.assert_allclose(state.covariance, S[2:, 2:], atol=5e-3)  # of the wrong one: the same
    np.testing.assert_array_equal(state.table[:, third], table[:, third].astype(np.float32))


@pytest.mark.parametrize("name", GAUSSIAN)
@pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])
def test_with_two_classes_the_rule_is_the_binary_one(name, diagonal):
    X, y = stream(40, 4, 2, seed=1)

    _, _, found, _ = learn(name if diagonal else f"{name}-full", X, y, 2)

    expected = margins(RULES[name], X, 2 * y - 1, diagonal)
    np.testing.assert_allclose(found[:, 1] - found[:, 0], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", GAUSSIAN)
@pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])
def test_with_more_classes_it_is_the_binary_rule_of_the_pair(name, diagonal):
    X, y = stream(40, 4, 3, seed=2)

    _, _, found, _ = learn(name if diagonal else f"{name}-full", X, y, 3)

    np.testing.assert_allclose(found, scores(RULES[name], X, y, 3, diagonal), rtol=1e-3, atol=1e-3)


def test_a_whole_covariance_stays_symmetric_and_positive():
    X, y = stream(500, 8, 4, seed=3)

    _, state, _, _ = learn("scw1-full", X, y, 4)

    np.testing.assert_allclose(state.covariance, state.covariance.T, atol=1e-12)
    assert np.linalg.eigvalsh(state.covariance).min() > 0.0


@pytest.mark.parametrize("name", ["cw-full", "cw-variance-full"])
def test_labels_that_no_weights_fit_do_not_use_a_covariance_up(name):
    X, y = stream(3000, 4, 3, seed=6)
    y = np.random.default_rng(0).integers(0, 3, len(y))

    _, state, _, _ = learn(name, X, y, 3)

    assert state.updates[0] > 1500
    assert np.linalg.eigvalsh(state.covariance).min() > 0.0


def test_the_importance_of_arow_multiplies_its_loss():
    X, y = stream(40, 4, 3, seed=4)

    _, _, doubled, _ = learn("arow", X, y, 3, importance=2.0)
    _, _, halved, _ = learn("arow", X, y, 3, regularization=0.5)

    np.testing.assert_array_equal(doubled, halved)


@pytest.mark.parametrize("probability", [0.55, 0.75, 0.9, 0.99, 0.9999])
def test_the_normal_quantile_is_exact_enough(probability):
    assert normal_quantile(probability) == pytest.approx(ndtri(probability), abs=1e-9)


@pytest.mark.interpreted
@pytest.mark.parametrize("name", ["narow", "narow-full"])
def test_narow_goes_on_learning_where_variances_have_narrowed_to_the_bound(name):
    """A turned rule finds the covariance as narrow as it gets, and is learnt all the same."""
    X, classes = stream(4000, 4, 2, seed=5)
    classes = np.where(np.arange(4000) < 2000, classes, 1 - classes)

    _, halfway, _, _ = learn(name, X[:2000], classes[:2000], 2)
    _, state, scores, _ = learn(name, X, classes, 2)

    field = "variance" if name == "narow" else "covariance"
    np.testing.assert_allclose(getattr(state, field), getattr(halfway, field), rtol=0.5, atol=0.05)
    wrong = scores.argmax(axis=1) != classes
    assert wrong[3000:].mean() < wrong[1000:2000].mean() + 0.05
