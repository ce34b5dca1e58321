"""A model loaded from a file is that of the file, also once it is saved again."""

import ouzel
from ouzel.cli.app import answered
from ouzel.model.persistence import load_notes

TABLE = "id,a,b,w,clicked\n" + "".join(f"r{k},{k % 7},{k % 3},{1 + k % 2},{k % 7 > 3}\n" for k in range(60))
OPTIONS = {"label": "clicked", "weight": "w", "id": "id", "categorical": ["b"]}


def trained(tmp_path, name="m.ouzel"):
    table, path = tmp_path / "t.csv", tmp_path / name
    table.write_text(TABLE)
    said = ["--label", "clicked", "--weight", "w", "--id", "id", "--categorical", "b", "--learner", "adagrad"]
    assert answered(["train", str(table), *said, "--model", str(path), "--json"]) == 0
    return table, path


def reading_of(path):
    return load_notes(path)[1].get("reading")


def test_a_model_that_is_loaded_and_saved_reads_files_as_before(tmp_path):
    table, path = trained(tmp_path)
    again, merged = tmp_path / "again.ouzel", tmp_path / "merged.ouzel"

    ouzel.load(path).save(again)
    ouzel.merge([ouzel.load(path), ouzel.load(again)]).save(merged)

    assert reading_of(path) == reading_of(again) == reading_of(merged) == OPTIONS
    assert answered(["train", str(table), "--resume", str(again), "--model", str(again), "--json"]) == 0
    assert list(ouzel.load(again).model_.space.kinds) == [
        "a",
        "b",
    ]  # not those of row names and weights


def test_columns_that_parameters_say_count_and_a_new_model_has_no_file(tmp_path):
    _, path = trained(tmp_path)
    model = ouzel.load(path).set_params(categorical=None)

    model.save(path)
    assert reading_of(path) == {name: value for name, value in OPTIONS.items() if name != "categorical"}

    model.fit([[1.0, 0.0], [0.0, 1.0]] * 5, ["dry", "wet"] * 5).save(path)
    assert reading_of(path) is None
