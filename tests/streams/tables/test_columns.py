"""Tables of Parquet and Arrow: dictionaries, lists and sparse rows, however odd."""

import json
from contextlib import closing

import numpy as np
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
from pyarrow.parquet import ParquetFile

import ouzel
from ouzel.sketches.hashing import feature_id
from ouzel.streams.formats.parquet import WORD_BYTES, can_be_kept, tables_of_group
from ouzel.streams.formats.parquet import tables as parquet_tables
from ouzel.streams.options import Options
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.dictionary_columns import Checks
from tests.streams.tables.test_tables import examples, wrote


def test_rows_of_odd_lengths_hide_no_other_unsound_ones(tmp_path):
    values = [[1.0, 2.0], [np.inf], [3.0]]
    path = wrote(tmp_path, "t.parquet", {"label": [1, 0, 1], "indices": [[1], [2], [3]], "values": values})

    found, error, skipped = examples(path, on_error="skip")

    assert (found, error, skipped) == ([(1.0, 1.0, {3: 3.0})], None, 2)


def test_lists_of_nothing_take_no_memory_however_long(tmp_path):
    offsets = pyarrow.array([0, 0, 1 << 30], pyarrow.int64())
    lists = pyarrow.LargeListArray.from_arrays(offsets, pyarrow.nulls(1 << 30))
    table = pyarrow.table({"label": [1, 0], "x": [0.5, 0.25], "n": lists})
    path = tmp_path / "t.arrow"
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)

    found, error, _ = examples(path)

    assert error is None
    assert [len(features) for _, _, features in found] == [1, 1]


@pytest.mark.parametrize("kind", ["words", "few words"])
def test_columns_read_as_dictionaries_hold_what_they_say(tmp_path, kind):
    n = 3000
    words = [f"w{k if kind == 'words' else k % 7}" if k % 5 else None for k in range(n)]
    path = wrote(tmp_path, "t.parquet", {"label": [k % 2 for k in range(n)], "x": [0.5] * n, "city": words})

    found, error, _ = examples(path)

    assert error is None
    expected = [{feature_id(f"city={word or '(missing)'}"): 1.0} for word in words]
    assert [features for _, _, features in found] == [{feature_id("x"): 0.5} | here for here in expected]


@pytest.mark.parametrize("columns", [["y", "city", "land", "x"], ["city", "y"]])
def test_dictionaries_of_many_words_hold_what_they_say_in_every_row_group(tmp_path, columns):
    rng = np.random.default_rng(0)
    n = 70_000
    places = (9000 * rng.random(n) ** 2).astype(int)
    words = {
        "y": [f"class {k % 3}" for k in range(n)],
        "city": [f"city {k}" if k % 11 else None for k in places],
        "land": [f"land {k % 40}" for k in places],
        "x": rng.integers(0, 9, n),
    }
    table = pyarrow.table({name: words[name] for name in columns})
    pyarrow.parquet.write_table(table, tmp_path / "coded.parquet", row_group_size=30_000)
    pyarrow.parquet.write_table(table, tmp_path / "plain.parquet", use_dictionary=False)

    with closing(Source(str(tmp_path / "coded.parquet"))) as source:
        tables = list(parquet_tables(source, Options()))
    found, error, _ = examples(tmp_path / "coded.parquet", label="y", bits=24)

    assert error is None
    assert found == examples(tmp_path / "plain.parquet", label="y", bits=24)[0]
    assert pyarrow.types.is_dictionary(tables[1].schema.field("city").type)
    assert pyarrow.concat_tables(table.cast(tables[0].schema) for table in tables).equals(table)


