"""Streams of Arrow whose columns are numbers: learnt and kept as they came, and the very examples that lines are."""

import io
import json
from dataclasses import replace

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.cli.app import run
from ouzel.model.model import Model
from ouzel.service.example_log import Entry, Log
from ouzel.service.folder import Folder
from ouzel.service.limits import ServiceLimits
from ouzel.service.reading import Reading
from ouzel.streams.formats.catalogue import find
from ouzel.streams.formats.records import ARROW, record_of_batch, rows_as_json
from tests.service.test_reading import content

HEADERS = {"Content-Type": find("arrow").media_types[0]}
SUMMARY = "/v1/learn?answers=summary"
KINDS = [pyarrow.float64(), pyarrow.float32(), pyarrow.int64(), pyarrow.int8(), pyarrow.uint16()]


def stream_of(*tables):
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, tables[0].schema) as writer:
        for table in tables:
            writer.write(table)
    return sink.getvalue().to_pybytes()


def numbers(rows, seed=0):
    """A table of a label, two columns of numbers and one with gaps."""
    rng = np.random.default_rng(seed)
    gaps = [None if k % 3 else round(value, 2) for k, value in enumerate(rng.normal(size=rows).tolist())]
    return pyarrow.table(
        {"label": ["yes" if x else "no" for x in rng.random(rows) < 0.4], "a": rng.normal(size=rows), "gaps": gaps}
        | {"count": pyarrow.array(rng.integers(0, 4, rows), pyarrow.int16())}
    )


@st.composite
def batches(draw):
    rows = draw(st.integers(1, 6))
    columns = {}
    for k in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(KINDS))
        whole = pyarrow.types.is_integer(kind)
        cell = st.integers(0, 100) if whole else st.floats(width=32, allow_infinity=False)
        cells = draw(st.lists(st.one_of(st.none(), st.just(0), cell), min_size=rows, max_size=rows))
        columns[f"column {k}"] = pyarrow.array(cells, kind)
    label = draw(st.sampled_from([st.integers(-1, 3), st.sampled_from(["a", "b", "1", "é"]), st.floats(-2, 2)]))
    columns["label"] = pyarrow.array(draw(st.lists(label, min_size=rows, max_size=rows)))
    return pyarrow.record_batch(columns)


@given(batches())
def test_a_batch_is_the_block_that_its_rows_are_as_lines(batch):
    reading = Reading(Model("ogd"), {"label": "label", "ignore": ["_id", "column 3"], "sample": 0})
    found = reading.numbers.block(batch)
    lines = rows_as_json(batch)
    expected = reading.whole(b"".join(line + b"\n" for line in lines), len(lines))

    assert reading.numbers.supports(batch.schema)
    if found is not None and found.nonzeros:
        assert content(found) == content(expected)
        np.testing.assert_array_equal(found.labels, expected.labels)
        assert found.label_names == expected.label_names


@pytest.mark.parametrize(
    ("columns", "reading"),
    [
        ({"label": [1], "x": ["word"]}, {}),
        ({"label": [1], "x": [True]}, {}),
        ({"label": [1], "7": [0.5]}, {}),
        ({"label": [1], "x": [0.5], "_id": ["a"]}, {}),
        ({"label": [1]}, {}),
        ({"x": [0.5]}, {}),
        ({"label": [1], "x": [0.5]}, {"categorical": ["x"]}),
        ({"label": [1], "x": [0.5]}, {"weight": "w"}),
        ({"label": [1], "x": [0.5], "y": [2.0]}, {"crosses": ("x*y",)}),
    ],
)
def test_what_lines_would_say_otherwise_is_left_to_them(columns, reading):
    reading = Reading(Model("ogd"), {"label": "label", "ignore": ["_id"], "sample": 0, **reading})

    assert not reading.numbers.supports(pyarrow.record_batch(columns).schema)


@pytest.mark.parametrize("label", [None, float("inf"), float("nan")])
def test_rows_that_are_not_all_sound_are_not_a_block(label):
    reading = Reading(Model("ogd"), {"label": "label", "sample": 0})

    assert reading.numbers.block(pyarrow.record_batch({"label": [1.0, 2.0], "x": [0.5, 1.0]})) is not None
    assert reading.numbers.block(pyarrow.record_batch({"label": [1.0, label], "x": [0.5, 1.0]})) is None
    assert reading.numbers.block(pyarrow.record_batch({"label": [1.0, 2.0], "x": [0.5, float("inf")]})) is None


