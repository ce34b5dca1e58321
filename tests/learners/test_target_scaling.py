"""Numbers to predict are learnt in units of their own spread, whatever unit they come in."""

import numpy as np
import pytest

import ouzel
from ouzel.learners.auto.outliers import of_numbers
from ouzel.learners.catalogue import LEARNERS
from ouzel.learners.target_scaling import scaled, unit_of
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.room import make_room
from ouzel.model.tasks.choose import learns_numbers

NUMERIC = [name for name, learner in LEARNERS.items() if learns_numbers(learner)]


def stream(rows=300, seed=0):
    """Blocks of X (rows, 5) and numbers that depend on them, about 40 give or take 12."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5)).astype(np.float32)
    y = X @ np.array([8.0, -6.0, 4.0, 0.0, 2.0]) + 40.0 + rng.normal(size=rows)
    return X, y


def learnt(model, X, y, **how):
    """A model that has learnt, and what it predicted before each example."""
    found = [model.learn(block).margins for block in ouzel.blocks_from(X, y, **how)]
    return model, np.concatenate(found)


@pytest.mark.interpreted
@pytest.mark.parametrize("learner", ["ogd", "adagrad", "adagrad-rda", "son-oja", "ons", "awm", "unbounded"])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_another_unit_of_labels_is_another_unit_of_predictions_and_nothing_else(learner, loss):
    X, y = stream()

    _, found = learnt(Model(learner, loss=loss), X, y)
    _, others = learnt(Model(learner, loss=loss), X, y * -0.001 + 7.0)

    assert np.allclose(found[1:] * -0.001 + 7.0, others[1:], rtol=1e-6, atol=1e-9)  # nothing is known of the first


@pytest.mark.parametrize("learner", ["ogd", "ons"])
def test_it_is_the_learner_taught_in_units_of_the_spread(learner):
    X, y = stream(100)
    _, found = learnt(Model(learner, loss="squared"), X, y)

    inside = Model(learner, loss="squared", scale_targets=False, **({"largest": 10.0} if learner == "ons" else {}))
    seen, expected = [], []
    for x, target in zip(X, y, strict=True):
        mean, spread = (np.mean(seen), np.std(seen) or 1.0) if seen else (0.0, 1.0)
        seen.append(target)
        taught = (target - mean) / (np.std(seen) or 1.0) if len(seen) > 1 else 0.0
        (block,) = ouzel.blocks_from(x[None], np.array([taught]))
        expected.append(mean + spread * inside.learn(block).margins[0])

    assert np.allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("learner", NUMERIC)
def test_it_begins_as_a_predictor_of_the_mean_and_never_diverges_from_large_labels(learner):
    X, y = stream(400)
    _, found = learnt(Model(learner, task="regression"), X, y * 1e6)

    assert found[0] == 0.0
    assert np.isfinite(found).all()
    if learner != "ons-invariant":  # it begins without a prior: what it predicts first may be anything up to `largest`
        assert np.sqrt(np.mean((found - y * 1e6)[200:] ** 2)) < 1.05 * np.std(y * 1e6)


@pytest.mark.parametrize("learner", ["ogd", "son-fd", "ons", "awm"])
def test_single_examples_and_blocks_of_any_size_teach_the_same(learner, tmp_path):
    X, y = stream(60)
    whole, _ = learnt(Model(learner, loss="squared"), X, y)
    parts, _ = learnt(Model(learner, loss="squared"), X, y, block_rows=7)
    one = Model(learner, loss="squared")
    make_room(one, 4)
    for x, label in zip(X, y, strict=True):
        slots = np.flatnonzero(np.append(1.0, x)).astype(np.uint32)
        one.learn_one(slots, np.append(np.float32(1.0), x).astype(np.float32)[slots], label, np.float32(1.0))

    for name, model in (("whole", whole), ("parts", parts), ("one", one)):
        persistence.save(model, tmp_path / name)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()
    assert np.array_equal(whole.margins(next(ouzel.blocks_from(X))), one.margins(next(ouzel.blocks_from(X))))


def test_saved_and_gone_on_with_it_gives_the_bits_of_one_run(tmp_path):
    X, y = stream()
    whole, _ = learnt(Model("adagrad", loss="squared"), X, y)
    half, _ = learnt(Model("adagrad", loss="squared"), X[:150], y[:150])

    persistence.save(half, tmp_path / "m")
    on, _ = learnt(persistence.load_model(tmp_path / "m"), X[150:], y[150:])

    assert np.array_equal(on.margins(next(ouzel.blocks_from(X))), whole.margins(next(ouzel.blocks_from(X))))


def test_weights_are_in_the_unit_of_the_labels():
    X, y = stream()
    model = ouzel.OnlineGradientRegressor().fit(X, y)

    assert np.allclose(X @ model.coef_ + model.intercept_, model.predict(X), rtol=1e-5)


def test_without_an_intercept_nothing_is_centred():
    X, y = stream()
    model = ouzel.OnlineRegressor("ons", fit_intercept=False)
    with pytest.warns(UserWarning, match="no better than a constant"):
        model.fit(X, y)

    assert model.predict(np.zeros((1, 5))).tolist() == [0.0]
    assert model.model_.states[0].targets[1] == 0.0


def test_an_example_of_importance_0_does_not_count():
    targets = np.array([3.0, 1.0, 2.0, 1.0, *of_numbers(3.0)])
    before = targets.copy()

    scaled(targets, 1e6, 0.0)

    assert np.array_equal(targets, before)


def test_moments_of_parts_are_those_of_the_whole():
    y = np.random.default_rng(0).normal(size=50) * 3.0 + 1e3
    parts = [Model("ogd", loss="squared") for _ in range(3)]
    for part, numbers in zip(parts, (y[:20], y[20:], y[:0]), strict=True):
        for block in ouzel.blocks_from(np.ones((len(numbers), 1)), numbers):
            part.learn(block)

    assert np.allclose(unit_of(ouzel.merge(parts).states[0].targets), (y.mean(), y.std()))


def test_labels_as_they_are_may_be_asked_for():
    X, y = stream()
    model, _ = learnt(Model("ogd", loss="squared", scale_targets=False), X, y)

    assert not hasattr(model.states[0], "targets")
    assert (
        ouzel.OnlineRegressor("ogd", scale_targets=False).fit(X, y).predict(X).tolist()
        == model.margins(next(ouzel.blocks_from(X))).tolist()
    )


def test_counts_are_learnt_by_their_own_loss():
    assert not hasattr(Model("ogd", loss="poisson").states[0], "targets")
