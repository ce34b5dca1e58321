"""A model file may have been made up, digest and all: it is refused in one line, or a model that works."""

import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.learners import catalogue
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from tests.forging import examples, learn, parts_of, write
from torture.forging import Parts
from torture.forging import forged as forged_parts

ROOT = Path(__file__).parents[2]
KINDS = ("auto", "adagrad", "awm", "wm", "unbounded", "son-oja", "son-fd", "son-rp", "ons", "arow-full", "awm-nce")


@pytest.mark.parametrize("name", KINDS)
def test_forged_files_are_refused_or_work(name):
    ran = subprocess.run(
        [sys.executable, "-m", "tests.forging", name, "150", "0"], cwd=ROOT, capture_output=True, text=True
    )

    assert ran.returncode == 0, ran.stderr
    assert 0 < int(ran.stdout) < 150  # some changes are harmless, most are not


@pytest.mark.long
@pytest.mark.parametrize("name", catalogue.LEARNERS)
def test_many_forged_files_are_refused_or_work(name):
    ran = subprocess.run(
        [sys.executable, "-m", "tests.forging", name, "2000", "1"], cwd=ROOT, capture_output=True, text=True
    )

    assert ran.returncode == 0, ran.stderr


def forged(tmp_path, name, change, **settings):
    """A file of a learner's model, its description and arrays changed."""
    path = tmp_path / "m"
    persistence.save(learn(Model(name, bits=8, **settings), examples(60)), path)
    described, arrays = parts_of(path)
    change(described, arrays)
    write(path, described, arrays)
    return path


def told(**values):
    return lambda described, arrays: described.update(values)


def told_settings(**values):
    return lambda described, arrays: described["settings"].update(values)


def put(name, place, value):
    def change(described, arrays):
        arrays[f"state.0.{name}"][place] = value

    return change


def swap_places(described, arrays):
    """Let two keys be found where the other is looked for."""
    places = arrays["state.0.places"]
    first, second = np.flatnonzero(places)[:2]
    places[first], places[second] = places[second], places[first]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "ogd",
            told(dimension=2**28),
            r"but the settings ask for float32 \(268435457,\)",
        ),
        ("ogd", told(dimension=1.5), "dimension is not a whole number from 1"),
        ("ogd", told(examples=-1), "examples is not a whole number"),
        ("ogd", told(examples=True), "examples is not a whole number"),
        ("ogd", told(closed=1), "closed is not true or false"),
        ("ogd", told(classes=[1, 1.0]), "classes are not different"),
        ("ogd", told(classes=[float("nan"), 1]), "classes is not a list"),
        ("ogd", told(names=[[2**32, "x"]]), "names is not a list"),
        ("ogd", told(names=[[1, "\ud800"]]), "names is not a list"),
        ("ogd", told(task="guessing"), "task is not classification, regression or ranking"),
        ("ogd", told(more=1), "the description has"),
        ("ogd", told(notes={"reading": {"bits": "18"}}), "bits is not a whole number"),
        ("ogd", told(notes={"reading": {"code": "x"}}), "the way of reading has"),
        ("ogd", told_settings(learning_rate=float("inf")), "learning_rate of ogd must be a number from .*; got inf"),
        ("ogd", told_settings(learning_rate="0.5"), "learning_rate of Settings is not a number"),
        ("ogd", told_settings(loss={"term": "Quantile", "tau": None}), "tau of Quantile is not a number"),
        ("ogd", put("weight", 3, np.nan), "weight holds what is not a number"),
        ("ogd", put("seen", 0, -1.0), r"seen lies outside of 0 to 1e\+130"),
        ("rda", put("seen", 0, 0.0), "gradient_sum has rounds that are not over"),
        ("awm", told_settings(budget=2.0**40), "budget of awm must be a size"),
        ("awm", told_settings(budget=float("inf")), "budget of awm must be a size"),
        ("awm", put("taken", 0, 10**9), "taken lies outside of 0 to 64"),
        ("awm", put("taken", 0, 3), "places of keys are not those of 3"),
        ("awm", put("places", slice(None), 1), "places of keys are not"),
        ("awm", swap_places, "places of keys cannot be found"),
        ("awm", put("keys", 1, 0), "keys are not different|cannot be found"),
        ("awm", put("bounds", 0, np.inf), "bounds exceed"),
        ("awm", put("scale", 0, 0.0), "scale lies outside of"),
        ("son-oja", put("sketch.touched", 0, 10**6), "slots seen do not fit the table"),
        ("son-oja", put("sketch.counts", 1, 2.0), "slots seen do not fit the table"),
        ("son-oja", put("sketch.coefficients", 0, 1e308), "coefficients lies outside of"),
        ("son-fd", put("sketch.counts", 4, 1e6), "counts lies outside of"),
        ("son-fd", put("sketch.table", (5, 22), 7.0), "table has epochs to come"),
        ("ons", put("place", 1, 200), "place lies outside of|places are not those"),
    ],
)
def test_each_lie_has_its_line(tmp_path, name, change, message):
    settings = {"budget": 1024.0} if name == "awm" else {}
    path = forged(tmp_path, name, change, **settings)

    with pytest.raises(OuzelError, match=message) as caught:
        persistence.load_model(path)

    assert str(caught.value).startswith(f"{path}: not a model this version can use: ")


@pytest.mark.parametrize("loss", [{"term": "Popen", "args": 1}, {"term": "L1", "l1": 1.0}])
def test_a_loss_that_is_not_known_is_asked_for_and_never_run(tmp_path, loss):
    path = forged(tmp_path, "ogd", told_settings(loss=loss))

    with pytest.raises(OuzelError) as caught:
        persistence.load_model(path)

    assert str(caught.value) == (
        f"{path}: the loss {loss['term']!r} is not known; if it is your own, import its module first (--import MODULE)"
    )


