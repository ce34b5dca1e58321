"""The importance of columns is what permutation importance finds, with no data."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import load_diabetes, load_wine, make_friedman1
from sklearn.metrics import log_loss, mean_squared_error

import ouzel
from ouzel.model.average_example import means_and_spreads
from ouzel.model.explainer import explainer_of
from ouzel.model.model import Model
from ouzel.model.sampled_margins import SampledMargins, log_odds

pandas = pytest.importorskip("pandas")

LEAST = 0.8  # rank correlation of each of eight tables
REPEATS = 4
NOTHING = 1e-4  # of the largest growth of a loss, below which permutations differ by chance


def planted(rows=4000):
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(rows, 8)), columns=list("abcdefgh"))
    score = 2.0 * X["a"] + 1.5 * X["b"].abs() + 2.0 * X["c"] * X["d"] + 0.5 * X["e"]
    return X, (score + rng.logistic(size=rows) > 1.0).astype(int)


def planted_numbers(rows=4000):
    X, _ = planted(rows)
    X["f"] = 0.8 * X["a"] + 0.6 * X["f"]  # goes along, and adds nothing
    noise = np.random.default_rng(1).normal(size=rows)
    return X, 2.0 * X["a"] + 1.5 * np.sin(2.0 * X["b"]) + 2.0 * X["c"] * X["d"] + 0.5 * X["e"] + noise


def words(rows=6000):
    rng = np.random.default_rng(2)
    X = pandas.DataFrame(
        {
            "shop": [f"s{k % 60}" for k in rng.zipf(1.5, rows)],
            "city": rng.choice(list("ABCDEFG"), rows),
            "noise": rng.choice([f"n{k}" for k in range(30)], rows),
            "x": rng.normal(size=rows),
            "y": rng.normal(size=rows),
        }
    )
    weights = dict(zip(sorted(set(X["shop"])), 1.5 * rng.normal(size=60), strict=False))
    score = X["shop"].map(weights) + 1.5 * (X["city"] == "A") + X["x"] + 0.3 * X["y"]
    return X, (score + rng.logistic(size=rows) > 0.0).astype(int)


def three_kinds(rows=4000):
    rng = np.random.default_rng(3)
    X = pandas.DataFrame({name: rng.normal(size=rows) for name in ("p", "q", "r", "s")})
    X["kind"] = rng.choice(["u", "v", "w"], rows)
    score = 2.0 * X["p"] + np.abs(X["q"]) * 1.2 + 1.0 * (X["kind"] == "u") + 0.3 * X["r"]
    return X, np.digitize(score + rng.logistic(size=rows), [0.0, 2.0])


def friedman():
    X, y = make_friedman1(4000, 6, noise=1.0, random_state=0)
    return pandas.DataFrame(X, columns=[f"x{k}" for k in range(6)]), y


TABLES = {
    "planted": planted,
    "planted numbers": planted_numbers,
    "words": words,
    "three kinds": three_kinds,
    "wine": lambda: load_wine(return_X_y=True, as_frame=True),
    "diabetes": lambda: load_diabetes(return_X_y=True, as_frame=True),
    "friedman": friedman,
    "a line": lambda: (planted()[0], 3.0 * planted()[0]["a"] + 2.0 * planted()[0]["b"] + planted()[0]["c"] - 5.0),
}


def permuted(model, X, y, rng):
    """How much the loss grows where a column is permuted."""
    numbers = isinstance(model, ouzel.OnlineRegressor)

    def loss(table):
        if numbers:
            return mean_squared_error(y, model.predict(table))
        return log_loss(y, model.predict_proba(table), labels=model.classes_)

    base = loss(X)
    return {
        column: np.mean(
            [loss(X.assign(**{column: rng.permutation(X[column].to_numpy())})) - base for _ in range(REPEATS)]
        )
        for column in X
    }


def test_columns_are_ranked_as_permutation_importance_ranks_them_on_eight_tables():
    correlations, agree = {}, []
    for name, load in TABLES.items():
        X, y = load()
        order = np.random.default_rng(0).permutation(len(X))
        X, y = X.iloc[order].reset_index(drop=True), pandas.Series(np.asarray(y)[order])
        numbers = y.dtype.kind == "f"
        model = (ouzel.OnlineRegressor() if numbers else ouzel.OnlineClassifier()).fit(X, y)

        found = dict(model.column_importance())

        wanted = permuted(model, X[:2000], y[:2000], np.random.default_rng(0))
        ranked = counted([found[column] for column in X], np.sqrt(NOTHING))
        correlations[name] = spearmanr(ranked, counted([wanted[column] for column in X], NOTHING))[0]
        if first(found) == first(wanted):
            agree.append(name)

    assert {name: r for name, r in correlations.items() if r < LEAST} == {}
    assert len(agree) >= 7, agree


def counted(importances, least):
    """The importances, and 0 for those that are less than a part of the largest."""
    return np.where(importances < least * np.max(importances), 0.0, importances)


def first(importances, n=3):
    """The columns of the largest importances."""
    return set(sorted(importances, key=importances.__getitem__)[-n:])


def test_examples_kept_count_by_what_is_known_of_all_examples():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = ouzel.OnlineRegressor().fit(X, y)
    (known,) = (explainer_of(part) for part in vars(model).values() if isinstance(part, Model))
    kept, columns = SampledMargins(known), known.effect_features
    spreads = means_and_spreads(known.model)[1][known.slots][columns]

    found = np.average(kept.numbers, axis=0, weights=kept.weights)

    off = np.abs(kept.numbers.mean(axis=0) - known.means[columns]) / spreads
    assert np.abs(found - known.means[columns]).max() < 0.02 * spreads.max()
    assert (np.abs(found - known.means[columns]) / spreads).max() < 0.3 * off.max()
    np.testing.assert_allclose(np.sqrt(kept.variances(kept.numbers)), spreads, rtol=0.05)


def test_log_odds_of_several_classes_are_those_of_their_probabilities():
    margins = 3.0 * np.random.default_rng(0).normal(size=(50, 4))
    chances = np.exp(margins) / np.exp(margins).sum(axis=1, keepdims=True)

    np.testing.assert_allclose(log_odds(margins), np.log(chances / (1.0 - chances)), rtol=1e-9)
    np.testing.assert_allclose(log_odds(margins[:, :1]), margins[:, :1])
    assert np.isfinite(log_odds(np.array([[1e6, 0.0, -1e6]]))).all()


def test_a_rare_word_that_decides_comes_first_by_value():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"shop": rng.choice([f"s{k}" for k in range(200)], 8000), "x": rng.normal(size=8000)})
    y = ((X["shop"] == "s7") | (rng.random(8000) < 0.02)).astype(int)
    model = ouzel.OnlineClassifier().fit(X, y)

    assert model.feature_importance(1)[0].name == "shop=s7"
    assert model.column_importance()[0][0] == "shop"
    assert ouzel.effect(model, "shop").words[0] == "s7"


def test_importances_of_scikit_learn_follow_the_columns_of_the_table():
    X, y = words(2000)
    model = ouzel.OnlineClassifier().fit(X, y)

    assert list(model.get_feature_names_out()) == list(X.columns)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    order = [X.columns[k] for k in np.argsort(-model.feature_importances_)]
    assert order == [name for name, _ in model.column_importance()]
    of_array = ouzel.OnlineClassifier().fit(X[["x", "y"]].to_numpy(), y)
    assert list(of_array.get_feature_names_out()) == ["x0", "x1"]
    assert of_array.feature_importances_.shape == (2,)


def test_a_linear_learner_takes_the_words_of_a_column_together():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"city": rng.choice(["a", "b", "c"], 3000), "x": rng.normal(size=3000)})
    model = ouzel.OnlineClassifier("adagrad").fit(X, ((X["city"] == "a") | (X["x"] > 1.0)).astype(int))

    found = dict(model.column_importance())

    added = model.explain(X)
    for column in X:
        assert found[column] == pytest.approx(added[column].std(), rel=0.05)


def test_a_learner_of_a_byte_budget_ranks_columns_by_weights():
    X, y = words(2000)
    model = ouzel.OnlineClassifier("awm", budget="8KB").fit(X, y)

    assert {name for name, _ in model.column_importance()} <= set(X.columns)
    assert model.pair_importance() == []


def test_a_date_does_not_hide_the_importance_of_words_and_numbers():
    # Seconds since 1970 that have no effect were drawn as a word, and moved every margin out of sight.
    rng, n = np.random.default_rng(0), 3000
    X = pandas.DataFrame(
        {
            "when": pandas.date_range("2024-01-01", periods=n, freq="h"),
            "w": rng.choice(list("pqr"), n),
            "x": rng.normal(size=n),
        }
    )
    score = 2 * (X["w"] == "p") + X["x"] + 2 * (X["when"].dt.hour > 12) - 2
    model = ouzel.OnlineClassifier().fit(X, (score + rng.logistic(size=n) > 0).astype(int))
    before = model.decision_function(X)
    for column, size in model.column_importance():
        exchanged = X.assign(**{column: X[column].to_numpy()[rng.permutation(n)]})
        moved = np.sqrt(np.mean((model.decision_function(exchanged) - before) ** 2) / 2)
        assert size == pytest.approx(moved, rel=0.15), column
