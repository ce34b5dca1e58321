"""Tables: what becomes of cells, labels, weights and groups, and what is said of rows that are refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest

import ouzel
from ouzel.sketches.hashing import feature_id

Example = tuple[Any, float, dict[int, float]]


def examples(path, **options) -> tuple[list[Example], ouzel.OuzelError | None, int]:
    """(label, weight, features) of each example given out, the error that ended it, and how many were skipped."""
    found: list[Example] = []
    stream = ouzel.read(path, **options)
    try:
        for block in stream:
            for i in range(block.rows):
                here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
                features = dict(zip(block.indices[here].tolist(), block.values[here].tolist(), strict=True))
                label = block.labels[i]
                if block.label_names is not None and label == label:
                    label = block.label_names[int(label)]
                found.append((label, float(block.weights[i]), features))
    except ouzel.OuzelError as error:
        return found, error, stream.skipped
    return found, None, stream.skipped


def wrote(tmp_path, name: str, content: Any):
    path = tmp_path / name
    if isinstance(content, dict):
        pyarrow.parquet.write_table(pyarrow.table(content), path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# name: (file, content, options, examples before the bad row, what the message says, examples with on_error="skip")
BAD = {
    "too many cells": ("t.csv", "y,x\n1,2\n1,2,3\n0,4\n", {}, 1, "row 3: found 3 cells", 2),
    "too many cells on two lines": ("t.csv", 'y,x\n1,2\n1,"a\nb",3\n0,4\n', {}, 1, '(1,"a b",3); expected 2', 2),
    "too few cells, far on": ("t.csv", "y,x\n" + "1,2\n" * 300_000 + "1\n0,4\n", {}, 300_000, "row 300002", 300_001),
    "no weight": ("t.csv", "y,x,w\n1,2,1\n1,2,\n0,4,3\n", {"weight": "w"}, 1, "row 3, column 'w': found nothing", 2),
    "weight no number": ("t.csv", "y,x,w\n1,2,a\n0,4,3\n", {"weight": "w"}, 0, "row 2, column 'w': found 'a'", 1),
    "weight below 0": ("t.csv", "y,x,w\n1,2,1\n0,4,-3\n", {"weight": "w"}, 1, "found '-3'; expected a weight", 1),
    "no group": ("t.csv", "y,x,q\n1,2,a\n0,4,\n", {"group": "q"}, 1, "row 3, column 'q': found nothing", 1),
    "null weight": ("t.parquet", {"y": [1, 0], "w": [1.0, None]}, {"weight": "w"}, 1, "row 2, column 'w'", 1),
    "uneven lists": (
        "t.parquet",
        {"y": [1, 0], "indices": [[1, 2], [3]], "values": [[1.0, 2.0], [3.0, 4.0]]},
        {},
        1,
        "row 2, column 'values'",
        1,
    ),
    "too large a number": ("t.csv", "y,x\n1,2\n1,1e39\n0,4\n", {}, 1, "row 3, column 'x': found '1e39'; expected a", 2),
    "a number below all": ("t.tsv", "y\tx\n1\t2\n1\t-1e999\n", {}, 1, "row 3, column 'x': found '-1e999'", 1),
    "inf": ("t.csv", "y,x\n1,2\n1, inf\n0,4\n", {}, 1, "row 3, column 'x': found ' inf'; expected a finite", 2),
    "-inf": ("t.csv", "y,x\n1,2\n1,-inf\n0,4\n", {}, 1, "row 3, column 'x': found '-inf'; expected a finite", 2),
    "Infinity": ("t.csv", "y,x\n1,2\n1,+Infinity\n0,4\n", {}, 1, "row 3, column 'x': found '+Infinity'", 2),
    "too large a double": ("t.parquet", {"y": [1, 0], "x": [1.0, 1e39]}, {}, 1, "row 2, column 'x': found 1e+39", 1),
    "infinity in a list": (
        "t.parquet",
        {"y": [1, 0], "x": [[1.0], [np.inf]]},
        {},
        1,
        "row 2, column 'x': found [inf]",
        1,
    ),
    "sparse and too large": (
        "t.parquet",
        {"y": [1, 0], "indices": [[1], [2]], "values": [[1.0], [1e39]]},
        {},
        1,
        "row 2, column 'values': found [1e+39]",
        1,
    ),
    "JSON with too large a number": ("t.jsonl", '{"y":1}\n{"y":1,"x":1e39}\n', {}, 1, ":2:1: found 'x': 1e+39", 1),
    "JSON with infinity": ("t.jsonl", '{"y":1}\n{"y":1,"x":-Infinity}\n', {}, 1, ":2:1: found 'x': -inf", 1),
    "JSON with it in a list": (
        "t.jsonl",
        '{"y":1}\n{"y":1,"x":[1e39]}\n',
        {},
        1,
        ":2:1: found 'x': 1e+39 in a list",
        1,
    ),
    "VW with too large a number": (
        "t.vw",
        "1 | a\n1 | a:1e39\n",
        {},
        1,
        ":2:5: found 'a:1e39'; expected a value",
        1,
    ),
    "VW with infinity": ("t.vw", "1 | a\n1 | a:inf\n", {}, 1, "t.vw:2:7: found 'inf'; expected a finite", 1),
    "svmlight with infinity": ("t.svm", "1 1:1\n1 1:-inf\n", {}, 1, "t.svm:2:5: found '-inf'; expected a finite", 1),
    "infinite label": ("t.csv", "y,x\n1,2\ninf,3\n0,4\n", {}, 1, "row 3, column 'y': found 'inf'", 2),
    "infinite number as label": ("t.parquet", {"y": [1.0, -np.inf], "x": [1, 2]}, {}, 1, "row 2, column 'y'", 1),
    "no id": (
        "t.parquet",
        {"y": [1, 0], "indices": [[1], [None]], "values": [[1.0], [3.0]]},
        {},
        1,
        "row 2, column 'i",
        1,
    ),
    "an id below 0": (
        "t.parquet",
        {"y": [1, 0], "indices": [[1], [-2]], "values": [[1.0], [3.0]]},
        {},
        1,
        "found [-2]",
        1,
    ),
    "an id too large": (
        "t.parquet",
        {"y": [1, 0], "indices": [[1], [2**32 - 1]], "values": [[1.0], [3.0]]},
        {},
        1,
        "found [4294967295]; expected ids from 0 to 4294967294",
        1,
    ),
    "JSON cut short": ("t.jsonl", '{"y":1,"x":1}\n{"y":1,"x"\n', {}, 1, ":2:11: found no JSON", 1),
    "JSON without weight": ("t.jsonl", '{"y":1,"w":1}\n{"y":1}\n', {"weight": "w"}, 1, ":2:1: found 'w': None", 1),
    "JSON with an odd label": ("t.jsonl", '{"y":1}\n{"y":[1]}\n', {}, 1, ":2:1: found 'y': [1]; expected a label", 1),
    "JSON with a huge id": ("t.jsonl", '{"y":1}\n{"y":1,"99999999999":1}\n', {}, 1, "at most 4294967294", 1),
    "JSON list": ("t.jsonl", '{"y":1}\n[1]\n', {}, 1, ":2:1: found a list", 1),
    "JSON too deep": (
        "t.jsonl",
        '{"y":1}\n{"y":' + "[" * 99999 + "\n",
        {},
        1,
        ":2:1: found objects or lists too deep",
        1,
    ),
    "JSON with half a letter": ("t.jsonl", '{"y":1}\n{"y":1,"x":"\\ud800"}\n', {}, 1, ":2:1: found half of a", 1),
    "JSON with a huge label": ("t.jsonl", '{"y":1}\n{"y":1' + "0" * 5000 + "}\n", {}, 1, ":2:1: found 'y': inf", 1),
    "JSON with a huge weight": (
        "t.jsonl",
        '{"y":1,"w":2}\n{"y":1,"w":1' + "0" * 400 + "}\n",
        {"weight": "w"},
        1,
        ":2:1: found 'w': inf",
        1,
    ),
    "JSON with lists in a list": (
        "t.jsonl",
        '{"y":1}\n{"y":1,"x":[["a"]]}\n',
        {},
        1,
        ":2:1: found 'x': [\"a\"] in a",
        1,
    ),
    "JSON not in UTF-8": ("t.jsonl", b'{"y":1}\n{"y":"\xff"}\n', {}, 1, ":2:1: found bytes", 1),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_row_is_named_or_skipped_and_no_other_is_lost(tmp_path, case):
    name, content, options, before, says, kept = BAD[case]
    path = wrote(tmp_path, name, content)

    found, error, _ = examples(path, **options)
    skipping, none, skipped = examples(path, on_error="skip", **options)

    assert len(found) == before
    assert says in str(error)
    assert "\n" not in str(error)
    assert (len(skipping), none, skipped) == (kept, None, 1)


def test_cells_of_every_kind_become_features(tmp_path):
    table = {
        "y": [1, 0],
        "number": pyarrow.array([2.5, None]),
        "7": pyarrow.array([1, 3], pyarrow.int8()),
        "word": ["a", None],
        "list": [["p", "q"], []],
        "object": [{"inner": 4.0}, {"inner": 0.0}],
        "bytes": pyarrow.array(["é".encode(), b"b"]),
        "day": pyarrow.array([0, 1], pyarrow.date32()),
        "nothing": pyarrow.nulls(2),
    }
    (_, _, first), (_, _, second) = examples(wrote(tmp_path, "t.parquet", table))[0]

    words = ["word=a", "list=p", "list=q", "day.month=1", "day.weekday=Thu"]
    assert {feature_id(word): 1.0 for word in words}.items() <= first.items()
    assert {feature_id("number"): 2.5, 7: 1.0, feature_id("object.inner"): 4.0}.items() <= first.items()
    assert len(first) == 10
    missing = ("number=(missing)", "word=(missing)", "nothing=(missing)")
    parts = {feature_id(word): 1.0 for word in ("day.month=1", "day.weekday=Fri", *missing)}
    assert second == {7: 3.0, feature_id("bytes=b"): 1.0, feature_id("day"): 86400.0, **parts}


def test_json_has_the_features_that_parquet_has(tmp_path):
    rows = [
        {"y": 1, "word": " a ", "list": ["p", None, "", 2.0, True], "object": {"inner": {"deep": 3}, "word": "b"}},
        {"y": 0, "word": "", "list": [], "object": {"inner": {"deep": 4}, "word": None}, "²": 1.0, "007": 2},
    ]
    rows[0] |= {"²": None, "007": None}
    table = {
        "y": [1, 0],
        "word": [" a ", ""],
        "list": [["p", None, "", "2", "true"], []],
        "object": [{"inner": {"deep": 3}, "word": "b"}, {"inner": {"deep": 4}, "word": None}],
        "²": [None, 1.0],
        "007": [None, 2],
    }
    lines = wrote(tmp_path, "t.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    parquet = wrote(tmp_path, "t.parquet", table)

    for options in ({}, {"label": "object.inner.deep"}, {"text": "object.word"}, {"ignore": ["object.word", "word"]}):
        assert examples(lines, **options) == examples(parquet, **options)


def test_words_that_only_look_like_infinity_are_words_and_nothing_is_missing(tmp_path):
    words = ["info", "in", "infinit", "infinity!", "INFINITIVE", "-i", "e39", "1e39x", "--inf"]
    path = wrote(tmp_path, "t.csv", "y,x\n" + "".join(f"1,{word}\n" for word in (*words, "NA", "nan", "", "NaN")))

    found, error, _ = examples(path)

    assert error is None
    assert [features for _, _, features in found[: len(words)]] == [{feature_id(f"x={word}"): 1.0} for word in words]
    missing = [{feature_id("x=(missing)"): 1.0}] * 4
    assert [features for _, _, features in found[len(words) :]] == missing[: len(found) - len(words)]


def test_a_column_that_is_neither_number_nor_text_is_refused(tmp_path):
    kind = pyarrow.list_(pyarrow.struct([("a", pyarrow.int64())]))
    path = wrote(tmp_path, "t.parquet", {"y": [1], "odd": pyarrow.array([[{"a": 1}]], kind)})

    assert "column 'odd' holds" in str(examples(path)[1])
    assert examples(path, ignore="odd")[1] is None


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_what_parts_the_cells_is_seen_in_the_header(tmp_path, delimiter):
    rows = [["y", "price", "city"], ["1", "2.5", "Rome"]]
    path = wrote(tmp_path, "t.csv", "".join(delimiter.join(row) + "\n" for row in rows))

    assert examples(path)[0] == [(1.0, 1.0, {feature_id("price"): 2.5, feature_id("city=Rome"): 1.0})]


def test_cells_with_newlines_and_quotes_are_read(tmp_path):
    path = wrote(tmp_path, "t.csv", b'y,x\r\n1,"a\nb"\r\n\r\n0,"c ""d"""\r\n')

    found, error, _ = examples(path)

    assert error is None
    assert [next(iter(features)) for _, _, features in found] == [feature_id("x=a\nb"), feature_id('x=c "d"')]


