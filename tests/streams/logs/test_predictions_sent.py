"""Predictions are sent to logs, and read there again."""

import pytest

from tests.streams.logs.brokers import KINDS
from tests.streams.logs.servers import kafka_broker, make_topic, messages, running


@pytest.mark.parametrize("kind", list(KINDS))
def test_predictions_are_sent_to_a_stream(kind, tmp_path, ouzel):
    file, model = tmp_path / "a.jsonl", tmp_path / "m"
    file.write_bytes(b"\n".join(messages(600)))
    assert ouzel("train", file, "--learner", "ogd", "--model", model).status == 0
    server = KINDS[kind](tmp_path)
    server.start()
    try:
        server.produce("in", messages(50))
        server.produce("out", messages(1))
        where = server.address("out.a" if kind == "nats" else "out")
        sent = ouzel("predict", model, file, "--save-to", where)
        again = ouzel("predict", model, server.address("in"), "--json")
        taken = ouzel("train", server.address("out"), "--learner", "ogd", "--json", "--on-error", "skip")
    finally:
        server.kill()

    assert sent.status == 0, sent.err
    assert "600 predictions sent to out" in sent.err
    assert again.out.count("\n") == 50
    assert taken.json["examples"] == 601


def test_predictions_are_sent_to_a_topic(tmp_path, ouzel):
    pytest.importorskip("confluent_kafka")
    file, model = tmp_path / "a.jsonl", tmp_path / "m"
    file.write_bytes(b"\n".join(messages(600)))
    assert ouzel("train", file, "--learner", "ogd", "--model", model).status == 0
    with running(kafka_broker, tmp_path) as broker:
        make_topic(broker.port, "out")
        where = f"kafka://127.0.0.1:{broker.port}/out"
        sent = ouzel("predict", model, file, "--save-to", where)
        taken = ouzel("train", where, "--learner", "ogd", "--json")

    assert sent.status == 0, sent.err
    assert taken.json["examples"] == 600


def test_what_takes_no_messages_is_refused(tmp_path, ouzel):
    file, model = tmp_path / "a.jsonl", tmp_path / "m"
    file.write_bytes(b"\n".join(messages(10)))
    ouzel("train", file, "--learner", "ogd", "--model", model)

    ran = ouzel("predict", model, file, "--save-to", "out.jsonl")

    assert ran.status == 2
    assert "kafka://broker:9092/topic; got 'out.jsonl'" in ran.err
