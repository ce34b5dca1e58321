"""Predictions on the command line."""

import csv
import io
import json

from ouzel import load


def test_a_model_of_one_class_is_certain_of_it_at_every_entry_point(ouzel, tmp_path):
    table, model = tmp_path / "one.csv", tmp_path / "one.ouzel"
    table.write_text("a,y\n1,late\n2,late\n")
    ouzel("train", table, "--label", "y", "--learner", "adagrad", "--model", model)

    lines = [json.loads(line) for line in ouzel("predict", model, table, "--json").out.splitlines()]
    assert [(line["label"], line["probability"]) for line in lines] == [("late", 1.0)] * 2
    loaded = load(model)
    assert loaded.predict_proba_one({"a": 1.0}) == {"late": 1.0}
    assert loaded.predict_proba([{"a": 1.0}]).tolist() == [[1.0]]
    assert ouzel("export", model, tmp_path / "one.onnx").status == 0


def test_names_with_tabs_and_newlines_stay_one_cell_of_what_is_printed(ouzel, tmp_path):
    table, model = tmp_path / "t.csv", tmp_path / "m.ouzel"
    names, labels = ["a\tb", "c\nd", '"e" f', 'g "h"', "i"], ["yes\nno", "tab\there", "yes\nno", "é", "é"]
    rows = [
        ["id", "x", "word", "y"],
        *([name, k, ["smart\nTV", "radio"][k % 2], labels[k]] for k, name in enumerate(names)),
    ]
    with table.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    ouzel("train", table, "--label", "y", "--id", "id", "--learner", "adagrad", "--model", model)

    printed = ouzel("predict", model, table, "--explain", "3").out
    found = list(csv.DictReader(io.StringIO(printed), delimiter="\t"))
    assert [row["id"] for row in found] == names
    assert [row["actual"] for row in found] == labels
    assert {row["label"] for row in found} <= set(labels)
    assert all(row[f"margin:{label}"] for row in found for label in labels)
    assert any("smart\nTV" in row["why"] for row in found)
    only = ouzel("predict", model, table, "--only", "labels").out
    assert [row[0] for row in csv.reader(io.StringIO(only), delimiter="\t")] == names