@pytest.mark.parametrize(
    ("header", "column"),
    [
        ('y,"a\nb"', "a\nb"),  # a newline within a name
        ('y;"a,b"', "a,b"),  # another delimiter within a name
        ("\n\r\ny,x", "x"),  # blank lines before it
        (",y,x,", "x"),  # columns without a name: a data frame's index, a comma too many
        ("__index_level_0__,y,x,", "x"),
    ],
)
def test_odd_headers_are_read(tmp_path, header, column):
    cells = "7;8;9" if ";" in header else ",".join("7895"[: header.count(",") + 1])
    path = wrote(tmp_path, "t.csv", header + "\n" + cells.replace("7;8;9", "7;8") + "\n")

    ((_, _, features),) = examples(path)[0]

    assert list(features) == [feature_id(column)]


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("y,x\r1,2\r", "lines that end in a carriage return alone"),
        ('y,"x\n' + "1,2\n" * 99_999, "its header cannot be read"),
        ("y\0,x\n", "has a zero byte in its first line"),
        ("y,x,x\n1,2,3\n", "two columns are named 'x'"),
        ("y,99999999999\n1,2\n", "found the feature 99999999999; expected an id of at most"),
    ],
)
def test_a_header_that_cannot_be_read_is_one_line(tmp_path, header, says):
    error = examples(wrote(tmp_path, "t.csv", header))[1]

    assert "t.csv: " in str(error)
    assert says in str(error)
    assert "\n" not in str(error)


