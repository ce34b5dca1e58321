"""`ouzel info` says what is in a model file, whoever wrote it, and reads no array."""

import json

import numpy as np
import pytest

import ouzel as library
from ouzel.model import tensor_reader
from tests import forging
from tests.cli.conftest import lines_of
from tests.printed import check


def info_of(ouzel, path):
    """What the command says, as JSON; it is what the schema says."""
    found = ouzel("info", path, "--json").json
    check("info", found)
    return found


@pytest.fixture
def table(tmp_path):
    """A table of words and numbers, with a label."""
    random = np.random.default_rng(0)
    rows = [f"{['Rome', 'Oslo', 'Bonn'][k % 3]},{random.uniform():.3f},{'ab'[k % 2]}\n" for k in range(300)]
    (tmp_path / "rows.csv").write_text("city,sun,kind\n" + "".join(rows))
    return tmp_path / "rows.csv"


def test_a_training_is_described_in_full(ouzel, table, tmp_path):
    trained = ouzel(
        *(
            "train",
            table,
            "--label",
            "kind",
            "--learner",
            "adagrad",
            "--learning-rate",
            0.125,
            "--l1",
            1e-4,
            "--cross",
            "city*sun",
        ),
        *("--bits", 16, "--model", tmp_path / "m", "--json"),
    ).json

    found = info_of(ouzel, tmp_path / "m")

    assert (found["learner"], found["task"], found["examples"]) == ("adagrad", "classification", 300)
    assert found["changed"]["learning_rate"] == 0.125
    assert set(found["changed"]) < set(found["settings"])
    assert found["classes"] == ["a", "b"]
    assert found["columns"] == {"city": "category", "sun": "number"}
    assert found["derived"]["crosses"] == ["city*sun"]
    assert found["options"]["bits"] == 16
    assert found["reading"]["label"] == "kind"
    assert (found["slots"], found["touched"]) == ((1 << 16) + 1, 1 + trained["features"])
    assert found["memory"] == trained["bytes_used"]
    assert found["bytes"] == (tmp_path / "m").stat().st_size
    assert found["version"] == library.__version__
    assert [(source["name"], source["examples"]) for source in found["sources"]] == [("rows.csv", 300)]
    figures = {name: trained[name] for name in found["figures"]}
    assert found["figures"] == figures
    assert {"error_rate", "mean_loss", "auc"} < set(figures)


def test_whatever_changes_predictions_is_shown(ouzel, table, tmp_path):
    given = ["--half-life", 100, "--standardize", "--missing", "indicator", "--ignore", "city"]
    ouzel("train", table, "--label", "kind", "--learner", "adagrad", *given, "--model", tmp_path / "m")
    ouzel("train", table, "--label", "kind", "--learner", "adagrad", "--model", tmp_path / "plain")

    shown = ouzel("info", tmp_path / "m").out

    for option in ("forget=100", "standardize=yes", "missing=indicator", "ignore=city", "label=kind"):
        assert option in shown
    assert "options" not in ouzel("info", tmp_path / "plain").out


def test_a_screen_of_80_columns_is_wide_enough(ouzel, tmp_path):
    labels = [f"a class with a long name, {k}" for k in range(40)]
    columns = [f"a_column_of_some_length_{k}" for k in range(60)]
    text = ",".join([*columns, "label"]) + "\n"
    text += "".join(",".join(["1.5"] * 60 + [f'"{label}"']) + "\n" for label in labels)
    (tmp_path / "wide.csv").write_text(text)
    ouzel("train", tmp_path / "wide.csv", "--learner", "ogd", "--model", tmp_path / "m")

    lines = ouzel("info", tmp_path / "m").out.splitlines()

    assert max(map(len, lines[1:])) <= 80  # the first is the file's own name
    assert any("and" in line and "more" in line for line in lines)
    assert len(lines) < 30


def test_figures_say_of_how_many_examples_they_are(ouzel, table, tmp_path):
    more = tmp_path / "more.csv"
    more.write_text("".join(table.read_text().splitlines(keepends=True)[:101]))
    ouzel("train", table, "--label", "kind", "--learner", "ogd", "--passes", 2, "--model", tmp_path / "m")
    first, shown = info_of(ouzel, tmp_path / "m"), ouzel("info", tmp_path / "m").out
    assert (first["examples"], first["examples_of_figures"]) == (600, 300)
    assert "progressive  of 300 examples   error rate" in shown

    report = ouzel("train", more, "--resume", tmp_path / "m", "--model", tmp_path / "m", "--json").json
    again = info_of(ouzel, tmp_path / "m")
    assert (again["examples"], again["examples_of_figures"]) == (700, 100)
    assert again["figures"]["error_rate"] == report["error_rate"]


