"""Classifiers whose parameters pick among learners, and what every one of them promises."""

import inspect
import pickle
import re
import sys
import typing
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import clone

import ouzel
from ouzel.cli.estimator_families import BASES, families, own_family
from ouzel.cli.estimator_modules import module_text
from ouzel.estimators import gaussian, margin
from ouzel.estimators.named import Named
from ouzel.learners.catalogue import LEARNERS, Learner, find
from ouzel.model.settings import described, resolve_settings
from ouzel.model.tasks.choose import settings_for

KINDS = [
    kind
    for module in (margin, gaussian)
    for kind in vars(module).values()
    if isinstance(kind, type) and kind.__module__ == module.__name__ and hasattr(ouzel, kind.__name__)
]
MODELS = [
    pytest.param(kind(**dict(zip(kind.choices, chosen, strict=True))), learner, id=learner)
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


NAMED = [kind for name in ouzel.__all__ if isinstance(kind := getattr(ouzel, name), type) and issubclass(kind, Named)]


@pytest.fixture
def made(monkeypatch):
    """`made(learner)`: the module with the classes of a learner that the table of families does not know."""

    def make(learner: Learner) -> ModuleType:
        monkeypatch.setitem(LEARNERS, learner.name, learner)
        module = ModuleType("estimators_of_a_learner")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(module_text("new", [own_family(learner)]), vars(module))
        return module

    return make


def test_a_new_learner_has_estimators_without_a_further_edit(made, monkeypatch):
    learner = Learner("quick-step", "gradient.ogd", "steps that are quick", (("power", 0.25),))

    module = made(learner)

    assert "quick-step" in [one.name for family in families() for one in family.learners.values()]
    signature = inspect.signature(module.QuickStepClassifier)
    assert signature.parameters["power"].default == 0.25
    assert signature.parameters["learning_rate"].default is None  # the loss decides
    assert "how fast steps fall" in module.QuickStepClassifier.__doc__
    assert module.QuickStepClassifier.__doc__.startswith("Steps that are quick.\n")
    assert module.QuickStepRegressor().loss == "squared"
    model = module.QuickStepClassifier(power=0.5)
    assert clone(model).get_params() == pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
    assert model.fit([[0.0], [1.0]] * 5, [0, 1] * 5).predict([[1.0]]).tolist() == [1]


def test_every_learner_of_the_catalogue_has_a_class():
    learners = {name for kind in NAMED for name in (kind.learners or {(): kind.learner}).values()}

    assert learners | {"awm-nce"} == {name for name, learner in LEARNERS.items() if learner.package}


@pytest.mark.parametrize("kind", NAMED, ids=lambda kind: kind.__name__)
def test_parameters_of_a_class_have_types_defaults_and_a_meaning(kind):
    signature, hints = inspect.signature(kind), typing.get_type_hints(kind)
    learner = LEARNERS[kind.learner]
    own = [name for name in vars(kind)["__annotations__"] if name != "learners"]
    said = kind.__doc__ if "Parameters" in kind.__doc__ else getattr(ouzel, f"{kind.__name__[:-9]}Classifier").__doc__

    assert set(own) <= signature.parameters.keys() & hints.keys()
    assert all(signature.parameters[name].default is not inspect.Parameter.empty for name in own)
    assert {name for name in own if not re.search(rf"^    {name} : \S", said, re.MULTILINE)} == set()
    settings = described(learner)
    for name in set(own) & set(settings) - {"loss", "learning_rate", "curvature", "diagonal", "bound", "largest"}:
        given, usual = getattr(kind(), name), settings[name].default
        words = {"yes": True, "no": False, "random(slots=262144.0)": "random", "none": None}
        assert given == words.get(usual, usual), name


@pytest.mark.parametrize("kind", NAMED, ids=lambda kind: kind.__name__)
def test_a_class_is_found_under_its_name_by_pickle_and_clone(kind):
    model = kind(seed=3)

    assert getattr(sys.modules[kind.__module__], kind.__name__) is kind
    for other in (pickle.loads(pickle.dumps(model)), clone(model)):
        assert type(other) is kind
        assert other.get_params() == model.get_params()


def test_type_checkers_and_editors_know_every_public_name():
    stub = Path(ouzel.__file__).with_suffix(".pyi").read_text()

    names = re.findall(r"^from (\S+) import (\w+) as \2$", stub, re.MULTILINE)

    assert {name: home for home, name in names} == ouzel._HOME


def test_a_penalty_that_is_a_norm_or_a_domain_is_a_parameter(tmp_path):
    X, y = stream(60)
    model = ouzel.AdaGradEagerClassifier(penalty="l2-ball(radius=0.5)", update="dual-averaging")
    model.partial_fit(X, y == "ant").save(tmp_path / "m")

    loaded = ouzel.load(tmp_path / "m")

    assert type(loaded) is ouzel.AdaGradEagerClassifier
    assert np.linalg.norm(np.append(loaded.coef_, loaded.intercept_)) <= 0.5 + 1e-6
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared", "absolute"])
def test_settings_are_those_of_the_command_line_unless_the_family_declares_others(loss):
    declared = defaultdict(set)
    for family in families():
        for task, base in BASES.items():
            declared[family.name + base] |= family.defaults[task].keys()
    compared = 0
    for kind in NAMED:
        if "loss" in inspect.signature(kind).parameters:
            estimator = kind(loss=loss)
            learner = find(estimator._learner_name())
            try:
                of_command = resolve_settings(learner, settings_for(estimator.task, learner, {"loss": loss}))
            except ouzel.OuzelError as error:
                with pytest.raises(ouzel.OuzelError, match=re.escape(str(error))):
                    estimator._resolved()
                continue
            own = estimator._resolved()
            differing = {name for name in own._fields if getattr(own, name) != getattr(of_command, name)}
            assert differing <= declared[kind.__name__], kind
            compared += 1

    assert compared > 20
