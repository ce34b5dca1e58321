"""Logs that feed a service: each message is learnt once, whatever is killed, and what is read is told."""

import io
import json
import os
import random
import time
from contextlib import contextmanager
from dataclasses import replace

import httpx
import pyarrow
import pytest

from ouzel.errors import OuzelError
from ouzel.service import feed as feeds
from ouzel.service.example_log import Log
from ouzel.service.feed import FeedLines, Plan, check_messages, plans_of
from ouzel.service.folder import Folder, begin
from ouzel.service.served import Served
from ouzel.service.server import Place
from ouzel.streams.logs.messages import metadata_fields
from ouzel.streams.logs.protocol import Batch, Position, gap
from ouzel.streams.logs.reading import Reading
from tests.service.killing import Running
from tests.streams.logs.brokers import KINDS
from tests.streams.logs.memory_log import GrowingLog
from tests.streams.logs.servers import kafka_broker, make_topic, messages, produce, running
from torture.killing import strike

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

PLAN = Plan("kafka://broker:9092/clicks")


def wait_until(true, what, seconds=30.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return
        time.sleep(0.02)
    raise AssertionError(f"it does not come to pass: {what}")


@pytest.fixture
def follow(start, monkeypatch):
    """`follow(log)`: a client of a service that is fed by a log in memory."""
    monkeypatch.setattr(feeds, "SHORTEST", 0.01)

    begun = Served.start

    def followed(log, plan=PLAN, **options):
        monkeypatch.setattr(feeds, "open_log", lambda url, reading: log)
        monkeypatch.setattr(
            Served, "start", lambda self: (self.set_feeds([plan] * (self.name == "model")), begun(self))
        )
        return start(**options)

    return followed


def state(client):
    return client.get("/v1/model").json()["feeds"][0]


def learnt(client, count):
    wait_until(lambda: state(client)["examples"] == count, f"{count} examples of the log")


def test_a_model_follows_a_log_and_tells_where_it_stands(follow):
    log = GrowingLog(messages(50))
    client = follow(log)
    learnt(client, 50)
    said = state(client)

    assert (said["log"], said["position"], said["behind"], said["failure"]) == ("clicks", {"": 49}, 0, None)
    assert client.get("/v1/model").json()["examples"] == 50
    metrics = client.get("/metrics").text
    assert 'ouzel_feed{feed="clicks",figure="behind",model="model"} 0.0' in metrics
    assert 'ouzel_feed{feed="clicks",figure="examples",model="model"} 50.0' in metrics


def test_messages_are_learnt_once_and_in_order_beside_requests(follow):
    log = GrowingLog(messages(30))
    client = follow(log)
    learnt(client, 30)
    client.post("/v1/learn", json={"label": 1, "price": 2.0})
    client.__exit__(None, None, None)
    again = follow(GrowingLog(messages(40)))
    learnt(again, 40)

    lines = again.get("/v1/log?format=jsonl").content.splitlines()
    assert lines[:30] + lines[31:] == messages(40)
    assert json.loads(lines[30]) == {"label": 1, "price": 2.0}


def test_a_message_that_is_not_an_example_is_counted_and_kept_to_look_at(follow):
    values = messages(6)
    values[2], values[4] = b'{"price": 1}', b'{"label": 1, "price":'
    client = follow(GrowingLog(values))
    learnt(client, 4)
    wait_until(lambda: state(client)["position"] == {"": 5}, "the whole log")

    assert state(client)["refused"] == 2
    assert [entry["line"].encode() for entry in client.get("/v1/quarantine").json()] == [values[4], values[2]]


def test_a_log_of_which_nothing_is_learnt_says_so_once_and_what_to_do(follow):
    values = [value.replace(b"label", b"bought") for value in messages(20)]
    client = follow(GrowingLog(values))
    wait_until(lambda: state(client)["position"] == {"": 19}, "the whole log")

    said = state(client)
    assert (said["examples"], said["refused"]) == (0, 20)
    assert said["remark"].startswith("clicks: nothing of the first")
    assert "found no label; expected 'label'" in said["remark"]
    assert "--label NAME" in said["remark"]


def test_a_log_that_cannot_be_read_is_told_and_tried_again(follow):
    class Trimmed(GrowingLog):
        whole = False

        def read(self, position, follow):
            if not self.whole:
                raise gap(self.name, "", "offset 1", "offset 7", 5)
            yield from super().read(position, follow)

    log = Trimmed(messages(10))
    client = follow(log)
    wait_until(lambda: state(client)["failure"], "the failure")

    assert "5 messages between offset 1, the last one learnt, and offset 7" in state(client)["failure"]
    assert "--on-gap skip" in state(client)["failure"]
    assert client.get("/ready").status_code == 503
    assert client.post("/v1/learn", json={"label": 1, "price": 1.0}).status_code == 200
    log.whole = True
    learnt(client, 10)
    assert client.get("/ready").status_code == 200


def test_another_log_of_the_same_name_is_begun_only_if_told_so(follow):
    class Named(GrowingLog):
        cluster = "one"

        def identity(self):
            return {**super().identity(), "cluster": self.cluster}

    first = follow(Named(messages(5)))
    learnt(first, 5)
    first.__exit__(None, None, None)
    other = Named(messages(3, seed=1))
    other.cluster = "two"
    refused = follow(other)
    wait_until(lambda: state(refused)["failure"], "the failure")

    assert "has read log with cluster one, and this is one with cluster two" in state(refused)["failure"]
    assert "--feed-reset" in state(refused)["failure"]
    refused.__exit__(None, None, None)
    anew = follow(other, replace(PLAN, anew=True))
    wait_until(lambda: anew.get("/v1/model").json()["examples"] == 8, "the examples of both")


def test_nothing_of_a_log_is_passed_over_while_the_disk_is_full(follow, monkeypatch):
    from ouzel.service.example_log import LogFullError

    full = [True]
    append = Log.append

    def failing(self, *given):
        if full:
            raise LogFullError("log.sqlite: cannot be written or read (disk is full)")
        append(self, *given)

    monkeypatch.setattr(Log, "append", failing)
    client, failures = follow(GrowingLog(messages(20))), []

    def failed():
        failures.append(state(client)["failure"])  # there is none while it tries again
        return failures[-1]

    wait_until(failed, "the failure")
    assert "disk is full" in failures[-1]
    full.clear()
    learnt(client, 20)

    assert client.get("/v1/log?format=jsonl").content.splitlines() == messages(20)


def test_a_promoted_shadow_goes_on_with_the_log_where_the_first_model_stood(follow):
    log = GrowingLog(messages(20))
    client = follow(log, names=("model", "next"), shadow=True)
    learnt(client, 20)
    client.post("/v1/models/next/promote")
    log.values = messages(30)
    learnt(client, 30)

    assert client.get("/v1/models/next/log?format=jsonl").content.splitlines() == messages(30)
    assert client.get("/v1/models/model/model").json()["examples"] == 20


@pytest.mark.parametrize(
    ("format", "values"),
    [
        ("jsonl", [b'{"label": 1, "a": 2}\n{"label": 0, "a": 3}', None, b'{"label":\n1, "b": 1}', b""]),
        ("svmlight", [b"1 3:2\n0 4:1", None, b"1 3:1", b""]),
        ("vw", [b"1 | a:2 b\n-1 | a:3", None, b"1 | b", b""]),
    ],
)
def test_a_position_lies_behind_each_line_and_nothing_is_met_twice(tmp_path, monkeypatch, format, values):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {})
    owner, log = folder.open()
    log.close()
    monkeypatch.setattr("ouzel.service.feed.AT_ONCE", 1)
    batch = Batch("7", [10, 11, 12, 13], values)
    parts = list(FeedLines(owner.reading, "clicks", None).parts(batch, Position()))

    assert [len(part.lines) for part in parts] == [1, 1, 1]
    assert parts[0].position.within == ("7", 1)
    assert [part.position.last for part in parts] == [{}, {"7": 10}, {"7": 13}]
    assert {part.position.format for part in parts} == {format}
    for k, part in enumerate(parts):
        rest = batch.cut(0 if k == 0 else 1, 4)
        again = list(FeedLines(owner.reading, "clicks", format).parts(rest, part.position)) if k < 2 else []
        assert texts(again) == texts(parts[k + 1 :])


