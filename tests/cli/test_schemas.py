"""What commands print with --json is what their schemas say, whatever was asked of them."""

import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from ouzel.cli.schemas.commands import KINDS, OTHERWISE, schema_of
from ouzel.cli.schemas.page import page
from ouzel.exporting.device import dump, learner_code
from ouzel.model.persistence import load_model
from tests.printed import check

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def files(tmp_path):
    """Small streams of classes, of numbers, of groups and of text."""
    rows = [("Rome", "Oslo", "Bonn")[k % 3] + f",{k * 7 % 100 / 100}" for k in range(200)]
    (tmp_path / "two.csv").write_text("city,sun,label\n" + "".join(f"{row},{'ab'[len(row) % 2]}\n" for row in rows))
    (tmp_path / "three.csv").write_text("city,sun,label\n" + "".join(f"{row},{row[0]}\n" for row in rows))
    (tmp_path / "numbers.csv").write_text("city,sun,y\n" + "".join(f"{r},{k / 7}\n" for k, r in enumerate(rows)))
    (tmp_path / "groups.svm").write_text("".join(f"{k % 3} qid:{k // 6} 1:{k % 5}\n" for k in range(60)))
    (tmp_path / "text.txt").write_text("the cat sat on the mat with ms dos\n" * 50)
    return tmp_path


def saved(model):
    """What a device of a model of one column saves that has learnt nothing, not even what the model has."""
    head = np.array([dump.MAGIC, dump.VERSION, learner_code.fingerprint(model)], "<u4").tobytes()
    data = head + bytes(learner_code.part_of(model).dumped(model, learner_code.slots_of(model)).itemsize)
    return data + dump._sum(data).to_bytes(4, "little")


def test_every_schema_is_a_schema():
    for command in KINDS:
        Draft202012Validator.check_schema(schema_of(command))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("two.csv", ["--holdout-every", 10, "--passes", 2]),
        ("three.csv", []),
        ("numbers.csv", ["--loss", "squared", "--learning-rate", 1e9, "--raw-targets"]),
        ("groups.svm", ["--task", "ranking"]),
    ],
)
def test_training_predicting_testing_and_top(ouzel, files, name, options):
    model = files / "m"
    check("train", ouzel("train", files / name, "--learner", "ogd", *options, "--model", model, "--json").json)
    check("top", ouzel("top", model, "--json").json)
    if name != "groups.svm":
        check("test", ouzel("test", model, files / name, "--json").json)
        for line in ouzel("predict", model, files / name, "--json", "--explain", 2).out.splitlines():
            check("predict", json.loads(line))


def test_a_sketchs_top(ouzel, files):
    ouzel("train", files / "two.csv", "--learner", "son-oja", "--model", files / "m")

    check("top", ouzel("top", files / "m", "--json").json)


@pytest.mark.parametrize(
    "options",
    [
        ["--learners", "ogd,adagrad", "--step-sizes", "0.1,1"],
        ["--learners", "sklearn.linear_model:SGDClassifier,ogd", "--grid", "learning_rate=1,2"],
        ["--learners", "ogd", "--shuffles", 2],
        ["--learners", "ogd,adagrad", "--per-file"],
        ["--learners", "ogd", "--top", 2, "--reference", "adagrad"],
        ["--learners", "adagrad,sklearn.linear_model:SGDClassifier", "--regret"],
    ],
)
def test_comparisons(ouzel, files, options):
    ran = ouzel("compare", files / "two.csv", *options, "--json")

    assert ran.status == 0, ran.err
    check("compare", ran.json)


def test_what_is_not_finite_is_a_string(ouzel, files):
    steps = ["--loss", "squared", "--learners", "ogd", "--step-sizes", "1e9", "--raw-targets"]
    told = ouzel("compare", files / "numbers.csv", *steps, "--json").out

    check("compare", json.loads(told, parse_constant=pytest.fail))


def test_analyses(ouzel, files):
    for more in ([], ["--exact"]):
        told = ouzel("explain", files / "two.csv", "--outlier", "sun > p80", "--json", "--side", "both", *more)
        check("explain", told.json)
        told = ouzel("deltoids", files / "two.csv", files / "numbers.csv", "--column", "city", "--json", *more)
        check("deltoids", told.json)
        check("pmi", ouzel("pmi", files / "text.txt", "--json", *more).json)
    told = ouzel("deltoids", files / "two.csv", files / "numbers.csv", "--column", "city", "--json", "--compare")
    check("deltoids", told.json)


def test_the_rest(ouzel, files):
    ouzel("train", files / "two.csv", "--learner", "ogd", "--model", files / "m")

    check("convert", ouzel("convert", files / "two.csv", files / "two.arrow", "--json").json)
    check("learners", ouzel("learners", "--json").json)
    check("learners", ouzel("learners", "adagrad-rda", "--json").json)
    state = files / "state.bin"
    ouzel("train", files / "two.csv", "--learner", "adagrad", "--bits", 6, "--model", files / "d")
    check("export", ouzel("export", files / "d", files / "d.h", "--json").json)
    state.write_bytes(saved(load_model(files / "d")))
    check("import", ouzel("import", files / "d", state, files / "back", "--json").json)
    pytest.importorskip("onnx")
    check("export", ouzel("export", files / "m", files / "m.onnx", "--json").json)


def test_the_demonstration(ouzel, tmp_path, monkeypatch):
    from ouzel.cli.commands import demo

    shows = list(demo._shows())[1:2]  # the smallest
    monkeypatch.setattr(demo, "_shows", lambda: iter(shows))

    told = ouzel("demo", "--plot", tmp_path / "demo.svg", "--json").json

    check("demo", told)
    assert [entry["learner"] for entry in told["streams"][0]["results"]] == list(demo.LEARNERS)
    assert (tmp_path / "demo.svg").exists()


def test_experiments_listed_and_run(ouzel, tmp_path, monkeypatch):
    import reproduce

    class Small:
        summary = "a small one"

        def load(self):
            return lambda data, place, quick, paths: (place / "small.md").write_text("# Small\n\nnothing\n")

    monkeypatch.setitem(reproduce.EXPERIMENTS, "small", Small())
    listed = ouzel("reproduce", "--json").json
    ran = ouzel("reproduce", "small", "--quick", "--output", tmp_path / "o", "--json").json

    check("reproduce", listed)
    check("reproduce", ran)
    assert "small" in [entry["name"] for entry in listed]
    assert ran["files"] == [str(tmp_path / "o" / "small-quick.md")]


def test_schemas_are_printed_and_others_are_one_line(ouzel):
    assert json.loads(ouzel("schema", "train").out)["title"] == "ouzel train --json"
    assert ouzel("schema").out.split() == list(KINDS)
    ran = ouzel("schema", "trian")
    assert ran.status == 2
    assert "Did you mean 'train'?" in ran.err
    assert "GET /openapi.json" in ouzel("schema", "serve").err


def test_every_command_that_prints_json_has_a_schema():
    import typer

    from ouzel.cli.app import application

    commands = typer.main.get_command(application()).commands
    printing = {name for name, command in commands.items() if any(p.name == "json_" for p in command.params)}

    assert printing == set(KINDS)
    assert set(OTHERWISE) <= set(commands) - printing


def test_the_page_is_what_the_schemas_say():
    assert (DOCS / "json.md").read_text() == page(), "run `make json`"
