"""An option belongs to formats that have a use for it; others refuse it, and lines of another task, in one line."""

import json

import pyarrow.ipc
import pytest

TABLE = "a,b,y\n1,x,0\n2,y,1\n"
OTHER = {"t.csv": "c,d,y\n1,2,1\n1,2,0\n", "t.jsonl": '{"c": 1, "d": 2, "y": 1}\n{"c": 1, "d": 2, "y": 0}\n'}


@pytest.fixture
def files(tmp_path):
    """The same small stream in four formats."""
    (tmp_path / "t.svm").write_text("1 1:1\n0 2:1\n" * 20)
    (tmp_path / "t.vw").write_text("1 | a:1\n0 | b:1\n" * 20)
    (tmp_path / "t.csv").write_text("y,a,b\n" + "1,1,0\n0,0,1\n" * 20)
    (tmp_path / "t.jsonl").write_text('{"y":1,"a":1}\n{"y":0,"b":1}\n' * 20)
    return tmp_path


OF_COLUMNS = ("--text", "--ignore", "--only-columns", "--categorical", "--numeric")
REFUSED = [(name, option) for name in ("t.svm", "t.vw") for option in ("--label", "--weight", "--dates", "--delimiter")]


@pytest.mark.parametrize(("name", "option"), REFUSED + [("t.svm", option) for option in OF_COLUMNS])
def test_an_option_of_tables_is_refused_for_text_without_columns(ouzel, files, name, option):
    value = ";" if option == "--delimiter" else "a"

    ran = ouzel("train", files / name, option, value)

    assert ran.status == 2
    assert "the option is for csv, tsv" in ran.err
    assert ran.err.strip().endswith(f"leave out {option} {value}")


@pytest.mark.parametrize(("option", "value"), [("--column-names", "a,b"), ("--skip-lines", "1"), ("--delimiter", ";")])
def test_an_option_of_delimited_text_is_refused_for_objects(ouzel, files, option, value):
    ran = ouzel("train", files / "t.jsonl", option, value)

    assert ran.status == 2
    assert f"is jsonl, and the option is for csv, tsv alone; leave out {option} {value}" in ran.err


def test_options_in_the_models_file_do_not_hinder_another_format(ouzel, files):
    ouzel("train", files / "t.csv", "--delimiter", ",", "--label", "y", "--model", files / "m")

    from_csv = ouzel("predict", files / "m", files / "t.csv")
    from_text = ouzel("predict", files / "m", files / "t.vw")

    assert (from_csv.status, from_text.status) == (0, 0)
    assert from_text.out == from_csv.out == ouzel("predict", files / "m", files / "t.jsonl").out


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_predictions_are_written_as_the_ending_says(ouzel, files, ending):
    ouzel("train", files / "t.csv", "--label", "y", "--model", files / "m")
    rows = [json.loads(line) for line in ouzel("predict", files / "m", files / "t.csv", "--json").out.splitlines()]
    path = files / f"p.{ending}"

    ran = ouzel("predict", files / "m", files / "t.csv", "-o", path)

    assert "40 predictions written" in ran.err
    if ending in ("csv", "tsv"):
        lines = [
            line.replace('"', "").split("\t" if ending == "tsv" else ",") for line in path.read_text().splitlines()
        ]
        assert lines[0] == [*rows[0]]
        assert [float(cell) for cell in lines[1]] == [*rows[0].values()]
        assert len(lines) == 41
    elif ending == "jsonl":
        assert [json.loads(line) for line in path.read_text().splitlines()] == rows
    elif ending == "arrow":
        assert pyarrow.ipc.open_file(path).read_all().to_pylist() == rows
    else:
        assert pyarrow.parquet.read_table(path).to_pylist() == rows


