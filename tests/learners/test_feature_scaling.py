"""With `standardize` any learner sees dense features centred and scaled, whatever their units and zeros."""

import numpy as np
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.learners import feature_scaling
from ouzel.learners.auto import standardisation
from ouzel.learners.rows import Rows
from ouzel.model import persistence
from ouzel.model.merge import merge
from ouzel.model.model import Model
from ouzel.model.room import make_room

LEARNERS = ("ogd", "adagrad", "arow", "son-oja", "perceptron")


def stream(rows=600, classes=2, seed=0):
    """X (rows, 6), the last column mostly 0, and classes that depend on it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6)).astype(np.float32)
    X[:, 5] *= rng.random(rows) < 0.2
    rule = np.random.default_rng(99).normal(size=(6, classes))
    return X, np.argmax(X @ rule + 0.3 * rng.normal(size=(rows, classes)), axis=1).astype(float)


def learnt(X, y, learner="adagrad", block_rows=1000, **how):
    """A model that has learnt, and its margins before each example."""
    model = Model(learner, standardize=True, classes=range(int(y.max()) + 1), **how)
    return model, np.concatenate(
        [model.learn(block).margins for block in ouzel.blocks_from(X, y, block_rows=block_rows)]
    )


def errors(margins, y):
    return np.mean((margins > 0 if margins.ndim == 1 else margins.argmax(axis=1)) != y)


def rows_of(X):
    """Dense rows behind the constant feature."""
    n, d = X.shape
    values = np.column_stack([np.ones(n), X]).astype(np.float32)
    return Rows(
        np.arange(0, n * (d + 1) + 1, d + 1).astype(np.uint64),
        np.tile(np.arange(d + 1, dtype=np.uint32), n),
        values.ravel(),
    )


def test_it_is_the_running_mean_and_spread_with_the_example_itself():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 100.0, 1e-3] + [0.0, 1e3, 1.0]
    features = feature_scaling.init(4)

    found = feature_scaling.scaled_rows(features, rows_of(X), np.ones(50, np.float32))

    for i in range(2, 50):  # columns are dense from their second example on
        here = slice(int(found.offsets[i]), int(found.offsets[i + 1]))
        seen = dict(zip(found.indices[here].tolist(), found.values[here].tolist(), strict=True))
        so_far = X[: i + 1].astype(np.float32).astype(float)
        z = (so_far[i] - so_far.mean(axis=0)) / so_far.std(axis=0)
        np.testing.assert_allclose([seen[j] for j in range(4)], [1.0, *np.clip(z, -3.0, 3.0)], rtol=1e-4, atol=1e-4)


def test_a_sparse_example_costs_its_non_zeros_and_the_dense_features():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300) + 5.0, rng.random((300, 40)) < 0.05])
    pairs = [{str(j): float(x) for j, x in enumerate(row) if x} for row in X]
    model = Model("ogd", standardize=True)
    for block in ouzel.blocks_from([(pair, k % 2) for k, pair in enumerate(pairs)]):
        model.learn(block)
    (block,) = ouzel.blocks_from([(pair, 0) for pair in pairs])

    assert model.rows(block).offsets[-1] == block.nonzeros + block.rows  # and the constant
    assert model.preparation.features.totals[standardisation.DENSE] == 1


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("classes", [2, 3])
def test_units_and_zeros_of_columns_change_next_to_nothing(learner, classes):
    X, y = stream(1500, classes)
    other = X.astype(float)
    other[:, :5] = (X[:, :5] + [1e3, -50.0, 0.0, 7.0, 1e4]) * [1e-6, 1e6, 1e3, -1e-3, 1.0]

    _, found = learnt(X, y, learner)
    _, changed = learnt(other, y, learner)

    assert abs(errors(changed, y) - errors(found, y)) <= 0.02
    assert errors(found, y) < 0.3


def test_numbers_of_any_unit_and_features_of_any_unit_go_together():
    X, _ = stream()
    numbers = X @ np.arange(6.0) * 1e4 + 1e6
    model = ouzel.OnlineRegressor("adagrad", standardize=True).fit(X * 1e5 + 1e5, numbers)

    assert model.score(X * 1e5 + 1e5, numbers) > 0.9


@pytest.mark.parametrize("classes", [2, 3])
def test_blocks_of_any_size_single_examples_and_going_on_from_a_file_give_the_same_bits(classes, tmp_path):
    X, y = stream(200, classes)
    whole, _ = learnt(X, y)
    parts, _ = learnt(X, y, block_rows=7)
    first, _ = learnt(X[:80], y[:80])
    one = Model("adagrad", standardize=True, classes=range(classes))
    make_room(one, 5)
    for x, label in zip(np.column_stack([np.ones(200, np.float32), X]), y, strict=True):
        slots = np.flatnonzero(x).astype(np.uint32)
        one.learn_one(slots, x[slots], int(label), np.float32(1.0))

    for name, model in (("whole", whole), ("parts", parts), ("first", first)):
        persistence.save(model, tmp_path / name)
    on = persistence.load_model(tmp_path / "first")
    for block in ouzel.blocks_from(X[80:], y[80:]):
        on.learn(block)
    persistence.save(on, tmp_path / "on")

    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes() == (tmp_path / "on").read_bytes()
    block = next(ouzel.blocks_from(X))
    assert np.array_equal(whole.margins(block), one.margins(block))
    slots = np.flatnonzero(np.append(1.0, X[0])).astype(np.uint32)
    single = whole.margins_one(slots, np.append(np.float32(1.0), X[0])[slots])
    assert np.allclose(single, whole.margins(block)[0])


def test_predicting_and_examples_of_importance_0_leave_the_moments_alone():
    X, y = stream(100)
    model, _ = learnt(X, y)
    before = [array.copy() for array in model.preparation.features]
    (block,) = ouzel.blocks_from(X * 100.0, y)

    model.margins(block)
    model.learn(block._replace(weights=np.zeros(100, np.float32)))

    assert all(np.array_equal(*pair) for pair in zip(before, model.preparation.features, strict=True))


def test_weights_are_those_of_the_features_as_they_are():
    X, y = stream(4000)
    X = X[:, :5] * np.float32(30.0) + np.float32(100.0)
    model = ouzel.OnlineGradientClassifier(standardize=True).fit(X, y)

    near = np.abs((X - X.mean(axis=0)) / X.std(axis=0)).max(axis=1) < 2.9
    told = X @ model.coef_[0] + model.intercept_[0]
    assert np.allclose(told[near], model.decision_function(X)[near], rtol=5e-3, atol=0.01)  # which count it again


def test_merged_moments_are_those_of_all_examples():
    X, y = stream()
    whole, _ = learnt(X, y)
    parts = [learnt(X[here], y[here])[0] for here in (slice(0, 200), slice(200, 600))]

    merged = merge(parts)

    for part, expected in zip(merged.preparation.features[:2], whole.preparation.features[:2], strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-6)
    margins = merged.margins(next(ouzel.blocks_from(X)))
    assert errors(margins, y) < errors(np.zeros(600), y) / 2
    alone = merge([whole]).margins(next(ouzel.blocks_from(X)))
    assert np.array_equal(alone, whole.margins(next(ouzel.blocks_from(X))))


def test_features_that_come_late_have_room_and_are_counted_in_the_bytes():
    plain, model = Model("ogd"), Model("ogd", standardize=True)
    for pairs in ([({"0": 1.0}, 0)], [({str(j): 1.0 for j in range(3000)}, 1)]):
        for block in ouzel.blocks_from(pairs):
            plain.learn(block)
            model.learn(block)

    slots = model.capacity
    assert len(model.preparation.features.moments) == slots
    assert model.bytes_used == plain.bytes_used + (52 - 8) * slots + 64 - 8  # scales in place of a sample's moments


def test_the_default_standardises_by_itself():
    X, y = stream(50)

    for loss in ("logistic", "hinge"):
        assert learnt(X, y, "auto", loss=loss)[0].preparation.features is None


def test_a_byte_budget_has_no_room_for_moments():
    with pytest.raises(OuzelError, match="awm keeps to a byte budget"):
        Model("awm", standardize=True)


def test_moments_that_contradict_themselves_are_refused(tmp_path):
    from tests.forging import parts_of, write

    X, y = stream(50)
    persistence.save(learnt(X, y)[0], tmp_path / "m")
    described, arrays = parts_of(tmp_path / "m")
    arrays["features.dense"][0] = 6
    write(tmp_path / "m", described, arrays)

    with pytest.raises(OuzelError, match="dense does not fit moments"):
        persistence.load_model(tmp_path / "m")


def test_an_estimator_around_a_file_has_the_parameter(tmp_path):
    X, y = stream(50)
    ouzel.AdaGradClassifier(standardize=True).fit(X, y).save(tmp_path / "m")

    assert ouzel.load(tmp_path / "m").get_params()["standardize"] is True
    assert ouzel.OnlineClassifier("arow", standardize=True).fit(X, y).model_.standardize