def test_names_with_newlines_and_thousands_of_names_are_one_short_line(tmp_path):
    odd = wrote(tmp_path, "odd.parquet", {"la\nbel": [1], "b\r\n\u2028c": [2]})
    wide = wrote(tmp_path, "wide.csv", ",".join(f"column {k}" for k in range(5000)) + "\n" + "1," * 4999 + "1\n")

    assert "There are la bel, b c; name it" in str(examples(odd)[1])
    assert "column 19, … (5000 in all); name it" in str(examples(wide)[1])
    assert "column 19, … (5000 in all)" in str(examples(wide, label="none")[1])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"delimiter": "ab"}, "delimiter must be one ASCII character"),
        ({"delimiter": "\n"}, "delimiter must be one ASCII character"),
        ({"skip_lines": -1}, "skip_lines must be a whole number from 0"),
        ({"label": "a", "text": ["b", "a"]}, "column 'a' is named twice"),
    ],
)
def test_options_that_cannot_be_are_refused(options, says):
    with pytest.raises(ouzel.OuzelError, match=says):
        ouzel.read([], **options)


@pytest.mark.parametrize("role", ["text", "ignore", "weight"])
def test_a_column_with_another_role_is_not_taken_for_the_label(tmp_path, role):
    path = wrote(tmp_path, "t.csv", "target,y\n1,0\n")

    ((label, _, features),) = examples(path, **{role: "target"})[0]

    assert label == 0
    assert list(features) == ([feature_id("1")] if role == "text" else [])


