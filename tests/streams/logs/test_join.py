"""Labels that come later, in a log of their own: each example is learnt once, when it has both."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.errors import DataError
from ouzel.streams.logs import protocol
from ouzel.streams.logs.decode import Decoder
from ouzel.streams.logs.join import JoinedLog
from ouzel.streams.logs.messages import MetadataFields
from ouzel.streams.logs.protocol import Batch, Idle, JoinState, Position
from ouzel.streams.logs.reading import Reading
from ouzel.streams.logs.stream import LogStream
from ouzel.streams.options import Options
from tests.streams.logs.brokers import KINDS
from tests.streams.logs.killing import LONGEST, train, train_to_the_end, train_with_kills
from tests.streams.logs.memory_log import MemoryLog
from tests.streams.logs.servers import kafka_broker, make_topic, messages, running

SETTINGS = ("--learner", "adagrad", "--checkpoint-every", 1000)


class TimedLog(MemoryLog):
    """A log in memory of messages (time, key, value)."""

    def __init__(self, entries, at_once=3):
        super().__init__([entry[2] for entry in entries], at_once)
        self.entries = entries

    def read(self, position, follow):
        for found in super().read(position, follow):
            if isinstance(found, Batch):
                here = [self.entries[place] for place in found.places]
                metadata = [{} if key is None else {"key": key} for _, key, _ in here]
                found = found._replace(times=[time for time, _, _ in here], metadata=metadata)
            yield found


def event(time, key, value=None):
    return (time, key, json.dumps({"a": time if value is None else value}).encode())


def label(time, key, value=1):
    return (time, key, json.dumps(value).encode())


def stream_of(events, labels, at_once=3, position=None, on_error="raise", **reading):
    given = Reading(labels="memory://labels", metadata=MetadataFields(), **reading)
    log = JoinedLog(TimedLog(events, at_once), TimedLog(labels, at_once), given, "label")
    return LogStream(log, Decoder, "jsonl", Options(on_error=on_error), given, position)


def rows_of(stream, most=None):
    """The value and the label of each example, up to so many."""
    found = []
    with stream:
        for block in stream:
            for k in range(block.rows):
                start, end = int(block.offsets[k]), int(block.offsets[k + 1])
                found.append((*block.values[start:end].tolist(), block.labels[k].item()))
                if len(found) == most:
                    stream.learnt(most)
                    return found
    return found


def counts(stream):
    state = stream.committed.joined
    return state.late, state.unlabelled, len(state.pending[0]), len(state.pending[1])


def test_an_example_is_learnt_when_its_label_comes_in_the_order_of_labels():
    events = [event(1, "a"), event(2, "b"), event(3, "c")]
    labels = [label(4, "c", 0), label(5, "a", 1)]
    stream = stream_of(events, labels)

    assert rows_of(stream) == [(3.0, 0.0), (1.0, 1.0)]
    assert counts(stream) == (0, 0, 1, 0)


def test_a_label_may_come_before_its_event_and_be_an_object_or_a_word():
    events = [event(5, "a"), event(6, "b")]
    labels = [(1, "a", b'{"label": 1, "more": 2}'), label(2, "b", 0)]

    assert rows_of(stream_of(events, labels)) == [(5.0, 1.0), (6.0, 0.0)]


def test_what_comes_later_than_the_bound_is_counted_and_told():
    events = [event(k, f"k{k}") for k in range(10)]
    labels = [label(4, "k2"), label(4, "k0"), label(20, "k9"), label(21, "k8"), label(22, "nobody")]
    stream = stream_of(events, labels, within=3)

    assert rows_of(stream) == [(2.0, 1.0), (9.0, 1.0), (8.0, 1.0)]
    assert counts(stream) == (1, 6, 1, 1)
    assert sorted(stream.remarks, reverse=True) == [  # two threads make them
        "memory://log with memory://log: left out: labels without an event among the last 3 (1), "
        "events without a label before 3 more came (6)",
        "label: label (by its name)",
    ]


def test_labels_wait_within_the_bound_too():
    labels = [label(0, f"x{k}") for k in range(5)] + [label(1, "k7")]
    stream = stream_of([event(k, f"k{k}") for k in range(1, 9)], [*labels, label(9, "k8")], within=4)

    assert rows_of(stream) == [(8.0, 1.0)]
    assert counts(stream) == (6, 4, 3, 0)
    assert any("labels without an event among the last 4 (6)" in line for line in stream.remarks)


def test_what_waits_takes_no_more_of_a_model_file_than_it_may(monkeypatch):
    monkeypatch.setattr(protocol, "MOST_BYTES", 1000)
    events = [(k, f"k{k}", json.dumps({"a": k, "b": '"\\\n' * 20}).encode()) for k in range(1, 10)]
    stream = stream_of(events, [label(20, "k9"), label(21, "k1")])
    rows_of(stream)
    state = stream.committed.joined
    stored = json.dumps(json.dumps([[key, *kept] for key, kept in state.pending[0].items()]))

    assert stream.committed.examples == 1
    assert 0 < state.unlabelled <= 8
    assert len(stored) <= state.bytes + 4 <= 1000
    assert JoinState.from_json(state.to_json()).bytes == state.bytes


def test_messages_without_a_key_and_keys_that_come_again():
    events = [event(1, None), event(2, "a"), event(3, "a"), (4, "gone", None)]
    stream = stream_of(events, [label(5, "a"), label(6, None), label(7, "a")])

    assert rows_of(stream) == [(3.0, 1.0)]
    assert counts(stream) == (1, 2, 0, 1)


def test_a_member_of_both_finds_the_event():
    events = [(1, None, b'{"id": 7, "a": 2}'), (2, None, b'{"id": "x", "a": 3}')]
    labels = [(3, None, b'{"id": "x", "label": 0}'), (4, None, b'{"label": 1, "id": 7}')]
    stream = stream_of(events, labels, by="id")

    assert [row[-1] for row in rows_of(stream)] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("events", "labels", "said"),
    [
        ([(1, "a", b"oops")], [label(2, "a")], "offset events :0, column 1: found no JSON"),
        ([(1, "a", b'{"a": }')], [label(2, "a")], "offset events :0, column"),
        ([event(1, "a")], [(2, "a", b'{"id": 1}')], "offset labels :0, column 1: found no JSON"),
        ([event(1, "a")], [(2, "a", b'{"label": ')], "offset labels :0, column 1: found no JSON"),
        ([event(1, "a")], [(2, "a", b"[1]")], "offset labels :0, column 1: found no JSON"),
    ],
)
def test_what_is_neither_event_nor_label_is_told_by_its_place(events, labels, said):
    with pytest.raises(DataError, match=said):
        rows_of(stream_of(events, labels))
    more = stream_of([*events, event(8, "z")], [*labels, label(9, "z")], on_error="skip")

    assert (8.0, 1.0) in rows_of(more)
    assert more.skipped == 1


ENTRY = st.tuples(st.integers(0, 30), st.sampled_from([*"abcdefgh", None]))


@given(
    st.lists(ENTRY, max_size=20),
    st.lists(ENTRY, max_size=20),
    st.integers(1, 5),
    st.integers(1, 6),
    st.integers(1, 9),
    st.integers(1, 5),
)
def test_a_reading_that_stops_after_any_row_goes_on_with_the_next(events, labels, at_once, within, rows, again):
    events = [event(time, key, k) for k, (time, key) in enumerate([*events, (32, "z")], 1)]
    labels = [label(time, key) for time, key in [*labels, (33, "z")]]
    whole = stream_of(events, labels, at_once, within=within)
    everything = rows_of(whole)
    stream = stream_of(events, labels, at_once, within=within)
    first = rows_of(stream, rows)
    position = Position.from_json(json.loads(json.dumps(stream.committed.to_json())))

    rest = stream_of(events, labels, again, position, within=within)

    assert first + (rows_of(rest) if len(first) == rows else []) == everything
    if len(first) == rows:
        assert rest.committed.to_json() == whole.committed.to_json()


def test_logs_that_grow_give_no_example_twice_whatever_times_their_messages_have():
    events = [event(k, f"k{k}") for k in range(1, 6)]
    labels = [label(7, "k1"), label(8, "k2")]
    stream = stream_of(events, labels)
    first = rows_of(stream)
    position = Position.from_json(json.loads(json.dumps(stream.committed.to_json())))
    grown = [*labels, label(1, "k3"), label(2, "k9")]

    assert first == [(1.0, 1.0), (2.0, 1.0)]
    assert rows_of(stream_of([*events, event(0, "k9", 9)], grown, position=position)) == [(3.0, 1.0), (9.0, 1.0)]


def test_two_logs_are_merged_by_time_whatever_comes_first():
    class Slow(TimedLog):
        def read(self, position, follow):
            for _ in range(3):
                yield Idle.WAITING
            yield from super().read(position, follow)

    events = [event(k, f"k{k}") for k in range(20)]
    labels = [label(k + 0.5, f"k{k}") for k in range(20)]
    found = []
    for kinds in ((TimedLog, TimedLog), (Slow, TimedLog), (TimedLog, Slow)):
        given = Reading(labels="memory://labels", within=1)
        log = JoinedLog(kinds[0](events, 7), kinds[1](labels, 4), given, "label")
        found.append(rows_of(LogStream(log, Decoder, "jsonl", Options(), given)))

    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 20


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--join-window", 5), "--join-window goes with --labels"),
        (("--labels", "kafka://a/b", "--join-window", 0), "--join-window must be a whole number"),
        (("--labels", "labels.jsonl"), "labels come from a log"),
        (("--labels", "sqlite:///a?cursor=id#SELECT 1"), "labels come from a log"),
        (("--labels", "redis://a/b"), "has no keys to find labels by; name a member of both logs with --join-key id"),
        (("--join-key", "id"), "needs a log of labels; leave out --join-key id"),
        (("--labels", "kafka://a/b", "--format", "vw"), "labels are joined to messages of JSON"),
    ],
)
def test_what_makes_no_sense_is_one_line(ouzel, given, said):
    ran = ouzel("train", "kafka://127.0.0.1:1/clicks", *given)

    assert ran.status == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1


def parted(count):
    """Events without labels, and labels in another order, each with a key."""
    chance, rows = random.Random(count), [json.loads(line) for line in messages(count)]
    events = [
        json.dumps({"id": k, **{name: row[name] for name in row if name != "label"}}).encode()
        for k, row in enumerate(rows)
    ]
    order = sorted(range(count), key=lambda k: k + chance.random() * 500)
    return events, [json.dumps({"id": k, "label": rows[k]["label"]}).encode() for k in order]


def produce_joined(port, count, partitions):
    from confluent_kafka import Producer

    room = {"queue.buffering.max.messages": 10_000_000, "queue.buffering.max.kbytes": 2_000_000}
    producer = Producer({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0, **room})
    for topic, lines in zip(("events", "labels"), parted(count), strict=True):
        make_topic(port, topic, partitions)
        for k, line in enumerate(lines):
            key = str(json.loads(line)["id"])
            producer.produce(topic, line, key=key, partition=int(key) % partitions, timestamp=10**12 + 2 * k)
            if k % 1000 == 0:
                producer.poll(0)
    producer.flush(60)


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize(("count", "kills"), [(20_000, 2), pytest.param(200_000, 100, marks=pytest.mark.long)])
def test_a_training_of_two_topics_that_is_killed_ends_as_the_unbroken_one(tmp_path, partitions, count, kills):
    pytest.importorskip("confluent_kafka")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with running(kafka_broker, tmp_path) as broker:
        produce_joined(broker.port, count, partitions)
        events, labels = (f"kafka://127.0.0.1:{broker.port}/{topic}" for topic in ("events", "labels"))
        command = (events, "--labels", labels, "--join-window", 2000, *SETTINGS)
        said = train_to_the_end(*command, "--model", whole)
        struck = train_with_kills(killed, *command, kills=kills)

    assert struck > kills // 2
    assert examples_in(whole) == count
    assert "left out" not in said
    assert whole.read_bytes() == killed.read_bytes()


@pytest.mark.parametrize("kind", list(KINDS))
def test_labels_come_from_every_broker_by_a_member_while_both_logs_grow(tmp_path, kind):
    server, model, whole = KINDS[kind](tmp_path), tmp_path / "m", tmp_path / "whole"
    events, labels = parted(4000)
    server.start()
    try:
        server.produce("events", events[:3000])
        server.produce("labels", labels[:2000])
        joined = ("--labels", server.address("labels"), "--join-key", "id", "--ignore", "id")
        command = (server.address("events"), *joined, *SETTINGS, "--until", "examples 4000")
        process = train(*command, "--model", model)
        wait_for_file(model)
        server.produce("events", events[3000:])
        server.produce("labels", labels[2000:])
        _, said = process.communicate(timeout=LONGEST)
        train_to_the_end(*command, "--model", whole)
    finally:
        server.kill()

    assert process.returncode == 0, said.decode()
    assert examples_in(model) == 4000
    assert model.read_bytes() == whole.read_bytes()


def wait_for_file(path):
    import time

    end = time.monotonic() + LONGEST
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.05)


def examples_in(model):
    from ouzel.model import persistence

    return persistence.load_model(model).examples