@pytest.mark.parametrize(
    ("moments", "message"),
    [((0.0, 0.0, 9.0), "targets have moments of no example"), ((1e-300, 0.0, 1e100), "targets have no spread")],
)
def test_moments_of_targets_that_cannot_be_are_refused(tmp_path, moments, message):
    model, path = Model("ogd", loss="squared", bits=8), tmp_path / "m"
    for block in blocks_from([({"a": 1.0}, 5.0), ({"b": 2.0}, 7.0)] * 9, bits=8):
        model.learn(block)
    persistence.save(model, path)
    described, arrays = parts_of(path)
    arrays["state.0.targets"][:3] = moments
    write(path, described, arrays)

    with pytest.raises(OuzelError, match=message):
        persistence.load_model(path)


@pytest.mark.parametrize(
    ("array", "place", "value", "message"),
    [
        ("mixture.curvature", (2, 1), 3e38, "curvature of the mixture is not one"),
        ("features.totals", 0, 1e308, r"totals lies outside of 0 to \(1e\+130"),
        ("features.totals", 3, 8.0, r"totals lies outside of 0 to \(1e\+130"),
    ],
)
def test_numbers_of_the_default_that_no_stream_gives_are_refused(tmp_path, array, place, value, message):
    with pytest.raises(OuzelError, match=message):
        persistence.load_model(forged(tmp_path, "auto", put(array, place, value)))


@pytest.mark.parametrize(
    ("array", "place", "value"),
    [
        ("mixture.weights", 0, 1e200),
        ("scale.weights", 0, 0.0),
        ("table", (1, 9), -1.0),
        ("block.weights", (0, 0), 1e200),
    ],
)
def test_numbers_of_another_loss_that_no_stream_gives_are_refused(tmp_path, array, place, value):
    path = forged(tmp_path, "auto", put(array, place, value), loss="hinge")

    with pytest.raises(OuzelError, match="lies outside of"):
        persistence.load_model(path)


@pytest.mark.parametrize(
    ("array", "place", "value"),
    [
        ("regrets.sums", 0, 1e200),
        ("regrets.squares", 1, -1.0),
        ("regrets.largest", 0, -1.0),
        ("constants.numbers", 2, -1.0),
        ("table", (1, 5), -1.0),
    ],
)
def test_experts_of_the_default_that_no_stream_gives_are_refused(tmp_path, array, place, value):
    model, path = Model("auto", loss="absolute", bits=8), tmp_path / "m"
    for block in blocks_from([({"a": 1.0}, 5.0), ({"b": 2.0}, 7.0)] * 9, bits=8):
        model.learn(block)
    persistence.save(model, path)
    described, arrays = parts_of(path)
    arrays[f"state.0.{array}"][place] = value
    write(path, described, arrays)

    with pytest.raises(OuzelError, match=f"{array.rpartition('.')[2]} lies outside of"):
        persistence.load_model(path)


def test_arrays_that_no_learner_has_are_refused(tmp_path):
    path = forged(tmp_path, "ogd", lambda described, arrays: arrays.update({"state.1.weight": np.zeros(2)}))

    with pytest.raises(OuzelError, match=r"'state\.1\.weight' is not an array of this learner"):
        persistence.load_model(path)


@pytest.mark.parametrize("name", catalogue.LEARNERS)
@pytest.mark.parametrize("scale", [1.0, 1e15, 1e30])
def test_every_state_that_learning_leads_to_is_sound(tmp_path, name, scale):
    pairs = [({key: scale * x for key, x in features.items()}, label) for features, label in examples(60)]
    model = learn(Model(name, bits=8), pairs)

    persistence.save(model, tmp_path / "m")

    assert persistence.load_model(tmp_path / "m").examples == 60


def analysis(kind):
    if kind is ouzel.StreamingPMI:
        return kind("200KB", sample_size=50, heap_size=16).partial_fit(["the prime minister said"] * 50)
    if kind is ouzel.RelativeDeltoids:
        return kind("1KB").partial_fit(["a", "b", "a"] * 50, [0, 1, 0] * 50)
    return kind("1KB").partial_fit([{"city": "Rome"}, {"city": "Bonn"}] * 50, [True, False] * 50)


@pytest.mark.parametrize("kind", [ouzel.StreamingPMI, ouzel.RelativeDeltoids, ouzel.StreamingExplainer])
def test_forged_analyses_are_refused_or_work(tmp_path, kind):
    path, random = tmp_path / "m", Random(0)
    analysis(kind).save(path)
    described, arrays = parts_of(path)
    refused = 0
    for _ in range(300):
        found = forged_parts(Parts(described, arrays), random)
        write(path, found.described, found.arrays)
        try:
            kind.load(path).top(5)
        except OuzelError as error:
            refused += str(error).startswith(f"{path}: ")
    assert 200 < refused < 300


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        (
            ouzel.StreamingPMI,
            {"sample_size": 50 + 10**9, "budget": 200 * 1024 + 432 * 10**8},
            "but the settings ask for",
        ),
        (ouzel.StreamingPMI, {"heap_size": 10**9, "budget": 10**12}, "heap_size of awm must be a whole number"),
        (ouzel.RelativeDeltoids, {"shares": "yes"}, "shares is not true or false"),
        (ouzel.StreamingExplainer, {"order": 7}, "order is 1"),
    ],
)
def test_parameters_of_an_analysis_that_lie_are_refused(tmp_path, kind, change, message):
    path = tmp_path / "m"
    analysis(kind).save(path)
    described, arrays = parts_of(path)
    described["notes"]["parameters"].update(change)
    write(path, described, arrays)

    with pytest.raises(OuzelError, match=message):
        kind.load(path)