def test_labels_of_every_kind_of_text_are_names(tmp_path):
    for kind in (pyarrow.string_view(), pyarrow.binary(), pyarrow.dictionary(pyarrow.int8(), pyarrow.string())):
        table = pyarrow.table({"y": pyarrow.array(["a", "b", None]).cast(kind), "x": [1, 2, 3]})
        with pyarrow.ipc.new_stream(tmp_path / "t.arrow", table.schema) as file:
            file.write_table(table)

        assert [label for label, _, _ in examples(tmp_path / "t.arrow")[0][:2]] == ["a", "b"]


@pytest.mark.parametrize("role", ["label", "group"])
def test_lists_are_neither_labels_nor_groups(tmp_path, role):
    path = wrote(tmp_path, "t.parquet", {"y": [1, 0], "z": [[1], [2]]})

    assert "column 'z' holds list<element: int64>; expected numbers or names" in str(examples(path, **{role: "z"})[1])


def test_numbers_beyond_float64_are_rounded_and_columns_that_happen_to_be_called_indices_are_features(tmp_path):
    path = wrote(tmp_path, "t.parquet", {"y": [1], "big": [2**63 - 1], "indices": [3], "values": [4.0]})

    features = examples(path)[0][0][2]

    assert features == {feature_id("big"): 2.0**63, feature_id("indices"): 3.0, feature_id("values"): 4.0}


