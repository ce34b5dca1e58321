"""A model as an ONNX graph says what the model says, or one clear line says why there is none."""

import json
from datetime import datetime

import numpy as np
import pyarrow
import pytest

import ouzel as library
from ouzel.exporting.export import export
from ouzel.exporting.inputs import padded
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from

BITS = 10


def weather(count, classes=2, seed=0, numbers=False):
    """Pairs of features by name, dense and rare ones, and a label."""
    random = np.random.default_rng(seed)
    pairs = []
    for x in random.normal(size=(count, 6)):
        scores = [x[0] + 0.5 * x[1], x[2] - x[0], x[3]] if classes > 2 else [0.0, x[0] + 0.5 * x[1]]
        label = 10.0 + 3.0 * x[0] if numbers else "cab"[int(np.argmax(scores))]
        features = {f"n{j}": float(value) for j, value in enumerate(x[:3])} | {f"r{random.integers(9)}": 5.0 * x[4]}
        pairs.append((features | {f"w{random.integers(40)}": 1.0}, label))
    return pairs


def learnt(name, pairs, **options):
    model = Model(name, bits=BITS, **options)
    for block in blocks_from(pairs, bits=BITS):
        model.learn(block)
    return model


def answers_of(path, block):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(path))
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, padded(block)), strict=True))


def assert_same(path, model, pairs):
    (block,) = blocks_from(pairs, bits=BITS)
    found, told = answers_of(path, block), model.answers(block)

    if model.task.numbers:
        np.testing.assert_allclose(found["prediction"], told.labels, rtol=2e-6, atol=1e-6)
        return
    assert (found["label"] == told.labels).all()
    margins = told.margins if told.margins.shape[1] > 1 else told.margins[:, 0]
    size = max(1.0, float(np.abs(margins).max()))  # the model's own sums are rounded to single precision
    np.testing.assert_allclose(found["margin"], margins, rtol=0.0, atol=1e-6 * size)
    assert ("probability" in found) == (told.probabilities is not None)
    if told.probabilities is not None:
        np.testing.assert_allclose(found["probability"], told.probabilities, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["auto", "ogd", "arow"])
def test_a_graph_says_what_the_model_says(tmp_path, name, classes):
    model = learnt(name, weather(400, classes))

    export(model, tmp_path / "m.onnx")

    assert_same(tmp_path / "m.onnx", model, weather(300, classes, seed=1))


def test_a_graph_of_classes_that_came_late_says_what_the_model_says(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 30)).astype(np.float32)
    y = np.where(np.arange(1500) < 900, 0, 4) + (X[:, :4] @ rng.normal(size=(4, 4))).argmax(axis=1)
    model = Model("auto", derived_budget=1_300_000)
    for block in blocks_from(X, y):
        model.learn(block)
    opened = model.states[0].effects.opened[1]

    export(model, tmp_path / "m.onnx")

    assert 0 < opened[1] < 276  # with more classes there are cells for fewer pairs
    (block,) = blocks_from(X[-40:], y[-40:])
    chances = answers_of(tmp_path / "m.onnx", block)["probability"]
    np.testing.assert_allclose(chances, model.answers(block).probabilities, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("standardize", [False, True])
def test_a_graph_sees_values_as_far_off_as_the_model_does(tmp_path, standardize):
    model = learnt("arow" if standardize else "auto", weather(400, 2), standardize=standardize)
    (name, *_) = weather(1, 2)[0][0]
    pairs = [(row | {name: value}, label) for row, label in weather(5, 2) for value in (60.0, -900.0, 1e5, -1e9, 1e30)]

    export(model, tmp_path / "m.onnx")

    assert_same(tmp_path / "m.onnx", model, pairs)


@pytest.mark.parametrize("name", ["auto", "adagrad", "arow"])
def test_a_graph_holds_few_of_many_slots_and_finds_them(tmp_path, name):
    pairs, unknown = weather(400, 3), [({"n0": 1.0, "never": 3.0}, "a"), ({"nor this": 1.0}, "b"), ({}, "c")]
    model = Model(name, bits=18, **({"forms": "raw"} if name == "auto" else {}))
    for block in blocks_from(pairs, bits=18):
        model.learn(block)

    export(model, tmp_path / "m.onnx")

    assert (tmp_path / "m.onnx").stat().st_size < 60_000
    (block,) = blocks_from([*weather(300, 3, seed=1), *unknown], bits=18)
    found, told = answers_of(tmp_path / "m.onnx", block), model.answers(block)
    assert (found["label"] == told.labels).all()
    np.testing.assert_allclose(found["margin"], told.margins, rtol=0.0, atol=1e-6 * np.abs(told.margins).max())


@pytest.mark.parametrize("name", ["auto", "ogd"])
def test_a_graph_of_numbers_says_what_the_model_says(tmp_path, name):
    model = learnt(name, weather(400, numbers=True), task="regression")

    export(model, tmp_path / "m.onnx")

    assert_same(tmp_path / "m.onnx", model, weather(300, seed=1, numbers=True))


@pytest.mark.parametrize("loss", ["absolute", "quantile(tau=0.9)", "poisson"])
def test_a_graph_of_the_defaults_other_losses_of_numbers_says_what_the_model_says(tmp_path, loss):
    pairs = [(features, abs(number)) for features, number in weather(400, numbers=True)]
    model = learnt("auto", pairs, loss=loss)

    export(model, tmp_path / "m.onnx")

    assert_same(tmp_path / "m.onnx", model, weather(300, seed=1, numbers=True))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ogd", {"standardize": True}),
        ("ogd", {"loss": "hinge", "intercept": False}),
        ("ogd", {"classes": ["b", "a"]}),
        ("auto", {"loss": "hinge"}),
        ("son-oja", {}),
        ("ons", {"largest": 1.0}),
        ("awm", {"budget": "4KB"}),
        ("hashing", {"budget": "1KB"}),
    ],
)
def test_views_cuts_and_budgets_are_exported_too(tmp_path, name, options):
    if "classes" in options:
        pairs = [(features, "ab"[label == "a"]) for features, label in weather(400)]
    else:
        pairs = weather(400)
    model = learnt(name, pairs, **options)

    export(model, tmp_path / "m.onnx")

    assert_same(tmp_path / "m.onnx", model, weather(300, seed=1))


