"""Predictions on the command line."""

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