@pytest.mark.parametrize("end", ["", "0,3\n0,4\n"])
def test_a_quotation_that_does_not_end_is_told(tmp_path, end):
    path = wrote(tmp_path, "t.csv", 'y,x\n1,"2"\n1,"a\n' + end)
    sound = wrote(tmp_path, "sound.csv", 'y,x\n1,"2"\n1,"a\n' + end + '"\n')

    found, error, _ = examples(path, numeric="x")

    assert found[0] == (1.0, 1.0, {feature_id("x"): 2.0})
    assert "row 3: found a quotation that does not end (a" in str(error)
    assert examples(sound)[1] is None


def test_a_header_may_be_longer_than_what_is_read_at_once(tmp_path):
    names = [f"a column with a long name {k}" for k in range(20_000)]
    path = wrote(tmp_path, "t.csv", ",".join(["y", *names]) + "\n" + ",".join(["1"] * 20_001) + "\n")

    assert sum(examples(path, bits=30)[0][0][2].values()) == 20_000.0


@pytest.mark.parametrize("positive", ["yes", "True", "1"])
def test_the_positive_label_is_found_in_words_truth_values_and_numbers(tmp_path, positive):
    values: list[Any] = {"yes": ["yes", "no"], "True": [True, False], "1": [1, 0]}[positive]
    parquet = wrote(tmp_path, "t.parquet", {"y": values, "x": [1.0, 2.0]})
    lines = wrote(tmp_path, "t.jsonl", "".join(json.dumps({"y": y, "x": 1}) + "\n" for y in values))

    for path in (parquet, lines):
        assert [label for label, _, _ in examples(path, label_positive=positive)[0]] == [1.0, -1.0]


def test_numbers_and_names_of_classes_are_told_apart_in_every_block(tmp_path):
    path = wrote(tmp_path, "t.jsonl", '{"y":1,"x":1}\n{"y":"1","x":1}\n{"y":"b","x":1}\n')

    assert [label for label, _, _ in examples(path)[0]] == [1, 1, "b"]


def test_groups_have_names_or_numbers(tmp_path):
    csv = wrote(tmp_path, "t.csv", "y,x,q\n1,2,a\n0,3,a\n1,1,b\n")
    lines = wrote(tmp_path, "t.jsonl", '{"y":1,"q":7}\n{"y":0,"q":7}\n{"y":0,"q":9}\n')

    a, again, b = next(ouzel.read(csv, group="q")).groups
    assert a == again != b
    assert next(ouzel.read(lines, group="q")).groups.tolist() == [7, 7, 9]


