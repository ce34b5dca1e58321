"""Items of any format are the same items; two streams are mixed evenly."""

import gzip
import os
import threading

import numpy as np
import pytest

from ouzel.analytics.deltoids.interleave import interleave
from ouzel.analytics.deltoids.two_streams import open_both
from ouzel.analytics.items import Items, count_rows, items_of
from ouzel.errors import DataError
from ouzel.streams.formats.catalogue import find
from ouzel.streams.options import Options
from ouzel.streams.sources import chunks
from ouzel.streams.sources.source import Source

pd = pytest.importorskip("pandas")

TABLE = pd.DataFrame({"ip": ["10.0.0.1", " 10.0.0.2", None, "10.0.0.1"], "port": ["80", "443", "22", "80"]})


def write(folder, format):
    path = folder / f"flows.{format}"
    if format in ("csv", "tsv"):
        TABLE.to_csv(path, index=False, sep="," if format == "csv" else "\t")
    elif format == "parquet":
        TABLE.to_parquet(path)
    elif format == "arrow":
        TABLE.to_feather(path)
    else:
        TABLE.to_json(path, orient="records", lines=True)
    return path


def names_in(path, format, columns):
    batches = items_of(Source(path), None if format == "lines" else find(format), columns, Options())
    return [(int(slot), items.name_of(k)) for items in batches for k, slot in enumerate(items.slots)]


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet", "arrow", "jsonl"])
def test_cells_are_the_same_items_in_every_table(tmp_path, format):
    one = names_in(write(tmp_path, format), format, ["ip"])
    several = names_in(write(tmp_path, format), format, ["ip", "ip+port"])

    assert [name for _, name in one] == ["10.0.0.1", "10.0.0.2", "10.0.0.1"]
    assert one == names_in(write(tmp_path, "csv"), "csv", ["ip"])
    assert [name for _, name in several[:4]] == [
        "ip=10.0.0.1",
        "ip=10.0.0.1 port=80",
        "ip=10.0.0.2",
        "ip=10.0.0.2 port=443",
    ]


def test_members_of_objects_are_columns_in_every_table(tmp_path):
    flow = pd.DataFrame({"flow": [{"ip": "10.0.0.1", "port": {"to": 80}}, {"ip": "10.0.0.2", "port": {"to": 443}}]})
    flow.to_json(tmp_path / "flows.jsonl", orient="records", lines=True)
    flow.to_parquet(tmp_path / "flows.parquet")

    for column, expected in (("flow.ip", ["10.0.0.1", "10.0.0.2"]), ("flow.port.to", ["80", "443"])):
        for format in ("jsonl", "parquet"):
            assert [name for _, name in names_in(tmp_path / f"flows.{format}", format, [column])] == expected


def test_rows_of_json_may_lack_a_column_however_they_arrive(tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK", 8)
    path = tmp_path / "events.jsonl"
    path.write_text('{"tick": 1}\n{"user": "a"}\n{"tick": 2}\n{"user": "b", "tick": 3}\n')

    assert [name for _, name in names_in(path, "jsonl", ["user"])] == ["a", "b"]


def test_items_before_a_bad_line_are_given_out(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text('{"user": "a"}\n{"user": "b"}\n{"user":\n')
    batches = items_of(Source(path), find("jsonl"), ["user"], Options())

    assert len(next(batches).slots) == 2
    with pytest.raises(DataError, match=r"events.jsonl:3:9: found no JSON"):
        next(batches)


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_a_packed_table_is_unpacked(tmp_path, format):
    path = write(tmp_path, format)
    packed = tmp_path / f"packed.{format}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))

    assert names_in(packed, format, ["ip"]) == names_in(path, format, ["ip"])
    assert count_rows(Source(packed), find(format)) == count_rows(Source(path), find(format)) == 4


def test_lines_and_features_are_items(tmp_path):
    (tmp_path / "a.txt").write_text("10.0.0.1\n\n 10.0.0.2 \n")
    (tmp_path / "a.svm").write_text("+1 3:1 7:0.5\n-1 7:1\n")

    lines = names_in(tmp_path / "a.txt", "lines", [])
    features = names_in(tmp_path / "a.svm", "svmlight", [])

    assert [name for _, name in lines] == ["10.0.0.1", "10.0.0.2"]
    assert features == [(4, "3"), (8, "7"), (8, "7")]


def stream_of(slots, size):
    for start in range(0, len(slots), size):
        part = np.array(slots[start : start + size], np.uint32)
        yield Items(part, lambda k, part=part: str(part[k]), len(part))


@pytest.mark.parametrize("sizes", [(7, 3), (1000, 1000), (1, 50)])
def test_streams_of_known_length_end_together_however_they_are_cut(sizes):
    first, second = range(1, 101), range(1001, 1301)
    mixed = list(interleave(stream_of(first, sizes[0]), stream_of(second, sizes[1]), (100, 300)))
    slots = np.concatenate([items.slots for items, _ in mixed])
    which = np.concatenate([which for _, which in mixed])

    assert slots[which == 0].tolist() == list(first)
    assert slots[which == 1].tolist() == list(second)
    assert np.abs(np.cumsum(which) - 0.75 * np.arange(1, 401)).max() <= 2
    assert all(items.name_of(k) == str(slot) for items, _ in mixed for k, slot in enumerate(items.slots))


def test_streams_of_unknown_length_are_taken_as_they_arrive():
    mixed = list(interleave(stream_of(range(10), 4), stream_of(range(100, 110), 4), (None, 10)))
    found = {(int(slot), int(k)) for items, which in mixed for slot, k in zip(items.slots, which, strict=True)}

    assert found == {(slot, 0) for slot in range(10)} | {(slot, 1) for slot in range(100, 110)}


def test_an_error_in_one_pipe_is_told_after_what_came_before_it():
    def broken():
        yield Items(np.array([1], np.uint32), str, 1)
        raise ValueError("broken")

    seen = []

    def learn():
        for items, _ in interleave(broken(), stream_of(range(5), 5), (None, None)):
            seen.append(len(items.slots))

    with pytest.raises(ValueError, match="broken"):
        learn()
    assert sum(seen) == 6


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_live_pipes_are_read(tmp_path):
    paths = [tmp_path / "first", tmp_path / "second"]
    for path in paths:
        os.mkfifo(path)
        threading.Thread(target=path.write_text, args=(f"{path.name}\n" * 100,), daemon=True).start()

    _, stream = open_both([str(path) for path in paths], [], None, Options())

    assert sum((np.bincount(which, minlength=2) for _, which in stream), np.zeros(2)).tolist() == [100, 100]
