"""A value means one thing at every entry point: one table gives the same ids, values and probabilities, to the bit."""

import datetime as dt
import json
from decimal import Decimal
from functools import cache

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

import ouzel
from ouzel.model.model import Model
from ouzel.service.packed_rows import rows_as_json
from ouzel.service.reading import Line, Reading
from ouzel.streams.logs.decode import Decoder
from ouzel.streams.logs.reading import Reading as LogReading
from ouzel.streams.logs.stream import LogStream
from ouzel.streams.options import make_options
from tests.logs.memory_log import MemoryLog

pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
COUNT = 24
ROME = dt.timezone(dt.timedelta(hours=1))


def moment(rng, zone=None):
    return dt.datetime(2024, 1, 1, tzinfo=zone) + dt.timedelta(
        seconds=int(rng.integers(0, 10**8)), microseconds=250_000
    )


VALUES = {  # of a type of column: a value by chance, and its zero if it has one
    "number": (lambda rng: float(rng.normal()), 0.0),
    "tiny": (lambda rng: float(rng.choice([1e-46, -1e-60, 0.25])), -0.0),
    "whole": (lambda rng: int(rng.integers(1, 9)), 0),
    "truth": (lambda rng: bool(rng.integers(2)), False),
    "word": (lambda rng: str(rng.choice(["Rome", "Oslo", "a b", "été", "-5x"])), None),
    "truths as words": (lambda rng: str(rng.choice(["True", "false", "TRUE", "maybe"])), None),
    "day": (lambda rng: dt.date(2023, 1, 1) + dt.timedelta(days=int(rng.integers(900))), dt.date(1970, 1, 1)),
    "moment": (moment, dt.datetime(1970, 1, 1)),
    "moment elsewhere": (lambda rng: moment(rng, ROME), dt.datetime(1970, 1, 1, 1, tzinfo=ROME)),
    "clock": (lambda rng: dt.time(*(int(n) for n in rng.integers(1, 24, 3)), 500_000), dt.time(0, 0)),
    "span": (lambda rng: dt.timedelta(milliseconds=int(rng.integers(1, 10**7))), dt.timedelta(0)),
    "amount": (lambda rng: Decimal(int(rng.integers(1, 999))) / 100, Decimal("0.00")),
    "bytes": (lambda rng: str(rng.choice(["Rome", "é"])).encode(), None),
    "period": (lambda rng: pandas.Period(f"2024-{rng.integers(1, 13):02}", "M"), pandas.Period("1970-01", "M")),
    "list": (lambda rng: [str(word) for word in rng.choice(["a", "b", "True"], rng.integers(1, 4))], None),
}
TYPES = {
    "truths as words": pyarrow.string(),
    "amount": pyarrow.decimal128(7, 2),
    "moment elsewhere": pyarrow.timestamp("us", "+01:00"),
}
VARIANTS = ("full", "zeros", "missing")
WORDS_FOR_NOTHING = ("", "NA", "N/A", "null", "?", "-")
FILES = ("csv", "tsv", "jsonl", "parquet", "feather")
FRAMES = ("pandas", "polars", "arrow")
ENTRIES = (*FILES, *FRAMES, "dictionaries", "single", "http", "http one by one", "http arrow", "log", "arrow log")


@cache
def table(kind, variant):
    """Rows as dictionaries, and their labels."""
    rng = np.random.default_rng(len(kind) * 10 + VARIANTS.index(variant))
    value, zero = VALUES[kind]
    rows = []
    for k in range(COUNT):
        given = value(rng)
        if variant == "zeros" and k % 3 == 1 and zero is not None:
            given = zero
        if variant == "missing" and k % 3 == 1:
            given = None
        rows.append({"x": given, "n": float(rng.normal()), "c": str(rng.choice(["red", "blue"]))})
    labels = ["yes" if row["n"] + (row["c"] == "red") > 0.5 else "no" for row in rows]
    assert len(set(labels)) == 2
    return rows, labels