def test_groups_numbered_by_fractions_or_beyond_64_bits_are_told_apart(tmp_path):
    lines = wrote(tmp_path, "t.jsonl", '{"y":1,"q":2.0}\n{"y":0,"q":2.5}\n{"y":0,"q":9999999999999999999999}\n')

    groups = next(ouzel.read(lines, group="q")).groups.tolist()

    assert groups[0] == 2
    assert len(set(groups)) == 3


def test_text_is_parted_the_same_in_every_format(tmp_path):
    text = "It's 3 o'clock, señor! it's"
    csv = wrote(tmp_path, "t.csv", f'y,body\n1,"{text}"\n')
    lines = wrote(tmp_path, "t.jsonl", json.dumps({"y": 1, "body": text}) + "\n")

    assert examples(csv, text="body")[0] == examples(lines, text="body")[0]
    assert examples(csv, text="body")[0][0][2][feature_id("it's")] == 2.0


@pytest.mark.parametrize("afar", [False, True])
def test_of_a_parquet_file_no_more_is_held_than_is_being_read(tmp_path, afar):
    fsspec = pytest.importorskip("fsspec")
    path = "memory://afar/long.parquet" if afar else str(tmp_path / "long.parquet")
    values = np.random.default_rng(0).normal(size=(4, 1_500_000))
    table = pyarrow.table([np.ones(values.shape[1], np.int8), *values], names=["label", "a", "b", "c", "d"])
    with fsspec.open(path, "wb") as file:
        pyarrow.parquet.write_table(table, file, row_group_size=100_000)
    del table

    before = pyarrow.total_allocated_bytes()
    held = max(pyarrow.total_allocated_bytes() - before for _ in ouzel.read(path))
    assert held < values.nbytes / 2


@pytest.mark.parametrize("column", [1, 2])
def test_a_quotation_that_does_not_end_says_how_many_lines_it_takes(tmp_path, column):
    rows = [[str(k % 2), f"w{k}", "x"] for k in range(200)]
    rows[50][column] = f'"{rows[50][column]}'
    path = wrote(tmp_path, "t.csv", "y,a,b\n" + "".join(",".join(row) + "\n" for row in rows))

    found, error, _ = examples(path)
    assert len(found) == (50 if column == 1 else 51)
    assert " 150 lines" in str(error)

    stream = ouzel.read(path, on_error="skip")
    assert sum(block.rows for block in stream) == 50
    assert stream.skipped == 1
    said = "t.csv: the row that is left out takes 150 lines; look for a quotation that does not end"
    assert [line.endswith(said) for line in stream.remarks if "row that is left out" in line] == [True]


@pytest.mark.parametrize("line", ['{"y": 1, "a": {"b": 2}, "a.b": 5}', '{"y": 1, "a.b": 5, "a": {"b": 2}}'])
def test_two_members_of_one_name_are_refused_as_two_columns_are(tmp_path, line):
    path = wrote(tmp_path, "t.jsonl", f'{{"y": 0, "c": 1}}\n{line}\n{{"y": 1, "a": {{"b": 3}}}}\n')

    found, error, _ = examples(path)
    assert len(found) == 1
    assert "t.jsonl:2:1: found two members 'a.b'; give each a name of its own" in str(error)

    found, error, skipped = examples(path, on_error="skip")
    assert (len(found), error, skipped) == (2, None, 1)
    assert "two columns are named 'a.b'" in str(
        examples(wrote(tmp_path, "t.parquet", {"y": [1], "a": [{"b": 2}], "a.b": [5]}))[1]
    )


def test_an_empty_id_is_empty_in_every_file(tmp_path):
    names = ["", "a", " b "]
    for name, content in {
        "i.parquet": {"name": names, "x": [1.0, 2.0, 3.0], "y": [0, 1, 0]},
        "i.jsonl": "".join(json.dumps({"name": name, "x": 1.0, "y": 1}) + "\n" for name in names),
    }.items():
        stream = ouzel.read(wrote(tmp_path, name, content), label="y", id="name")
        assert [tag for block in stream for tag in block.tags.tolist()] == ["", "a", "b"], name
