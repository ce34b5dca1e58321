"""Effects of columns: what they say a column adds is what it adds to margins."""

import numpy as np
import pytest

import ouzel
from ouzel.evaluation import effect_plots


def learnt(kind, count=4000):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (count, 3)).astype(np.float32)
    score = 3.0 * np.abs(X[:, 0]) - 3.0 + X[:, 1] + 0.2 * rng.normal(size=count)
    if kind == "numbers":
        return ouzel.OnlineRegressor().fit(X, score), X
    if kind == "counts":
        return ouzel.OnlineRegressor(loss="poisson").fit(X, rng.poisson(np.exp(0.5 * score))), X
    return ouzel.OnlineClassifier().fit(X, np.digitize(score, [0.0] if kind == "two" else [-1.0, 1.0])), X


def margins_of(model, X):
    found = model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)
    found = np.asarray(found, float).reshape(len(X), -1)
    return np.log(found) if getattr(model, "loss", None) == "poisson" else found


def centred(scores):
    """Scores less what all classes have in common, which says nothing."""
    return scores - scores.mean(axis=1, keepdims=True) if scores.shape[1] > 1 else scores


@pytest.mark.parametrize("kind", ["two", "several", "numbers", "counts"])
def test_the_curve_is_what_a_change_of_the_column_changes_in_the_margin(kind):
    model, X = learnt(kind)
    places = np.linspace(-1.8, 1.8, 13)
    moved = np.repeat(X[:300, None], len(places), axis=1)
    moved[:, :, 0] = places

    curve = centred(ouzel.effect(model, "0").at(places))

    margins = centred(margins_of(model, moved.reshape(-1, 3)).reshape(300, len(places), -1).mean(axis=0))
    for k in range(curve.shape[1]):
        assert np.corrcoef(curve[:, k], margins[:, k])[0, 1] > 0.85  # pairs have a share in the margin, and not in it
    assert curve.shape == (13, {"several": 3}.get(kind, 1))


def test_missing_numbers_are_not_drawn_as_zeros():
    rng = np.random.default_rng(3)
    X = rng.uniform(20.0, 80.0, (2000, 2))
    y = np.abs(X[:, 0] - 50.0) > X[:, 1] - 35.0
    X[rng.random(len(X)) < 0.3, 0] = np.nan

    model = ouzel.OnlineClassifier().fit(X, y)

    assert ouzel.effect(model, "0").numbers.min() >= 20.0
    assert ouzel.effect(model, "0*1").numbers.min() >= 20.0
    assert len(ouzel.effect(model, "1").numbers) > len(ouzel.effect(model, "0").numbers) > 100


def test_an_effect_on_counts_is_called_one_on_their_logarithm():
    assert effect_plots._what(ouzel.effect(learnt("counts")[0], "0")) == "added to the logarithm of the prediction"
    assert effect_plots._what(ouzel.effect(learnt("numbers")[0], "0")) == "added to the prediction"


def test_two_classes_learnt_in_another_order_have_the_same_sign():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 2)).astype(np.float32)
    y = np.where(np.abs(X[:, 0]) > 0.7, "yes", "no")

    for order in (np.argsort(y[:200]), np.argsort(y[:200])[::-1]):
        first = np.concatenate([order, np.arange(200, 2000)])
        found = ouzel.effect(ouzel.OnlineClassifier().fit(X[first], y[first]), "0")
        assert found.classes == ["yes"]
        assert found.at([2.0]) > found.at([0.0]) + 1.0


