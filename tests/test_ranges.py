"""Every setting has a range, declared beside it and checked wherever a user's value enters."""

import os
import subprocess
import sys
from math import inf, nan, nextafter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

import ouzel
from ouzel.analytics.deltoids.paired_count_min import PairedCountMin
from ouzel.analytics.deltoids.relative_deltoids import RelativeDeltoids
from ouzel.analytics.explanation.explainer import StreamingExplainer
from ouzel.analytics.pmi.streaming_pmi import StreamingPMI
from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import Run
from ouzel.learners.catalogue import LEARNERS
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.settings import resolve_settings
from ouzel.ranges import Bits, Choice, Label, Range, Table, check_stored, checked, declared, memory
from ouzel.sketches import count_min, count_sketch, reservoir, space_saving
from ouzel.sketches.spectral import frequent_directions, oja
from ouzel.sketches.spectral import sparse_frequent_directions as sparse
from ouzel.streams.options import Options
from ouzel.terms import losses
from ouzel.terms.names import from_json, resolve_loss, resolve_penalty, to_json
from ouzel.terms.penalties import domains, l1_and_l2, norms

TERMS = {"loss", "penalty", "schedule"}


def outside(takes):
    """Values that a setting must refuse."""
    if isinstance(takes, Choice):
        return [nan, inf, -1, len(takes.words), 0.5, "perhaps", None]
    below = takes.low if takes.above else nextafter(takes.low, -inf)
    above = [takes.high if takes.below else nextafter(takes.high, inf)] if takes.high < inf else []
    above += [memory() + 1.0, 1e30] if takes.each else []
    infinite = [value for value, bound in ((inf, takes.high), (-inf, takes.low)) if value != bound or takes.each]
    return [nan, "nan", "fast", None, (1.0,), *above, *infinite, *([below] if below > -inf else [])]


def test_every_setting_of_every_learner_says_what_it_takes_and_what_it_is():
    for learner in LEARNERS.values():
        settings = declared(learner.settings)
        for name, default in learner.settings._field_defaults.items():
            assert settings[name].about, (learner.name, name)
            if not isinstance(default, tuple):
                assert settings[name].takes.number(default) == default, (learner.name, name)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_setting_out_of_range_is_one_line(name):
    learner = LEARNERS[name]
    for setting, (takes, *_) in declared(learner.settings).items():
        for value in outside(takes) if takes else []:
            if value is None:
                continue  # nothing was given
            with pytest.raises(OuzelError) as caught:
                resolve_settings(learner, {setting: value})

            assert str(caught.value).startswith(f"{setting} of {name} must be ")
            assert "\n" not in str(caught.value)


def restored(learner, stored):
    """Settings as a model file brings them."""
    return resolve_settings(learner, from_json(learner.settings, stored)._asdict())


@pytest.mark.parametrize("name", LEARNERS)
def test_a_stored_setting_out_of_range_is_one_line(name):
    learner = LEARNERS[name]
    sound = to_json(resolve_settings(learner, {}))
    assert restored(learner, sound) == resolve_settings(learner, {})
    for setting, (takes, *_) in declared(learner.settings).items():
        for value in outside(takes) if takes else [nan, 0.5]:
            with pytest.raises(OuzelError) as caught:
                restored(learner, {**sound, setting: value})

            if takes is not None and isinstance(value, (int, float)):
                assert str(caught.value).startswith(f"{setting} of {name} must be ")


def test_a_model_file_with_a_setting_out_of_range_is_one_line(tmp_path, monkeypatch):
    path = tmp_path / "m.ouzel"
    model = Model("ogd")
    model.settings = model.settings._replace(learning_rate=nan)
    persistence.save(model, path)

    with pytest.raises(
        OuzelError, match=r"m.ouzel: .*learning_rate of ogd must be a number from 1e-30 to 1e9; got nan"
    ):
        persistence.load_model(path)


@pytest.mark.long
def test_every_learner_stays_finite_with_a_setting_at_either_end_of_its_range():
    found = _ends(*LEARNERS)

    assert found == ""


