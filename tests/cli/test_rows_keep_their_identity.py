"""Every output of `ouzel predict` says which row a prediction is of, and its label if it has one."""

import csv
import json

import pyarrow
import pyarrow.parquet as parquet
import pytest

ROWS = [{"who": f"0{k}", "age": k % 7, "label": "yes" if k % 7 > 3 else "no"} for k in range(40)]


@pytest.fixture
def model(ouzel, tmp_path):
    wrote(tmp_path / "t.csv", ROWS)
    assert ouzel("train", tmp_path / "t.csv", "--id", "who", "--learner", "ogd", "--model", tmp_path / "m").status == 0
    return tmp_path / "m"


def wrote(path, rows):
    """A file of rows, by its ending."""
    if path.suffix == ".parquet":
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".vw":
        path.write_text("".join(f"{row['label']} '{row['who']}| age:{row['age']}\n" for row in rows))
    else:
        lines = [",".join(map(str, row.values())) for row in rows]
        path.write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl", "t.vw"])
def test_number_name_and_label_stand_beside_every_prediction(ouzel, model, tmp_path, name):
    rows = [
        json.loads(line) for line in ouzel("predict", model, wrote(tmp_path / name, ROWS), "--json").out.splitlines()
    ]

    assert [list(row) for row in rows] == [["row", "id", "actual", "label", "margin", "probability"]] * 40
    assert [(row["row"], row["id"], row["actual"]) for row in rows] == [
        (k + 1, row["who"], row["label"]) for k, row in enumerate(ROWS)
    ]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_every_file_of_predictions_says_the_same(ouzel, model, tmp_path, ending):
    path = tmp_path / f"p.{ending}"
    ouzel("predict", model, tmp_path / "t.csv", "-o", path)

    if ending in ("csv", "tsv"):
        with path.open() as file:
            found = [
                (int(row["row"]), row["id"], row["actual"])
                for row in csv.DictReader(file, delimiter="\t" if ending == "tsv" else ",")
            ]
    else:
        if ending == "jsonl":
            rows = [json.loads(line) for line in path.read_text().splitlines()]
        else:
            rows = (
                parquet.read_table(path) if ending == "parquet" else pyarrow.ipc.open_file(path).read_all()
            ).to_pylist()
        found = [(row["row"], row["id"], row["actual"]) for row in rows]
    assert found == [(k + 1, row["who"], row["label"]) for k, row in enumerate(ROWS)]


def test_one_kind_alone_stands_behind_what_the_rows_are_called(ouzel, model, tmp_path):
    lines = ouzel("predict", model, tmp_path / "t.csv", "--only", "labels").out.splitlines()

    assert [line.split("\t")[0] for line in lines] == [row["who"] for row in ROWS]
    assert all(len(line.split("\t")) == 2 for line in lines)


def test_whole_numbers_stay_numbers_in_columns_that_have_types(ouzel, tmp_path):
    rows = [{**row, "who": int(row["who"])} for row in ROWS]
    wrote(tmp_path / "t.parquet", rows)
    ouzel("train", tmp_path / "t.parquet", "--id", "who", "--model", tmp_path / "m")

    ouzel("predict", tmp_path / "m", tmp_path / "t.parquet", "-o", tmp_path / "p.parquet")

    assert parquet.read_table(tmp_path / "p.parquet")["id"].to_pylist() == [row["who"] for row in rows]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("b.csv", "who,age,label\na,1,no\nb,inf,no\nc,5\nd,5,yes\ne,6,yes,9\nf,2,no\n"),
        ("b.vw", "no 'a| age:1\nno 'b| age:x\n7:8 'c| age:5\nyes 'd| age:5\nyes 'e| age:1:2\nno 'f| age:2\n"),
        (
            "b.jsonl",
            '{"who":"a","age":1,"label":"no"}\n{\n[1]\n{"who":"d","age":5,"label":"yes"}\n7\n{"who":"f","age":2,"label":"no"}\n',
        ),
    ],
)
def test_rows_that_are_left_out_count(ouzel, model, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    again = wrote(tmp_path / f"again{(tmp_path / name).suffix}", ROWS[:2])

    ran = ouzel("predict", model, tmp_path / name, again, "--on-error", "skip", "--json")

    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [(row["row"], row["id"]) for row in rows] == [(1, "a"), (4, "d"), (6, "f"), (7, "00"), (8, "01")]


def test_lines_of_svmlight_text_that_are_left_out_count(ouzel, tmp_path):
    (tmp_path / "t.svm").write_text("1 1:1\n0 2:1\n" * 20)
    (tmp_path / "b.svm").write_text("1 1:1\n1 1:x\n\n1,2 1:3\n0 2:1\n")
    ouzel("train", tmp_path / "t.svm", "--model", tmp_path / "m")

    ran = ouzel("predict", tmp_path / "m", tmp_path / "b.svm", "--on-error", "skip", "--json")

    assert [json.loads(line)["row"] for line in ran.out.splitlines()] == [1, 4]


def test_labels_that_the_model_cannot_predict_are_counted(ouzel, tmp_path):
    (tmp_path / "t.svm").write_text("1 1:1\n0 2:1\n" * 20)
    (tmp_path / "n.svm").write_text("1 1:1\nspam 2:1\n0.5 1:1\n 2:1\n")
    ouzel("train", tmp_path / "t.svm", "--model", tmp_path / "m")

    ran = ouzel("predict", tmp_path / "m", tmp_path / "n.svm", "--json")

    assert [json.loads(line)["actual"] for line in ran.out.splitlines()] == [1, None, None, None]
    assert "2 labels are of another kind than the model's, and left out" in ran.err


def test_the_name_of_a_row_is_not_a_feature_and_may_be_missing_when_predicting(ouzel, model, tmp_path):
    wrote(tmp_path / "less.csv", [{"age": row["age"]} for row in ROWS])

    ran = ouzel("predict", model, tmp_path / "less.csv")

    assert ran.out.startswith("row\tlabel\tmargin\tprobability of yes\n1\t")
    assert "who" not in ouzel("top", model).out


def test_an_id_belongs_to_tables(ouzel, tmp_path):
    wrote(tmp_path / "t.vw", ROWS)

    assert "leave out --id who" in ouzel("train", tmp_path / "t.vw", "--id", "who").err