def test_figures_of_a_file_that_does_not_say_of_how_many_examples_they_are(ouzel, table, tmp_path):
    ouzel("train", table, "--label", "kind", "--learner", "ogd", "--model", tmp_path / "m")
    header, *parts = forging.parts_of(tmp_path / "m")
    del header["notes"]["run"]["progress"]["examples"]
    forging.write(tmp_path / "m", header, *parts)

    assert info_of(ouzel, tmp_path / "m")["examples_of_figures"] is None
    assert "progressive  error rate" in ouzel("info", tmp_path / "m").out


def test_arrays_are_not_read(ouzel, table, tmp_path, monkeypatch):
    ouzel("train", table, "--label", "kind", "--model", tmp_path / "m")
    data = bytearray((tmp_path / "m").read_bytes())
    data[-5] ^= 1
    (tmp_path / "m").write_bytes(bytes(data))
    monkeypatch.setattr(tensor_reader.TensorReader, "state", None)

    assert library.info(tmp_path / "m").examples == 300


def test_a_file_of_the_format_before_is_described(ouzel, table, tmp_path):
    ouzel("train", table, "--label", "kind", "--model", tmp_path / "m")
    new = info_of(ouzel, tmp_path / "m")
    forging.write(tmp_path / "m", *forging.parts_of(tmp_path / "m"))

    old = info_of(ouzel, tmp_path / "m")

    differing = {"bytes", "format", "version", "touched"}
    assert {name for name in old if old[name] != new[name]} == differing
    assert (old["format"], old["version"], old["touched"]) == (11, None, None)


def test_learners_of_a_budget_numbers_and_arrays_are_described(ouzel, tmp_path):
    (tmp_path / "data.svm").write_text("".join(lines_of(200)))
    ouzel("train", tmp_path / "data.svm", "--learner", "awm", "--budget", "8KB", "--model", tmp_path / "m")
    library.OnlineRegressor("adagrad").fit(np.eye(3), [1.0, 2.0, 3.0]).save(tmp_path / "numbers")

    budgeted, numbers = info_of(ouzel, tmp_path / "m"), info_of(ouzel, tmp_path / "numbers")

    assert (budgeted["slots"], budgeted["touched"], budgeted["known_by"]) == (None, None, "number")
    assert (numbers["task"], numbers["known_by"], numbers["figures"]) == ("regression", "column", {})
    assert "which a budget does not count" in ouzel("info", tmp_path / "m").out


def test_files_of_analyses_are_described_and_others_refused_in_a_line(ouzel, tmp_path):
    library.StreamingPMI("200KB", sample_size=50, heap_size=16).partial_fit(["the cat sat"] * 50).save(tmp_path / "pmi")
    (tmp_path / "text").write_text("+1 1:2\n")

    assert info_of(ouzel, tmp_path / "pmi")["analysis"] == "pointwise mutual information"
    assert "classes" not in ouzel("info", tmp_path / "pmi").out
    for name in ("text", "absent"):
        ran = ouzel("info", tmp_path / name)
        assert (ran.status, ran.err.count("\n"), ran.out) == (2, 1, "")
        assert ran.err.startswith(f"ouzel: {tmp_path / name}: ")


def test_the_parameters_of_an_analysis_are_described(ouzel, tmp_path):
    library.StreamingPMI("200KB", window=4, tokens="whitespace").partial_fit(["the cat sat"] * 50).save(
        tmp_path / "pmi"
    )
    (tmp_path / "data.svm").write_text("".join(lines_of(200)))
    ouzel("train", tmp_path / "data.svm", "--learner", "ogd", "--model", tmp_path / "m")

    assert info_of(ouzel, tmp_path / "pmi")["parameters"]["window"] == 4
    assert "window=4" in ouzel("info", tmp_path / "pmi").out
    assert "tokens=whitespace" in ouzel("info", tmp_path / "pmi").out
    assert info_of(ouzel, tmp_path / "m")["parameters"] == {}
    assert "  parameters " not in ouzel("info", tmp_path / "m").out


@pytest.mark.parametrize("progress", [{}, {"position": [0, 0]}, {"position": "x", "by_pass": 3}])
def test_notes_that_make_no_sense_are_one_line(ouzel, table, tmp_path, progress):
    ouzel("train", table, "--label", "kind", "--model", tmp_path / "m")
    described, arrays = forging.parts_of(tmp_path / "m")
    described["notes"]["run"]["progress"] = progress
    forging.write(tmp_path / "m", json.loads(json.dumps(described)), arrays)

    ran = ouzel("info", tmp_path / "m")

    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "makes no sense" in ran.err


def test_a_folder_in_the_place_of_a_model_is_named_as_one(ouzel, tmp_path):
    for arguments in (["info", tmp_path], ["predict", tmp_path, tmp_path / "t.csv"]):
        assert "a folder, not a model file; of a service's, name a snapshot in it" in ouzel(*arguments).err