def texts(parts):
    """The text of each line of some parts."""
    return [[given.text for given in part.lines] for part in parts]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"feed": ["clicks.jsonl"]}, "--feed takes the address of a log"),
        ({"feed": ["kafka://broker"]}, "expected kafka://server:port/name"),
        ({"feed": ["kafka://a:1/t", "kafka://b:1/t"]}, "--feed names a log twice: t, t"),
        ({"feed": ["kafka://a:1/t"], "feed_format": "csv"}, "--feed-format takes svmlight, libffm, vw"),
        ({"feed": ["kafka://a:1/t"], "feed_begin": "soon"}, "a log is read from 'beginning'"),
        ({"feed": ["kafka://a:1/t"], "on_gap": "maybe"}, "on_gap must be 'raise' or 'skip'"),
    ],
)
def test_what_makes_no_sense_is_one_line(given, said):
    usual = {"feed": None, "feed_begin": "beginning", "feed_format": None, "feed_anew": False, "on_gap": None}
    with pytest.raises(OuzelError, match=said):
        plans_of(**{**usual, **given})


def test_what_comes_beside_messages_is_learnt_with_them_and_stands_in_the_log_of_examples(tmp_path):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {"with_key": True})
    owner, log = folder.open()
    log.close()
    sink = io.BytesIO()
    table = pyarrow.table({"label": [1, 0], "a": [2.5, 3.0]})
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    metadata = [{"key": "ann"}, {}]
    found = []
    for values in ([b'{"label": 1, "a": 2.5}\n{"label": 0, "a": 3.0}', None], [sink.getvalue(), b"oops"]):
        (part,) = FeedLines(owner.reading, "clicks", None).parts(
            Batch("", [7, 8], values, metadata=metadata), Position()
        )
        found.append([json.loads(given.text) for given in part.lines[:2]])
        assert [given.text for given in part.lines[2:]] == [b"oops"] * (values[1] is not None)

    assert metadata_fields(owner.reading.options) == (True, False)
    assert (
        found[0]
        == found[1]
        == [
            {"label": 1, "a": 2.5, "key": "ann"},
            {"label": 0, "a": 3.0, "key": "ann"},
        ]
    )


