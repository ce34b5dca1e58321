"""Intervals and sets hold what was asked: of any scores, whatever the blocks, saved or merged."""

import copy

import numpy as np
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.model import persistence
from ouzel.model.coverage import DEBT, cover_classes, cover_numbers, ends_of, init
from ouzel.model.merge import merge
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from tests.oracles.coverage import Intervals

LEVELS = (0.8, 0.9, 0.95)
ROWS = 3_000


def numbers(rows=ROWS, seed=0):
    """Features and numbers whose rule and noise change in the middle."""
    rng = np.random.default_rng(seed)
    X, rule = rng.normal(size=(rows, 4)), rng.normal(size=(2, 4))
    late = np.arange(rows) > rows // 2
    y = np.where(late, X @ rule[1], X @ rule[0]) + rng.standard_t(3, size=rows) * np.where(late, 5.0, 1.0)
    return X.astype(np.float32), y


def classes(rows=ROWS, seed=0, edges=(-1.0, 1.0)):
    X, y = numbers(rows, seed)
    return X, np.digitize(y, edges)


def block_of(X, y):
    return next(iter(blocks_from(X, y.astype(float))))


def learnt(X, y, size=ROWS, **options):
    """A model that has learnt blocks of a size, and what was held."""
    model = Model("adagrad", **{"interval": LEVELS, **options})
    block = block_of(X, y)
    held = [model.learn(block.slice(start, start + size)).covered for start in range(0, len(y), size)]
    return model, np.concatenate([part.hits for part in held]), np.concatenate([part.sizes for part in held])


def coverage_of(model):
    return [array.tolist() for array in model.preparation.coverage]


def test_kernels_give_what_the_slow_twin_gives():
    scores = np.random.default_rng(0).standard_t(2, size=2_000) * np.repeat([1.0, 20.0], 1_000)
    state, hits, sizes = init(1), np.zeros((2_000, 1), np.bool_), np.empty((2_000, 1))
    cover_numbers(state, np.array([0.9]), np.zeros(2_000), scores, np.ones(2_000, np.float32), True, hits, sizes)
    twin = Intervals(0.9)
    missed = [twin.learn(score) for score in scores.tolist()]

    assert (~hits[:, 0]).tolist() == missed
    ends = np.empty((1, 2))
    ends_of(state, False, ends)
    np.testing.assert_allclose(ends[0], twin.ends(), rtol=1e-6)


def adversary(ends_before, learn, rounds, seed):
    """Misses of scores that lie just outside or just inside of each interval, for long or short, in any unit."""
    rng, missed, outside = np.random.default_rng(seed), [], True
    for _ in range(rounds):
        if rng.random() < 0.02:
            outside = not outside
        high = ends_before()[1]
        far = abs(high) if np.isfinite(high) else 10.0 ** rng.integers(-3, 4)
        missed.append(learn(float(high + 0.01 * far + 1e-9 if outside and np.isfinite(high) else 0.5 * far)))
    return np.array(missed)


def most_missed(missed, alpha):
    """By how many misses any stretch has more than was asked."""
    owed = np.concatenate([[0.0], np.cumsum(missed - alpha)])
    return (owed - np.minimum.accumulate(owed)).max()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(3))
def test_no_adversary_makes_any_stretch_miss_more_than_twice_the_debt(level, seed):
    state, hits, sizes, ends = init(1), np.zeros((1, 1), np.bool_), np.empty((1, 1)), np.empty((1, 2))

    def before():
        ends_of(state, False, ends)
        return ends[0].tolist()

    def learn(score):
        one = np.ones(1, np.float32)
        cover_numbers(state, np.array([level]), np.zeros(1), np.array([score]), one, True, hits, sizes)
        return not hits[0, 0]

    assert most_missed(adversary(before, learn, 4_000, seed), 1.0 - level) <= 2.0 * DEBT + 1e-6


def test_the_adversary_breaks_intervals_that_pay_no_debts():
    twin = Intervals(0.9, pays=False)

    assert most_missed(adversary(twin.ends, twin.learn, 4_000, 0), 0.1) > 2.0 * DEBT + 1e-6


def test_sets_hold_no_more_and_no_less_than_was_asked_even_where_nothing_is_ever_wrong():
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 2, 10_000)
    margins = np.where(targets == 1, 1.0, -1.0) * np.exp(rng.normal(size=10_000) + np.arange(10_000) / 500.0)
    state, hits, sizes = init(1), np.zeros((10_000, 1), np.bool_), np.empty((10_000, 1))
    given = margins[:, None].copy(), targets, np.ones(10_000, np.float32)
    cover_classes(state, np.array([0.9]), *given, 2, True, hits, sizes)

    owed = np.concatenate([[0.0], np.cumsum(0.9 - hits[:, 0])])
    assert np.abs(owed[2_000:] - owed[:-2_000]).max() <= 2.0 * DEBT
    assert set(np.unique(sizes)) <= {0.0, 1.0, 2.0}


