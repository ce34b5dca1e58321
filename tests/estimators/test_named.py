"""Classifiers whose parameters pick among learners, and what every one of them promises."""

import numpy as np
import pytest

import ouzel
from ouzel.estimators import gaussian, margin

KINDS = [
    kind
    for module in (margin, gaussian)
    for kind in vars(module).values()
    if isinstance(kind, type) and kind.__module__ == module.__name__ and hasattr(ouzel, kind.__name__)
]
GIVEN = {"NAROWClassifier": {"bound": 1000.0}}  # else it would have stopped learning before a class appears late
MODELS = [
    pytest.param(
        kind(**dict(zip(kind.choices, chosen, strict=True)), **GIVEN.get(kind.__name__, {})), learner, id=learner
    )
    for kind in KINDS
    for chosen, learner in (kind.learners or {(): kind.learner}).items()
]


def stream(count, seed=0):
    """Dense X (count, 3), and a name for each example: that of its largest feature."""
    X = np.random.default_rng(seed).random((count, 3)).round(3)
    return X, np.array(["ant", "bee", "cat"])[X.argmax(axis=1)]


def test_every_learner_of_several_classes_has_an_estimator():
    from ouzel.learners import catalogue

    multiclass = {name for name, learner in catalogue.LEARNERS.items() if learner.multiclass}

    assert {model.values[1] for model in MODELS} == multiclass - {
        "auto",
        "adagrad-multiclass",
        "rda-multiclass",
        "awm-nce",
    }


@pytest.mark.parametrize(
    "model",
    [
        ouzel.AROWClassifier(loss="logistic"),
        ouzel.AROWClassifier(pairwise=False, covariance="full", prior=2.0),
        ouzel.PassiveAggressiveClassifier(loss="logistic"),
        ouzel.AWMSketchClassifier(budget=8192, l1=1e-3, per_feature=True),
        ouzel.WMSketchClassifier(budget=8192, cell_bits=8),
    ],
    ids=repr,
)
def test_settings_beyond_a_papers_first_form_are_parameters(tmp_path, model):
    X, y = stream(60)
    y = y == "ant"
    model.partial_fit(X, y).save(tmp_path / "m")
    loaded = ouzel.load(tmp_path / "m")

    assert loaded.get_params() == model.get_params()
    assert (model.decision_function(X) != type(model)().partial_fit(X, y).decision_function(X)).any()


@pytest.mark.parametrize(("model", "learner"), MODELS)
def test_a_model_is_saved_and_goes_on_to_the_bit(tmp_path, model, learner):
    X, y = stream(60)
    whole = model.clone().partial_fit(X, y)
    half = model.clone().partial_fit(X[:20], y[:20])
    half.save(tmp_path / "half")

    loaded = ouzel.load(tmp_path / "half")
    loaded.partial_fit(X[20:], y[20:])

    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert loaded.model_.learner.name == learner
    np.testing.assert_array_equal(loaded.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize(("model", "learner"), MODELS)
def test_a_class_that_appears_late_gets_weights_of_its_own(model, learner):
    X, y = stream(120)
    early = y != "cat"
    model = model.clone().partial_fit(X[early], y[early])
    assert isinstance(model.top_weights(2), list)

    model.partial_fit(X, y).partial_fit(X, y)

    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    assert (model.predict(X) == y).mean() > 0.6
    top = model.top_weights()
    assert list(top) == ["ant", "bee", "cat"]
    assert dict(top["cat"])[2] > 0.0  # the feature by which a cat is known


@pytest.mark.parametrize("learner", ["pa1", "arow", "scw1", "nherd", "perceptron"])
def test_an_importance_weight_counts_where_the_rule_has_a_price(learner):
    X, y = stream(60)
    model = next(param.values[0] for param in MODELS if param.values[1] == learner)
    heavy = np.where(y == "bee", 0.01, 1.0)

    weighted = model.clone().fit(X, y, sample_weight=heavy)

    assert not np.array_equal(weighted.coef_, model.clone().fit(X, y).coef_)
    assert (weighted.predict(X) == "bee").mean() <= (model.clone().fit(X, y).predict(X) == "bee").mean()


@pytest.mark.parametrize("kind", [gaussian.AROWClassifier, gaussian.SecondOrderPerceptronClassifier])
def test_a_whole_matrix_grows_with_the_features(kind):
    few, many = stream(30)[0], np.random.default_rng(1).random((30, 200))
    y = np.arange(30) % 3

    model = kind(covariance="full").fit(few, y)
    assert model.bytes_used_ < 20_000
    assert kind(covariance="full").fit(many, y).bytes_used_ > 200**2 * 8


def test_an_unknown_choice_is_one_clear_line():
    with pytest.raises(ouzel.OuzelError, match="covariance must be one of 'diagonal', 'full'; got 'whole'"):
        ouzel.AROWClassifier(covariance="whole").fit([[0.0], [1.0]], [0, 1])
