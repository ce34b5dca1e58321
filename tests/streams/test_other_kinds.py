"""A cell of another kind than the model knows of its column is refused; what a column has held besides is known."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.model.model import Model
from ouzel.streams.feature_space import CATEGORY, NUMBER, FeatureSpace, reconcile
from ouzel.streams.stored_space import described, space_of

LATE = 1200  # rows before one with a word: more than are looked at


def rows_of(blocks):
    """The ids and values of each row."""
    return [
        (block.indices[a:b].tolist(), block.values[a:b].tolist())
        for block in blocks
        for a, b in zip(block.offsets[:-1].astype(int), block.offsets[1:].astype(int), strict=True)
    ]


def learnt(blocks):
    model = Model("adagrad")
    for block in blocks:
        model.learn(block)
    return model


def wrote(path, format, cells):
    """A table of a column x, whose cells are of any type, and labels y."""
    if format == "csv":
        path.write_text("y,x\n" + "".join(f"{k % 2},{cell}\n" for k, cell in enumerate(cells)))
    elif format == "jsonl":
        path.write_text("".join(json.dumps({"y": k % 2, "x": cell}) + "\n" for k, cell in enumerate(cells)))
    else:
        text = any(isinstance(cell, str) for cell in cells)
        column = [str(cell) if text else cell for cell in cells]
        pyarrow.parquet.write_table(pyarrow.table({"y": [k % 2 for k in range(len(cells))], "x": column}), path)
    return path


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_a_word_among_numbers_is_refused_with_its_row_or_skipped_and_counted(format, tmp_path):
    model = learnt(ouzel.read(wrote(tmp_path / f"a.{format}", format, [1.5, 2.0, 0.5]), label="y"))
    other = wrote(tmp_path / f"b.{format}", format, [1.0, "red", 2.0])

    place = r":2:1: found 'x': \"red\"" if format == "jsonl" else r": row [23], column 'x': found '?b?'?red'"
    said = rf"b\.{format}{place}; expected a number, as the column is known to hold; fix it, or skip such \w+ with"
    with pytest.raises(ouzel.OuzelError, match=said):
        list(ouzel.read(other, label="y", space=model.space))
    with ouzel.read(other, label="y", space=model.space, on_error="skip") as stream:
        assert len(rows_of(stream)) == 2
        assert stream.skipped == 1


@pytest.mark.parametrize("said", [{}, {"numeric": ["x"]}])
@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_a_column_of_numbers_that_brought_words_in_training_may_have_words(format, said, tmp_path):
    cells = [1.0] * LATE + ["red", 2.0]
    if said or format == "parquet":  # whose types tell
        cells, said = cells[LATE - 3 :], {"numeric": ["x"]}
    path = wrote(tmp_path / f"a.{format}", format, cells)
    first = rows_of(ouzel.read(path, label="y", **said))
    model = learnt(ouzel.read(path, label="y", **said))

    assert model.space.kinds == {"x": NUMBER}
    assert model.space.mixed == {"x": CATEGORY}
    assert rows_of(ouzel.read(path, label="y", space=model.space)) == first
    estimator = ouzel.OnlineClassifier("adagrad")
    estimator.model_ = model
    estimator.predict_one({"x": "blue"})


@pytest.mark.parametrize("trained", ["said", "written", "typed"])
def test_categories_that_had_numbers_among_them_take_numbers_of_any_type(trained, tmp_path):
    cells = {"said": [94110, 2139, 10001], "written": ["A1", "7", "12"], "typed": ["A1", 7, 12]}[trained]
    format, said = ("jsonl" if trained == "typed" else "csv"), ({"categorical": "x"} if trained == "said" else {})
    model = learnt(ouzel.read(wrote(tmp_path / f"a.{format}", format, cells), label="y", **said))
    expected = rows_of(ouzel.blocks_from([({"x": str(cell)}, 1) for cell in (5, 7, 7)], categorical="x"))

    assert model.space.mixed == {"x": NUMBER}
    for format in ("csv", "jsonl", "parquet"):
        path = wrote(tmp_path / f"b.{format}", format, [5, 7, 7])
        assert rows_of(ouzel.read(path, label="y", space=model.space)) == expected, format
    assert rows_of(ouzel.blocks_from([({"x": cell}, 1) for cell in (5, 7.0, np.int8(7))], model=model)) == expected


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_truth_values_are_no_numbers_among_categories(format, tmp_path):
    cells = [True, False, True] if format != "csv" else ["true", "false", "true"]
    model = learnt(ouzel.read(wrote(tmp_path / f"a.{format}", format, cells), label="y"))

    assert (model.space.kinds, model.space.mixed) == ({"x": CATEGORY}, {})
    with pytest.raises(ouzel.OuzelError, match="x"):
        list(ouzel.blocks_from([({"x": 1}, 1)], model=model))
    with pytest.raises(ouzel.OuzelError, match=r"^[^;]*; expected a number, a word, or nothing$"):
        list(ouzel.blocks_from([({"x": object()}, 1)], model=model))


def test_a_pandas_column_of_categories_that_are_numbers_takes_numbers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": pandas.Categorical([3, 1, 3])})
    model = learnt(ouzel.blocks_from(frame, [1, 0, 1]))

    found = rows_of(ouzel.blocks_from([({"x": 3}, 1), ({"x": 4}, 1)], model=model))

    assert found == rows_of(ouzel.blocks_from([({"x": "3"}, 1), ({"x": "4"}, 1)]))


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_a_column_of_numbers_where_words_alone_are_known_is_refused_unless_categories_are_said(format, tmp_path):
    model = learnt(ouzel.read(wrote(tmp_path / f"a.{format}", format, ["red", "blue", "red"]), label="y"))
    path = wrote(tmp_path / f"b.{format}", format, [5, 7, 7])

    with pytest.raises(ouzel.OuzelError, match=rf"b\.{format}: column 'x' holds numbers, and is known to hold words; "):
        list(ouzel.read(path, label="y", space=model.space))
    assert len(rows_of(ouzel.read(path, label="y", space=model.space, categorical="x"))) == 3


def test_a_training_that_was_cut_off_takes_what_it_would_have_taken_unbroken(tmp_path):
    sound = "y,x,z\n" + "".join(f"{k % 2},{k % 7},1\n" for k in range(LATE)) + "1,2,3\n1,red,1\n0,1,2\n"
    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "t.csv").write_text(sound)
    (tmp_path / "t.csv").write_text(sound.replace("1,2,3\n", "1,2,3,4,5\n"))
    asked = ["train", str(tmp_path / "t.csv"), "--learner", "adagrad", "--label", "y", "--model", str(tmp_path / "m")]
    assert run(asked) == 2

    (tmp_path / "t.csv").write_text(sound)
    assert run([*asked, "--resume", str(tmp_path / "m")]) == 0
    asked[1], asked[-1] = str(tmp_path / "whole" / "t.csv"), str(tmp_path / "n")
    assert run(asked) == 0

    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert ouzel.load(tmp_path / "m").model_.space.mixed == {"x": CATEGORY}
    (tmp_path / "more.csv").write_text("y,x,z\n1,3,red\n0,4,2\n")
    assert run(["train", str(tmp_path / "more.csv"), "--resume", str(tmp_path / "m")]) == 2


def test_models_of_numbers_and_of_words_know_together_that_a_column_may_hold_both():
    numbers, words = (FeatureSpace(named=True, kinds={"x": kind}) for kind in (NUMBER, CATEGORY))

    assert reconcile(numbers, words, learning=True).mixed == {"x": CATEGORY}
    assert reconcile(words, numbers, learning=True).mixed == {"x": NUMBER}
    assert reconcile(numbers, numbers._replace(mixed={"x": CATEGORY}), learning=True).mixed == {"x": CATEGORY}


def test_what_a_column_held_besides_is_in_the_file_and_older_files_may_have_had_numbers_among_categories():
    space = FeatureSpace(named=True, kinds={"a": NUMBER, "b": CATEGORY, "c": NUMBER}, mixed={"a": CATEGORY})
    stored = json.loads(json.dumps(described(space)))
    assert space_of(stored) == space

    for wrong in ([["a", NUMBER]], [["d", NUMBER]], [["a", CATEGORY], ["a", CATEGORY]], [["a", "list"]], None):
        with pytest.raises(ouzel.OuzelError):
            space_of({**stored, "also": wrong})
    del stored["also"]
    assert space_of(stored) == space._replace(mixed={"b": NUMBER})


@pytest.mark.parametrize("more", [5, -1, 0.1])
def test_values_of_one_feature_add_up_in_a_row_of_any_format(more, tmp_path):
    row = {"x": "1", "x=1": more, "n": 2.0}
    (tmp_path / "t.csv").write_text(f"y,x,x=1,n\n1,1,{more},2\n0,a,0,1\n")
    (tmp_path / "t.jsonl").write_text(
        "".join(json.dumps({"y": 1, **some}) + "\n" for some in (row, {"x": "a", "n": 1}))
    )
    pyarrow.parquet.write_table(
        pyarrow.table({"y": [1], **{name: [row[name]] for name in row}}), tmp_path / "t.parquet"
    )
    estimator = ouzel.OnlineClassifier("adagrad")
    estimator.learn_one(row, 1)
    slots, values = estimator._slots.row(row)

    expected = rows_of(ouzel.read(tmp_path / "t.parquet", label="y"))[0]

    assert sorted(expected[1]) == sorted(value for value in (np.float32(1) + np.float32(more), 2.0) if value)
    assert rows_of(ouzel.read(tmp_path / "t.csv", label="y"))[0] == expected
    assert rows_of(ouzel.read(tmp_path / "t.jsonl", label="y"))[0] == expected
    assert rows_of(ouzel.blocks_from([(row, 1)]))[0] == expected
    assert ((slots[1:] - 1).tolist(), values[1:].tolist()) == expected


@pytest.mark.parametrize("made", [{}, {"crosses": ["t*n", "l*n"]}, {"ngrams": "2"}])
def test_missing_texts_and_lists_may_be_features_of_their_own_in_tables_too(made):
    rows = [
        {"t": "so so", "l": ["p"], "n": 1.0},
        {"t": None, "l": None, "n": None},
        {"t": " ", "l": [], "n": 2.0},
        {"t": "!", "l": ["q", "p"], "n": 1.0},
    ]
    asked = {"missing": "indicator", "text": "t", **made}

    found, expected = (
        rows_of(ouzel.blocks_from(data, *labels, **asked))
        for data, labels in ((pyarrow.Table.from_pylist(rows), ([1, 0, 1, 0],)), ([(row, 1) for row in rows], ()))
    )

    assert found == expected
    (block,) = ouzel.blocks_from(pyarrow.Table.from_pylist(rows), [1, 0, 1, 0], missing="indicator", text="t")
    assert all(f"{name}=(missing)".encode() in block.names.text.tobytes() for name in "tln")