def test_a_prediction_that_is_no_number_misses_and_nothing_breaks():
    predictions = np.where(np.arange(200) % 10 == 3, np.nan, 0.0)
    scores = np.random.default_rng(0).normal(size=200)
    scores[5] = 1e300
    state, hits, sizes = init(1), np.zeros((200, 1), np.bool_), np.empty((200, 1))
    cover_numbers(state, np.array([0.8]), predictions, scores, np.ones(200, np.float32), True, hits, sizes)

    assert not hits[3::10][sizes[3::10] < np.inf].any()
    assert all(np.isfinite(array).all() for array in state)


@pytest.mark.parametrize(("make", "loss"), [(numbers, "squared"), (classes, "logistic"), (classes, "hinge")])
def test_what_is_held_does_not_depend_on_the_blocks(make, loss):
    X, y = make()
    held = learnt(X, y, loss=loss)[1:]
    for size in (1, 700):
        cut, *again = learnt(X[:900], y[:900], size, loss=loss)
        first, *_ = learnt(X[:900], y[:900], loss=loss)
        assert coverage_of(cut) == coverage_of(first)
        for one, other in zip(held, again, strict=True):
            np.testing.assert_array_equal(one[:900], other)


@pytest.mark.parametrize("edges", [(0.0,), (-1.0, 1.0)])
def test_single_examples_teach_what_blocks_teach(edges):
    X, y = classes(600, edges=edges)
    alone, together = (ouzel.OnlineClassifier("adagrad", interval=0.9) for _ in range(2))
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        alone.learn_one(dict(enumerate(x)), label)
    blocks = blocks_from(((dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist(), strict=True)))
    for block in blocks:
        together.begin().learn(block)

    assert coverage_of(alone.model_) == coverage_of(together.model_)
    held = together.predict_set_one(dict(enumerate(X[0].tolist())))
    assert set(held) <= set(y.tolist())


@pytest.mark.parametrize(("make", "loss"), [(numbers, "squared"), (classes, "logistic")])
def test_a_saved_model_goes_on_to_the_bit(make, loss, tmp_path):
    X, y = make()
    whole, *_ = learnt(X, y, loss=loss)
    half, *_ = learnt(X[:1_500], y[:1_500], loss=loss)
    persistence.save(half, tmp_path / "half.ouzel")
    resumed = persistence.load_model(tmp_path / "half.ouzel")
    block = block_of(X, y)
    resumed.learn(block.slice(1_500, ROWS))

    assert resumed.interval == LEVELS
    assert coverage_of(resumed) == coverage_of(whole)
    persistence.save(whole, tmp_path / "whole.ouzel")
    persistence.save(resumed, tmp_path / "resumed.ouzel")
    assert (tmp_path / "whole.ouzel").read_bytes() == (tmp_path / "resumed.ouzel").read_bytes()


def test_what_was_seen_before_does_not_count():
    X, y = numbers(500)
    model, *_ = learnt(X, y, loss="squared")
    before = copy.deepcopy(coverage_of(model))
    block = block_of(X, y)

    model.learn(block, unseen=False)

    assert coverage_of(model) == before


def test_a_merge_is_the_mean_of_its_parts_by_the_examples_they_counted():
    X, y = numbers()
    first, *_ = learnt(X[:1_000], y[:1_000], loss="squared")
    second, *_ = learnt(X[1_000:], y[1_000:], loss="squared")
    both = merge([first, second]).preparation.coverage

    one, other = first.preparation.coverage, second.preparation.coverage
    for name in ("places", "shares", "debts", "settled"):
        mean = (1_000 * getattr(one, name) + 2_000 * getattr(other, name)) / 3_000
        np.testing.assert_allclose(getattr(both, name), mean)
    assert both.size[1] == 3_000


def test_settled_intervals_hold_of_examples_that_are_not_learnt():
    X, y = numbers(12_000)
    late = slice(6_001, None)
    model = ouzel.OnlineRegressor("adagrad", interval=0.9).fit(X[late][:4_000], y[late][:4_000])
    low, high = model.predict_interval(X[late][4_000:]).T

    assert np.mean((low <= y[late][4_000:]) & (y[late][4_000:] <= high)) == pytest.approx(0.9, abs=0.025)


@pytest.mark.parametrize(
    ("given", "said"),
    [(90, "interval must be a number from 0.01 to 0.999; got 90"), ([0.5] * 17, "interval takes up to 16 levels")],
)
def test_levels_are_shares(given, said):
    with pytest.raises(OuzelError, match=said):
        Model("adagrad", interval=given)


def test_a_model_says_which_levels_it_keeps():
    X, y = numbers(50)
    model = ouzel.OnlineRegressor("adagrad", interval=(0.8, 0.9)).fit(X, y)
    with pytest.raises(OuzelError, match=r"say which interval: the model keeps 0\.8, 0\.9"):
        model.predict_interval(X)
    with pytest.raises(OuzelError, match=r"the model keeps intervals of 0\.8, 0\.9; got 0\.5"):
        model.predict_interval(X, 0.5)
    with pytest.raises(OuzelError, match=r"train it with interval=0\.9"):
        ouzel.OnlineRegressor("adagrad").fit(X, y).predict_interval(X)


def test_a_model_without_levels_has_no_state_of_them():
    assert Model("adagrad").preparation.layouts(1_025).keys() == {"moments"}