def test_a_table_holds_no_more_of_a_row_group_than_its_own_rows(tmp_path):
    table = pyarrow.table({"y": [0, 1] * 50_000, "city": [f"city {k % 9000}" for k in range(100_000)]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")

    file = ParquetFile(tmp_path / "t.parquet", read_dictionary=["city"])
    tables = list(tables_of_group(file, 0, 1000, ["city"], ["y", "city"]))
    positions = [table["city"].chunk(0).indices for table in tables]

    assert len(tables) == 100
    assert max(array.buffers()[1].size for array in positions) <= 4 * 1000 + 64


def test_positions_are_kept_of_no_more_rows_than_take_little():
    assert can_be_kept(1_000_000, [60_000] * 26)
    assert not can_be_kept(1_000_000, [100_000] * 40)
    assert not can_be_kept(1 << 30, [2])


@pytest.mark.parametrize("kinds", [("binary", "string"), ("large_binary", "large_string")])
def test_words_that_are_not_utf_8_are_refused(kinds):
    stored, read = (getattr(pyarrow, kind)() for kind in kinds)
    sound, unsound = (
        pyarrow.table({"x": pyarrow.array([cell, None, b"b"], stored).view(read)}) for cell in ("ü".encode(), b"\xff")
    )
    checks = Checks()
    checks.check(sound)

    with pytest.raises(ValueError, match="UTF8"):
        checks.check(unsound)


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_encodings_that_are_not_read_as_dictionaries_are_read(tmp_path, encoding):
    table = pyarrow.table({"label": [0, 1] * 5000, "city": ["Rome", "Bonn"] * 5000, "land": ["it", "de"] * 5000})
    path = tmp_path / "t.parquet"
    how = {"use_dictionary": ["land"], "column_encoding": {"city": encoding}}
    pyarrow.parquet.write_table(table, path, row_group_size=6000, **how)
    pyarrow.parquet.write_table(table, tmp_path / "usual.parquet")

    found, error, _ = examples(path)

    assert error is None
    assert found == examples(tmp_path / "usual.parquet")[0]


def test_words_that_are_written_as_parts_of_others_take_no_more_memory(tmp_path):
    table = pyarrow.table({"label": [0, 1] * 3000, "city": ["w" * 20_000] * 6000})
    path = tmp_path / "t.parquet"
    how = {"use_dictionary": False, "column_encoding": {"city": "DELTA_BYTE_ARRAY"}}
    pyarrow.parquet.write_table(table, path, **how)
    del table

    with closing(Source(str(path))) as source:
        longest = max(part.nbytes for part in parquet_tables(source, Options()))

    assert path.stat().st_size < 1 << 18
    assert longest < 1.1 * WORD_BYTES


def test_dictionaries_of_batches_may_change_or_stay(tmp_path):
    """The same words at other places, more words, and none: as if there were no dictionaries."""
    batches = [
        ([0, 1, None, 2], ["Rome", "Bonn", "Oslo"]),
        ([2, 1, 0, 0], ["Rome", "Bonn", "Oslo"]),
        ([0, 1, 2, 3], ["Bonn", "Rome", "Oslo", "NA"]),
        ([7, None, 7, 1], [f"w{k}" for k in range(100)]),
        ([None, None, None, None], [f"w{k}" for k in range(100)]),
        ([0, 0, 1, 1], ["Rome", None]),
    ]
    coded = [
        pyarrow.DictionaryArray.from_arrays(pyarrow.array(k, pyarrow.int16()), pyarrow.array(w)) for k, w in batches
    ]
    label = pyarrow.array([0, 1, 0, 1])
    tables = {"coded": coded, "plain": [array.cast(pyarrow.string()) for array in coded]}
    for name, arrays in tables.items():
        parts = [pyarrow.record_batch({"label": label, "city": array}) for array in arrays]
        path = str(tmp_path / f"{name}.arrow")
        with pyarrow.OSFile(path, "wb") as sink, pyarrow.ipc.new_stream(sink, parts[0].schema) as stream:
            for part in parts:
                stream.write_batch(part)

    found, plain = (examples(tmp_path / f"{name}.arrow") for name in tables)

    assert found == plain
    assert found[1] is None


@pytest.mark.parametrize(
    "kind", [pyarrow.string(), pyarrow.string_view(), pyarrow.binary_view(), pyarrow.large_binary()]
)
def test_dictionaries_of_many_cells_for_the_rows_may_be_of_any_kind_of_text(tmp_path, kind):
    words = pyarrow.array([f"word {k}" for k in range(20)]).cast(kind)
    cities = pyarrow.DictionaryArray.from_arrays(pyarrow.array([17, None], pyarrow.uint8()), words)
    batch = pyarrow.record_batch({"label": pyarrow.array([0, 1]), "city": cities})
    path = str(tmp_path / "t.arrow")
    with pyarrow.OSFile(path, "wb") as sink, pyarrow.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)

    found, error, _ = examples(path)

    assert error is None
    assert [features for _, _, features in found] == [
        {feature_id(f"city={word}"): 1.0} for word in ("word 17", "(missing)")
    ]


def test_positions_beyond_a_dictionary_are_refused():
    table = [pyarrow.array(["a", "b"]), pyarrow.array(["a", "b"])]
    sound, unsound = (
        pyarrow.Table.from_arrays([pyarrow.DictionaryArray.from_arrays([0, place], words, safe=False)], ["x"])
        for place, words in zip((1, 2), table, strict=True)
    )
    checks = Checks()
    checks.check(sound)

    with pytest.raises(ValueError, match="numbered 0 to 2"):
        checks.check(unsound)


def test_words_of_a_dictionary_that_no_row_has_are_neither_features_nor_labels():
    codes = pyarrow.array([0, 2, None] * 20, pyarrow.int8())
    words = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(["a", "w" * 2_000_000, "b"]))

    (block,) = ouzel.blocks_from(pyarrow.table({"city": words}), words.to_pylist())
    named = block.names.text.tobytes().decode()

    assert named == "city=acity=bcity=(missing)"
    assert block.nonzeros == 60


def test_categories_of_labels_that_no_row_has_are_not_classes(tmp_path):
    codes = pyarrow.array([0, 2], pyarrow.int8())
    labels = pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(["a", "never", "b"]))
    table = pyarrow.table({"label": labels, "x": [0.5, 0.25]})
    path = tmp_path / "t.arrow"
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)

    (block,) = ouzel.read(path)

    assert list(block.label_names) == ["a", "b"]


def test_crosses_of_lists_are_those_of_other_formats(tmp_path):
    rows = [{"label": 1, "city": "Rome", "tags": ["x", "y"]}, {"label": 0, "city": "Bonn", "tags": ["z"]}]
    lines = wrote(tmp_path, "t.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    table = wrote(tmp_path, "t.parquet", columns)

    (first,), (second,) = (list(ouzel.read(path, crosses=["city*tags"])) for path in (lines, table))

    assert first.indices.tolist() == second.indices.tolist()


def test_lists_of_what_is_no_cell_are_refused_in_one_line(tmp_path):
    nothing = pyarrow.nulls(2, pyarrow.list_(pyarrow.map_(pyarrow.string(), pyarrow.int8())))  # nbytes ends the process
    path = wrote(tmp_path, "t.parquet", {"label": [1, 0], "x": nothing})

    _, error, _ = examples(path)

    assert "column 'x' holds list<" in str(error)
