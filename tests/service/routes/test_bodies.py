"""Every format of a body with weights, ids, keys and bad lines: learnt as it is read, logged as it is learnt."""

import gzip
import io
import json

import numpy as np
import pyarrow
import pytest

from ouzel.cli.app import run
from ouzel.model.persistence import load_model
from ouzel.service.example_log import Log
from ouzel.service.folder import Folder, begin
from ouzel.streams.formats.catalogue import find

SUMMARY = "/v1/learn?answers=summary"
ROWS = [(label, weight, x) for label, weight, x in zip([1, -1] * 20, [0.5, 2.0, 1.0, 3.5] * 10, range(40), strict=True)]


def json_lines(rows):
    return "".join(json.dumps({"label": y, "w": w, "x": x, "7": 0.25}) + "\n" for y, w, x in rows).encode()


def csv(rows):
    return "".join(["label,w,x,7\n", *(f"{y},{w},{x},0.25\n" for y, w, x in rows)]).encode()


def vw(rows):
    return "".join(f"{y} {w} |x a:{x} b\n" for y, w, x in rows).encode()


def arrow(rows, words=False):
    labels, weights, xs = zip(*rows, strict=True)
    columns = {"label": labels, "w": pyarrow.array(weights, pyarrow.float32()), "x": xs}
    batch = pyarrow.record_batch(columns | ({"word": ["red"] * len(rows)} if words else {}))
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


WEIGHTED = {
    "jsonl": json_lines,
    "vw": vw,
    "csv": csv,
    "tsv": lambda rows: csv(rows).replace(b",", b"\t"),
    "arrow": lambda rows: arrow(rows * 3),
    "arrow of words": lambda rows: arrow(rows, words=True),
}
PLAIN = {
    "svmlight": lambda rows: "".join(f"{y} 3:{x + 1} 7:0.25\n" for y, _, x in rows).encode(),
    "libffm": lambda rows: "".join(f"{y} 0:3:{x + 1} 1:7:0.25\n" for y, _, x in rows).encode(),
}
BODIES = {**WEIGHTED, **PLAIN}


def kind(name):
    return {"Content-Type": find(name.split()[0]).media_types[0]}


def trained(folder, path):
    """The file of `ouzel train` over the log of a service that has ended."""
    exported, output = path / "model.records", path / "trained.ouzel"
    assert run(["train", str(exported), "--resume", str(folder / "base.ouzel"), "--relearn", "-m", str(output)]) == 0
    return output.read_bytes()