def test_keys_of_what_has_none_are_refused():
    with pytest.raises(OuzelError, match="stream: has no keys of messages"):
        check_messages([Plan("redis://server/stream")], {"with_key": True})
    with pytest.raises(OuzelError, match="name it with --feed"):
        check_messages([], {"with_headers": True})


@contextmanager
def topic_of(kind, folder, values):
    """A log of a kind with these messages: its address."""
    if not kind.startswith("kafka"):
        server = KINDS[kind](folder)
        server.start()
        try:
            server.produce("clicks", values)
            yield server.address("clicks")
        finally:
            server.kill()
        return
    partitions = int(kind.removeprefix("kafka"))
    with running(kafka_broker, folder) as broker:
        make_topic(broker.port, "clicks", partitions)
        produce(broker.port, "clicks", values, partitions)
        yield f"kafka://127.0.0.1:{broker.port}/clicks"


def followed_through_kills(folder, url, count, kills):
    """Feed a service with a log, and kill it so many times meanwhile; how many examples it had learnt at each kill."""
    begin(folder, None, "adagrad", {}, {})
    place = Place(feeds=[Plan(url, Reading(follow=True))])
    chance, learnt = random.Random(kills), []
    for _ in range(kills):
        strike(Running(folder, place=place), pause=chance.uniform(0.05, 0.5))
        log = Log(folder.path / "log.sqlite")
        learnt.append(log.last())
        log.close()
    process = Running(folder, place=place)
    address = f"{process.address}/v1/model"
    wait_until(lambda: httpx.get(address).json()["feeds"][0]["examples"] == count, f"{count} examples", 300.0)
    wait_until(lambda: httpx.get(address).json()["feeds"][0]["behind"] == 0, "nothing to come")
    process.end()
    return learnt


@pytest.mark.skipif(not hasattr(os, "fork"), reason="services are forked")
@pytest.mark.parametrize(
    ("count", "kills"), [(20_000, 2), pytest.param(300_000, 100, marks=pytest.mark.long)], ids=["few", "many"]
)
@pytest.mark.parametrize("kind", ["kafka1", "kafka3", *KINDS])
def test_a_killed_service_has_learnt_each_message_of_a_log_once(tmp_path, kind, count, kills):
    whole, killed = Folder(tmp_path / "whole" / "model"), Folder(tmp_path / "killed" / "model")
    with topic_of(kind, tmp_path, messages(count)) as url:
        followed_through_kills(whole, url, count, 0)
        learnt = followed_through_kills(killed, url, count, kills)
    under_way = sum(number < count for number in learnt)
    print(f"{kind}: {kills} kills, {under_way} of them while some of {count:,} messages were to come: each learnt once")

    assert Log(killed.path / "log.sqlite").last() == count
    assert whole.snapshots()[-1].read_bytes() == killed.snapshots()[-1].read_bytes()
