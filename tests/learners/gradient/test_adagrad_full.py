"""Full and block-diagonal AdaGrad do what Figure 2 says."""

import numpy as np
import pytest
from scipy.optimize import minimize

from ouzel.errors import OuzelError
from ouzel.learners.gradient import adagrad_block, adagrad_full
from ouzel.learners.gradient.matrix_metric import solve, times_metric
from ouzel.learners.rows import Rows
from ouzel.terms.losses import Hinge, Logistic, derivative
from ouzel.terms.penalties.domains import Box, L2Ball
from ouzel.terms.penalties.l1_and_l2 import L1, ElasticNet, SquaredL2
from ouzel.terms.penalties.norms import L2Norm, MaxNorm
from tests.learners.streams import dense, learn, merged_states, sparse_rows
from tests.oracles.adagrad import Full, Penalised

DIMENSION, ROUNDS = 12, 150
BOTH = pytest.mark.parametrize("dual", [False, True], ids=["mirror-descent", "dual-averaging"])
RIDGES = pytest.mark.parametrize("l2", [0.0, 0.05], ids=["none", "l2"])


@pytest.mark.interpreted
@BOTH
@RIDGES
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_full_matrix_equals_the_dense_algorithm(dual, l2, damping):
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 4, seed=1)
    settings = adagrad_full.Settings(Logistic(), SquaredL2(l2), 0.3, damping, bool(dual))
    oracle = Full(DIMENSION, 0.3, damping, l2, dual)
    expected = [
        oracle.learn(x, lambda margin, y=y: derivative(Logistic(), margin, y))
        for x, y in zip(dense(rows, DIMENSION), targets, strict=True)
    ]

    state, margins = learn(adagrad_full, rows, targets, DIMENSION, settings)

    np.testing.assert_allclose(margins, expected, atol=1e-5)
    np.testing.assert_allclose(adagrad_full.weights(state, settings), oracle.w, atol=1e-5)


@pytest.mark.interpreted
@BOTH
@RIDGES
@pytest.mark.parametrize("given", [False, True], ids=["by-size", "by-user"])
def test_blocks_equal_the_dense_algorithm_with_the_rest_of_the_matrix_zero(dual, l2, given):
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 4, seed=2)
    settings = adagrad_block.Settings(Logistic(), SquaredL2(l2), 0.3, 0.1, 3.0, bool(dual))
    blocks = np.array([2, 0, 0, 1, 2, 0, 1, 2, 2, 0, 1, 2]) if given else np.arange(DIMENSION) // 3
    oracle = Full(DIMENSION, 0.3, 0.1, l2, dual, blocks)
    expected = [
        oracle.learn(x, lambda margin, y=y: derivative(Logistic(), margin, y))
        for x, y in zip(dense(rows, DIMENSION), targets, strict=True)
    ]
    state = adagrad_block.with_blocks(blocks, settings) if given else adagrad_block.init(DIMENSION, settings)
    margins = np.empty(ROUNDS)

    adagrad_block.learn_rows(state, rows, targets, np.ones(ROUNDS, np.float32), settings, margins)

    np.testing.assert_allclose(margins, expected, atol=1e-5)
    np.testing.assert_allclose(adagrad_block.weights(state, settings), oracle.w, atol=1e-5)


