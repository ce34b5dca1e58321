"""Reports are what their commands write, and say what they were made from."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ouzel.errors import OuzelError
from reproduce import EXPERIMENTS
from reproduce.provenance import DataFolder, _meaning, data_digest, module_digests, note, noted, state_of
from reproduce.running import run

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "reproduce" / "results"
SHORT = ["son-figure-2"]  # those that take seconds
MODULES = sorted(
    {experiment.module_name for experiment in EXPERIMENTS.values()} | {"wm_sketch.remarks", "benchmarks.change_points"}
)


class Known:
    """An experiment that reads one file and writes the text it has."""

    summary = "a number"
    text = "# A number\n\n1\n"

    def load(self):
        def write(data, output, quick, paths):
            (output / "number.md").write_text(self.text + (data / "set.txt").read_text())
            (output / "number.png").write_bytes(b"png")

        return write


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a data set, and an experiment that reads it."""
    monkeypatch.setitem(EXPERIMENTS, "number", Known())
    (tmp_path / "set.txt").write_text("2\n")
    return tmp_path


def test_a_report_begins_with_the_digests_of_code_and_data(folder):
    run("number", folder, folder)

    title, line = (folder / "number.md").read_text().split("\n\n")[:2]
    assert title == "# A number"
    assert re.fullmatch(r"Made from code [0-9a-f]{12}, data [0-9a-f]{12} \(1 file\)\.", line)
    assert state_of(folder, "number") == "a report of this code"


def test_other_code_and_other_data_have_other_digests(folder):
    run("number", folder, folder)
    text = (folder / "number.md").read_text()
    (folder / "set.txt").write_text("3\n")
    run("number", folder, folder)

    assert (folder / "number.md").read_text().split("\n")[2] != text.split("\n")[2]
    assert module_digests(["reproduce.writing"]) != module_digests(["reproduce.running"])
    note(folder, "number", [*noted(folder)["number"][:-1], "00000000"])
    assert state_of(folder, "number") == "a report of other code"


def test_a_small_variant_is_marked_and_leaves_the_report_alone(folder):
    run("number", folder, folder)
    whole = (folder / "number.md").read_text()
    run("number", folder, folder, quick=True)

    assert (folder / "number.md").read_text() == whole
    assert (folder / "number-quick.md").read_text().startswith("# A number, a small variant\n")
    assert (folder / "number-quick.png").exists()
    assert list(noted(folder)) == ["number"]


def test_a_set_that_is_missing_is_an_error_and_leaves_nothing(folder):
    (folder / "set.txt").unlink()

    with pytest.raises(OuzelError, match=r"set\.txt: there is no such file; name the folder"):
        run("number", folder, folder)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_without_data_an_experiment_on_data_stops_and_writes_nothing(name, tmp_path):
    if name in ("son-figure-1", "son-figure-2", "drift"):
        pytest.skip("makes its own data")
    with pytest.raises(OuzelError, match="there is no such file"):
        run(name, tmp_path / "none", tmp_path, quick=True)
    assert list(tmp_path.iterdir()) == []


def test_labels_of_images_are_data_too(tmp_path):
    for kind in ("images-idx3", "labels-idx1"):
        (tmp_path / f"t-{kind}").write_text(kind)
    data = DataFolder(tmp_path)
    data / "t-images-idx3"

    assert {path.name for path in data.used} == {"t-images-idx3", "t-labels-idx1"}
    assert data_digest(data.used) != data_digest([tmp_path / "t-images-idx3"])


def test_comments_docstrings_and_layout_are_not_code():
    one = 'def f(x):\n    "Add one."\n    return x + 1\n'
    other = "def f(\n    x,\n):  # more\n    return (x + 1)\n"

    assert _meaning(one) == _meaning(other)
    assert _meaning(one) != _meaning(one.replace("1", "2"))


def test_a_module_may_move_and_name_its_parts_by_other_paths():
    before = 'from ouzel.layout import f\nif TYPE_CHECKING:\n    import ouzel.a\nx = f(deferred("ouzel.model.a"))\n'
    after = 'from ouzel.core.layout import f\nimport json\nx = f(deferred("ouzel.core.model.a"))\n'

    assert _meaning(before) == _meaning(after)
    assert _meaning(before) != _meaning(before.replace("f(", "g("))


@pytest.mark.xfail(strict=True, reason="reports are made anew once, when the default is written by parts")
def test_all_reports_are_of_this_code():
    stale = [name for name in sorted(EXPERIMENTS) if state_of(RESULTS, name) != "a report of this code"]

    assert stale == []


@pytest.mark.parametrize("module", MODULES)
def test_what_is_said_beside_a_table_holds_no_measured_number(module):
    """Constants may quote a paper; what was measured is worked out where it is said."""
    source = Path(importlib.import_module(f"reproduce.{module}").__file__).read_text()
    for node in ast.parse(source).body:
        names = [getattr(target, "id", "") for target in getattr(node, "targets", [])]
        if any(name.startswith(("REMARKS", "FIGURE_")) for name in names):
            assert not re.search(r"\b0\.\d\d", ast.literal_eval(node.value))


def numbers_of(path):
    """A report but for the line that says what it was made from: other code may well come to the same."""
    return [line for line in path.read_text().splitlines() if not line.startswith("Made from")]


@pytest.mark.parametrize("name", SHORT)
def test_a_report_is_what_its_command_writes(name, tmp_path):
    command = [sys.executable, "-m", "ouzel", "reproduce", name, "--data", ROOT.parent / "shared" / "data"]
    subprocess.run([*command, "--output", tmp_path], check=True, capture_output=True, cwd=ROOT)

    assert numbers_of(tmp_path / f"{name}.md") == numbers_of(RESULTS / f"{name}.md")


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_which_reports_are_of_other_code(name):
    state = state_of(RESULTS, name)

    assert state != "no report"
    if state != "a report of this code":
        pytest.skip(f"{state}: `ouzel reproduce {name}` makes it anew")
