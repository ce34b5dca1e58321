"""Those who ask a service: the client, `ouzel send`, and readers that follow it."""

import json
import os

import httpx
import pyarrow
import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.service.folder import Folder, begin
from ouzel.service.limits import ServiceLimits
from ouzel.service.predictor import Followed, Snapshots
from ouzel.streams.formats.records import framed, record_of_batch, record_of_rows
from ouzel.streams.options import Options
from tests.printed import check
from tests.service.killing import Running

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="services are forked")


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = Folder(tmp_path_factory.mktemp("service") / "model")
    begin(folder, None, "adagrad", {}, {})
    running = Running(folder)
    yield running
    running.end()


@pytest.fixture
def client(running):
    with ouzel.Client(running.address) as client:
        yield client


def test_a_client_learns_predicts_and_explains(client, tmp_path):
    first = client.learn({"label": "a", "x": 1.0}, id="first")
    again = client.learn({"label": "a", "x": 1.0}, id="first")
    for summary in client.learn_many({"label": "ab"[k % 2], "x": k % 2} for k in range(50)):
        assert summary["learnt"] == 50
    client.predict({"_id": "late", "x": 1.0})
    client.label("late", "b")
    client.snapshot(tmp_path / "model.ouzel")

    assert again == {"number": first["number"], "repeated": True}
    assert client.predict({"x": 1.0})["prediction"] == "b"
    assert len(client.predict([{"x": 1.0}, {"x": 0.0}])) == 2
    assert client.explain({"x": 1.0})["classes"][0]["features"]
    assert client.top(3)[0]["class"] == "b"
    assert ouzel.load(tmp_path / "model.ouzel").predict_one({"x": 1.0}) == "b"


def test_an_example_with_an_id_is_learnt_once_by_a_client(client):
    first = client.learn({"label": "a", "x": 1.0, "_id": "by member"})

    assert client.learn({"label": "a", "x": 1.0, "_id": "by member"}) == {"number": first["number"], "repeated": True}
    assert client.learn({"label": "a", "x": 1.0, "_id": "by member"}, id="by member")["repeated"]
    with pytest.raises(ouzel.OuzelError, match="expected one of them, or both the same"):
        client.learn({"label": "a", "x": 1.0, "_id": "by member"}, id="another")


def test_what_a_service_refuses_is_one_line(client):
    with pytest.raises(ouzel.OuzelError, match="found 'x': 1e\\+99; expected a finite number"):
        client.learn({"label": "a", "x": 1e99})
    with pytest.raises(ouzel.OuzelError, match="no example 'unknown' waits"):
        client.label("unknown", 1)


def test_what_is_no_example_and_an_address_that_is_none_are_one_line(client, running, monkeypatch):
    monkeypatch.setattr("ouzel.service.client.FIRST_WAIT", 0.0)
    for given in ([{"label": "a", "x": 1.0}], "x", 5):
        with pytest.raises(ouzel.OuzelError, match="in place of an example; expected a dictionary such as"):
            client.learn(given)
    with pytest.raises(ouzel.OuzelError, match="found a str in place of an example"):
        client.predict(["x"])
    with (
        ouzel.Client(f"{running.address}/v1/learn") as wrong,
        pytest.raises(ouzel.OuzelError, match="give the address without /v1 and what follows"),
    ):
        wrong.model()
    with ouzel.Client(running.address.removeprefix("http://")) as other:
        assert other.model()["examples"] == client.model()["examples"]


def test_the_error_of_a_missing_token_names_the_option(monkeypatch, capsys, tmp_path):
    transport = httpx.MockTransport(lambda request: httpx.Response(401, json={"detail": "give a token"}))
    whole = httpx.Client
    monkeypatch.setattr(httpx, "Client", lambda **given: whole(**given, transport=transport))
    (tmp_path / "t.csv").write_text("x,label\n1,a\n")
    with (
        ouzel.Client("http://localhost:1") as client,
        pytest.raises(ouzel.OuzelError, match="asks for a token that it knows; give one with token="),
    ):
        client.model()

    assert run(["send", str(tmp_path / "t.csv"), "--to", "localhost:1"]) == 2
    assert "asks for a token that it knows; give one with --token" in capsys.readouterr().err


def test_no_service_is_one_line(monkeypatch):
    monkeypatch.setattr("ouzel.service.client.FIRST_WAIT", 0.001)
    with pytest.raises(ouzel.OuzelError, match="cannot be reached"), ouzel.Client("http://127.0.0.1:9") as client:
        client.predict({"x": 1})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"label": "a", "x": 1}\nbad\n{"label": "b", "x": 2}\n'),
        ("a.csv", "label,x,w\na,1,red\nb,2,\n"),
        ("a.svm", "1 1:1\n-1 2:1\n"),
        ("a.vw", "1 | red\n-1 | blue\n"),
    ],
)
def test_files_are_sent_and_reported(running, tmp_path, capsys, name, text):
    path = tmp_path / name
    path.write_text(text)
    status = run(["send", str(path), "--to", running.address, "--json"])
    said = capsys.readouterr()

    assert (status, json.loads(said.out)["learnt"]) == (0, 2)
    check("send", json.loads(said.out))
    assert ("a.jsonl:2: found no JSON" in said.err) == (name == "a.jsonl")


