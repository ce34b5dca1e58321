"""Streams of events: what they say is made once for all of them, and others are answered however many are open."""

import asyncio
import json
import os
from contextlib import ExitStack, aclosing

import httpx
import pytest

from ouzel.evaluation.alarm import Drift
from ouzel.service.events import Events, Moment, event_of
from ouzel.service.folder import Folder, begin
from ouzel.service.limits import ServiceLimits, limits_of
from ouzel.service.server import Place
from tests.service.killing import Running


class Model:
    """What changes from moment to moment."""

    def __init__(self):
        self.made, self.drift, self.ending = 0, [Drift(7, 0.5)], False

    def moment(self):
        self.made += 1
        return Moment(list(self.drift), f"snapshot-{self.made // 3}", event_of("figures", {"made": self.made}))


async def read(events, count):
    found = []
    async with aclosing(events.stream()) as stream:
        async for event in stream:
            found.append(event)
            if len(found) == count:
                return found
    raise AssertionError("the stream ended")


def test_events_are_made_once_however_many_streams_there_are(monkeypatch):
    monkeypatch.setattr("ouzel.service.events.INTERVAL", 0.02)

    async def work(streams):
        model = Model()
        events = Events(model.moment, lambda: model.ending)
        found = await asyncio.gather(*(read(events, 12) for _ in range(streams)))
        assert all(one == found[0] for one in found)
        assert not events._streams
        return model.made

    assert asyncio.run(work(300)) <= asyncio.run(work(1)) + 1


def test_a_stream_begins_at_once_tells_new_alarms_once_and_ends_with_the_service(monkeypatch):
    monkeypatch.setattr("ouzel.service.events.INTERVAL", 0.02)
    model = Model()

    async def work():
        events, said = Events(model.moment, lambda: model.ending), []
        async for event in events.stream():
            said.append(event.decode())
            if len(said) == 3:
                model.drift.append(Drift(12, 0.25))
            model.ending = len(said) > 9
        await asyncio.sleep(0.05)
        assert events._task is None
        again = await read(events, 2)
        assert [event.split(b"\n")[0] for event in again] == [b"event: snapshot", b"event: figures"]
        return said

    said = asyncio.run(work())
    assert said[0].startswith("event: snapshot")
    alarms = [json.loads(event.split("data: ")[1]) for event in said if event.startswith("event: drift")]
    assert alarms == [{"example": 12, "before": 0.25}]


def test_one_stream_that_goes_takes_no_other_with_it(monkeypatch):
    monkeypatch.setattr("ouzel.service.events.INTERVAL", 0.02)

    async def work():
        model = Model()
        events = Events(model.moment, lambda: model.ending)
        going = [asyncio.create_task(read(events, 10_000)) for _ in range(5)]
        staying = asyncio.create_task(read(events, 20))
        await asyncio.sleep(0.05)
        for task in going:
            task.cancel()
        assert len(await staying) == 20

    asyncio.run(work())


def test_an_error_ends_the_streams_and_not_those_that_come_later(monkeypatch):
    monkeypatch.setattr("ouzel.service.events.INTERVAL", 0.02)
    model = Model()

    def make():
        if model.made == 2:
            model.made += 1
            raise RuntimeError("once")
        return model.moment()

    async def work():
        events = Events(make, lambda: False)
        with pytest.raises(RuntimeError, match="once"):
            await read(events, 20)
        assert len(await read(events, 5)) == 5

    asyncio.run(work())


def test_streams_are_at_most_half_of_the_connections():
    assert ServiceLimits().most_streams == 200
    assert limits_of(["connections=100"]).most_streams == 50
    assert limits_of(["streams=7"]).most_streams == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="services are forked")
def test_others_are_answered_while_as_many_streams_are_open_as_may_be(tmp_path):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {})
    running = Running(folder, place=Place(limits=ServiceLimits(connections=40)))
    try:
        with (
            httpx.Client(base_url=running.address, limits=httpx.Limits(max_connections=None)) as client,
            ExitStack() as opened,
        ):
            asked = [opened.enter_context(client.stream("GET", "/v1/events")) for _ in range(30)]
            statuses = [response.status_code for response in asked]
            assert (statuses.count(200), statuses.count(503)) == (20, 10)
            refused = asked[statuses.index(503)]
            assert "20 streams of events are open" in refused.read().decode()
            assert refused.headers["Retry-After"] == "5"
            lines = asked[0].iter_lines()
            assert next(lines).startswith("event: ")
            assert client.get("/health").status_code == 200
            assert client.post("/v1/learn", json={"label": 1, "x": 1}).status_code == 200
            assert "ouzel_event_streams 20.0" in client.get("/metrics").text
        with httpx.stream("GET", f"{running.address}/v1/events") as again:
            assert again.status_code == 200
    finally:
        running.end()
