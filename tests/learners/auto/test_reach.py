"""How far the default's rare features reach: in tables as far as frequent ones; in text, and for others, no further."""

import numpy as np
import pytest

import ouzel
from ouzel.learners import feature_scaling
from ouzel.learners.auto import standardisation
from ouzel.learners.auto.standardisation import COUNT, FOUND, KNOWN, LARGEST, MOST_REACH, REACH, SEEN
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from tests.oracles import auto as oracle

CASES = pytest.mark.parametrize("task", ["two", "several", "numbers"])
SHARES = np.array([0.4, 0.2, 0.05, 0.022, 0.01, 0.002])


def table(rows, seed=0):
    """X (rows, 8): a number, columns of 1 in `SHARES` of the rows, and one of large values, rarely; and classes."""
    rng = np.random.default_rng(seed)
    ones = rng.random((rows, len(SHARES))) < SHARES
    heavy = (rng.random(rows) < 0.1) * rng.standard_t(2, rows)
    X = np.column_stack([rng.normal(size=rows), ones, heavy]).astype(np.float32)
    return X, (X @ np.array([1.0, 1.0, -1.0, 2.0, -2.0, 3.0, 3.0, 0.5]) > 0.0).astype(int)


def words(rows, seed=0):
    """Pairs of 20 of 3,000 words with their counts, and a class."""
    rng = np.random.default_rng(seed)
    chosen = [rng.choice(3000, 20, replace=False) for _ in range(rows)]
    return [({int(j): float(1 + j % 3) for j in some}, int(some.min() < 70)) for some in chosen]


def categories(count, rows, seed=0):
    """X (rows, count), one 1 in a row, and classes, which each category has its own of."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, count, rows)
    return np.eye(count, dtype=np.float32)[chosen], rng.integers(0, 2, count)[chosen]


def model_for(task, **how):
    kind = {"loss": "squared"} if task == "numbers" else {"classes": range(2 + (task == "several"))}
    return Model("auto", **kind, **how)


def learnt(model, X, y, block_rows=1000):
    for block in blocks_from(X, y, block_rows=block_rows):
        model.learn(block)
    return model


def features_of(model):
    return model.states[0].features


def seen_by(model, X):
    """z (rows, slots) of dense rows as the model's parts see them."""
    (block,) = blocks_from(X)
    rows = feature_scaling.scaled_rows(features_of(model), model.raw_rows(block))
    z = np.zeros((len(X), len(features_of(model).moments)))
    for i in range(len(X)):
        here = slice(int(rows.offsets[i]), int(rows.offsets[i + 1]))
        z[i, rows.indices[here]] = rows.values[here]
    return z


@CASES
def test_columns_of_a_table_have_the_same_mean_square_down_to_2_percent(task):
    X, y = table(3000)
    model = learnt(model_for(task), X, y)

    z = seen_by(model, X)[:, 2:8]

    np.testing.assert_allclose(np.sqrt(np.mean(z[:, :4] ** 2, axis=0)), 1.0, atol=0.02)
    np.testing.assert_allclose(z[:, 4:].max(axis=0), MOST_REACH)  # rarer ones reach no further


def test_what_rare_columns_say_is_learnt_beside_frequent_ones():
    wrong = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.random((1000, 10)) < 0.4, rng.random((1000, 20)) < 0.02]).astype(np.float32)
        rule = np.concatenate([rng.choice([-1.0, 1.0], 10), rng.choice([-4.0, 4.0], 20)])
        y = (X @ rule > 0.0).astype(int)
        margins = np.concatenate([model.margins for model in map(model_for("two").learn, blocks_from(X, y))])
        wrong.append(((margins > 0) != y)[X[:, 10:].any(axis=1)])

    assert np.mean(np.concatenate(wrong)) < 0.11  # 0.13 where all features are divided by their largest value


def test_the_reach_grows_with_the_examples():
    X, y = table(600)
    model = model_for("two")

    reaches = []
    for block in blocks_from(X, y, block_rows=60):
        model.learn(block)
        reaches.append(features_of(model).totals[REACH])

    np.testing.assert_allclose(reaches, np.minimum(np.sqrt(1.0 + np.arange(60, 601, 60) / 10.0), MOST_REACH))


def test_ids_reach_no_further_than_the_examples_that_they_are_in():
    """One in two columns of ids, each of which comes twice in the mean."""
    rng = np.random.default_rng(0)
    rows = [({"x": 1.0, f"id={rng.integers(500)}": 1.0, "dense": rng.normal()}, k % 2) for k in range(1000)]
    model = Model("auto")
    for block in blocks_from(rows):
        model.learn(block)
    totals, moments = features_of(model).totals, features_of(model).moments

    met = np.count_nonzero(moments[:, COUNT])
    assert (totals[KNOWN], totals[FOUND]) == (met, 4000.0)
    assert standardisation.reach_of(totals) == pytest.approx(np.sqrt(1.0 + 4000.0 / met))
    assert totals[REACH] == MOST_REACH


