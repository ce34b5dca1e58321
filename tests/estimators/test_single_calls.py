"""Single examples: the same digits as blocks, whatever they hold, and nothing is looked up that is known already."""

import pickle

import joblib
import numpy as np
import pytest

import ouzel

RNG = np.random.default_rng(1)
X = RNG.normal(size=(80, 4)).round(3)
ROWS = [dict(zip("abcd", row, strict=True)) for row in X.tolist()]
SIGNS = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no").tolist()
THREE = np.array(["c", "a", "b"])[np.clip(np.round(X[:, 0] + 1), 0, 2).astype(int)].tolist()


@pytest.mark.parametrize("labels", [SIGNS, SIGNS[::-1]], ids=["as it comes", "the other class first"])
@pytest.mark.parametrize("learner", ["adagrad", "auto", "cw"])
def test_the_margin_from_before_is_that_of_the_decision_function(learner, labels):
    told, asked = ouzel.OnlineClassifier(learner), ouzel.OnlineClassifier(learner)

    for k, (row, label) in enumerate(zip(ROWS, labels, strict=True)):
        seen = k > 0 and len(asked.classes_) > 1
        before = asked._margins_one(row) if seen else None
        sign = -1.0 if seen and asked.model_.classes.reversed_pair() else 1.0
        margin = told.predict_then_learn_one(row, label)
        asked.learn_one(row, label)
        assert before is None or margin == sign * before[0]

    expected = asked.model_.answers(next(ouzel.blocks_from([(ROWS[0], None)], model=asked))).margins[0, 0]
    assert told.predict_then_learn_one(ROWS[0], "yes") == expected


@pytest.mark.parametrize("learner", ["adagrad", "arow", "adagrad-multiclass"])
def test_of_three_classes_there_is_a_margin_each(learner):
    told = ouzel.OnlineClassifier(learner)
    for row, label in zip(ROWS, THREE, strict=True):
        told.predict_then_learn_one(row, label)
    (block,) = ouzel.blocks_from([(ROWS[3], None)], model=told)
    expected = told.model_.answers(block).margins[0].tolist()

    assert told.predict_then_learn_one(ROWS[3], "a") == expected


def test_numbers_to_predict_have_the_number():
    model = ouzel.OnlineRegressor("adagrad")
    for row in ROWS:
        model.learn_one(row, 1000.0 + 50.0 * row["a"])
    before = model.predict_one(ROWS[5])

    assert model.predict_then_learn_one(ROWS[5], 1.0) == before
    assert model.predict_one(ROWS[5]) != before


def test_a_ranker_learns_no_single_example():
    with pytest.raises(ouzel.OuzelError, match="groups of examples"):
        ouzel.OnlineRanker("ogd").predict_then_learn_one(ROWS[0], 1)


@pytest.mark.parametrize("labels", [SIGNS, SIGNS[::-1], THREE], ids=["two", "reversed", "three"])
def test_probabilities_of_one_are_those_of_many(labels):
    model = ouzel.OnlineClassifier("adagrad")
    for row, label in zip(ROWS, labels, strict=True):
        model.learn_one(row, label)

    (block,) = ouzel.blocks_from([(row, None) for row in ROWS], model=model)
    expected = model.model_.answers(block).probabilities

    assert [list(model.predict_proba_one(row).values()) for row in ROWS] == expected.tolist()
    assert list(model.predict_proba_one(ROWS[0])) == model.classes_.tolist()


def test_no_call_asks_for_parameters_anew(monkeypatch):
    model = ouzel.AdaGradClassifier()
    for row, label in zip(ROWS, SIGNS, strict=True):
        model.learn_one(row, label)

    def refuse(*_, **__):
        raise AssertionError("asked")

    for name in ("get_params", "_settings", "_resolved", "columns_said", "_reading"):
        monkeypatch.setattr(type(model), name, refuse)

    model.learn_one(ROWS[0], "yes").predict_one(ROWS[1])
    assert set(model.predict_proba_one(ROWS[2])) == {"yes", "no"}


def test_an_estimator_that_met_single_examples_can_be_pickled():
    model = ouzel.AdaGradClassifier(categorical=["k"])
    for row, label in zip(ROWS, SIGNS, strict=True):
        model.learn_one({**row, "k": 7}, label)

    again = pickle.loads(pickle.dumps(model))

    assert [again.predict_proba_one(row) for row in ROWS] == [model.predict_proba_one(row) for row in ROWS]
    assert again.learn_one(ROWS[0], "yes").predict_proba_one(ROWS[0]) == model.learn_one(
        ROWS[0], "yes"
    ).predict_proba_one(ROWS[0])


