"""Both lazy forms of diagonal AdaGrad do what the eager algorithm does."""

import numpy as np
import pytest

from ouzel.errors import OuzelError
from ouzel.learners.gradient import adagrad, adagrad_rda, ogd
from ouzel.learners.rows import Rows
from ouzel.terms.losses import Absolute, Hinge, Logistic, derivative
from ouzel.terms.penalties.domains import Box
from ouzel.terms.penalties.l1_and_l2 import L1, ElasticNet, NoPenalty, SquaredL2
from ouzel.terms.penalties.norms import L2Norm
from tests.learners.streams import dense, learn, merged_states, row, sparse_rows
from tests.oracles.adagrad import Eager

DIMENSION, ROUNDS = 40, 600
BOTH = pytest.mark.parametrize("module", [adagrad, adagrad_rda], ids=["mirror-descent", "dual-averaging"])
PENALTIES = {"none": NoPenalty(), "l1": L1(0.02), "l2": SquaredL2(0.1), "elastic-net": ElasticNet(0.02, 0.1)}


def oracle_for(module, settings):
    penalty = settings.penalty
    box = (penalty.low, penalty.high) if isinstance(penalty, Box) else None
    l1, l2 = getattr(penalty, "l1", 0.0), getattr(penalty, "l2", 0.0)
    rate, damping = settings.learning_rate, settings.damping
    return Eager(DIMENSION, rate, damping, l1, l2, dual=module is adagrad_rda, box=box)


def margins_of(oracle, loss, rows, targets):
    return [
        oracle.learn(x, lambda margin, y=y: derivative(loss, margin, y))
        for x, y in zip(dense(rows, DIMENSION), targets, strict=True)
    ]


