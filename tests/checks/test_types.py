"""Type checkers know the types of everything public, and find typos, in a page of typical code."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ouzel

CODE = """\
from typing import reveal_type

import ouzel

classifier = ouzel.OnlineClassifier("adagrad", l2=1e-6, class_weight="balanced")
reveal_type(classifier.fit([[0.0, 1.0]], ["dry"]))
reveal_type(classifier.partial_fit([[0.0, 1.0]], ["dry"]))
reveal_type(classifier.predict([[1.0, 0.0]]))
reveal_type(classifier.predict_proba([[1.0, 0.0]]))
reveal_type(classifier.learn_one({"rain": 1.0}, "wet"))
reveal_type(classifier.predict_one({"rain": 1.0}))
reveal_type(classifier.predict_proba_one({"rain": 1.0}))
reveal_type(classifier.score([[1.0]], [1]))
reveal_type(classifier.coef_)
reveal_type(classifier.classes_)
reveal_type(classifier.top_weights(5))
reveal_type(classifier.feature_importance(5))
reveal_type(classifier.explain_one({"rain": 1.0}))
reveal_type(classifier.set_params(learning_rate=0.5))
regressor = ouzel.OnlineRegressor(interval=0.9)
reveal_type(regressor.predict([[1.0]]))
reveal_type(regressor.predict_one({"rain": 1.0}))
reveal_type(regressor.predict_interval([[1.0]]))
reveal_type(regressor.score([[1.0]], [1.0]))
named = ouzel.AdaGradClassifier(l1=1e-3)
reveal_type(named.l1)
reveal_type(named.fit([[1.0]], [1]))
reveal_type(ouzel.load("model.ouzel"))
reveal_type(ouzel.load("model.ouzel", ouzel.OnlineClassifier))
reveal_type(ouzel.merge([named, named]))
stream = ouzel.read("day.csv", label="sold")
reveal_type(stream)
reveal_type(ouzel.blocks_from([({"rain": 1.0}, 1)]))
report = ouzel.progressive_validation(classifier, stream)
reveal_type(report)
reveal_type(report.error_rate)
reveal_type(report.plot())
reveal_type(ouzel.compare("adagrad,ogd", "day.csv"))
reveal_type(ouzel.evaluate(classifier, stream))
reveal_type(ouzel.info("model.ouzel"))
reveal_type(ouzel.export(classifier, "model.onnx"))
reveal_type(ouzel.effect(classifier, "age"))
reveal_type(ouzel.convert(stream, "day.arrow"))
reveal_type(ouzel.list_learners())
reveal_type(ouzel.Client("http://localhost:8000"))
classifier.predit([[1.0]])
ouzel.AdaGradClassifier(l3=1.0)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    pytest.importorskip("basedpyright", reason="basedpyright, a type checker, is not installed")
    page = tmp_path_factory.mktemp("types") / "page.py"
    page.write_text(CODE)
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=page.parent)
    return [(one["severity"], one["message"]) for one in json.loads(done.stdout)["generalDiagnostics"]]


def test_no_type_is_any(found):
    types = [re.search('is "(.*)"$', message)[1] for severity, message in found if severity == "information"]

    assert len(types) == CODE.count("reveal_type(")
    assert not [kind for kind in types if re.search(r"^(Any|Unknown)$|Unknown|\| Any\b|\bAny \|", kind)], types


def test_two_typos_are_found(found):
    first, second = (message for severity, message in found if severity == "error")

    assert 'Cannot access attribute "predit" for class "OnlineClassifier"' in first
    assert 'No parameter named "l3"' in second


def test_the_types_of_all_public_names_are_declared():
    stubs = Path(ouzel.__file__).with_suffix(".pyi").read_text()

    for name in ouzel._HOME:
        assert re.search(rf"import {name} as {name}$", stubs, re.MULTILINE), name