def test_features_that_were_not_learnt_and_examples_without_any_count_for_nothing(tmp_path):
    pairs = [({3: 1.0}, "dry"), ({5: 1.0}, "wet")] * 20
    model = learnt("ogd", pairs)
    export(model, tmp_path / "m.onnx")

    assert_same(tmp_path / "m.onnx", model, [({3: 2.0, 900000: 1.0}, None), ({}, None), ({5: 1.0, 4: 1.0}, None)])


def test_beside_the_graph_stands_how_names_become_ids(tmp_path):
    from sklearn.utils import murmurhash3_32

    export(learnt("ogd", weather(100)), tmp_path / "m.onnx")
    rule = json.loads((tmp_path / "m.onnx.json").read_text())

    assert rule["classes"] == ["a", "c"]
    assert rule["names"]
    for name, place in rule["names"].items():
        assert murmurhash3_32(name, rule["seed"], positive=True) % 2 ** rule["bits"] == place


def test_the_json_file_of_a_graph_says_which_features_a_value_has(tmp_path):
    rows = [
        {
            "n": 2.5,
            "city": " Rome ",
            "sold": True,
            "tags": ["a", "b", "a"],
            "says": "It's GO, go",
            "day": "2024-01-31 12:30",
        },
        {"n": None, "city": None, "sold": False, "tags": ["c"], "says": "stop", "day": "2024-02-01 00:00"},
    ]
    named = ["n", "city=Rome", "sold=true", "tags=a", "tags=b", "it's", "go", "day"]
    named += ["day.month=1", "day.weekday=Wed", "day.hour=12", "n=(missing)", "city=(missing)"]
    table = pyarrow.Table.from_pylist([{**row, "day": datetime.fromisoformat(row["day"])} for row in rows * 9])
    model = Model("ogd")
    for block in blocks_from(table, np.arange(18) % 2, text=["says"]):
        model.learn(block)

    export(model, tmp_path / "m.onnx")

    rule = json.loads((tmp_path / "m.onnx.json").read_text())
    assert set(rule["values"]) == {"number", "category", "list", "text", "date", "missing"}
    assert set(named) <= {name for _, name in model.names.to_json()}
    for kind, form in {"missing": "`column=(missing)`", "date": "`column.weekday=Wed`", "text": "lower case"}.items():
        assert form in rule["values"][kind]


def made_by_the_rule(name, rule):
    """The id of a feature, worked out from its name by what the page beside the graph says."""
    from sklearn.utils import murmurhash3_32

    first, times, rest = next(
        ((name.split(mark), times, join) for mark, times, join in MADE if mark in name), ([name], 0, None)
    )
    hashes = [murmurhash3_32(part, rule["seed"], positive=True) for part in first]
    found = hashes[0]
    for further in hashes[1:]:
        found = rest(found * times, further)
    return found % 2 ** rule["bits"]


MADE = [("*", 16777619, lambda a, b: a ^ b), (" ", 27942141, lambda a, b: a + b)]