@pytest.mark.interpreted
@BOTH
@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES.keys())
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_lazy_equals_eager_at_every_step(module, penalty, damping):
    rows, targets = sparse_rows(ROUNDS, DIMENSION, 5, seed=1)
    settings = module.Settings(Logistic(), penalty, 0.5, damping)
    oracle = oracle_for(module, settings)
    expected = margins_of(oracle, Logistic(), rows, targets)

    state, margins = learn(module, rows, targets, DIMENSION, settings)

    np.testing.assert_allclose(margins, expected, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(module.weights(state, settings), oracle.w, rtol=2e-5, atol=2e-6)


@pytest.mark.interpreted
@BOTH
def test_every_weight_is_right_between_any_two_examples(module):
    rows, targets = sparse_rows(120, DIMENSION, 3, seed=2)
    settings = module.Settings(Logistic(), PENALTIES["elastic-net"], 0.5, 0.0)
    oracle = oracle_for(module, settings)
    state = module.init(DIMENSION, settings)

    for i, (x, y) in enumerate(zip(dense(rows, DIMENSION), targets, strict=True)):
        slots, values = row(rows, i)
        one = Rows(np.array([0, len(slots)], np.uint64), slots, values)
        module.learn_rows(state, one, targets[i : i + 1], np.ones(1, np.float32), settings, np.empty(1))
        oracle.learn(x, lambda margin, y=y: derivative(Logistic(), margin, y))

        np.testing.assert_allclose(module.weights(state, settings), oracle.w, rtol=2e-5, atol=2e-6)


@BOTH
def test_a_feature_unseen_for_a_hundred_thousand_rounds_pays_its_whole_debt(module):
    rows, targets = sparse_rows(100, DIMENSION, 5, seed=3)
    nothing = Rows(np.zeros(100_001, np.uint64), np.empty(0, np.uint32), np.empty(0, np.float32))
    settings = module.Settings(Logistic(), ElasticNet(1e-7, 1e-5), 0.5, 0.0)
    oracle = oracle_for(module, settings)
    margins_of(oracle, Logistic(), rows, targets)
    state, _ = learn(module, rows, targets, DIMENSION, settings)
    ones = np.ones(100_000, np.float32)

    for _ in range(100_000):
        oracle.learn(np.zeros(DIMENSION), lambda margin: 0.0)
    module.learn_rows(state, nothing, ones.astype(np.float64), ones, settings, np.empty(100_000))

    np.testing.assert_allclose(module.weights(state, settings), oracle.w, rtol=1e-4, atol=1e-6)


def test_debts_are_paid_before_float32_loses_count_of_the_rounds():
    rows, targets = sparse_rows(200, DIMENSION, 5, seed=4)
    settings = adagrad.Settings(Logistic(), L1(0.02))
    plain, _ = learn(adagrad, rows, targets, DIMENSION, settings)
    late = adagrad.init(DIMENSION, settings)
    late.seen[1] = adagrad.LONGEST_LAG - 100
    late.table[:, 2] = late.seen[1]

    adagrad.learn_rows(late, rows, targets, np.ones(200, np.float32), settings, np.empty(200))

    assert late.seen[1] == 100
    np.testing.assert_allclose(adagrad.weights(late, settings), adagrad.weights(plain, settings), rtol=1e-5, atol=1e-6)


@BOTH
def test_a_coordinate_without_a_gradient_stays_zero_without_damping(module):
    rows = Rows(np.array([0, 2], np.uint64), np.array([0, 1], np.uint32), np.array([1.0, 0.0], np.float32))
    settings = module.Settings(Logistic(), NoPenalty(), 0.5, 0.0)

    state, _ = learn(module, rows, np.array([1.0]), 3, settings)

    np.testing.assert_allclose(module.weights(state, settings), [0.5, 0.0, 0.0])


@BOTH
def test_no_gradient_however_large_leaves_a_nan_behind(module):
    values = np.array([3e38, 1e-38, 3e38, -3e38, 1.0, 1e30], np.float32)
    rows = Rows(np.array([0, 2, 4, 6], np.uint64), np.array([0, 1, 0, 2, 0, 1], np.uint32), values)
    settings = module.Settings(Logistic(), L1(1e-3), 1.0, 0.0)

    state, _ = learn(module, rows, np.array([1.0, -1.0, 1.0]), 3, settings)

    assert all(np.isfinite(array).all() for array in state)


@pytest.mark.interpreted
@BOTH
def test_a_box_as_domain_is_kept_lazily(module):
    rows, targets = sparse_rows(300, DIMENSION, 5, seed=5)
    settings = module.Settings(Logistic(), Box(-0.3, 0.2), 1.0, 0.0)
    oracle = oracle_for(module, settings)

    expected = margins_of(oracle, Logistic(), rows, targets)
    _, margins = learn(module, rows, targets, DIMENSION, settings)

    np.testing.assert_allclose(margins, expected, rtol=2e-5, atol=2e-5)


@BOTH
def test_exchanged_classes_give_the_mirrored_state(module):
    rows, targets = sparse_rows(300, DIMENSION, 5, seed=6)
    settings = module.Settings(Logistic(), L1(0.02))

    state, _ = learn(module, rows, targets, DIMENSION, settings)
    exchanged, _ = learn(module, rows, -targets, DIMENSION, settings)

    for mirrored, array in zip(module.swap_classes(state), exchanged, strict=True):
        np.testing.assert_array_equal(mirrored, array)


def test_dual_averaging_merges_by_addition_of_what_does_not_depend_on_the_weights():
    settings = adagrad_rda.Settings(Hinge(), L1(1e-3), 0.1)  # margins stay below 1: every slope is -y
    rows, targets = sparse_rows(20, DIMENSION, 3, seed=7)
    halves = [Rows(rows.offsets[:11], rows.indices, rows.values), Rows(rows.offsets[10:], rows.indices, rows.values)]
    whole, margins = learn(adagrad_rda, rows, targets, DIMENSION, settings)
    assert (margins * targets < 1).all()

    parts = [learn(adagrad_rda, half, targets[k * 10 :][:10], DIMENSION, settings)[0] for k, half in enumerate(halves)]
    merged = merged_states(adagrad_rda, parts, settings, DIMENSION)

    np.testing.assert_allclose(merged.table, whole.table)
    assert merged.seen[0] == 20


@pytest.mark.parametrize("penalty", [NoPenalty(), L1(1e-3)], ids=["none", "l1"])
def test_merging_a_state_with_itself_keeps_its_weights(penalty):
    rows, targets = sparse_rows(200, DIMENSION, 5, seed=8)
    settings = adagrad.Settings(Logistic(), penalty)
    state, _ = learn(adagrad, rows, targets, DIMENSION, settings)

    merged = merged_states(adagrad, [state, state], settings, DIMENSION)

    np.testing.assert_allclose(adagrad.weights(merged, settings), adagrad.weights(state, settings), rtol=1e-6)


@BOTH
def test_a_norm_of_all_weights_is_refused_with_the_learners_that_take_it(module):
    with pytest.raises(OuzelError, match="adagrad-eager"):
        module.init(8, module.Settings(penalty=L2Norm(0.1)))


@BOTH
def test_a_rare_feature_is_learnt_at_once_where_gradient_descent_is_slow(module):
    """Section 1.3: after 1/epsilon^2 rounds on the first unit vector, one loss for each of the others, then none."""
    d, first = 20, 10_000
    rng = np.random.default_rng(9)
    slots = np.concatenate([np.zeros(first, np.uint32), rng.integers(1, d, 4000).astype(np.uint32)])
    signs = rng.choice([-1.0, 1.0], len(slots))
    rows = Rows(np.arange(len(slots) + 1).astype(np.uint64), slots, signs.astype(np.float32))

    _, margins = learn(module, rows, signs, d, module.Settings(Hinge(), Box(-1.0, 1.0), 1.0, 0.0))
    _, slow = learn(ogd, rows, signs, d, ogd.Settings(Hinge(), 1.0))

    assert (margins * signs < 1.0 - 1e-6).sum() == d
    assert np.maximum(1.0 - slow * signs, 0.0).sum() > d / (2 * 0.011)  # d / (2 epsilon)


@pytest.mark.parametrize("importance", [1.0, 0.3, 0.1])
def test_sums_of_squares_go_on_counting(importance):
    count, settings = 100_000, adagrad.Settings(loss=Absolute())
    state = adagrad.init(1, settings)
    state.table[0, 1] = before = 2.0**24  # where 1 more is lost in single precision
    rows = Rows(np.arange(count + 1).astype(np.uint64), np.zeros(count, np.uint32), np.ones(count, np.float32))
    importances = np.full(count, importance, np.float32)

    adagrad.learn_rows(state, rows, np.full(count, 1e9), importances, settings, np.empty(count))

    grown = float(state.table[0, 1]) - before
    assert abs(grown - count * importance**2) < 10.0  # spacings of 2