@pytest.mark.parametrize("keyed", [False, True], ids=["plain", "with a key"])
@pytest.mark.parametrize("name", BODIES)
def test_the_weights_of_a_body_are_learnt_and_logged(name, keyed, start, tmp_path):
    reading = {"weight": "w"} if name != "vw" and name in WEIGHTED else {}
    weighted, body = name in WEIGHTED, BODIES[name](ROWS)
    client = start(learner="ogd", reading=reading)
    headers = {**kind(name), **({"Idempotency-Key": "once"} if keyed else {})}
    said = client.post(SUMMARY, content=body, headers=headers).json()
    count = len(ROWS) * (3 if name == "arrow" else 1)
    again = client.post(SUMMARY, content=body, headers=headers).json() if keyed else None

    assert (said["learnt"], said["refused"], said["stopped"]) == (count, 0, None)
    assert again is None or (again["repeated"], again["learnt"]) == (count, 0)
    log = client.get("/v1/log").content
    client.post("/v1/snapshot")
    snapshot = client.get("/v1/snapshot").content
    client.__exit__(None, None, None)
    (tmp_path / "model.records").write_bytes(log)
    assert trained(tmp_path / "model", tmp_path) == snapshot
    (tmp_path / "m.ouzel").write_bytes(snapshot)
    stored = weights_in(tmp_path)
    assert stored == pytest.approx([w for _, w, _ in ROWS] * (count // 40) if weighted else [1.0] * count)
    assert start(learner="ogd").get("/v1/snapshot").content == snapshot  # replayed


def weights_in(path):
    """The importance weights in the log of a service, by its reader."""
    folder = Folder(path / "model")
    owner, log = folder.open()
    records = [row.record for row in log.rows()]
    log.close()
    blocks = [owner.reading.block(owner.reading.examples([record])) for record in records]
    return np.concatenate([block.weights for block in blocks]).tolist()


def test_the_log_shows_packed_rows_as_lines_of_json_with_their_weights(client):
    client.post(SUMMARY, content=b"1 2.5 |a price:3 red\n-1 |a price:1\n", headers=kind("vw"))
    first, second = map(json.loads, client.get("/v1/log?format=jsonl").text.splitlines())

    assert first == {"label": 1, "_weight": 2.5, "a^price": 3.0, "a^red": 1.0}
    assert second == {"label": -1, "a^price": 1.0}
    assert client.get("/v1/log?format=csv").status_code == 422


def test_a_bad_line_of_any_format_is_refused_alone_and_named_by_its_number(client):
    vw_body = b"1 |a x\n\n1 |a x:oops\n-1 |b y\nred 0.5 |b z:1\n"
    said = client.post("/v1/learn", content=vw_body, headers=kind("vw")).text.splitlines()
    svm = client.post(SUMMARY, content=b"1 3:1\n# remark\n1 3:x\n-1 7:1\n", headers=kind("svmlight")).json()

    lines = list(map(json.loads, said))
    assert [line.get("line") for line in lines[:-1]] == [1, 3, 4, 5]
    assert "error" in lines[1]
    assert [line["number"] for line in (lines[0], *lines[2:4])] == [1, 2, 3]
    assert (svm["learnt"], svm["refused"], svm["refusals"][0]["line"]) == (2, 1, 3)
    assert "found" in svm["refusals"][0]["error"]


@pytest.mark.parametrize("name", ["jsonl", "csv", "svmlight"])
def test_a_packed_body_is_refused_in_a_line_that_says_so(client, name):
    content = gzip.compress(BODIES[name](ROWS))

    for path in (SUMMARY, "/v1/predict", "/v1/explain", "/v2/models/model/infer"):
        answer = client.post(path, content=content, headers={**kind(name), "Content-Encoding": "gzip"})
        assert answer.status_code == 415
        assert answer.json()["detail"] == "the body's Content-Encoding is 'gzip'; send it unpacked, without that header"
    headers = {**kind(name), "Content-Encoding": "identity"}
    assert client.post(SUMMARY, content=BODIES[name](ROWS), headers=headers).json()["learnt"] == len(ROWS)
    assert client.get("/v1/quarantine").json() == []


def test_the_answers_to_a_stream_are_all_or_a_summary(client):
    answer = client.post("/v1/learn?answers=sumary", content=BODIES["csv"](ROWS), headers=kind("csv"))

    assert (answer.status_code, answer.json()["field"]) == (422, "answers")
    assert client.get("/v1/model").json()["examples"] == 0


def test_rows_without_a_label_are_refused_and_the_others_learnt(client):
    said = client.post(SUMMARY, content=b"1 |a x\n|a y\n-1 |a x\n", headers=kind("vw")).json()

    assert (said["learnt"], said["refused"]) == (2, 1)
    assert "found no label" in said["refusals"][0]["error"]


def test_a_key_means_one_example_whatever_else_its_stream_has(client):
    headers = {**kind("vw"), "Idempotency-Key": "k"}
    first = client.post(SUMMARY, content=b"1 |a x:1 y\n-1 |b z\n", headers=headers).json()
    again = client.post(SUMMARY, content=b"1 |a x:1 y\n-1 |b z\n1 |c new\n", headers=headers).json()
    other = client.post(SUMMARY, content=b"1 |a x:2 y\n", headers=headers).json()

    assert first["learnt"] == 2
    assert (again["repeated"], again["learnt"]) == (2, 1)
    assert "found the key 'k:1' of another example" in other["refusals"][0]["error"]


def test_another_label_of_a_learnt_row_is_refused(client):
    client.post(SUMMARY, content=b"1 |a x\n", headers={**kind("vw"), "Idempotency-Key": "k"})

    assert client.post("/v1/label", json={"id": "k:1", "label": 1}).json()["repeated"]
    assert client.post("/v1/label", json={"id": "k:1", "label": -1}).status_code == 422


def test_names_of_features_survive_in_every_body(client, tmp_path):
    client.post(SUMMARY, content=vw(ROWS), headers=kind("vw"))
    client.post("/v1/learn", json={"label": 1, "x^a": 2.0})
    client.post("/v1/snapshot")
    (tmp_path / "m.ouzel").write_bytes(client.get("/v1/snapshot").content)

    assert "x^a" in [name for _, name in load_model(tmp_path / "m.ouzel").names.to_json()]
    assert {name for name, _ in client.get("/v1/top").json()[0]["features"]} >= {"x^a", "x^b"}


def test_crosses_are_made_of_namespaces_and_of_members_alike(start, tmp_path):
    (tmp_path / "some.vw").write_text("1 |a x |b y\n-1 |a y |b x\n")
    model = str(tmp_path / "crossed.ouzel")
    assert run(["train", str(tmp_path / "some.vw"), "--learner", "ogd", "--cross", "a*b", "-m", model]) == 0
    begin(Folder(tmp_path / "model"), model, None, {}, {})
    client = start()
    body = b"1 |a x |b y:2\n-1 |a z |b y\n1 2.0 |a x |b w\n"
    said = client.post(SUMMARY, content=body, headers=kind("vw")).json()
    client.post("/v1/learn", json={"label": 1, "a": "red", "b": "blue"})
    svm = client.post(SUMMARY, content=b"1 3:1\n", headers=kind("svmlight")).json()
    (tmp_path / "model.records").write_bytes(client.get("/v1/log").content)
    client.post("/v1/snapshot")
    snapshot = client.get("/v1/snapshot").content

    assert said["learnt"] == 3
    assert "no columns or namespaces to make the crosses a*b of" in svm["stopped"]
    assert "a^x*b^y" in {name for name, _ in client.get("/v1/top?n=50").json()[0]["features"]}
    assert trained(tmp_path / "model", tmp_path) == snapshot


def test_a_log_of_an_earlier_version_is_read_on(start, tmp_path):
    """Rows of lines and of Arrow, each in its table, with a snapshot that names the log by its old suffix."""
    client = start()
    client.post(SUMMARY, content=json_lines(ROWS), headers=kind("jsonl"))
    client.post(SUMMARY, content=arrow(ROWS * 3), headers=kind("arrow"))
    client.__exit__(None, None, None)
    log = Log(tmp_path / "model/log.sqlite")
    assert [row.record[:1] for row in log.rows()] == [b"{", b"\xff"]
    log.close()

    assert start().get("/v1/model").json()["log"] == 160