def test_learners_of_every_kind_stay_finite_at_the_ends_of_ranges():
    found = _ends("auto", "ogd", "adagrad", "adagrad-rda", "fobos", "son-oja", "arow", "scw2", "pa1", "alma", "hashing")

    assert found == ""


def _ends(*learners):
    program = Path(__file__).with_name("learners") / "ends_of_ranges.py"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    ran = subprocess.run([sys.executable, program, *learners], env=environment, capture_output=True, text=True)
    return ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        (losses.Quantile, {"tau": 1.0}),
        (losses.Quantile, {"tau": nan}),
        (l1_and_l2.L1, {"l1": -1e-9}),
        (l1_and_l2.SquaredL2, {"l2": inf}),
        (l1_and_l2.ElasticNet, {"l1": 0.1, "l2": 0.0}),
        (norms.L2Norm, {"l1": -1.0}),
        (norms.MaxNorm, {"l1": nan}),
        (domains.L1Ball, {"radius": -1.0}),
        (domains.L2Ball, {"radius": nan}),
        (domains.Box, {"low": 1.0, "high": 2.0}),
        (domains.Box, {"low": -1.0, "high": -0.5}),
    ],
)
def test_a_term_out_of_range_is_refused_as_a_name_and_as_an_instance(kind, bad):
    resolve = resolve_loss if kind is losses.Quantile else resolve_penalty
    with pytest.raises(OuzelError, match="must be a number"):
        resolve(kind(**bad))
    with pytest.raises(OuzelError, match="must be a number"):
        Model("adagrad-eager", **{"loss" if kind is losses.Quantile else "penalty": kind(**bad)})


def test_a_term_of_ones_own_without_ranges_is_taken_as_it_is():
    class Half(NamedTuple):
        of: float = nan

    @losses.derivative.register(Half)
    def _(loss, prediction, target):
        return 0.5

    assert isinstance(resolve_loss(Half()), Half)


def test_a_box_may_be_open_on_a_side():
    assert resolve_penalty("box(low=0,high=inf)") == domains.Box(0.0, inf)


@pytest.mark.parametrize(
    ("make", "bad"),
    [
        (StreamingPMI, {"window": 1}),
        (StreamingPMI, {"negatives": 0}),
        (StreamingPMI, {"sample_size": 1e30}),
        (StreamingPMI, {"heap_size": 0}),
        (StreamingPMI, {"inner_rate": nan}),
        (StreamingPMI, {"budget": inf}),
        (StreamingExplainer, {"order": 1.5}),
        (StreamingExplainer, {"budget": "31B"}),
        (StreamingExplainer, {"seed": -1}),
        (RelativeDeltoids, {"learning_rate": -1}),
        (RelativeDeltoids, {"l2": nan}),
        (RelativeDeltoids, {"width": -1}),
        (RelativeDeltoids, {"budget": "much"}),
        (PairedCountMin, {"depth": 0}),
        (count_min.init, {"width": 0}),
        (count_sketch.init, {"width": 4, "depth": -1}),
        (space_saving.init, {"capacity": 1e30}),
        (reservoir.init, {"capacity": 3, "seed": -1}),
        (frequent_directions.init, {"dimension": 3, "size": -1}),
        (sparse.init, {"dimension": 3, "size": 1e9}),
        (oja.init, {"dimension": 0, "size": 1}),
        (Model, {"bits": 0}),
        (Model, {"seed": 2**32}),
        (Model, {"pairs": -1}),
        (Options, {"bits": 32}),
        (Options, {"seed": -1}),
        (Options, {"skip_lines": -1}),
    ],
)
def test_an_argument_out_of_range_is_one_line(make, bad):
    with pytest.raises(OuzelError, match=rf"^{list(bad)[-1]}|^{next(iter(bad))}") as caught:
        make(**bad)

    assert "must be a" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", [{"passes": 0}, {"passes": nan}, {"holdout_every": -1}, {"holdout_every": 1}])
def test_a_run_of_nonsense_is_one_line(bad):
    with pytest.raises(OuzelError, match="must be"):
        Run(Model("ogd"), **bad)


