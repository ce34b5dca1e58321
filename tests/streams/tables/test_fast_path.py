"""Columns read at once come to what columns one by one do."""

import math
import subprocess
import sys

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel
from ouzel.sketches.hashing import feature_id
from ouzel.streams.limits import Limits
from ouzel.streams.tables.fast_path import FastPath
from tests.streams.tables.test_tables import examples, wrote

NUMBERS = ["0", "1", "-2.5", ".5", "5.", "1e3", "+7", "-0", "12345678.123456789", "3e-60", "-", "1.2.3", "9" * 20]
WORDS = ["a", "ü", "NA", "null", "none", "nan", " a ", "  ", "", "1.#IND", "1.5x", "x" * 50, "a,b", "c\nd"]
BAD = ["1e40", "inf", "-inf", "Infinity", "y" * 300]
ROWS = st.lists(st.tuples(*[st.sampled_from(NUMBERS + WORDS)] * 4), min_size=1, max_size=40)


def names_in(path, **options):
    with ouzel.read(path, **options) as stream:
        blocks = [block.names for block in stream if block.names is not None]
    return {
        (int(feature), names.text[int(start) : int(end)].tobytes())
        for names in blocks
        for feature, start, end in zip(names.ids, names.starts, names.ends, strict=True)
    }


def come_to_the_same(path, **options):
    """Whether a file was read at once, after checking that it comes to what columns one by one do."""
    taken = []
    read = FastPath.read

    def noting(self, *given):
        found = read(self, *given)
        taken.append(found is not None)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FastPath, "read", noting)
        found, error, skipped = examples(path, **options)
        names = names_in(path, **options) if error is None else None
        patch.setattr(FastPath, "read", lambda self, *given: None)
        expected = examples(path, **options)
        assert (found, str(error), skipped) == (expected[0], str(expected[1]), expected[2])
        assert names is None or names == names_in(path, **options)
    return any(taken)


def quoted(cell: str) -> str:
    return f'"{cell}"' if set(cell) & set(',\n"') else cell


@settings(deadline=None, max_examples=150)
@given(
    rows=ROWS,
    bad=st.none() | st.tuples(st.integers(0, 39), st.integers(1, 4), st.sampled_from(BAD)),
    numeric=st.booleans(),
    on_error=st.sampled_from(["raise", "skip"]),
    header=st.sampled_from([["y", "a", "b", "c", "d"], ["y", "7", "b", "3", "d"], ["a", "b", "y", "c", "d"]]),
)
def test_text_read_where_it_lies_comes_to_what_columns_do(tmp_path_factory, rows, bad, numeric, on_error, header):
    cells = [[str(k % 2), *row] for k, row in enumerate(rows)]
    if bad and bad[0] < len(cells):
        cells[bad[0]][bad[1]] = bad[2]
    cells = [[row[["y", *[name for name in header if name != "y"]].index(name)] for name in header] for row in cells]
    text = "\n".join(",".join(map(quoted, row)) for row in [header, *cells]) + "\n"
    path = wrote(tmp_path_factory.mktemp("t"), "t.csv", text)
    chosen = {"numeric": [name for name in header if name != "y"][:2]} if numeric else {}

    at_once = come_to_the_same(path, label="y", on_error=on_error, limits=Limits(word=200), bits=22, **chosen)

    assert at_once or bad


COLUMN = st.sampled_from(["words", "numbers", "whole", "marks"])


def rows_are_whole(table: pyarrow.Table) -> bool:
    """Whether no cell is missing."""
    return not any(column.is_null(nan_is_null=True).to_numpy().any() for column in table.columns)


@settings(deadline=None, max_examples=100)
@given(
    kinds=st.lists(COLUMN, min_size=1, max_size=6),
    rows=st.integers(1, 3000),
    seed=st.integers(0, 99),
    bad=st.booleans(),
)
def test_dictionaries_read_at_once_come_to_what_columns_do(tmp_path_factory, kinds, rows, seed, bad):
    rng = np.random.default_rng(seed)

    def column(kind):
        if kind == "words":
            known = [None, *rng.permutation(WORDS).tolist()]
            return pyarrow.array(
                [known[k] for k in rng.integers(0, len(known), rows)], pyarrow.string()
            ).dictionary_encode()
        if kind == "marks":
            return pyarrow.array(rng.random(rows) < 0.5)
        values = rng.integers(-3, 3, rows).tolist() if kind == "whole" else rng.normal(size=rows).tolist()
        values[int(rng.integers(rows))] = None if rng.random() < 0.5 else math.nan if kind == "numbers" else 0
        return pyarrow.array(values, pyarrow.int32() if kind == "whole" else pyarrow.float64())

    table = {"y": pyarrow.array(rng.integers(0, 2, rows)), **{f"c{k}": column(kind) for k, kind in enumerate(kinds)}}
    if bad:
        values = np.ones(rows)
        values[rng.integers(rows)] = np.inf
        table["bad"] = pyarrow.array(values)
    path = tmp_path_factory.mktemp("t") / "t.arrow"
    with pyarrow.ipc.new_file(path, pyarrow.table(table).schema) as file:
        file.write_table(pyarrow.table(table), max_chunksize=1000)

    at_once = come_to_the_same(path, label="y", bits=22, on_error="skip" if bad else "raise")

    names = [f"c{k}" for k in range(len(kinds))]
    columns = pyarrow.table([table[name] for name in names], names)
    whole = any(rows_are_whole(columns.slice(start, 1000)) for start in range(0, rows, 1000))
    assert at_once == (whole or not {"words", "marks"}.isdisjoint(kinds)) or bad


