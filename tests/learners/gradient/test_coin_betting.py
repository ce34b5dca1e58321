"""Coin betting against the differential equation that it solves, and what follows from it."""

import numpy as np
import pytest

import ouzel
from ouzel.learners.gradient import coin_betting
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from ouzel.terms.losses import Absolute, Hinge, Logistic, Poisson, Squared, derivative, value
from tests.forging import parts_of, write
from tests.learners.newton.test_online_newton import learn, stream
from tests.oracles.coin_betting import BETS, CoinBetting


def targets_of(loss, X, labels):
    return labels if isinstance(loss, (Logistic, Hinge)) else X @ np.linspace(-2.0, 2.0, X.shape[1]) + 0.3 * labels


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Squared(), Absolute()])
def test_it_is_the_limit_of_many_small_bets(loss):
    X, labels = stream(60, 4, seed=1)
    targets = targets_of(loss, X, labels)
    slow = CoinBetting(4)
    margins = [
        slow.learn(x.astype(float), lambda z, y=y: value(loss, z, y), lambda z, y=y: derivative(loss, z, y))
        for x, y in zip(X, targets, strict=True)
    ]

    state, found = learn(coin_betting, X, targets, coin_betting.Settings(loss=loss))

    close = {"rtol": 20.0 / BETS, "atol": 20.0 / BETS}
    np.testing.assert_allclose(found, margins, **close)
    np.testing.assert_allclose(state.table[:, coin_betting.TOTAL], slow.theta, **close)
    np.testing.assert_allclose(state.table[:, coin_betting.SIZES], slow.sizes, **close)
    np.testing.assert_allclose(state.table[:, coin_betting.WEALTH], slow.wealth, **close)


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Squared(), Absolute()])
def test_each_wealth_is_above_what_its_bound_on_regret_rests_on(loss):
    """d (ln W - theta^2 / 2 H) / du = theta^2 / 2 H^2 in units of L, so that ln W >= theta^2 / 2 H from 1 / sqrt(n) on.

    Of losses without a steepest slope L grows, which leaves W and makes theta^2 / H smaller.
    """
    X, labels = stream(300, 5, seed=2)
    for rows in (1, 10, 100, 300):
        targets = targets_of(loss, X, labels)[:rows]
        state, _ = learn(coin_betting, X[:rows], targets, coin_betting.Settings(loss=loss))
        total, sizes, wealth, value = state.table.T
        largest = value * state.steepest
        first = np.count_nonzero(X[0]) ** -0.5
        assert (np.log(wealth / first) >= (total / largest) ** 2 / (2.0 * (1.0 + sizes / largest)) - 1e-9).all()
        assert (np.abs(total) <= sizes).all()


@pytest.mark.interpreted
def test_an_example_of_the_absolute_loss_is_never_overshot():
    """Its linear model is the loss itself on the side of the prediction. A value larger than before changes weights."""
    X, labels = stream(200, 4, seed=3)
    X = np.clip(X, -0.1, 0.1) + np.sign(X)
    X[0] = 1.1
    targets = targets_of(Absolute(), X, labels)
    settings = coin_betting.Settings(loss=Absolute())
    fitted = 0
    for row in range(1, 200):
        state, margins = learn(coin_betting, X[:row], targets[:row], settings)
        before, after = margins[-1] - targets[row - 1], X[row - 1] @ coin_betting.weights(state, settings)
        error = (after - targets[row - 1]) * np.sign(before)
        assert error >= -1e-6
        fitted += error < 1e-6
    assert fitted > 20  # examples that were fitted before the time was over


@pytest.mark.interpreted
def test_units_of_features_change_nothing():
    X, labels = stream(200, 4, seed=4)
    units = np.array([1.0, 1024.0, 2.0**-12, 4.0])

    one, other = (learn(coin_betting, X * scale, labels, coin_betting.Settings())[1] for scale in (1.0, units))

    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.interpreted
def test_a_loss_without_a_least_value_of_0_is_bet_on_for_the_whole_time():
    X, counts = np.ones((200, 1)), np.full(200, 3.0)

    state, margins = learn(coin_betting, X, counts, coin_betting.Settings(loss=Poisson()))

    bet_for_the_whole_time = sum(
        abs(derivative(Poisson(), margin, 3.0)) for margin in margins if value(Poisson(), margin, 3.0) < 0.0
    )
    assert bet_for_the_whole_time > 0.0
    assert state.table[0, coin_betting.SIZES] > bet_for_the_whole_time - 1e-9


def test_without_a_step_size_it_finds_weights_far_away():
    """Of size 1, 30 and 1000, where a step size that suits one does not suit the others."""
    random = np.random.default_rng(6)
    X = random.standard_normal((20000, 5)).astype(np.float32)
    direction = random.standard_normal(5)
    for size in (1.0, 30.0, 1000.0):
        model = Model("coin-betting", loss="absolute", scale_targets=False)
        for block in blocks_from(X, size * X @ direction):
            last = model.learn(block)
        assert np.abs(last.margins[-1000:] - last.targets[-1000:]).mean() < 0.05 * size


def test_a_file_with_one_wealth_for_all_features_is_refused_in_one_line(tmp_path):
    model = Model("coin-betting", bits=8)
    for block in ouzel.blocks_from([({"a": 1.0}, 0), ({"b": 2.0}, 1)], bits=8):
        model.learn(block)
    persistence.save(model, tmp_path / "m")
    described, arrays = parts_of(tmp_path / "m")
    table = arrays.pop("state.0.table")
    del arrays["state.0.steepest"]
    arrays |= {"state.0.total": table[:, 0].copy(), "state.0.wealth": np.zeros(1)}
    arrays |= {"state.0.time": np.ones(1), "state.0.largest": np.ones(1)}
    write(tmp_path / "old", described, arrays)

    with pytest.raises(ouzel.OuzelError, match=r"not a model this version can use: .*; train it again"):
        ouzel.load(tmp_path / "old")