def test_an_ending_that_says_no_format_is_refused_before_anything_is_read(ouzel, files):
    ran = ouzel("predict", files / "none", files / "t.csv", "-o", files / "p.xlsx")

    assert ran.status == 2
    assert "p.xlsx: predictions are written as csv, tsv, tab, parquet, pq, arrow, feather, ipc, jsonl," in ran.err


@pytest.mark.parametrize("line", ["1:2:0.4 | a b", "shared |u a", "2:1.5 | a", "0:-1:0.5 |x b"])
def test_lines_of_another_task_are_refused_with_a_pointer(ouzel, tmp_path, line):
    (tmp_path / "t.vw").write_text(f"1 | a\n{line}\n")

    ran = ouzel("train", tmp_path / "t.vw")

    assert ran.status == 2
    assert ":2:1: found" in ran.err
    assert "another task" in ran.err


def test_several_labels_with_costs_are_refused(ouzel, tmp_path):
    (tmp_path / "t.vw").write_text("1 | a\n1:0.5 2:1.5 | a\n")

    assert "labels with costs" in ouzel("train", tmp_path / "t.vw").err


def test_columns_that_are_missing_or_not_known_are_named_on_standard_error(ouzel, files):
    ouzel("train", files / "t.csv", "--label", "y", "--model", files / "m")
    (files / "new.csv").write_text("a,c\n1,2\n")

    ran = ouzel("predict", files / "m", files / "new.csv", "--only", "labels")

    assert ran.out == "1\n"
    assert "columns c are not known to the model, and left out" in ran.err
    assert "columns b are missing: their values count as absent" in ran.err


@pytest.mark.parametrize("command", ["predict", "test"])
@pytest.mark.parametrize("name", OTHER)
@pytest.mark.parametrize("trained", ["csv", "jsonl"])
def test_a_file_without_a_column_of_the_model_is_refused_before_anything_is_written(
    ouzel, tmp_path, trained, name, command
):
    (tmp_path / "learnt.csv").write_text(TABLE)
    (tmp_path / "learnt.jsonl").write_text('{"a": 1, "b": "x", "y": 0}\n{"a": 2, "b": "y", "y": 1}\n')
    ouzel("train", tmp_path / f"learnt.{trained}", "--label", "y", "--learner", "ogd", "--model", tmp_path / "m")
    (tmp_path / name).write_text(OTHER[name])

    ran = ouzel(command, tmp_path / "m", tmp_path / name)

    assert ran.status == 2
    assert ran.out == ""
    assert f"{name}: has none of the columns that the model knows (a, b); it has c, d; " in ran.err


def test_a_test_names_the_columns_that_are_missing_as_a_prediction_does(ouzel, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    ouzel("train", tmp_path / "t.csv", "--label", "y", "--learner", "ogd", "--model", tmp_path / "m")
    (tmp_path / "new.csv").write_text("a,c,y\n1,1,0\n2,1,1\n")

    said = ouzel("test", tmp_path / "m", tmp_path / "new.csv").err

    assert "columns c are not known to the model, and left out" in said
    assert "columns b are missing: their values count as absent" in said


def test_a_file_of_objects_may_have_features_of_known_columns_as_members(ouzel, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    ouzel("train", tmp_path / "t.csv", "--label", "y", "--learner", "ogd", "--model", tmp_path / "m")
    (tmp_path / "new.jsonl").write_text('{"b=x": 1}\n')

    assert ouzel("predict", tmp_path / "m", tmp_path / "new.jsonl", "--only", "labels").status == 0


def test_a_column_decided_against_first_sight_is_told_and_can_be_said_otherwise(ouzel, tmp_path):
    (tmp_path / "t.csv").write_text("y,zip\n1,02139\n0,10001\n" * 1 + "1,02139\n0,10001\n" * 9)

    told = ouzel("train", tmp_path / "t.csv", "--model", tmp_path / "m").err
    said = ouzel("train", tmp_path / "t.csv", "--numeric", "zip").err

    assert "column 'zip': numbers written like codes" in told
    assert "codes" not in said
