"""What a column holds is decided once, and the same for every format; one rule says what is missing."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import ouzel
from ouzel.sketches.hashing import feature_id
from ouzel.streams.missing import WORDS, is_missing, is_na_token


def features_of(stream, names=False):
    """The features {id: value} of each example."""
    found = []
    for block in stream:
        for i in range(block.rows):
            here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
            found.append(dict(zip(block.indices[here].tolist(), block.values[here].tolist(), strict=True)))
    return found


def ids(**features):
    return {feature_id(name): value for name, value in features.items()}


def wrote(path, rows):
    """A table of rows, all of text, as CSV and Parquet; as JSON lines; and as Vowpal Wabbit text of words."""
    names = [*rows[0]]
    lines = [",".join("" if row[name] is None else str(row[name]) for name in names) for row in rows]
    (path / "t.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    (path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path / "t.parquet")
    words = [" ".join(f"{name}={row[name]}" for name in names if name != "y") for row in rows]
    (path / "t.vw").write_text("".join(f"{row['y']} | {line}\n" for row, line in zip(rows, words, strict=True)))
    return [path / f"t.{suffix}" for suffix in ("csv", "parquet", "jsonl", "vw")]


def test_hashes_of_which_some_read_as_numbers_are_categories_in_every_format(tmp_path):
    random = np.random.default_rng(0)
    hashes = [f"{random.integers(0, 2**32):08x}" for _ in range(40)] + ["00011667", "00000e12", "12345678"] * 10
    rows = [
        {"y": int(k % 2), **{f"C{c}": hashes[random.integers(0, len(hashes))] for c in range(26)}} for k in range(200)
    ]

    first, *others = [features_of(ouzel.read(path)) for path in wrote(tmp_path, rows)]

    assert all(set(row.values()) == {1.0} and len(row) == 26 for row in first)
    assert all(other == first for other in others)


@pytest.mark.parametrize(
    ("cells", "kind", "said"),
    [
        (["1", "2.5", "-3", "", "1e3"], "number", ""),
        (["1", "two", "3"], "category", "numbers and words"),
        (["02139", "10001", "94103"], "category", "numbers written like codes"),
        (["007", "008", "100"], "category", "numbers written like codes"),
        (["0.5", "00.5", "1"], "number", ""),
        (["0", "10", "-01"], "number", ""),
        (["NA", "4", "NULL"], "number", ""),
        (["inf", "4"], "number", ""),
        (["a", "b", ""], "category", ""),
        (["", "NA", "None"], "number", ""),
    ],
)
def test_a_column_of_text_holds_what_its_first_cells_are(tmp_path, cells, kind, said):
    (tmp_path / "t.csv").write_text("y,x\n" + "".join(f"1,{cell}\n" for cell in cells))
    stream = ouzel.read(tmp_path / "t.csv", label="y", on_error="skip")

    spaces = [block.space for block in stream]

    assert spaces[-1].kinds == {"x": kind}
    assert [said in remark for remark in stream.remarks] == [True] * bool(said)
    assert all("--numeric x" in remark for remark in stream.remarks)


def test_columns_alike_are_told_of_in_one_line(tmp_path):
    names = [f"C{k}" for k in range(26)]
    (tmp_path / "t.csv").write_text(f"y,{','.join(names)}\n1,{','.join('1' * 26)}\n1,{','.join('a' * 26)}\n")

    with ouzel.read(tmp_path / "t.csv", label="y") as stream:
        list(stream)

    assert stream.remarks == [
        "columns C0, C1, C2, C3, C4, … (26 in all): numbers and words, taken as categories; "
        "--numeric NAME reads numbers, --categorical NAME says so"
    ]


@pytest.mark.parametrize(
    ("cells", "place"),
    [
        (["1", "2", "?", "oops", "4"], "'oops' in row 5"),
        (["red", "7", "blue", ""], "7 in row 3"),
        (["1", "é"], "'é' in row 3"),
    ],
)
def test_a_column_of_numbers_and_words_is_named_with_a_row_that_has_the_rarer_ones(tmp_path, cells, place):
    (tmp_path / "t.csv").write_text("y,x\n" + "".join(f"1,{cell}\n" for cell in cells))

    with ouzel.read(tmp_path / "t.csv", label="y") as stream:
        list(stream)

    assert stream.remarks == [
        f"column 'x': numbers and words ({place}), taken as categories; "
        "--numeric x reads numbers, --categorical x says so"
    ]


@pytest.mark.parametrize("row", [2000, 150_000])
@pytest.mark.parametrize("more", ["", ",word"])
def test_the_first_word_among_numbers_is_named_by_its_row_once(tmp_path, row, more):
    rows = [f"1,{k % 7}{more}" for k in range(row + 100)]
    rows[row] = f"1,oops{more}"
    rows[row + 1] = f"1,again{more}"
    (tmp_path / "t.csv").write_text(f"y,x{more}\n" + "\n".join(rows))

    with ouzel.read(tmp_path / "t.csv", label="y") as stream:
        list(stream)

    assert stream.remarks == [
        f"{tmp_path / 't.csv'}: row {row + 2}, column 'x': 'oops' among numbers is a category of its own; "
        "if it stands for an unknown value, leave the cell empty"
    ]


@pytest.mark.parametrize("cells", [["49,5", "7,25"], ["1.200.300", "950.5", "-"], ["$1,200.50", "NA"], ["9 %", "10"]])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_amounts_that_are_words_are_reported(tmp_path, cells, suffix):
    path = tmp_path / f"t.{suffix}"
    rows = [{"y": 1, "x": cell, "z": "1,2,3"} for cell in cells]
    if suffix == "csv":
        path.write_text("y;x;z\n" + "".join(f"{row['y']};{row['x']};{row['z']}\n" for row in rows))
    elif suffix == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    said = [
        "column 'x': words such as 1,5 or $5 or 9%, taken as categories; "
        "written 1.5 or 5 they are numbers; --categorical x says so"
    ]

    for options, expected in (({}, said), ({"categorical": ["x"]}, [])):
        with ouzel.read(path, label="y", **options) as stream:
            assert [block.space.kinds["x"] for block in stream] == ["category"]
            assert stream.remarks == expected


def test_a_column_of_dates_is_known_by_its_content_and_a_line_says_so_with_the_option_for_words(tmp_path):
    (tmp_path / "t.csv").write_text("y,when due,where\n" + "".join(f"1,2024-01-{10 + k},Rome\n" for k in range(9)))
    with ouzel.read(tmp_path / "t.csv", label="y") as stream:
        (block,) = stream
        assert stream.remarks == ["column 'when due': dates; --categorical 'when due' keeps them as words"]
        assert block.space.kinds == {"when due": "date", "where": "category"}
    for said, kind in (("dates", "date"), ("categorical", "category")):
        with ouzel.read(tmp_path / "t.csv", label="y", **{said: ["when due"]}) as stream:
            (block,) = stream
            assert stream.remarks == []
            assert block.space.kinds["when due"] == kind


def test_what_a_column_holds_is_said_by_name_by_pattern_or_for_all_and_the_particular_counts(tmp_path):
    (tmp_path / "t.csv").write_text("y,a1,a2,b\n1,3,4,5\n")

    (found,) = features_of(ouzel.read(tmp_path / "t.csv", categorical=["all"], numeric=["a*"], text="a2"))

    assert found == ids(a1=3.0, **{"4": 1.0, "b=5": 1.0})


def test_columns_are_kept_or_left_out_by_pattern(tmp_path):
    (tmp_path / "t.csv").write_text("y,a1,a2,b\n1,3,4,5\n")
    (tmp_path / "t.jsonl").write_text('{"y":1,"a1":3,"a2":4,"b":5}\n')
    pyarrow.parquet.write_table(pyarrow.table({"y": [1], "a1": [3], "a2": [4], "b": [5]}), tmp_path / "t.parquet")

    for name in ("t.csv", "t.jsonl", "t.parquet"):
        assert features_of(ouzel.read(tmp_path / name, keep="a*", ignore=["a2"])) == [ids(a1=3.0)]


def test_what_was_decided_holds_for_later_blocks_and_files(tmp_path):
    (tmp_path / "a.csv").write_text("y,x,z\n1,02139,4\n")
    (tmp_path / "b.csv").write_text("y,x,z\n1,2139,four\n")

    found = features_of(ouzel.read([tmp_path / "a.csv", tmp_path / "b.csv"]))

    assert found == [ids(z=4.0, **{"x=02139": 1.0}), ids(**{"x=2139": 1.0, "z=four": 1.0})]


def test_members_of_objects_that_mix_numbers_and_words_are_categories(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"y":1,"x":5,"z":1.5}\n{"y":1,"x":"five","z":2}\n{"y":0,"x":7.0}\n')

    found = features_of(ouzel.read(tmp_path / "t.jsonl"))

    assert found == [ids(z=1.5, **{"x=5": 1.0}), ids(z=2.0, **{"x=five": 1.0}), ids(**{"x=7": 1.0})]


def test_numbers_in_typed_columns_can_be_categories():
    table = pyarrow.table({"a": [1, 2, None], "b": [1.0, float("nan"), 2.5]})

    found = features_of(ouzel.blocks_from(table, [1, 0, 1], categorical="all", missing="absent"))

    assert found == [ids(**{"a=1": 1.0, "b=1": 1.0}), ids(**{"a=2": 1.0}), ids(**{"b=2.5": 1.0})]


@pytest.mark.parametrize("word", [*WORDS, "", " "])
def test_the_words_for_nothing_are_one_feature_in_every_format(tmp_path, word):
    rows = [{"y": 1, "x": "a", "z": word}, {"y": 0, "x": word, "z": "b"}]
    marked = [ids(**{"x=a": 1.0, "z=(missing)": 1.0}), ids(**{"x=(missing)": 1.0, "z=b": 1.0})]
    plain = [ids(**{"x=a": 1.0}), ids(**{"z=b": 1.0})]

    for missing, expected in (("indicator", marked), ("absent", plain)):
        for path in wrote(tmp_path, rows)[:3]:
            assert features_of(ouzel.read(path, missing=missing)) == expected
        pairs = [({"x": row["x"], "z": row["z"]}, row["y"]) for row in rows]
        assert features_of(ouzel.blocks_from(pairs, missing=missing)) == expected
    assert is_missing(word)
    data = np.frombuffer(bytearray(word.encode()), np.uint8)
    assert not word.strip() or is_na_token(data, np.int64(0), np.int64(len(data)))


@pytest.mark.parametrize("word", ["none", "na", "nil", "0", "?", "-", "NaNs", "N/", "#N/A N"])
def test_other_words_are_words(word):
    data = np.frombuffer(bytearray(word.encode()), np.uint8)

    assert not is_missing(word)
    assert not is_na_token(data, np.int64(0), np.int64(len(data)))


def test_nothing_is_one_thing_in_objects_tables_and_dictionaries(tmp_path):
    nan = float("nan")
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    (tmp_path / "t.jsonl").write_text('{"y":1,"a":NaN,"b":null,"c":2}\n{"y":0,"a":1.5,"b":null,"c":null}\n')
    pyarrow.parquet.write_table(
        pyarrow.table({"y": [1, 0], "a": [nan, 1.5], "b": pyarrow.nulls(2), "c": [2, None]}), tmp_path / "t.parquet"
    )
    frames = [
        pandas.DataFrame({"a": [nan, 1.5], "b": [pandas.NA, pandas.NaT], "c": [2, None]}),
        polars.DataFrame({"a": [nan, 1.5], "b": [None, None], "c": [2, None]}),
        [({"a": nan, "b": pandas.NaT, "c": 2}, 1), ({"a": 1.5, "b": pandas.NA, "c": None}, 0)],
    ]

    found = [features_of(ouzel.read(tmp_path / name)) for name in ("t.jsonl", "t.parquet")]
    found += [features_of(ouzel.blocks_from(frame)) for frame in frames]
    plain = [features_of(ouzel.read(tmp_path / name, missing="absent")) for name in ("t.jsonl", "t.parquet")]
    plain += [features_of(ouzel.blocks_from(frame, missing="absent")) for frame in frames]

    a, b, c = ({f"{name}=(missing)": 1.0} for name in "abc")
    assert found == [[ids(c=2.0, **a, **b), ids(a=1.5, **b, **c)]] * 5
    assert plain == [[ids(c=2.0), ids(a=1.5)]] * 5


def test_a_missing_value_is_a_feature_of_its_own(tmp_path):
    rows = [{"y": 1, "x": "a", "z": None}, {"y": 0, "x": None, "z": 2.5}]
    expected = [ids(**{"x=a": 1.0, "z=(missing)": 1.0}), ids(**{"x=(missing)": 1.0, "z": 2.5})]

    for path in wrote(tmp_path, rows)[:3]:
        assert features_of(ouzel.read(path)) == expected
    pairs = [({"x": row["x"], "z": row["z"]}, row["y"]) for row in rows]
    assert features_of(ouzel.blocks_from(pairs)) == expected
    model = ouzel.Model("adagrad")
    for block in ouzel.blocks_from(pairs):
        model.learn(block)
    assert features_of(ouzel.blocks_from(pairs, model=model)) == expected