def test_a_model_whose_arrays_were_mapped_from_a_file_predicts_and_learns_on(tmp_path):
    model = ouzel.AdaGradClassifier().partial_fit(X, SIGNS)
    joblib.dump(model, tmp_path / "model")

    mapped = joblib.load(tmp_path / "model", mmap_mode="r")

    np.testing.assert_array_equal(mapped.decision_function(X), model.decision_function(X))
    again = [one.partial_fit(X, SIGNS).decision_function(X) for one in (mapped, model)]
    np.testing.assert_array_equal(*again)


def test_a_row_of_a_frame_is_an_example_and_a_list_is_not():
    pandas = pytest.importorskip("pandas")
    model = ouzel.OnlineClassifier("adagrad").learn_one(ROWS[0], "yes").learn_one(ROWS[1], "no")

    assert model.predict_proba_one(pandas.Series(ROWS[2])) == model.predict_proba_one(ROWS[2])
    with pytest.raises(ouzel.OuzelError, match=r"an example is a dictionary of features; got \[1.0\]"):
        model.predict_one([1.0])
    with pytest.raises(ValueError, match=r"2D array|2-dimensional"):
        ouzel.OnlineClassifier("adagrad").fit(X, SIGNS).predict(pandas.Series(X[0]))


@pytest.mark.parametrize("weights", [np.arange(80.0) % 3 + 1.0, 2.0, None])
@pytest.mark.parametrize("learner", ["adagrad", "auto"])
def test_rows_learnt_together_have_the_weights_that_they_have_one_by_one(learner, weights):
    pandas = pytest.importorskip("pandas")
    given = {} if weights is None else {"w": weights}
    many = ouzel.OnlineClassifier(learner).learn_many(pandas.DataFrame(ROWS), pandas.Series(SIGNS), **given)
    one = ouzel.OnlineClassifier(learner)
    for row, label, weight in zip(ROWS, SIGNS, np.broadcast_to(1.0 if weights is None else weights, 80), strict=True):
        one.learn_one(row, label, float(weight))

    np.testing.assert_array_equal(many.decision_function(ROWS), one.decision_function(ROWS))


@pytest.mark.parametrize("constant", [True, False])
def test_an_example_may_be_empty(constant):
    model = ouzel.AdaGradClassifier(fit_intercept=constant).learn_one({}, "yes").learn_one({"a": 1.0}, "no")

    assert model.predict_one({}) in ("yes", "no")


@pytest.mark.parametrize("scaler", ["MinMaxScaler", "StandardScaler", "MaxAbsScaler"])
@pytest.mark.parametrize("learner", ["adagrad", "auto"])
def test_pipelines_of_river_learn_and_predict_before_the_first_learning_too(scaler, learner):
    preprocessing = pytest.importorskip("river.preprocessing")
    from river import metrics

    model = getattr(preprocessing, scaler)() | ouzel.OnlineClassifier(learner)
    accuracy = metrics.Accuracy()

    assert model.predict_one(ROWS[0]) is None
    assert model.predict_proba_one(ROWS[0]) == {}
    for _ in range(3):
        for row, label in zip(ROWS, SIGNS, strict=True):
            accuracy.update(label, model.predict_one(row))
            model.learn_one(row, label)

    assert accuracy.get() > (0.55 if scaler == "MinMaxScaler" else 0.75)  # River's own models have .58 and .9
    assert sum(model.predict_proba_one(ROWS[0]).values()) == pytest.approx(1.0)


def test_numbers_are_predicted_by_pipelines_of_river():
    preprocessing = pytest.importorskip("river.preprocessing")
    model = preprocessing.MinMaxScaler() | ouzel.OnlineRegressor("adagrad")

    assert model.predict_one(ROWS[0]) == 0.0
    for row in ROWS * 3:
        model.learn_one(row, 3.0 * row["a"])
    assert abs(model.predict_one(ROWS[0]) - 3.0 * ROWS[0]["a"]) < 2.0


def test_many_dictionaries_are_learnt_as_one_by_one():
    many, single = (ouzel.OnlineClassifier("adagrad") for _ in range(2))
    many.learn_many(ROWS, SIGNS)
    for row, label in zip(ROWS, SIGNS, strict=True):
        single.learn_one(row, label)

    assert many.predict_proba_one(ROWS[0]) == single.predict_proba_one(ROWS[0])