def test_values_are_0_on_average_and_pairs_turn_with_their_order():
    model, _ = learnt("several")

    one, pair, turned = (ouzel.effect(model, name) for name in ("0", "0*1", "1*0"))

    np.testing.assert_allclose(one._replace(slopes=np.zeros(3)).at(one.numbers).mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(pair.at(pair.numbers).mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_array_equal(turned.values, pair.values.swapaxes(0, 1))
    np.testing.assert_array_equal(turned.numbers, pair.numbers[:, ::-1])
    assert (np.diff(one.edges[0]) > 0).all()


@pytest.mark.parametrize("kind", ["two", "several", "numbers"])
def test_pictures_name_their_axes_and_draw_a_line_a_class(kind, monkeypatch):
    figures, (model, _) = [], learnt(kind)
    monkeypatch.setattr(effect_plots, "save", lambda figure, path: figures.append(figure))

    ouzel.effect(model, "0").plot("x.png", "title")
    ouzel.effect(model, "0*1").plot("x.png")

    (curve, density), maps = figures[0].axes, figures[1].axes
    lines = 3 if kind == "several" else 1
    assert len(curve.get_lines()) == 1 + lines  # and that at 0
    assert (
        curve.get_ylabel()
        == {
            "two": "added to the margin of 1",
            "several": "added to the score of a class",
            "numbers": "added to the prediction",
        }[kind]
    )
    assert (density.get_xlabel(), density.get_ylabel()) == ("0", "share of\nexamples")
    assert sum(bar.get_height() for bar in density.patches) == pytest.approx(1.0, abs=0.02)
    assert [axes.get_xlabel() for axes in maps[:lines]] == ["0"] * lines
    assert [axes.get_ylabel() for axes in maps[:lines]] == ["1"] * lines
    assert maps[-1].get_ylabel().endswith("beyond the columns by themselves")


def test_categories_that_decide_together_are_named_explained_and_drawn(monkeypatch):
    rng = np.random.default_rng(0)
    jobs, cities = rng.choice(["clerk", "cook", "nurse"], 3000), rng.choice(["oslo", "rome"], 3000)
    rows = [{"job": job, "city": city} for job, city in zip(jobs, cities, strict=True)]
    model = ouzel.OnlineClassifier()
    for row, y in zip(rows, (jobs == "clerk") != (cities == "rome"), strict=True):
        model.learn_one(row, bool(y))
    figures = []
    monkeypatch.setattr(effect_plots, "save", lambda figure, path: figures.append(figure) or figure)

    ((pair, _), *_) = model.pair_importance()
    ouzel.effect(model, "job=clerk*city=rome").plot()

    assert pair == "city × job"
    assert [mark.get_text() for mark in figures[0].axes[0].get_xticklabels()] == ["no", "yes"]
    assert (
        np.mean([model.predict_one(row) for row in rows[-500:]] == ((jobs == "clerk") != (cities == "rome"))[-500:])
        > 0.95
    )


@pytest.mark.parametrize("model", [ouzel.OnlineClassifier(), ouzel.Model("auto"), ouzel.Model("auto", forms="raw")])
def test_a_model_without_effects_is_refused(model):
    with pytest.raises(ouzel.OuzelError, match="has no effects of columns; the default learner, auto, makes them"):
        ouzel.effect(model, "age")


def test_a_pair_may_be_a_tuple_and_a_column_its_number():
    model, _ = learnt("two", 500)

    np.testing.assert_array_equal(ouzel.effect(model, 0).values, ouzel.effect(model, "0").values)
    np.testing.assert_array_equal(ouzel.effect(model, (0, "1")).values, ouzel.effect(model, "0*1").values)
    with pytest.raises(ouzel.OuzelError, match="column '7' has no effect"):
        ouzel.effect(model, (0, 7))


def test_an_axis_of_dates_has_days_and_an_error_lists_columns(monkeypatch):
    pandas = pytest.importorskip("pandas")
    rng, figures = np.random.default_rng(0), []
    X = pandas.DataFrame({"when": pandas.date_range("2024-01-01", periods=2000, freq="7h"), "x": rng.normal(size=2000)})
    X["city"] = rng.choice(["oslo", "rome"], 2000)
    model = ouzel.OnlineClassifier().fit(X, X["x"] > 0.0)
    monkeypatch.setattr(effect_plots, "save", lambda figure, path: figures.append(figure) or figure)

    ouzel.effect(model, "when").plot()

    marks = [mark.get_text() for mark in figures[0].axes[1].get_xticklabels()]
    assert marks == sorted(marks)
    assert all(mark[:2] == "20" for mark in marks)
    assert {*map(len, marks)} == {10}
    with pytest.raises(ouzel.OuzelError, match=r"Did you mean 'city'\? Columns that have one: (\w+, )*city") as refused:
        ouzel.effect(model, "citi")
    assert "=" not in str(refused.value)