@settings(deadline=None, max_examples=100)
@given(
    kinds=st.lists(st.sampled_from(["string", "large_string", "string_view", "dictionary", "date32"]), max_size=5),
    rows=st.integers(1, 1500),
    seed=st.integers(0, 99),
    bad=st.booleans(),
)
def test_plain_words_read_at_once_come_to_what_columns_do(tmp_path_factory, kinds, rows, seed, bad):
    rng = np.random.default_rng(seed)
    known = [None, *WORDS, " " * 40 + "b" * 25, "-1.#QNAN", "1", *[f"w{k}" for k in range(200)]]

    def column(kind):
        cells = [known[k] for k in rng.integers(0, len(known), rows)]
        if kind == "date32":
            return pyarrow.array(rng.integers(0, 300, rows).astype(np.int32)).cast(pyarrow.date32())
        text = pyarrow.array(cells, pyarrow.string())
        return text.dictionary_encode() if kind == "dictionary" else text.cast(getattr(pyarrow, kind)())

    table = {"y": rng.integers(0, 2, rows), "n": rng.normal(size=rows), "a": column("string")}
    table |= {f"c{k}": column(kind) for k, kind in enumerate(kinds)}
    if bad:
        table["bad"] = ["a"] * (rows - 1) + ["y" * 300]
    path = tmp_path_factory.mktemp("t") / "t.arrow"
    with pyarrow.ipc.new_file(path, pyarrow.table(table).schema) as file:
        file.write_table(pyarrow.table(table), max_chunksize=700)

    asked = {"limits": Limits(word=200), "on_error": "skip" if bad else "raise"}
    at_once = come_to_the_same(path, label="y", bits=22, **asked)

    assert at_once or bad


def test_rows_of_a_feature_that_is_there_twice_are_added_up_as_columns_lie(tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(",".join(f"w{k}" for k in rng.integers(0, 300, 20)) + f",{k % 2}\n" for k in range(300))
    path = wrote(tmp_path, "t.csv", ",".join(f"c{k}" for k in range(20)) + ",y\n" + rows)

    with pytest.MonkeyPatch.context() as patch:
        found = examples(path, label="y", bits=5)
        patch.setattr(FastPath, "read", lambda self, *given: None)

        assert found == examples(path, label="y", bits=5)
    assert max(value for _, _, features in found[0] for value in features.values()) > 2


def test_a_dictionary_that_grows_or_changes_is_read_anew(tmp_path):
    batches = [["a", "b"], ["a", "b"], ["c", "a"], ["b", None]]
    kind = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    schema = pyarrow.schema([("y", pyarrow.int64()), ("x", kind), ("z", kind)])
    with pyarrow.ipc.new_stream(tmp_path / "t.arrow", schema) as file:
        for words in batches:
            arrays = [pyarrow.array([0, 1]), *[pyarrow.array(words).dictionary_encode()] * 2]
            file.write_batch(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))

    assert come_to_the_same(tmp_path / "t.arrow", label="y")


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_numbers_and_categories_are_read_without_pandas(tmp_path, format):
    table = pyarrow.table({"y": [0, 1, 1] * 100, "x": [1.5, None, 2.0] * 100, "city": ["Rome", None, "Bonn"] * 100})
    path = tmp_path / f"t.{format}"
    write = pyarrow.parquet.write_table if format == "parquet" else pyarrow.csv.write_csv
    write(table, path)
    code = f"import ouzel, sys; print(sum(b.rows for b in ouzel.read({str(path)!r})), 'pandas' in sys.modules)"

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert said.split() == ["300", "False"]


def test_a_row_group_of_many_words_behind_one_of_few_is_read(tmp_path):
    few, many = ["Rome", "Bonn"] * 5000, [f"{'w' * (k % 90)}{k}" for k in range(10_000)]
    path = tmp_path / "t.parquet"
    tables = [pyarrow.table({"y": [0, 1] * 5000, "city": words}) for words in (few, few, many, few)]
    with pyarrow.parquet.ParquetWriter(path, tables[0].schema) as file:
        for table in tables:
            file.write_table(table)

    assert come_to_the_same(path, label="y", bits=24)
    found, _, _ = examples(path, label="y", bits=24)
    words = [*few, *few, *many, *few]
    assert [features for _, _, features in found] == [{feature_id(f"city={word}", bits=24): 1.0} for word in words]
