"""Mistakes that people make in Python: one line that says what was given and what to do, and nothing learnt is lost."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import ouzel
from ouzel import OuzelError
from ouzel.learners.catalogue import LEARNERS
from ouzel.model.settings import OTHER_NAMES

X, Y = [[0.0, 1.0], [1.0, 0.0]] * 5, ["wet", "dry"] * 5


def model(learner="adagrad"):
    return ouzel.OnlineClassifier(learner).fit(X, Y)


MISUSES = {
    "read nothing": (lambda: ouzel.read(None), "path of a file is text or a pathlib.Path; got None"),
    "read a number": (lambda: ouzel.read([3]), "got 3"),
    "load a number": (lambda: ouzel.load(3), "path of a file"),
    "save nowhere": (lambda: model().save(None), "path of a file"),
    "info of a number": (lambda: ouzel.info(3), "path of a file"),
    "convert to a number": (lambda: ouzel.convert([], 4), "path of a file"),
    "validate on pairs": (
        lambda: ouzel.progressive_validation(model(), [({"a": 1.0}, True)]),
        "a stream is blocks of examples, and this has a tuple; give ouzel.blocks_from(data)",
    ),
    "compare on a table": (
        lambda: ouzel.compare(["adagrad"], (frame(), [0, 1])),
        "a stream is blocks of examples, and this has a DataFrame; give ouzel.blocks_from(data)",
    ),
    "names of too few columns": (
        lambda: model().get_feature_names_out([]),
        "and input_features has 0; give one for each",
    ),
    "write what is no stream": (lambda: ouzel.write_svmlight(3, "x.svm"), "a stream is blocks of examples"),
    "merge nothing": (lambda: ouzel.merge([]), "at least one model"),
    "merge one": (lambda: ouzel.merge(model()), "as a list; got OnlineClassifier"),
    "merge numbers": (lambda: ouzel.merge([3, 4]), "an estimator that has learnt something, or a Model; got 3"),
    "merge kinds": (lambda: ouzel.merge([model(), ouzel.OnlineRegressor()]), "OnlineClassifier, OnlineRegressor"),
    "evaluate the other way round": (lambda: ouzel.evaluate([], model()), "a model is an estimator"),
    "evaluate a name": (lambda: ouzel.evaluate(model(), "day.csv"), "ouzel.read(path)"),
    "validate a number": (lambda: ouzel.progressive_validation(3, []), "a model is an estimator, or a Model; got 3"),
    "validate on nothing": (lambda: ouzel.progressive_validation(model(), None), "a stream is blocks of examples"),
    "blocks of a number": (lambda: ouzel.blocks_from(3), "pairs of features and label; got 3"),
    "blocks of a text": (lambda: ouzel.blocks_from("day.csv"), "got 'day.csv'"),
    "address of a number": (lambda: ouzel.Client(3), "http://localhost:8000"),
    "an example that is none": (lambda: model().predict_one(3), "a dictionary of features; got 3"),
    "few features": (lambda: model().top_weights("many"), "n must be a whole number"),
    "importance of none": (lambda: model().feature_importance(-1), "n must be a whole number"),
    "a lazy frame": (lambda: model().predict(lazy_frame()), "is lazy, and has no rows yet"),
    "blocks of a lazy frame": (lambda: ouzel.blocks_from(lazy_frame()), "give frame.collect()"),
    "no columns": (lambda: model().fit(no_columns(), [0, 1]), "0 feature(s) (shape=(2, 0))"),
    "columns gone": (lambda: of_frame().predict(no_columns()), "0 feature(s) (shape=(2, 0))"),
    "weights of nothing": (
        lambda: model().fit(X, Y, sample_weight=[1e-300] * 10),
        "every weight is at most 1e-300, which single precision rounds to 0; multiply all weights by one number",
    ),
    "an infinite value": (
        lambda: of_frame().learn_one({"a": float("inf")}, "wet"),
        "feature 'a' is inf; expected a finite number below 3.4e38",
    ),
    "a label that is missing": (lambda: model().fit(X, ["wet", None] * 5), "example 1: its label is missing (None)"),
    "a number that is missing": (lambda: ouzel.OnlineRegressor().fit([[1.0], [2.0]], [None, 1.0]), "example 0: its"),
    "a label of pandas that is missing": (lambda: model().fit(X, of_words("wet", None)), "example 1: its label is mis"),
    "weights below 0": (lambda: of_frame().learn_many(frame(), ["wet", "dry"], w=[1.0, -1.0]), "example 1: its weight"),
    "a table as an example": (lambda: of_frame().learn_one(frame(), "wet"), "got a table of shape (2, 1), give tab"),
    "a number beyond single precision": (
        lambda: ouzel.OnlineRegressor().fit([[1.0], [2.0]], [1e60, 1.0]),
        "a number to predict is finite and below 3.4e38; got 1e+60",
    ),
    "counts below 0": (lambda: counting().fit([[1.0], [2.0]], [2.0, -1.0]), "predicts counts of 0 or more"),
    "one count below 0": (lambda: counting().learn_one({"a": 1.0}, -1), "got the label -1"),
    "counts below 0 to compare with": (
        lambda: ouzel.evaluate(counting().fit([[1.0], [2.0]], [2, 1]), ouzel.blocks_from(np.ones((1, 1)), [-1.0])),
        "got the label -1",
    ),
    "another kind of model": (lambda: saved(ouzel.OnlineRegressor), "of the class OnlineClassifier, not OnlineRegres"),
}  # fmt: skip


def lazy_frame():
    return pytest.importorskip("polars").LazyFrame({"a": [1.0]})


def no_columns():
    return pytest.importorskip("pandas").DataFrame(index=[0, 1])


def frame():
    return pytest.importorskip("pandas").DataFrame({"a": [0.0, 1.0]})


def of_frame():
    return ouzel.OnlineClassifier("adagrad").fit(frame(), ["wet", "dry"])


def counting():
    return ouzel.OnlineRegressor("adagrad", loss="poisson")


def of_words(*words):
    return pytest.importorskip("pandas").Series(words * 5, dtype="string")


def saved(kind):
    model().save("model.ouzel")
    return ouzel.load("model.ouzel", kind)


@pytest.mark.parametrize("misuse", MISUSES)
def test_a_misuse_is_answered_in_one_line(misuse, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, said = MISUSES[misuse]

    with pytest.raises(OuzelError) as refused:
        call()

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


NAN = float("nan")
REFUSED = [
    *[(label, 1.0, "the label is missing") for label in (None, NAN, np.float32(NAN), np.datetime64("NaT"))],
    *[("wet", weight, "the weight is") for weight in (-1, NAN, float("inf"), 1e39, "heavy", None)],
    (float("inf"), 1.0, "finite"),
    ([1.0], 1.0, "label is|number to predict"),
]


@pytest.mark.parametrize(("label", "weight", "said"), REFUSED)
@pytest.mark.parametrize("kind", [ouzel.OnlineClassifier, ouzel.OnlineRegressor])
@pytest.mark.parametrize("learner", ["auto", "adagrad"])
def test_an_example_of_no_label_or_weight_is_refused_and_leaves_the_model_as_it_was(
    learner, kind, label, weight, said, tmp_path
):
    found = kind(learner)
    for k in range(40):
        found.learn_one({"a": k % 3, "b": 1.0}, k % 3 if kind is ouzel.OnlineRegressor else Y[k % 2])
    found.save(tmp_path / "before")

    label = 1.0 if label == "wet" and kind is ouzel.OnlineRegressor else label
    for call in (found.learn_one, found.predict_then_learn_one):
        with pytest.raises(OuzelError, match=said):
            call({"a": 1.0, "new": 1.0}, label, weight)

    found.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_names_of_other_libraries_have_a_hint_wherever_a_setting_is_named(name):
    for give in (
        lambda: ouzel.OnlineClassifier("adagrad", **{name: 1}),
        lambda: ouzel.OnlineClassifier("adagrad").set_params(**{name: 1}),
        lambda: ouzel.AdaGradClassifier(**{name: 1}),
        lambda: ouzel.AdaGradClassifier().set_params(**{name: 1}),
        lambda: ouzel.Model("adagrad", **{name: 1}),
    ):
        with pytest.raises(OuzelError, match=f"'{name}', {OTHER_NAMES[name][:20]}"):
            give()


def test_no_learner_has_a_setting_that_another_library_calls_so():
    settings = {name for learner in LEARNERS.values() for name in learner.settings._fields}

    assert not settings & set(OTHER_NAMES)


@pytest.mark.parametrize("kind", [ouzel.OnlineClassifier, ouzel.OnlineRegressor, ouzel.OnlineRanker])
def test_a_fit_that_fails_leaves_what_was_learnt_before(kind):
    numbers = np.arange(10.0)
    found = kind("adagrad").fit(np.array(X), numbers if kind is not ouzel.OnlineClassifier else Y)
    before = found.predict(X).tolist()

    for bad in ([[np.inf, 0.0]] * 10, [[0.0]] * 3, "day.csv"):
        with pytest.raises(ValueError, match=r"X|samples"):
            found.fit(bad, numbers)
        assert found.predict(X).tolist() == before
        assert found.n_features_in_ == 2


def test_a_fit_that_is_interrupted_leaves_what_was_learnt_before(monkeypatch):
    found = model()

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ouzel.Model, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        found.fit([[1.0, 2.0, 3.0]], ["hail"])

    assert found.classes_.tolist() == ["dry", "wet"]


@pytest.mark.parametrize("kind", [ouzel.OnlineClassifier, ouzel.AdaGradClassifier])
def test_a_model_is_loaded_as_the_class_that_was_saved(kind, tmp_path):
    kind().fit(X, Y).save(tmp_path / "model")

    assert type(ouzel.load(tmp_path / "model")) is kind
    assert type(ouzel.load(tmp_path / "model", kind)) is kind


def test_weights_are_as_long_as_the_columns_or_absent_with_the_reason():
    pandas = pytest.importorskip("pandas")
    numbers = pandas.DataFrame({"rain": [0.0, 1.0] * 5, "wind": [1.0, 0.0] * 5})
    words = numbers.assign(sky=["blue", "grey"] * 5)
    regressor = ouzel.OnlineRegressor("adagrad").fit(X, np.arange(10.0))

    assert regressor.coef_.shape == (regressor.n_features_in_,)
    for frame in (numbers, np.array(X)):
        found = ouzel.OnlineClassifier("adagrad").fit(frame, Y)
        assert found.coef_.shape == (1, found.n_features_in_)
    for found in (ouzel.OnlineClassifier("adagrad").fit(words, Y), model("awm"), ouzel.WMSketchClassifier().fit(X, Y)):
        with pytest.raises(AttributeError, match="ask for top_weights"):
            _ = found.coef_
        assert not hasattr(found, "coef_")
        assert found.top_weights(1)


def test_a_grid_search_goes_over_learners_whose_settings_differ():
    numbers = np.random.default_rng(0).normal(size=(60, 3))
    grid = [{"learner": ["adagrad"], "learning_rate": [0.1, 0.3]}, {"learner": ["awm"], "budget": ["1KB", "4KB"]}]

    found = GridSearchCV(ouzel.OnlineClassifier(), grid, cv=2, error_score="raise").fit(numbers, numbers[:, 0] > 0)

    assert len(found.cv_results_["params"]) == 4
    with pytest.raises(OuzelError, match="learner 'adagrad' has no setting 'budget'"):
        ouzel.OnlineClassifier("adagrad", budget="1KB")


def test_learners_are_listed_with_what_they_learn():
    found = {learner["name"]: learner for learner in ouzel.list_learners()}

    assert found["auto"]["tasks"] == ["classification", "regression", "ranking"]
    assert found["arow"]["tasks"] == ["classification"]
    assert found["awm"]["summary"].startswith("Active-Set")
    assert "<td>son-oja</td>" in ouzel.list_learners()._repr_html_()


def test_a_warning_of_data_points_at_the_line_that_gave_them():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    fitted = ouzel.OnlineClassifier("ogd").fit(frame, ["dry", "wet"])

    with pytest.warns(UserWarning, match="columns b are missing") as caught:
        fitted.predict(frame[["a"]])

    assert {warning.filename for warning in caught} == {__file__}
