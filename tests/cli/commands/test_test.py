"""`ouzel test`."""

import json

import numpy as np
import pytest

import ouzel as library
from ouzel.evaluation.testing import evaluate


@pytest.fixture
def model(ouzel, small):
    path = small.with_name("m")
    ouzel("train", small, "--learner", "adagrad", "--model", path)
    return path


def test_figures_are_those_of_the_predictions_and_nothing_is_learnt(ouzel, model, small):
    before = model.read_bytes()
    lines = [line.split("\t") for line in ouzel("predict", model, small).out.splitlines()[1:]]
    wrong = sum(float(actual) != float(label) for _, actual, label, *_ in lines)

    (found,) = json.loads(ouzel("test", model, small, "--json").out).values()

    assert found["examples"] == len(lines)
    assert found["figures"]["error_rate"] == pytest.approx(wrong / len(lines))
    assert sum(map(sum, found["confusion"])) == len(lines)
    assert model.read_bytes() == before


def test_models_stand_side_by_side(ouzel, model, small):
    other = small.with_name("other")
    ouzel("train", small, "--learner", "ogd", "--model", other)

    lines = ouzel("test", model, small, "--against", other).out.splitlines()

    assert lines[0].split() == [str(model), str(other)]
    assert [len(line.split()) for line in lines if line.rstrip().endswith("error rate")] == [4]


def test_examples_of_no_known_class_are_left_out_and_counted(ouzel, model, tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("+1 1:1\n7 1:1\n-1 2:1\n")

    ran = ouzel("test", model, path)

    assert "1  left out: no label, or not a known class" in " ".join(ran.out.split("\n")).replace("   ", "  ")
    path.write_text("7 1:1\n")
    unknown = "no example has a label that the model knows: the first is 7, the model has -1, 1; give examples with"
    assert unknown in ouzel("test", model, path).err
    path.write_text("1:1\n")
    assert "no example has a label; give examples with labels" in ouzel("test", model, path).err


def test_unknown_labels_of_a_table_ask_for_the_column_of_labels(ouzel, tmp_path):
    (tmp_path / "t.csv").write_text("y,z,a\nno,1,1\nyes,2,2\n")
    ouzel("train", tmp_path / "t.csv", "--label", "y", "--ignore", "z", "--learner", "ogd", "--model", tmp_path / "m")

    said = ouzel("test", tmp_path / "m", tmp_path / "t.csv", "--label", "z").err

    assert "the first is 1, the model has 'no', 'yes'; name the column of labels with --label COLUMN" in said


def test_a_picture_is_drawn_of_classes_and_refused_of_numbers(ouzel, model, small, tmp_path):
    assert "figures drawn in" in ouzel("test", model, small, "--plot", tmp_path / "p.svg").out
    assert (tmp_path / "p.svg").read_text().startswith("<?xml")
    numbers = tmp_path / "numbers"
    ouzel("train", small, "--learner", "adagrad", "--loss", "squared", "--model", numbers)

    ran = ouzel("test", numbers, small, "--plot", tmp_path / "q.svg")

    assert "rmse" in ran.out
    assert "nothing to draw" in ran.err


def test_standard_input_serves_one_model_alone(ouzel, model):
    assert "can be read once only" in ouzel("test", model, "-", "--against", model).err


def test_an_estimator_is_tested_as_its_model_is():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]] * 20), np.array([0, 1] * 20)
    estimator = library.OnlineClassifier("ogd").fit(X, y)

    report = evaluate(estimator, library.blocks_from(X, y))

    assert (report.examples, report.figures["error_rate"], report.confusion) == (40, 0.0, [[20, 0], [0, 20]])


def test_a_second_model_in_the_place_of_examples_is_told_its_option(ouzel, small, tmp_path):
    for name in "ab":
        ouzel("train", small, "--learner", "ogd", "--model", tmp_path / name)

    ran = ouzel("test", tmp_path / "a", tmp_path / "b", small)

    assert ran.status == 2
    assert f"a model, not examples; test it beside the first with --against {tmp_path / 'b'}" in ran.err


def test_a_file_without_the_positive_label_is_remarked_on(ouzel, tmp_path):
    table, others, model = tmp_path / "t.csv", tmp_path / "o.csv", tmp_path / "m"
    table.write_text("x,fraud\n" + "".join(f"{k % 5},{int(k % 5 > 2)}\n" for k in range(100)))
    others.write_text("x,fraud\n1,no\n4,yes\n")
    ouzel("train", table, "--label", "fraud", "--label-positive", "1", "--model", model)

    assert "count as negative" not in ouzel("test", model, table).err
    assert (
        "o.csv: no label is '1'; its labels are no, yes, which all count as negative"
        in ouzel("test", model, others).err
    )