def test_a_log_is_sent_again_and_what_cannot_be_is_one_line(running, tmp_path, capsys):
    lines = b'{"label": "a", "x": 1}\n{"label": "b", "x": 2}'
    batch = pyarrow.record_batch({"label": ["a"], "x": [3.0]})
    rows = record_of_rows(next(ouzel.blocks_from([({"x": 1.0}, 1), ({"x": 2.0}, 0)])), Options())
    log, packed = tmp_path / "log.records", tmp_path / "packed.records"
    log.write_bytes(b"".join(framed([lines, record_of_batch(batch)])))
    packed.write_bytes(b"".join(framed([rows])))

    assert run(["send", str(log), "--to", running.address, "--json"]) == 0
    assert check("send", json.loads(capsys.readouterr().out)).learnt == 3
    assert run(["send", str(packed), "--to", running.address]) == 2
    assert "rows of another text than JSON" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ('{"x": 1}\n' * 3, 1, "0 examples learnt"),
        ('{"x": 1}\n{"label": "a", "x": 1}\n', 0, "1 examples learnt"),
    ],
    ids=["all", "some"],
)
def test_the_reason_of_the_first_refusal_is_printed_and_the_status_is_1_if_all_are(
    running, tmp_path, capsys, text, status, said
):
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    reason = "found no label; expected 'label' to be a number or a name"

    assert run(["send", str(path), "--to", running.address]) == status
    printed = capsys.readouterr()
    assert said in printed.out
    assert f"were refused; the first: {reason}" in printed.out
    assert f"a.jsonl:1: {reason}" in printed.err
    assert run(["send", str(path), "--to", running.address, "--json"]) == status
    assert check("send", json.loads(capsys.readouterr().out)).reason == reason


def test_a_row_that_cannot_be_read_is_named_with_where_to_go_on(running, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("x,label\n" + "1,a\n" * 2100 + "2\n")

    assert run(["send", str(tmp_path / "t.csv"), "--to", running.address]) == 2
    said = capsys.readouterr().err
    assert "row 2102: found 1 cell (2); expected 2, as there are columns; fix it, and send the file from" in said
    assert "example 2,001 on" in said
    assert "--on-error" not in said


def test_a_port_is_one_of_those_that_there_are(tmp_path, capsys):
    for option, port in (("--port", "70000"), ("--port", "0"), ("--port", "-1"), ("--readers-port", "65536")):
        assert run(["serve", "--data", str(tmp_path / "d"), option, port, "--check"]) == 2
        assert capsys.readouterr().err == f"ouzel: {option} takes a port from 1 to 65535; got {port!r}\n"
    assert not (tmp_path / "d").exists()
    for address in ("http://localhost:70000", "localhost:8000", "ftp://localhost"):
        assert run(["send", str(tmp_path / "a.jsonl"), "--to", address]) == 2
        assert address in capsys.readouterr().err


def test_a_port_in_use_is_found_before_a_model_begins(running, tmp_path, capsys):
    port = running.address.rpartition(":")[2]

    assert run(["serve", "--data", str(tmp_path / "new"), "--learner", "ogd", "--port", port]) == 2
    assert f"127.0.0.1:{port}: cannot listen there" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_sent_file_is_summed_up_for_people(running, tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text('{"label": "a", "x": 1}\n' * 3)
    run(["send", str(tmp_path / "a.jsonl"), "--to", running.address])

    assert "3 examples learnt in" in capsys.readouterr().out


def test_a_reader_answers_as_the_model_that_it_follows(running, client, tmp_path):
    import asyncio

    client.learn({"label": "a", "x": 5.0})
    httpx.post(f"{running.address}/v1/snapshot")
    snapshots = Snapshots(running.address, "model", tmp_path / "model.ouzel")
    reader = Followed("model", snapshots, ServiceLimits(), 1.0)
    same = client.predict({"x": 1.5})
    assert reader.predict([b'{"x": 1.5}']) == [same]

    for _ in range(20):
        client.learn({"label": "new", "x": 1.5})
    httpx.post(f"{running.address}/v1/snapshot")
    asyncio.run(reader.refresh())
    assert reader.predict([b'{"x": 1.5}']) == [client.predict({"x": 1.5})] != [same]
    assert reader.described()["examples"] == client.model()["examples"]
    with pytest.raises(ouzel.OuzelError, match="this is a reader; send it to http"):
        asyncio.run(reader.learn(()))


def test_a_reader_says_what_it_cannot_reach(tmp_path):
    with pytest.raises(ouzel.OuzelError, match="cannot be reached"):
        Snapshots("http://127.0.0.1:9", "model", tmp_path / "x").fetch()
