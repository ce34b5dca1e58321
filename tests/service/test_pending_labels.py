"""What waits for its label has bounds, in memory and on disk."""

import random
import sqlite3
import threading
import time
from contextlib import closing

from ouzel.service.example_log import ROW_OVERHEAD, Log
from ouzel.service.limits import ServiceLimits
from ouzel.service.pending_labels import PendingLabels

FEW = ServiceLimits(unlabelled_bytes=50_000)
JSON = {"Content-Type": "application/json"}


def on_disk(tmp_path, folder="model"):
    """Ids of what waits, and the bytes of their lines."""
    with closing(sqlite3.connect(tmp_path / folder / "log.sqlite")) as log:
        rows = log.execute("SELECT id, length(line) FROM waiting ORDER BY rowid").fetchall()
    return [row[0] for row in rows], sum(row[1] for row in rows)


def test_the_oldest_make_room_for_bytes(start, tmp_path):
    client = start(limits=FEW)
    for k in range(20):
        client.post("/v1/predict", json={"_id": f"u{k}", "w": "w" * 10_000})
    client.post("/v1/learn", json={"label": 1, "x": 1})  # what waits is written with it
    found = client.get("/v1/model").json()
    metrics = client.get("/metrics").text

    assert found["waiting_for_labels"] == 4
    assert 40_000 < found["waiting_for_labels_bytes"] <= 50_000
    assert on_disk(tmp_path)[0] == ["u16", "u17", "u18", "u19"]
    assert 'ouzel_unlabelled_dropped_total{limit="unlabelled_bytes",model="model"} 16.0' in metrics
    assert client.post("/v1/label", json={"id": "u15", "label": 1}).status_code == 404
    assert client.post("/v1/label", json={"id": "u16", "label": 1}).status_code == 200


def test_what_was_written_and_dropped_later_leaves_the_disk(start, tmp_path):
    client = start(limits=ServiceLimits(unlabelled=3))
    for k in range(9):
        client.post("/v1/predict", json={"_id": f"u{k}", "x": 1})
        client.post("/v1/learn", json={"label": k % 2, "x": k})

    assert on_disk(tmp_path)[0] == ["u6", "u7", "u8"]


def test_what_a_disk_has_beyond_the_bounds_is_dropped_at_the_start(start, tmp_path):
    client = start()
    for k in range(20):
        client.post("/v1/predict", json={"_id": f"u{k}", "w": "w" * 10_000})
    client.__exit__(None, None, None)
    assert len(on_disk(tmp_path)[0]) == 20
    again = start(limits=FEW).get("/v1/model").json()

    assert again["waiting_for_labels"] == 4
    assert on_disk(tmp_path)[0] == ["u16", "u17", "u18", "u19"]


def test_an_example_larger_than_the_bound_does_not_wait(start):
    client = start(limits=ServiceLimits(unlabelled_bytes=1000))
    predicted = client.post("/v1/predict", json={"_id": "large", "w": "w" * 2000})

    assert predicted.status_code == 200
    assert client.get("/v1/model").json()["waiting_for_labels"] == 0


def test_the_disk_has_what_memory_has_whatever_is_added_labelled_and_dropped(tmp_path):
    rng, limits = random.Random(0), ServiceLimits(unlabelled=6, unlabelled_bytes=6 * ROW_OVERHEAD + 400)
    log = Log(tmp_path / "log.sqlite")
    unlabelled = PendingLabels(limits)
    for _ in range(300):
        id = f"u{rng.randrange(12)}"
        step = rng.random()
        if step < 0.5:
            unlabelled.add(id, b"x" * rng.randrange(150))
        elif step < 0.7:
            unlabelled.remove(id)
        changes = unlabelled.changes()
        if rng.random() < 0.5:
            unlabelled.add(f"u{rng.randrange(12)}", b"y")  # while it is written
        labelled = [id] if step > 0.9 else []
        log.append([], changes.waiting, [*labelled, *changes.gone])
        unlabelled.written(changes, labelled)
        for each in labelled:
            unlabelled.remove(each)
        assert unlabelled.bytes <= limits.unlabelled_bytes
        assert len(unlabelled) <= limits.unlabelled
    changes = unlabelled.changes()
    log.append([], changes.waiting, changes.gone)
    unlabelled.written(changes, [])

    stored = log.waiting(0.0)
    assert not unlabelled.changed
    assert {entry.id for entry in stored} == {entry.id for entry in stored if unlabelled.find(entry.id) == entry}
    assert len(stored) == len(unlabelled)
    assert sum(entry.size for entry in stored) == unlabelled.bytes


def test_what_waits_to_be_learnt_has_a_bound_in_bytes(start):
    client = start(limits=ServiceLimits(queue_bytes=1000))
    served = client.app.app.service.first
    large = {"label": 1, "w": "w" * 800}
    statuses = []
    with served.owner.lock:  # nothing is learnt meanwhile
        first = threading.Thread(target=lambda: statuses.append(client.post("/v1/learn", json=large).status_code))
        first.start()
        while not served.writer.waiting_bytes:
            time.sleep(0.01)
        refused = client.post("/v1/learn", json=large)
    first.join()

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert statuses == [200]
    assert served.writer.waiting_bytes == 0
    assert client.post("/v1/learn", json={"label": 0, "w": "w" * 2000}).status_code == 200  # alone, it may take more