def test_words_of_text_reach_as_far_as_their_largest_count():
    model = learnt(Model("auto"), words(400), None)
    (block,) = blocks_from(words(50, seed=1))

    rows = feature_scaling.scaled_rows(features_of(model), model.raw_rows(block))

    assert features_of(model).totals[REACH] == 1.0
    raw = model.raw_rows(block)
    largest = np.maximum(features_of(model).moments[:, LARGEST][raw.indices], raw.values)
    np.testing.assert_array_equal(rows.values[: len(raw.values)], raw.values / largest)


def test_other_learners_see_what_they_saw():
    X, y = table(600)
    model = learnt(Model("adagrad", standardize=True, classes=[0, 1]), X, y)
    (block,) = blocks_from(X)

    z = feature_scaling.scaled_rows(model.preparation.features, model.raw_rows(block))

    assert model.preparation.features.totals[REACH] == 0.0
    found = z.values[: int(z.offsets[-1])][np.isin(z.indices[: int(z.offsets[-1])], [4, 5, 6, 7])]
    np.testing.assert_array_equal(found, np.ones(int(X[:, 3:7].sum())))


@CASES
def test_margins_of_rare_features_are_those_of_a_slow_transcription(task):
    rng = np.random.default_rng(3)
    X, _ = categories(12, 700, seed=4)
    heavy = (rng.random(700) < 0.15) * rng.standard_t(2, 700)
    X = np.column_stack([X, heavy]).astype(np.float32)
    y = (X @ rng.normal(size=(13, 3)) + 0.1 * rng.normal(size=(700, 3))).argmax(axis=1)
    y = np.minimum(y, 1) if task == "two" else X[:, 12] + X[:, 3] if task == "numbers" else y
    slow = {"two": oracle.TwoClasses(14), "several": oracle.SeveralClasses(14, 3), "numbers": oracle.Regression(14)}[
        task
    ]

    expected = [
        slow.learn(x, label) for x, label in zip(np.column_stack([np.ones(700), X.astype(float)]), y, strict=True)
    ]
    learn = model_for(task, forms="raw").learn
    found = np.concatenate([outcome.margins for outcome in map(learn, blocks_from(X, y))])

    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.02)


@CASES
def test_the_units_of_rare_columns_do_not_matter_at_all(task):
    X, y = table(800)
    units = 2.0 ** np.array([0, 3, -40, 17, -9, 60, -1, 12])

    margins = [
        np.concatenate([model.learn(block).margins for block in blocks_from(each.astype(np.float32), y)])
        for model, each in ((model_for(task), X), (model_for(task), X * units))
    ]

    np.testing.assert_array_equal(*margins)


@CASES
def test_going_on_from_a_file_gives_the_same_bits(task, tmp_path):
    X, y = table(500)
    whole = learnt(model_for(task), X, y)

    persistence.save(learnt(model_for(task), X[:130], y[:130]), tmp_path / "first")
    resumed = learnt(persistence.load_model(tmp_path / "first"), X[130:], y[130:], block_rows=7)

    persistence.save(whole, tmp_path / "whole")
    persistence.save(resumed, tmp_path / "resumed")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()


@CASES
def test_forgetting_takes_nothing_from_the_reach(task):
    X, y = table(600)
    model = Model("auto", forget=20.0, **({"loss": "squared"} if task == "numbers" else {}))

    learnt(model, X, y)

    assert features_of(model).totals[SEEN] < 40.0
    assert features_of(model).totals[REACH] == MOST_REACH


@CASES
def test_workers_are_merged_to_the_mean_of_their_reaches_and_go_on_from_there(task):
    X, y = table(300)
    first, second = learnt(model_for(task), X[:100], y[:100]), learnt(model_for(task), X[100:], y[100:])

    merged = ouzel.merge([first, second])
    reach = features_of(merged).totals[REACH]
    learnt(merged, X[:1], y[:1])

    expected = (100.0 * features_of(first).totals[REACH] + 200.0 * features_of(second).totals[REACH]) / 300.0
    assert reach == pytest.approx(expected)
    assert features_of(merged).totals[REACH] == pytest.approx(np.sqrt(reach**2 + 0.1))


def test_weights_say_what_a_rare_column_adds():
    X, y = table(3000)
    rng = np.random.default_rng(5)
    y = np.where(rng.random(3000) < 0.3, rng.integers(0, 2, 3000), y)  # margins that need not be cut
    model = learnt(model_for("two"), X, y)
    row = np.zeros((2, 8), np.float32)
    row[1, 4] = 1.0

    (block,) = blocks_from(row)
    without, beside = model.margins(block)

    assert model.weights()[0, 5] == pytest.approx(beside - without, rel=0.25)
