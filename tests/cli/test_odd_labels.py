"""Labels of many digits, truth values beside numbers, many classes, and names that would move the cursor."""

import json

import numpy as np
import pyarrow.parquet
import pytest

import ouzel

LONG = "99999999999999999999"


def trained(ouzel, folder, rows, *options):
    (folder / "t.csv").write_text("label,x\n" + "".join(f"{label},{x}\n" for label, x in rows))
    given = ("--label", "label", "--task", "classification", "--learner", "adagrad", "-m", folder / "m.ouzel")
    return ouzel("train", folder / "t.csv", *given, *options)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow", "tsv"])
@pytest.mark.parametrize("others", [("1", "2"), ("x",), ("true", "2"), ("true", "false", "x")])
def test_a_label_of_many_digits_stays_that_word(ending, others, ouzel, tmp_path):
    labels = [LONG, *others] * 3
    trained(ouzel, tmp_path, [(label, k % 7) for k, label in enumerate(labels)])

    out = tmp_path / f"out.{ending}"
    said = ouzel("predict", tmp_path / "m.ouzel", tmp_path / "t.csv", "--label", "label", "-o", out)

    assert said.status == 0
    if ending == "parquet":
        assert LONG in map(str, pyarrow.parquet.read_table(out).column("actual").to_pylist())
    elif ending != "arrow":
        assert LONG in out.read_text()


def test_numbers_of_many_digits_are_predicted_as_numbers(ouzel, tmp_path):
    (tmp_path / "t.csv").write_text("label,x\n" + "".join(f"17000000001234567{k:02},{k}\n" for k in range(60)))

    said = ouzel("train", tmp_path / "t.csv", "--label", "label", "--loss", "squared", "--learner", "adagrad", "--json")

    assert said.status == 0
    assert json.loads(said.out)["examples"] == 60


def test_whole_numbers_in_memory_that_double_precision_does_not_have_are_two_classes():
    y = np.array([2**53, 2**53 + 1] * 5)
    blocks = ouzel.blocks_from(np.arange(10.0).reshape(-1, 1), y)

    (block,) = blocks

    assert block.label_names == [2**53, str(2**53 + 1)]


def test_true_and_1_are_one_class_and_a_line_says_so(ouzel, tmp_path):
    said = trained(ouzel, tmp_path, [("true", 1), ("1", 2), ("2", 3)] * 2)

    assert said.err.count("labels true and 1 are one class; write them alike") == 1


def test_a_model_of_257_classes_tells_what_it_holds(ouzel, tmp_path):
    trained(ouzel, tmp_path, [(f"c{k % 257}", k) for k in range(600)])

    said = ouzel("info", tmp_path / "m.ouzel")

    assert said.status == 0
    assert "257" in said.out


@pytest.mark.parametrize("odd", ["red\x1b[31m", "a\u202eb", "a\u2066b", "bell\x07"], ids=ascii)
def test_names_that_would_move_the_cursor_or_turn_text_are_written_out(odd, ouzel, tmp_path):
    said = [trained(ouzel, tmp_path, [(odd, 1), ("plain", 2)] * 2)]
    said += [ouzel("predict", tmp_path / "m.ouzel", tmp_path / "t.csv", "--label", "label")]
    said += [ouzel(command, tmp_path / "m.ouzel") for command in ("info",)]
    said += [ouzel("test", tmp_path / "m.ouzel", tmp_path / "t.csv", "--label", "label")]
    said += [ouzel("train", tmp_path / f"{odd}.csv")]

    shown = repr(odd)[1:-1]
    for number, one in enumerate(said):
        text = one.out + one.err
        assert shown in text, number
        assert not any(letter in text for letter in "\x1b\x07\u202e\u2066"), number
