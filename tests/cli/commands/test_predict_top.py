"""`ouzel predict` and `ouzel top`."""

import json
import re

import numpy as np
import pyarrow.parquet as parquet
import pytest

from ouzel.cli.commands.predict import LITTLE
from ouzel.model import persistence


@pytest.fixture
def model(ouzel, small):
    path = small.with_name("m")
    ouzel("train", small, "--model", path)
    return path


def test_predictions_have_a_header_and_a_line_an_example(ouzel, model, small):
    lines = ouzel("predict", model, small).out.splitlines()

    assert lines[0] == "row\tactual\tlabel\tmargin\tprobability of 1"
    assert len(lines) == 1001
    row, actual, label, margin, probability = map(float, lines[1].split("\t"))
    assert (row, actual) == (1, int(small.read_text().split()[0]))
    assert (label == 1) == (margin > 0)
    assert probability == pytest.approx(1 / (1 + np.exp(-margin)), rel=1e-4)


def test_one_kind_alone_has_no_header(ouzel, model, small):
    labels = ouzel("predict", model, small, "--only", "labels").out.split()

    assert len(labels) == 1000
    assert set(labels) == {"-1", "1"}


def test_one_kind_alone_has_no_reasons_beside_it(ouzel, model, small):
    ran = ouzel("predict", model, small, "--only", "probabilities", "--explain", 3)

    assert (ran.status, ran.out) == (2, "")
    assert "--only prints predictions and nothing else" in ran.err
    rows = ouzel("predict", model, small, "--only", "probabilities", "--explain", 3, "--json").out.splitlines()
    assert set(json.loads(rows[0])) == {"row", "actual", "probability", "why", "all_else", "why_values", "why_pairs"}