def test_the_model_is_that_of_a_training_on_the_exported_log(start, tmp_path):
    client = start()
    tables = [numbers(300, 1), numbers(5000, 2), numbers(3, 3)]
    said = client.post(SUMMARY, content=stream_of(*tables), headers=HEADERS).json()
    single = client.post("/v1/learn", json={"label": "no", "a": 2.0}).json()
    log = client.get("/v1/log").content
    lines = client.get("/v1/log?format=jsonl").content
    client.post("/v1/snapshot")
    client.__exit__(None, None, None)

    assert (said["learnt"], said["refused"], single["number"]) == (5303, 0, 5304)
    (tmp_path / "model.records").write_bytes(log)
    assert len(lines.splitlines()) == 5304
    trained, base = tmp_path / "trained.ouzel", tmp_path / "model/base.ouzel"
    asked = ["train", str(tmp_path / "model.records"), "--resume", str(base), "--relearn", "-m", str(trained), "--json"]
    assert run(asked) == 0
    assert trained.read_bytes() == Folder(tmp_path / "model").snapshots()[-1].read_bytes()


def test_each_row_is_answered_and_one_that_is_bad_is_refused_alone(client):
    cells = [0.5] * 100
    cells[70] = float("inf")
    table = pyarrow.table({"label": [k % 2 for k in range(100)], "x": cells})
    *said, last = map(json.loads, client.post("/v1/learn", content=stream_of(table), headers=HEADERS).text.splitlines())
    again = [
        json.loads(line)
        for line in client.post("/v1/learn", content=stream_of(table[:70]), headers=HEADERS).text.splitlines()
    ]

    assert [line["line"] for line in said] == list(range(1, 101))
    assert "error" in said[70]
    assert (last["summary"]["learnt"], last["summary"]["refused"]) == (99, 1)
    assert [line["line"] for line in again[:-1]] == list(range(1, 71))
    assert again[0]["number"] == 100


def test_a_stream_may_be_longer_than_a_body_that_is_read_as_a_whole(start):
    client = start(limits=replace(ServiceLimits(), body=1000))
    said = client.post(SUMMARY, content=stream_of(*[numbers(500, k) for k in range(8)]), headers=HEADERS).json()

    assert (said["learnt"], said["stopped"]) == (4000, None)


def test_a_stream_that_ends_within_a_batch_has_learnt_those_before(client):
    whole = stream_of(numbers(500, 0), numbers(500, 1))
    said = client.post(SUMMARY, content=whole[:-2000], headers=HEADERS).json()

    assert said["learnt"] == 500
    assert said["stopped"].startswith("the stream: ")


def test_packed_rows_are_read_from_any_of_them_on(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    batch = pyarrow.record_batch({"label": [1, 0, 1], "x": [0.5, 2.0, -1.0]})
    log.append([Entry(1, "first", b'{"label": 0}')])
    log.append([Entry(4, None, record_of_batch(batch))])
    log.append([Entry(5, None, b'{"label": 1}')])
    lines = [b'{"label": 0}', *rows_as_json(batch), b'{"label": 1}']

    for after in range(6):
        assert [(entry.number, entry.record) for entry in log.entries(after)] == [*enumerate(lines, 1)][after:]
    log.forget(3)
    assert log.first() == 2
    log.forget(4)
    assert log.first() == 5


def test_no_text_begins_as_packed_rows_do():
    with pytest.raises(UnicodeDecodeError):
        (ARROW + b'{"label": 1}').decode()


def test_a_part_of_a_batch_is_kept_alone():
    whole = pyarrow.record_batch({"label": range(1000), "x": np.arange(1000.0)})
    part = whole.slice(10, 3)

    assert len(record_of_batch(part)) < 1000
    assert rows_as_json(part) == [b'{"label":10,"x":10}', b'{"label":11,"x":11}', b'{"label":12,"x":12}']
    with pyarrow.ipc.open_stream(io.BytesIO(record_of_batch(part)[5:])) as reader:
        assert reader.read_next_batch() == part
