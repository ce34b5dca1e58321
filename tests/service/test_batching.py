"""What takes long holds nobody up: it leaves the loop, and waits in a queue that is bounded."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ouzel.service.batching import MOST_BYTES, SMALL, Batcher, WouldBlockError
from ouzel.service.limits import ServiceLimits

LINES = {"Content-Type": "application/x-ndjson"}
JSON = {"Content-Type": "application/json"}
WORDS = {f"w{k}": "word" for k in range(1200)}  # more than a small request


@pytest.fixture
def taught(start):
    """A client of a service whose model knows two classes, and the model."""
    client = start()
    client.post("/v1/learn", json=[{"label": "ab"[k % 2], "x": 2 * (k % 2) - 1} for k in range(20)])
    return client, client.app.app.service.first


def meanwhile(client):
    """What must be answered at once whatever goes on."""
    return [client.get(path).status_code for path in ("/health", "/ready", "/metrics", "/v1/models", "/")]


def test_whoever_learns_for_long_holds_up_no_request_but_predictions(taught):
    client, served = taught
    with ThreadPoolExecutor(4) as threads:
        with served.owner.lock:  # as a group of very wide examples has it
            begun = time.perf_counter()
            waiting = [threads.submit(client.post, "/v1/predict", json={"x": sign}) for sign in (1, -1)]
            waiting += [threads.submit(client.post, "/v1/predict", json=[{"x": 1}] * 3)]
            waiting += [threads.submit(client.post, "/v1/learn", json={"label": "a", "x": 1})]
            for _ in range(20):
                assert meanwhile(client) == [200] * 5
            took = time.perf_counter() - begun
            assert not any(future.done() for future in waiting)
        answers = [future.result().json() for future in waiting]

    assert took < 10.0
    assert [answer["prediction"] for answer in answers[:2]] == ["b", "a"]
    assert [answer["prediction"] for answer in answers[2]] == ["b"] * 3
    assert answers[3]["number"] == 21


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/explain"])
def test_a_long_example_that_is_asked_about_holds_up_nobody(taught, monkeypatch, path):
    client, served = taught
    begun, go_on = threading.Event(), threading.Event()
    reading = served.owner.background_reading
    for name in ("whole", "line"):
        read = getattr(reading, name)

        def slowly(*given, read=read, **more):
            begun.set()
            assert go_on.wait(30)
            return read(*given, **more)

        monkeypatch.setattr(reading, name, slowly)
    with ThreadPoolExecutor(1) as threads:
        long = threads.submit(client.post, path, json={"x": 1, **WORDS})
        assert begun.wait(30)
        assert client.post("/v1/predict", json={"x": -1}).json()["prediction"] == "a"
        assert client.post("/v1/learn", json={"label": "a", "x": 1}).json()["number"] == 21
        assert meanwhile(client) == [200] * 5
        assert not long.done()
        go_on.set()

        assert long.result().json()["prediction"] == "b"


def test_a_long_example_that_is_read_to_be_learnt_holds_up_no_prediction(taught, monkeypatch):
    client, served = taught
    begun, go_on = threading.Event(), threading.Event()
    plain = served.owner.reading._plain[False]
    read = plain.read

    def slowly(chunk):
        begun.set()
        assert go_on.wait(30)
        return read(chunk)

    monkeypatch.setattr(plain, "read", slowly)
    with ThreadPoolExecutor(1) as threads:
        long = threads.submit(client.post, "/v1/learn", json={"label": "a", "x": 1, **WORDS})
        assert begun.wait(30)
        for body in ({"x": -1}, [{"x": -1}] * 2, {"x": -1, **WORDS}):
            assert client.post("/v1/predict", json=body).status_code == 200
        assert not long.done()
        go_on.set()

        assert long.result().json()["number"] == 21


def test_what_is_long_is_answered_as_what_is_short(taught):
    client, _ = taught
    one = client.post("/v1/predict", json={"x": 1}).json()
    blanks = b'{"x": 1' + b" " * SMALL + b"}"
    padded = client.post("/v1/predict", content=blanks, headers=JSON).json()
    many = [b'{"x": 1}'] * 3000 + [b'{"x": 1e99}']
    array = client.post("/v1/predict", content=b"[" + b",".join(many) + b"]", headers=JSON).json()
    lines = client.post("/v1/predict", content=b"\n".join(many), headers=LINES).text.splitlines()
    tensors = {"inputs": [{"name": "x", "shape": [4000], "datatype": "FP64", "data": [1.0] * 4000}]}
    inferred = client.post("/v2/models/model/infer", json=tensors).json()["outputs"][0]["data"]
    learnt = client.post("/v1/learn", json=[{"label": "a", "x": 1, "w": "y" * 100}] * 300).json()

    assert padded == one
    assert client.post("/v1/predict", json={"x": 1, "w": ["y" * 100] * 300, "n": 1e99}).status_code == 422
    assert array[:3000] == [json.loads(line) for line in lines[:3000]] == [one] * 3000
    assert "error" in array[3000]
    assert inferred == [one["prediction"]] * 4000
    assert [answer["number"] for answer in learnt] == [*range(21, 321)]
    for path, bad in (("/v1/predict", b"[" + b"1," * SMALL), ("/v1/label", b"{" + b" " * SMALL)):
        assert client.post(path, content=bad, headers=JSON).status_code == 422


def test_an_example_that_is_long_waits_for_its_label_like_any(taught):
    client, _ = taught
    client.post("/v1/predict", json={"_id": "long", "x": 1, **WORDS})

    assert client.post("/v1/label", json={"id": "long", "label": "b"}).json()["number"] == 21


def test_long_requests_that_wait_are_bounded(start):
    client = start(limits=ServiceLimits(queue_bytes=3 * SMALL))
    client.post("/v1/learn", json=[{"label": k % 2, "x": k} for k in range(4)])
    served = client.app.app.service.first
    text = json.dumps({"x": 1, "w": "y" * 2 * SMALL}).encode()
    with ThreadPoolExecutor(1) as threads:
        with served.owner.lock:
            first = threads.submit(client.post, "/v1/predict", content=text, headers=JSON)
            while not served.background.waiting_bytes:
                time.sleep(0.01)
            refused = client.post("/v1/predict", content=text, headers=JSON)
        assert first.result().status_code == 200

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert served.background.waiting_bytes == 0
    assert client.post("/v1/predict", content=text, headers=JSON).status_code == 200


def test_what_cannot_be_answered_at_once_is_answered_later_in_its_place():
    busy = [True]

    def now(texts):
        if busy[0]:
            raise WouldBlockError
        return [b"now " + text for text in texts]

    async def later(texts):
        busy[0] = False
        await asyncio.sleep(0)
        return [b"later " + text for text in texts]

    async def ask():
        batcher = Batcher(now, later)
        first = await asyncio.gather(batcher.submit(b"a"), batcher.submit(b"b"))
        return [*first, await batcher.submit(b"c")]

    assert asyncio.run(ask()) == [b"later a", b"later b", b"now c"]


def test_only_so_many_bytes_are_answered_in_one_turn_of_the_loop():
    sizes = []

    def now(texts):
        sizes.append(sum(map(len, texts)))
        return list(texts)

    async def ask():
        batcher = Batcher(now)
        return await asyncio.gather(*(batcher.submit(bytes(MOST_BYTES // 3)) for _ in range(10)))

    assert len(asyncio.run(ask())) == 10
    assert sum(sizes) == 10 * (MOST_BYTES // 3)
    assert max(sizes) <= MOST_BYTES