def as_text(value):
    """A value as people write it in a file of text."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dt.timedelta):
        return repr(value.total_seconds())
    if isinstance(value, pandas.Period):
        return value.start_time.date().isoformat()
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return value


def as_json(value):
    if isinstance(value, (dt.timedelta, Decimal)):
        return float(as_text(value))
    return as_text(value)


def json_lines(rows, labels=None):
    lines = [{name: as_json(value) for name, value in row.items()} for row in rows]
    if labels is not None:
        lines = [{**line, "y": label} for line, label in zip(lines, labels, strict=True)]
    return [json.dumps(line).encode() for line in lines]


def arrow_table(kind, rows, labels=None):
    def column(name):
        cells = [row[name] for row in rows]
        if name == "x" and kind == "period":
            return pyarrow.array([None if cell is None else cell.start_time.date() for cell in cells])
        return pyarrow.array(cells, TYPES.get(kind) if name == "x" else None)

    columns = {name: column(name) for name in rows[0]}
    return pyarrow.table(columns if labels is None else {**columns, "y": labels})


def wrote(path, format, kind, rows, labels):
    if format in ("parquet", "feather"):
        found = arrow_table(kind, rows, labels)
        (pyarrow.parquet.write_table if format == "parquet" else pyarrow.feather.write_feather)(found, path)
    elif format == "jsonl":
        path.write_bytes(b"\n".join(json_lines(rows, labels)) + b"\n")
    else:
        between = "," if format == "csv" else "\t"
        lines = [[*rows[0], "y"], *([*row.values(), y] for row, y in zip(rows, labels, strict=True))]
        cells = [["" if cell is None else str(as_text(cell)) for cell in line] for line in lines]
        path.write_text("".join(between.join(line) + "\n" for line in cells))
    return path


def frame_of(entry, kind, rows):
    if entry == "pandas":
        return pandas.DataFrame({name: [row[name] for row in rows] for name in rows[0]})
    return polars.from_arrow(arrow_table(kind, rows)) if entry == "polars" else arrow_table(kind, rows)


def blocks_of(entry, kind, rows, labels, path, model):
    """The table as blocks, which came in at an entry point; read for a model if there is one."""
    asked = {} if model is None else {"space": model.space}
    if entry in FILES:
        return list(ouzel.read(wrote(path / f"t.{entry}", entry, kind, rows, labels), label="y", **asked))
    if entry in FRAMES:
        return list(ouzel.blocks_from(frame_of(entry, kind, rows), labels, **asked))
    if entry == "dictionaries":
        return list(ouzel.blocks_from(list(zip(rows, labels, strict=True)), **asked))
    if entry in ("log", "arrow log"):
        lines = json_lines(rows, labels)
        if entry == "arrow log":
            batches = arrow_table(kind, rows, labels).to_batches(max_chunksize=5)
            lines = [stream_of(batch) for batch in batches]
        log, options = MemoryLog(lines, 4), make_options({"label": "y", **asked})
        with LogStream(log, Decoder, None, options, LogReading(), None) as stream:
            return list(stream)
    stored = {"label": "y", "sample": 0, "ignore": ["_id"]}
    reading = Reading(model or Model("ogd"), stored)
    if entry == "http arrow":
        batches = arrow_table(kind, rows, labels).to_batches()
        return [
            block
            for batch in batches
            for block in [reading.numbers.block(batch) or of_lines(reading, rows_as_json(batch))]
        ]
    lines = json_lines(rows, labels)
    if entry == "http one by one":
        return [reading.block([reading.line(line).example]) for line in lines]
    return [of_lines(reading, lines)]


def of_lines(reading, lines):
    found = reading.lines(lines, [None] * len(lines))
    assert all(isinstance(line, Line) for line in found), found
    return reading.block([line.example for line in found])


def stream_of(batch):
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def rows_of(blocks):
    """The ids and the values of each row."""
    return [
        (block.indices[a:b].tolist(), block.values[a:b].tobytes())
        for block in blocks
        for a, b in zip(block.offsets[:-1].astype(int), block.offsets[1:].astype(int), strict=True)
    ]


def single_rows(estimator, rows, learning=None):
    """The same of rows that are given one by one to an estimator, to be learnt if they have labels."""
    found = []
    for k, row in enumerate(rows):
        if learning is not None:
            estimator.learn_one(row, learning[k])
        slots, values = estimator._slots.row(row)
        found.append(((slots[1:] - 1).tolist(), values[1:].tobytes()))
    return found


def probabilities(model, blocks):
    return np.concatenate([model.answers(block).probabilities for block in blocks])


def names_in(blocks):
    return {
        bytes(block.names.text[int(start) : int(end)]).decode()
        for block in blocks
        for start, end in zip(block.names.starts, block.names.ends, strict=True)
    }


def entries_of(kind):
    return [entry for entry in ENTRIES if kind != "list" or entry not in ("csv", "tsv")]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", VALUES)
def test_the_same_table_is_the_same_ids_and_values_at_every_entry_point(kind, variant, path):
    rows, labels = table(kind, variant)
    expected = blocks_of("arrow", kind, rows, labels, path, None)

    for entry in entries_of(kind):
        if entry == "single":
            assert single_rows(ouzel.OnlineClassifier("adagrad"), rows, labels) == rows_of(expected), entry
            continue
        found = blocks_of(entry, kind, rows, labels, path, None)
        assert rows_of(found) == rows_of(expected), entry
        assert names_in(found) == names_in(expected), entry
        assert not any((block.values == 0.0).any() for block in found)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("trained", ["csv", "jsonl", "pandas", "dictionaries"])
def test_a_model_gives_the_same_probabilities_at_every_entry_point(kind, variant, trained, path):
    rows, labels = table(kind, variant)
    trained = "parquet" if kind == "list" and trained == "csv" else trained
    model = Model("adagrad")
    for block in blocks_of(trained, kind, rows, labels, path, None):
        model.learn(block)
    expected = probabilities(model, blocks_of(trained, kind, rows, labels, path, model))

    for entry in entries_of(kind):
        if entry == "single":
            estimator = ouzel.OnlineClassifier("adagrad")
            estimator.model_ = model
            found = np.array([list(estimator.predict_proba_one(row).values()) for row in rows])
            order = [[*estimator.predict_proba_one(rows[0])].index(name) for name in model.classes.known]
            found = found[:, order]
            assert np.array_equal(found[:, model.classes.order()], expected) or np.array_equal(found, expected), entry
            continue
        found = probabilities(model, blocks_of(entry, kind, rows, labels, path, model))
        np.testing.assert_array_equal(found, expected, entry)
