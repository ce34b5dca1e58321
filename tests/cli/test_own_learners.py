"""Learners and losses from a package of one's own: by module, by entry point; files import nothing by themselves."""

import subprocess
import sys
from pathlib import Path

import pytest

from ouzel import OuzelError, register
from ouzel.learners import catalogue

PACKAGE = Path(__file__).parents[2] / "examples" / "own_learner"


@pytest.fixture
def own(monkeypatch):
    """The example package on the path, not imported yet; forgotten afterwards."""
    monkeypatch.syspath_prepend(PACKAGE)
    yield
    catalogue.LEARNERS.pop("nlms", None)
    for name in [name for name in sys.modules if name.split(".")[0] == "own_learner"]:
        del sys.modules[name]


def test_settings_of_a_learner_of_another_package_are_listed(ouzel, own):
    told = ouzel("learners", "own_learner:nlms").out

    assert told.startswith("nlms: ")
    assert "--set learning_rate=" in told


def forget():
    catalogue.LEARNERS.pop("nlms")
    del sys.modules["own_learner"]


def test_a_learner_is_named_by_its_module_and_its_file_imports_nothing(ouzel, small, tmp_path, own):
    trained = ouzel("train", small, "--learner", "own_learner:nlms", "--model", tmp_path / "m", "--json")
    assert trained.json["learner"] == "nlms"

    forget()
    alone = ouzel("predict", tmp_path / "m", small)
    assert alone.status == 2
    assert "m: the learner 'nlms' is not known; if it is your own, import its module first" in " ".join(
        alone.err.split()
    )
    assert "own_learner" not in sys.modules

    assert ouzel("--import", "own_learner", "predict", tmp_path / "m", small).status == 0


def test_an_entry_point_of_an_installed_package_is_found_by_its_name(ouzel, small, tmp_path, monkeypatch, own):
    told = tmp_path / "own_learner-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: own-learner\nVersion: 1\n")
    (told / "entry_points.txt").write_text("[ouzel.learners]\nnlms = own_learner\n")
    monkeypatch.syspath_prepend(tmp_path)

    assert ouzel("compare", small, "--learners", "nlms,ogd", "--json").json[0]["learner"] == "nlms"


def test_a_loss_is_named_by_its_module(ouzel, small, own):
    for task in ("classification", "regression"):
        flags = ("--learner", "adagrad", "--loss", "own_learner.log_cosh:LogCosh", "--task", task)
        told = ouzel("train", small, *flags, "--json").json

        assert (told["settings"]["loss"], told["task"]) == ("LogCosh", task)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--learner", "absent_module:x"], "cannot import absent_module"),
        (["--learner", "own_learner:absent"], "there is no learner 'absent'"),
        (["--loss", "own_learner.log_cosh:Absent"], "own_learner.log_cosh has no Absent"),
    ],
)
def test_what_is_not_there_is_one_line(ouzel, small, own, flags, said):
    ran = ouzel("train", small, *flags)

    assert ran.status == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_what_is_not_a_learner_is_not_registered():
    with pytest.raises(OuzelError, match="there is a learner 'ogd' already"):
        register("ogd", "json", "")
    with pytest.raises(OuzelError, match="json is not a learner: it lacks State, Settings, "):
        register("own", "json", "")
    with pytest.raises(OuzelError, match="a learner's name has small letters"):
        register("Own Learner", "json", "")


def test_the_example_passes_its_own_tests():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml", "tests"]
    ran = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True)

    assert ran.returncode == 0, ran.stdout