@pytest.mark.interpreted
@BOTH
@pytest.mark.parametrize(
    ("penalty", "given"),
    [
        (L1(0.02), {"l1": 0.02}),
        (ElasticNet(0.02, 0.1), {"l1": 0.02, "l2": 0.1}),
        (Box(-0.1, 0.2), {"low": -0.1, "high": 0.2}),
    ],
    ids=["l1", "elastic-net", "box"],
)
def test_blocks_under_a_penalty_equal_the_dense_algorithm_in_every_round(dual, penalty, given):
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 2, seed=2)
    settings = adagrad_block.Settings(Logistic(), penalty, 0.3, 0.1, 3.0, bool(dual))
    oracle = Penalised(DIMENSION, 0.3, 0.1, dual=dual, blocks=np.arange(DIMENSION) // 3, **given)
    expected = [
        oracle.learn(x, lambda margin, y=y: derivative(Logistic(), margin, y))
        for x, y in zip(dense(rows, DIMENSION), targets, strict=True)
    ]

    state, margins = learn(adagrad_block, rows, targets, DIMENSION, settings)

    np.testing.assert_allclose(margins, expected, atol=1e-7)
    np.testing.assert_allclose(adagrad_block.weights(state, settings), oracle.w, atol=1e-7)


PENALTIES = [L1(0.3), SquaredL2(0.5), ElasticNet(0.2, 0.5), Box(-0.2, 0.4), L2Norm(0.7), L2Ball(0.5)]


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_updates_in_a_full_metric_are_least(penalty):
    rng = np.random.default_rng(3)
    vectors, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    eigenvalues = rng.exponential(size=6) + 0.05
    linear = rng.normal(size=6)
    x = np.zeros(6)

    solve(penalty, vectors, eigenvalues, linear, 0.8, x)

    def cost(x):
        quadratic = linear @ x + x @ times_metric(vectors, eigenvalues, x) / 2
        l1 = 0.8 * getattr(penalty, "l1", 0.0)
        size = np.linalg.norm(x) if isinstance(penalty, L2Norm) else np.abs(x).sum()
        return quadratic + l1 * size + 0.8 * getattr(penalty, "l2", 0.0) * (x @ x) / 2

    def into_domain(x):
        if isinstance(penalty, Box):
            return np.clip(x, penalty.low, penalty.high)
        return x * min(1.0, penalty.radius / np.linalg.norm(x)) if isinstance(penalty, L2Ball) else x

    np.testing.assert_allclose(into_domain(x), x, rtol=1e-12)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(300):
            assert cost(into_domain(x + size * rng.normal(size=6))) >= cost(x) - 1e-12
    found = minimize(lambda z: cost(into_domain(z)), x + 0.1, method="Nelder-Mead", options={"maxfev": 4000})
    assert cost(x) <= found.fun + 1e-12


@pytest.mark.interpreted
def test_l1_by_dual_averaging_leaves_exact_zeros():
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 4, seed=4)
    settings = adagrad_full.Settings(Logistic(), L1(0.05), 0.3, 0.1, dual_averaging=True)

    state, margins = learn(adagrad_full, rows, targets, DIMENSION, settings)

    assert np.isfinite(margins).all()
    assert 0 < np.count_nonzero(adagrad_full.weights(state, settings)) < DIMENSION


@pytest.mark.interpreted
@pytest.mark.parametrize("module", [adagrad_full, adagrad_block], ids=["full", "blocks"])
@BOTH
def test_growing_changes_nothing(module, dual):
    rows, targets = sparse_rows(40, 5, 3, seed=5)
    settings = module.Settings(Logistic(), SquaredL2(0.05), 0.3, 0.1, dual_averaging=bool(dual))
    small, _ = learn(module, rows, targets, 5, settings)
    large, _ = learn(module, rows, targets, 20, settings)

    for array, expected in zip(module.grow(small, 20, settings), large, strict=True):
        np.testing.assert_array_equal(array, expected)


@pytest.mark.interpreted
@pytest.mark.parametrize("module", [adagrad_full, adagrad_block], ids=["full", "blocks"])
def test_dual_averaging_merges_sums(module):
    rows, targets = sparse_rows(40, DIMENSION, 3, seed=6)
    settings = module.Settings(Logistic(), SquaredL2(0.05), 0.3, 0.1, dual_averaging=True)
    state, _ = learn(module, rows, targets, DIMENSION, settings)
    empty = module.init(DIMENSION, settings)

    merged = merged_states(module, [state, empty], settings, DIMENSION)

    np.testing.assert_allclose(module.weights(merged, settings), module.weights(state, settings), atol=1e-9)


def test_too_many_features_are_refused_with_a_way_out():
    with pytest.raises(OuzelError, match="adagrad-block"):
        adagrad_full.init(4097, adagrad_full.Settings())


def test_penalties_without_a_solution_are_refused():
    with pytest.raises(OuzelError, match="SquaredL2"):
        adagrad_full.init(8, adagrad_full.Settings(penalty=MaxNorm(0.1)))
    with pytest.raises(OuzelError, match="adagrad-block"):
        adagrad_block.init(8, adagrad_block.Settings(penalty=L2Norm(0.1)))


@pytest.mark.interpreted
def test_rotated_directions_are_learnt_one_by_one():
    """Appendix A: a loss for each of d orthonormal directions, then none; the weights come to lie at V 1.

    They stay in the ball of radius sqrt(d) by themselves. The rounding of margins equal to 1 is kept out of the count.
    """
    d, first = 10, 400
    rng = np.random.default_rng(7)
    V = np.linalg.qr(rng.normal(size=(d, d)))[0]
    order = np.concatenate([np.zeros(first, int), np.tile(np.arange(1, d), 20)])
    signs = rng.choice([-1.0, 1.0], len(order))
    values = (1.0001 * V.T[order] * signs[:, None]).astype(np.float32)
    offsets = np.arange(0, len(order) * d + 1, d).astype(np.uint64)
    rows = Rows(offsets, np.tile(np.arange(d, dtype=np.uint32), len(order)), values.ravel())
    settings = adagrad_full.Settings(Hinge(), SquaredL2(0.0), 1.0, 0.0)

    state, margins = learn(adagrad_full, rows, signs, d, settings)

    assert (margins * signs < 1.0).sum() == d
    np.testing.assert_allclose(adagrad_full.weights(state, settings), V.sum(axis=1), atol=1e-4)
