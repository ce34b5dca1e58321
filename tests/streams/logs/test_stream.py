"""A log is read as its messages would be from a file, and goes on from wherever it was left."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.errors import DataError, OuzelError
from ouzel.streams.logs.decode import Decoder
from ouzel.streams.logs.protocol import Batch, Idle, Position
from ouzel.streams.logs.reading import Reading
from ouzel.streams.logs.stream import LogStream
from ouzel.streams.options import Options, make_options
from tests.streams.logs.memory_log import MemoryLog

GOOD = b'{"label": 1, "a": 2.5}'
MESSAGES = [
    GOOD,
    b'{"label": 0,\n "a": 3}',
    None,
    b"",
    b'{"label": 1, "a": 4}\n{"label": 0, "a": 5}\n',
    b"garbage",
    b'{"label": 1, "b": "x"}',
    b'{"label": 1, "a": 1}\ngarbage\n{"label": 0, "a": 2}',
    b"  ",
]
VALUES = [2.5, 3.0, 4.0, 5.0, 1.0, 1.0, 2.0]


def stream_of(values, at_once=3, position=None, format=None, on_error="skip", **reading):
    options = Options(on_error=on_error)
    return LogStream(MemoryLog(values, at_once), Decoder, format, options, Reading(**reading), position)


def rows_of(stream):
    with stream:
        return [
            float(value) for block in stream for value in block.values[int(block.offsets[0]) : int(block.offsets[-1])]
        ]


def test_messages_are_read_as_lines_and_what_is_no_example_is_counted():
    stream = stream_of(MESSAGES)

    assert rows_of(stream) == VALUES
    assert stream.skipped == 2
    assert stream.committed.last == {"": len(MESSAGES) - 1}


@given(st.lists(st.sampled_from(MESSAGES), max_size=12), st.integers(1, 5), st.integers(0, 14), st.integers(1, 5))
def test_a_reading_that_stops_after_any_row_goes_on_with_the_next(values, at_once, rows, at_once_again):
    values = [GOOD, *values]
    everything = rows_of(stream_of(values, at_once))
    stream = stream_of(values, at_once)
    first = []
    with stream:
        for block in stream:
            start, stop = int(block.offsets[0]), int(block.offsets[min(block.rows, rows - len(first))])
            first += block.values[start:stop].tolist()
            if len(first) >= rows:
                break
        stream.learnt(len(first))
    position = Position.from_json(json.loads(json.dumps(stream.committed.to_json())))

    rest = stream_of(values, at_once_again, position)

    assert position.examples == len(first)
    assert first + rows_of(rest) == everything
    assert rest.skipped == stream_of_all_skipped(values)


def stream_of_all_skipped(values):
    stream = stream_of(values)
    rows_of(stream)
    return stream.skipped


def test_a_bad_message_is_told_by_its_offset_and_what_comes_before_it_is_learnt():
    stream = stream_of([GOOD, GOOD, b'{"label": 1, "a": }', GOOD], on_error="raise")

    with pytest.raises(DataError, match=r"^memory://log: offset 2, column 19: found no JSON .*on_error='skip'$"):
        rows_of(stream)

    assert stream.committed.last == {"": 1}


def test_bad_messages_are_put_into_a_file(tmp_path):
    file = tmp_path / "bad.jsonl"

    rows_of(stream_of([GOOD, b"\xff\x00", GOOD, b"oops"], quarantine=str(file)))

    entries = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(entry["offset"], entry.get("message"), entry.get("base64")) for entry in entries] == [
        (1, None, "/wA="),
        (3, "oops", None),
    ]
    assert "found no JSON" in entries[1]["reason"]


@pytest.mark.parametrize(
    ("until", "rows"),
    [("offset 1", 2), ("examples 5", 5), ("lag 0", 7), ("1970-01-01T00:00:00.004+00:00", 2), (None, 7)],
)
def test_a_reading_ends_where_it_is_told_to(until, rows):
    assert rows_of(stream_of(MESSAGES, until=until)) == VALUES[:rows]


@pytest.mark.parametrize("format", ["svmlight", "vw"])
def test_messages_of_other_formats_are_told_by_their_first(format):
    lines = {"svmlight": [b"# nothing\n1 1:2.5", b"-1 2:3"], "vw": [b"1 | a:2.5", b"-1 | b:3"]}[format]
    stream = stream_of(lines)

    assert rows_of(stream)[:1] == [2.5]
    assert stream._decoder.format.name == format


def test_what_members_hold_is_decided_by_the_first_messages_however_they_arrive():
    values = [b'{"label": 1, "code": "%02d"}' % (k % 10) for k in range(50)] + [b'{"label": 1, "code": "A"}'] * 10
    found = []
    for at_once in (1, 7, 60):
        with stream_of(values, at_once) as stream:
            found.append(np.concatenate([block.indices[: block.nonzeros] for block in stream]).tolist())

    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("count", [40, 3000])
def test_edges_of_bins_are_told_by_the_first_messages_however_they_arrive(count):
    values = [b'{"label": 1, "a": %d}' % (k * 7919 % 1000) for k in range(count)]
    found = []
    for at_once in (1 if count < 100 else 300, 700, 5000):
        options = make_options({"bins": ["a=4"]})
        with LogStream(MemoryLog(values, at_once), Decoder, None, options, Reading()) as stream:
            blocks = list(stream)
        indices = [block.indices[int(block.offsets[0]) : int(block.offsets[-1])] for block in blocks]
        found.append((stream.space.edges, np.concatenate(indices).tolist()))

    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        ({"until": "soon"}, "until 'lag 0', 'offset N'"),
        ({"begin": "middle"}, "from 'beginning', 'end'"),
        ({"on_gap": "x"}, "on_gap must be"),
    ],
)
def test_what_makes_no_sense_is_refused(reading, message):
    with pytest.raises(OuzelError, match=message):
        Reading(**reading)


def test_a_log_without_examples_is_an_error():
    with pytest.raises(DataError, match="there are no examples in it"):
        rows_of(stream_of([None, b""]))


def test_messages_without_values_do_not_decide_what_members_hold():
    class Late(MemoryLog):
        def read(self, position, follow):
            yield Batch("", [0, 1], [None, b" "])
            yield Idle.AT_END
            yield Batch("", [2, 3], [b'{"label": 1, "code": 7}', b'{"label": 0, "code": "A"}'])

    with LogStream(Late([]), Decoder, "jsonl", Options(), Reading()) as stream:
        rows = sum(block.rows for block in stream)

    assert rows == 2
    assert stream.space.kinds == {"code": "category"}