@pytest.mark.parametrize("bad", [{"learning_rate": nan}, {"passes": 0}, {"bits": 99}, {"seed": 0.5}, {"damping": -1}])
def test_an_estimator_says_the_same_when_it_is_fitted(bad):
    model = ouzel.AdaGradClassifier(**bad)

    with pytest.raises(OuzelError, match=rf"^{next(iter(bad))}( of adagrad)? must be a"):
        model.fit(np.eye(2), [0, 1])


def test_numbers_come_in_the_type_that_is_declared():
    class Both(NamedTuple):
        real: float

    settings = resolve_settings(LEARNERS["awm"], {"budget": "8KB", "heap_size": np.int64(4), "learning_rate": "0.5"})

    assert [type(value) for value in settings[1:6]] == [float] * 5
    assert settings.budget == 8192.0
    assert checked(Both, {"real": "as it is"}) == {"real": "as it is"}


def test_what_memory_bounds_says_so():
    message = rf"^budget of awm must be a size .* to [\d,e]+ \(what this machine's memory holds\); got '{memory()}KB'"
    with pytest.raises(OuzelError, match=message):
        resolve_settings(LEARNERS["awm"], {"budget": f"{memory()}KB"})


def test_sizes_that_only_together_exceed_memory_are_one_line():
    with pytest.raises(OuzelError, match=r"this learner's state would take [\d,]+ GiB, more than this machine has"):
        Model("wm", width=memory() // 8, depth=memory() // 16384)


@pytest.mark.parametrize(
    ("takes", "text"),
    [
        (Range(0.0, 1.0), "a number from 0 to 1"),
        (Range(0.0, 1.0, above=True, below=True), "a number above 0 and below 1"),
        (Range(0.0, 1.0, below=True), "a number of 0 or more and below 1"),
        (Range(1e-30, inf), "a number of 1e-30 or more; infinity is allowed"),
        (Range(-inf, 0.0), "a number of at most 0; infinity is allowed"),
        (Range(1, whole=True, each=8), "a whole number of 1 or more, as memory allows"),
        (Choice(("clip", "project")), "clip or project"),
        (Choice(("pa", "pa1", "pa2")), "pa, pa1 or pa2"),
    ],
)
def test_a_range_is_told_in_words(takes, text):
    assert takes.text() == text


def test_numbers_without_an_inverse_count_as_nothing():
    assert Range().number(1e-320) == 0.0
    assert Range().number(1e-140) == 1e-140
    with pytest.raises(ValueError, match="1e-320"):
        Range(above=True).number(1e-320)


@pytest.mark.parametrize(
    ("kind", "sound", "others", "words"),
    [
        (str, ["", "é"], ["\ud800", 1, None], "text"),
        (bool, [True], [1, "true"], "true or false"),
        (int, [0, 2**53], [True, 1.0, -1, 2**53 + 1], "a whole number, 0 or more"),
        (Bits, [1, 31], [0, 32, True, 1.0, "1"], "a whole number from 1 to 31"),
        (float, [1, -0.5], [True, inf, nan, "1"], "a finite number"),
        (Label, ["a", True, 2, 0.5], [None, inf, []], "text or true or false or a finite number"),
        (Table, [{}, {"a": []}], [[], None], "a table"),
        (dict[str, int], [{"a": 1}], [{"a": -1}, {"a": "b"}], "a table"),
        (Annotated[str, Choice(("a", "b"))], ["a"], ["c", 0, []], "a or b"),
        (list[str] | None, [None, [], ["a"]], ["a", [1]], "a list of which each is text or null"),
        (Annotated[list[Any], Range(high=2)], [[1, None]], [[1, 2, 3]], "a list of which each is anything"),
        (tuple[int, str], [[1, "a"]], [[1], [1, 2], [1, "a", "b"], {}], "a pair of a whole number, 0 or more and text"),
    ],
)
def test_json_of_a_file_is_of_its_type_or_refused_in_a_line(kind, sound, others, words):
    for value in sound:
        check_stored({"here": value}, {"here": kind})
    for value in others:
        with pytest.raises(OuzelError) as caught:
            check_stored({"here": value}, {"here": kind})
        assert str(caught.value).startswith(f"here is not {words}; got ")