def test_what_makes_crosses_ngrams_bins_and_hinges_stands_beside_the_graph(tmp_path):
    days = [("Rome", "very hot", 3.0), ("Oslo", "not hot", 40.0), ("Rome", "not cold", 30.0), ("Oslo", "cold", 9.0)]
    pairs = [({"city": c, "says": t, "age": a, "wind": a}, k % 3 == 0) for k, (c, t, a) in enumerate(days * 5)]
    asked = {"crosses": ["age*city", "age*city*says"], "bins": {"age": 3}, "hinges": {"wind": 3}, "ngrams": 2}
    model = Model("ogd")
    for block in blocks_from(pairs, text=["says"], **asked):
        model.learn(block)

    export(model, tmp_path / "m.onnx")

    rule = json.loads((tmp_path / "m.onnx.json").read_text())
    assert set(rule["derived"]) == set(asked)
    names = rule["names"]
    for kind in ("age=[", "wind>", "not hot", "*city=Rome", "*city=Oslo*"):
        assert any(kind in name for name in names), (kind, names)
    assert {name: made_by_the_rule(name, rule) for name in names} == names


def test_margins_beyond_what_an_exponential_takes_are_exported_without_a_word(tmp_path):
    pairs = [({"x": 1e6 * (k % 5 - 2), "y": 1.0}, "ab"[k % 5 > 2]) for k in range(100)]
    model = learnt("ogd", pairs, loss="hinge")
    logistic = learnt("awm", pairs, budget="1KB", learning_rate=100.0)

    for each in (model, logistic):  # warnings are errors in these tests
        export(each, tmp_path / "m.onnx")
        assert_same(tmp_path / "m.onnx", each, pairs)


@pytest.mark.parametrize("name", ["sop", "ons-invariant"])
def test_a_learner_that_is_not_weights_is_refused_and_nothing_is_written(tmp_path, name):
    with pytest.raises(library.OuzelError, match=f"{name} predicts otherwise than by weights"):
        export(learnt(name, weather(100)), tmp_path / "m.onnx")

    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_exported_is_one_line(tmp_path):
    with pytest.raises(library.OuzelError, match="train it first"):
        library.export(library.OnlineClassifier(), tmp_path / "m.onnx")
    with pytest.raises(library.OuzelError, match=r"ends in \.onnx"):
        export(learnt("ogd", weather(10)), tmp_path / "m.pmml")


def test_estimators_are_exported(tmp_path):
    model = library.OnlineClassifier("ogd").fit([[1.0, 0.0], [0.0, 1.0]] * 5, [4, 7] * 5)

    assert library.export(model, tmp_path / "m.onnx") == ["label", "margin", "probability"]
    (block,) = library.blocks_from(np.eye(2))
    assert answers_of(tmp_path / "m.onnx", block)["label"].tolist() == [4, 7]


@pytest.mark.long
@pytest.mark.parametrize("classes", [2, 3])
def test_every_learner_is_exported_exactly_or_refused(tmp_path, classes):
    from ouzel.learners.catalogue import LEARNERS

    refused = []
    for name, learner in LEARNERS.items():
        model = learnt(name, weather(300, classes), **({"budget": "4KB"} if learner.budgeted else {}))
        try:
            export(model, tmp_path / "m.onnx")
        except library.OuzelError:
            refused.append(name)
            continue
        assert_same(tmp_path / "m.onnx", model, weather(100, classes, seed=1))

    assert refused == ["ons-invariant", "aioli", "sop", "sop-full"]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["auto", "adagrad", "ogd"])
def test_a_graph_gives_recalibrated_probabilities(tmp_path, name, classes):
    model = learnt(name, weather(4_000, classes), calibrate=True)
    plain = learnt(name, weather(4_000, classes))

    export(model, tmp_path / "m.onnx")

    pairs = weather(2_000, classes, seed=1)
    (block,) = blocks_from(pairs, bits=BITS)
    found, told = answers_of(tmp_path / "m.onnx", block), model.answers(block)
    assert (found["label"] == told.labels).all()
    np.testing.assert_allclose(found["probability"], told.probabilities, rtol=1e-6, atol=2e-6)
    assert np.abs(found["probability"] - plain.answers(block).probabilities).max() > (0.0 if name == "auto" else 0.01)


def test_a_recalibrated_graph_of_far_margins_and_of_classes_without_maps(tmp_path):
    pairs = [({"x": 1e4 * (1 if k % 2 else -1)}, "ab"[k % 2]) for k in range(400)]
    model = learnt("ogd", pairs, calibrate=True)
    export(model, tmp_path / "m.onnx")
    far = [({"x": value}, "a") for value in (0.0, 1.0, -1.0, 1e6, -1e6, 1e30)]
    (block,) = blocks_from(far, bits=BITS)
    found = answers_of(tmp_path / "m.onnx", block)["probability"]
    np.testing.assert_allclose(found, model.answers(block).probabilities, atol=2e-6)


def test_a_header_of_a_recalibrated_model_is_refused(tmp_path):
    model = learnt("adagrad", weather(100), calibrate=True)
    with pytest.raises(library.OuzelError, match="a header of C has no recalibrated probabilities"):
        export(model, tmp_path / "m.h")