def test_predictions_that_break_off_leave_the_file_of_before(ouzel, model, small, tmp_path):
    (tmp_path / "p.parquet").write_bytes(b"before")
    (tmp_path / "bad.svm").write_text(small.read_text() + "+1 1:x\n")
    ran = ouzel("predict", model, tmp_path / "bad.svm", "-o", tmp_path / "p.parquet")

    assert ran.status == 2
    assert (tmp_path / "p.parquet").read_bytes() == b"before"
    assert [entry for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_json_lines_and_parquet_say_the_same(ouzel, model, small, tmp_path):
    rows = [json.loads(line) for line in ouzel("predict", model, small, "--json").out.splitlines()]
    ran = ouzel("predict", model, small, "-o", tmp_path / "p.parquet")

    assert ran.out == ""
    assert parquet.read_table(tmp_path / "p.parquet").to_pylist() == rows


def test_probabilities_need_a_loss_that_gives_them(ouzel, small, tmp_path):
    ouzel("train", small, "--loss", "hinge", "--model", tmp_path / "m")

    assert "gives no probabilities" in ouzel("predict", tmp_path / "m", small, "--only", "probabilities").err
    assert ouzel("predict", tmp_path / "m", small).out.startswith("row\tactual\tlabel\tmargin\n")


def test_files_without_labels_can_be_predicted(ouzel, tmp_path):
    (tmp_path / "train.csv").write_text("a,y\n1,yes\n-1,no\n" * 20)
    (tmp_path / "new.csv").write_text("a\n1\n-1\n")
    ouzel("train", tmp_path / "train.csv", "--label", "y", "--model", tmp_path / "m")

    ran = ouzel("predict", tmp_path / "m", tmp_path / "new.csv", "--only", "labels")

    assert ran.out.split() == ["yes", "no"]


@pytest.mark.parametrize("learner", ["auto", "adagrad-multiclass"])
def test_several_classes_have_a_column_each(ouzel, tmp_path, learner):
    path = tmp_path / "three.svm"
    path.write_text("1 1:1\n3 2:1\n2 3:1\n" * 30)
    ouzel("train", path, "--learner", learner, "--loss", "logistic", "--model", tmp_path / "m")

    header, first, *_ = ouzel("predict", tmp_path / "m", path).out.splitlines()

    names = [
        "row",
        "actual",
        "label",
        *(f"{kind}:{label}" for kind in ("margin", "probability") for label in (1, 2, 3)),
    ]
    assert header.split("\t") == names
    assert sum(map(float, first.split("\t")[6:])) == pytest.approx(1.0, abs=1e-5)
    assert [entry["class"] for entry in ouzel("top", tmp_path / "m", "--json").json] == [1, 2, 3]


def test_top_shows_the_heaviest_by_name(ouzel, tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("weather,label\n" + "sun,wet\ncloud,dry\n" * 40)
    ouzel("train", path, "--model", tmp_path / "m", "--no-intercept")

    (entry,) = ouzel("top", tmp_path / "m", "-n", "5", "--json").json

    assert entry["class"] == "wet"
    assert {name: weight > 0 for name, weight in entry["features"]} == {"weather=sun": True, "weather=cloud": False}
    shown = ouzel("top", tmp_path / "m").out
    assert "weather=sun" in shown
    assert shown.endswith("the two do not compare\n")  # of columns and of features


@pytest.mark.parametrize("labels", [2, 3])
def test_a_training_ends_with_the_columns_and_features_that_top_shows(ouzel, tmp_path, labels):
    path = tmp_path / "words.csv"
    rows = [f"{'sun' if k % labels else 'cloud'},{k % 7},{k % 5},{'abc'[k % labels]}\n" for k in range(120)]
    path.write_text("weather,day,hour,label\n" + "".join(rows))
    report = ouzel("train", path, "--learner", "adagrad", "--top", 10, "--model", tmp_path / "m").out
    shown = ouzel("top", tmp_path / "m", "-n", 10).out

    if labels == 2:
        assert "\nmost important columns\n" in report
        assert all(line in report.splitlines() for line in shown.splitlines()[1:])
        assert report.index("  column ") < report.index("  feature ")
    else:
        heads = [line for line in report.splitlines() if "of each class" in line]
        assert [line.partition(" of each")[0] for line in heads] == [
            "most important columns",
            "most important features",
        ]
    assert "the two do not compare" in report
    first = ouzel("train", path, "--learner", "adagrad", "--top", 1).out
    assert ("  … and 2 more" in first) == (labels == 2)
    assert "important" not in ouzel("train", path, "--learner", "adagrad", "--top", 0).out


@pytest.mark.parametrize("learner", ["adagrad", "awm"])
def test_a_training_lists_no_columns_of_one_text_or_of_a_budget(ouzel, tmp_path, learner):
    path = tmp_path / "words.csv"
    more = ",b" if learner == "awm" else ""
    path.write_text(f"text{more},label\n" + f"sun and rain{more},wet\ncloud and sun{more},dry\n" * 40)

    report = ouzel("train", path, "--text", "text", "--learner", learner).out
    assert " features" in report
    assert "columns" not in report


@pytest.mark.parametrize("name", ["numbers.csv", "numbers.svm"])
def test_a_training_lists_no_columns_that_are_its_features(ouzel, tmp_path, name):
    text = "a,b,label\n" + "1,0.5,1\n0.2,1,0\n" * 40 if name.endswith("csv") else "1 1:1 2:0.5\n0 1:0.2 2:1\n" * 40
    (tmp_path / name).write_text(text)

    report = ouzel("train", tmp_path / name, "--learner", "adagrad").out
    assert "most important features" in report
    assert "columns" not in report


def test_top_explains_no_second_scale_where_columns_are_the_features(ouzel, tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("a,b,label\n" + "1,0.5,1\n0.2,1,0\n" * 40)
    ouzel("train", path, "--learner", "adagrad", "--model", tmp_path / "m")

    assert "do not compare" not in ouzel("top", tmp_path / "m").out


def test_top_of_a_newton_method_tells_its_spectrum_and_directions(ouzel, small, tmp_path):
    path = tmp_path / "sketched"
    ouzel("train", small, "--learner", "son-oja", "--sketch-size", "3", "--set", "diagonal=no", "--model", path)
    model = persistence.load_model(path)

    (entry,) = ouzel("top", path, "--json").json
    shown = ouzel("top", path).out
    (direction,) = ouzel("top", path, "--direction", "1", "-n", "3", "--json").json

    eigenvalues = np.sort(model.module.eigenvalues(model.states[0]))[::-1]
    assert entry["eigenvalues"] == eigenvalues.tolist()
    assert entry["condition_number"] == model.module.condition_number(model.states[0], model.settings)
    assert "eigenvalues of the sketch: " + " ".join(f"{value:.3g}" for value in eigenvalues) in shown
    assert "effective condition number: " in shown
    leading = model.module.directions(model.states[0])[model.module.eigenvalues(model.states[0]).argmax()]
    heaviest = np.argsort(-np.abs(leading))[:3]
    assert direction["features"] == [[str(slot - 1) if slot else "(intercept)", leading[slot]] for slot in heaviest]


@pytest.mark.parametrize(
    ("learner", "direction", "message"),
    [("son-oja", "0", "from 1 to 10, the sketch's size; got 0"), ("ogd", "1", "a model with a sketch, .* this is ogd")],
)
def test_a_direction_that_is_not_there_is_an_error(ouzel, small, tmp_path, learner, direction, message):
    ouzel("train", small, "--learner", learner, "--model", tmp_path / "m")

    ran = ouzel("top", tmp_path / "m", "--direction", direction)

    assert ran.status == 2
    assert re.search(message, ran.err)


def test_each_class_has_a_spectrum_of_its_own(ouzel, tmp_path):
    path = tmp_path / "three.svm"
    path.write_text("1 1:1\n3 2:1\n2 3:1\n" * 30)
    ouzel("train", path, "--learner", "son-fd", "--model", tmp_path / "m")

    entries = ouzel("top", tmp_path / "m", "--json").json

    assert [entry["class"] for entry in entries] == [1, 2, 3]
    assert all(len(entry["eigenvalues"]) == 10 for entry in entries)


def test_predictions_that_know_no_feature_raise_a_doubt(ouzel, model, small, tmp_path):
    path = tmp_path / "other.svm"
    path.write_text("+1 900:1\n-1 901:1\n" * 6)

    assert "all 12 predictions are the same" in ouzel("predict", model, path).err
    assert ouzel("predict", model, small).err == ""


def test_what_adds_most_to_a_prediction_is_told_beside_it(ouzel, model, small):
    rows = [json.loads(line) for line in ouzel("predict", model, small, "--json", "--explain", 3).out.splitlines()]
    lines = ouzel("predict", model, small, "--explain", 1).out.splitlines()

    assert lines[0].endswith("\twhy")
    for row, line in zip(rows, lines[1:], strict=True):
        added = [abs(feature["contribution"]) for feature in row["why"]]
        assert added == sorted(added, reverse=True)
        assert 1 <= len(added) <= 3
        first = row["why"][0]
        assert "(average example)" not in {feature["name"] for feature in row["why"]}
        assert row["all_else"] == pytest.approx(row["margin"] - sum(feature["contribution"] for feature in row["why"]))
        told, _, beyond = line.split("\t")[-1].partition(", all else ")
        assert told.startswith(first["name"])
        assert told.endswith(f" {first['contribution']:+.3g}")
        little = max(1e-3, LITTLE * abs(row["margin"]))  # which is not shown
        assert float(beyond or 0.0) == pytest.approx(row["margin"] - first["contribution"], rel=0.01, abs=little)


@pytest.mark.parametrize("labels", ["ab", "abc"])
def test_where_all_features_are_told_all_else_is_what_no_feature_adds(ouzel, tmp_path, labels):
    path = tmp_path / "t.csv"
    path.write_text(
        "sun,city,label\n" + "".join(f"{k % 7},{'xyz'[k % 3]},{labels[k % len(labels)]}\n" for k in range(60))
    )
    ouzel("train", path, "--learner", "ogd", "--model", tmp_path / "m")

    rows = [
        json.loads(line) for line in ouzel("predict", tmp_path / "m", path, "--json", "--explain", 9).out.splitlines()
    ]
    lines = ouzel("predict", tmp_path / "m", path, "--explain", 9).out.splitlines()

    assert max(abs(row["all_else"]) for row in rows) < 1e-6
    assert not any("all else" in line for line in lines)
    for row in rows:
        largest = max(value for name, value in row.items() if name.startswith("margin"))
        assert sum(feature["contribution"] for feature in row["why"]) == pytest.approx(largest, abs=1e-6)


def test_all_weights_are_written_to_a_table(ouzel, small, tmp_path):
    ouzel("train", small, "--learner", "ogd", "--model", tmp_path / "m")

    ran = ouzel("top", tmp_path / "m", "--all", "-o", tmp_path / "w.csv")

    lines = (tmp_path / "w.csv").read_text().replace('"', "").splitlines()
    (entry,) = ouzel("top", tmp_path / "m", "-n", "1000", "--json").json
    written = {line.split(",")[1]: float(line.split(",")[2]) for line in lines[1:]}
    assert lines[0] == "class,feature,weight,importance"
    assert written == {name: weight for name, weight in entry["features"] if weight}
    assert "written to" in ran.err
    assert ouzel("top", tmp_path / "m", "-o", tmp_path / "w.txt").status == 2


def test_weights_of_ons_have_intervals_and_those_of_others_none(ouzel, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2_000, 2))
    labels = rng.random(2_000) < 1.0 / (1.0 + np.exp(-x @ [1.0, -0.5]))
    path = tmp_path / "t.csv"
    rows = (f"{a:.6f},{b:.6f},{'yes' if label else 'no'}\n" for (a, b), label in zip(x, labels, strict=True))
    path.write_text("dose,age,y\n" + "".join(rows))
    for learner in ("ons", "adagrad"):
        ouzel("train", path, "--label", "y", "--learner", learner, "--model", tmp_path / learner)
    (found,) = json.loads(ouzel("top", tmp_path / "ons", "--json").out)
    truth = {"dose": 1.0, "age": -0.5, "(intercept)": 0.0}

    for (name, weight), (low, high) in zip(found["features"], found["intervals"], strict=True):
        assert low < weight < high
        assert low - 0.05 < truth[name] < high + 0.05
    lines = ouzel("top", tmp_path / "ons").out.splitlines()
    assert lines[1].endswith("95 % interval")
    assert re.search(r"dose .* \+0\.\d+ to \+1\.\d+$", lines[2])
    assert "intervals" not in ouzel("top", tmp_path / "adagrad", "--json").out
    assert "interval" not in ouzel("top", tmp_path / "adagrad").out
