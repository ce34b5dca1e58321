"""Kafka's protocol: trainings that are killed end as those that are not."""

import pytest

from tests.streams.logs.killing import train, train_to_the_end, train_with_kills
from tests.streams.logs.servers import kafka_broker, make_topic, messages, produce, running

SETTINGS = ("--learner", "adagrad", "--checkpoint-every", 1000)


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    pytest.importorskip("confluent_kafka")
    with running(kafka_broker, tmp_path_factory.mktemp("kafka")) as server:
        yield server


def address(server, topic):
    return f"kafka://127.0.0.1:{server.port}/{topic}"


@pytest.mark.parametrize(("partitions", "kills"), [(3, 2), pytest.param(3, 100, marks=pytest.mark.long)])
def test_a_training_that_is_killed_ends_as_the_unbroken_one(broker, tmp_path, partitions, kills):
    topic = f"kills-{partitions}-{kills}"
    make_topic(broker.port, topic, partitions)
    produce(broker.port, topic, messages(40_000 if kills < 10 else 300_000), partitions)
    whole, killed = tmp_path / "whole", tmp_path / "killed"

    train_to_the_end(address(broker, topic), *SETTINGS, "--model", whole)
    struck = train_with_kills(killed, address(broker, topic), *SETTINGS, kills=kills)

    assert struck > kills // 2
    assert whole.read_bytes() == killed.read_bytes()


def test_messages_learnt_are_those_of_a_file(broker, tmp_path, ouzel):
    lines = messages(3000)
    make_topic(broker.port, "file")
    produce(broker.port, "file", lines)
    (tmp_path / "file.jsonl").write_bytes(b"\n".join(lines))

    ours = ouzel("train", address(broker, "file"), "--learner", "adagrad", "--json").json
    theirs = ouzel("train", tmp_path / "file.jsonl", "--learner", "adagrad", "--json").json

    assert [ours[name] for name in ("examples", "mean_loss", "nonzeros")] == [
        theirs[name] for name in ("examples", "mean_loss", "nonzeros")
    ]


def test_a_training_follows_and_saves_when_it_is_stopped(broker, tmp_path):
    make_topic(broker.port, "follow")
    produce(broker.port, "follow", messages(1000))
    model = tmp_path / "m"
    process = train(address(broker, "follow"), *SETTINGS, "--model", model, "--follow")
    _wait_for(lambda: model.exists())
    produce(broker.port, "follow", messages(1500, seed=1))
    _wait_for(lambda: examples_in(model) >= 2000)

    process.terminate()
    _, said = process.communicate(timeout=60)

    assert process.returncode == 143
    assert "2,500 examples" in said.decode() or examples_in(model) >= 2000
    train_to_the_end(address(broker, "follow"), *SETTINGS, "--model", model, "--resume", model)
    assert examples_in(model) == 2500


def test_a_bad_message_is_told_by_partition_and_offset(broker, ouzel, tmp_path):
    make_topic(broker.port, "bad")
    produce(broker.port, "bad", [*messages(10), b"oops", *messages(5)])

    refused = ouzel("train", address(broker, "bad"), "--learner", "ogd", "--model", tmp_path / "m")
    gone_on = ouzel("train", address(broker, "bad"), "--learner", "ogd", "--on-error", "skip", "--json")

    assert refused.status == 2
    assert "partition 0, offset 10, column 1: found no JSON" in refused.err
    assert "holds the first 10 examples" in refused.err
    assert (gone_on.json["examples"], gone_on.json["skipped"]) == (15, 1)


def test_a_topic_of_that_name_made_anew_is_refused(broker, ouzel, tmp_path):
    from ouzel.model import persistence

    make_topic(broker.port, "anew")
    produce(broker.port, "anew", messages(100))
    model = tmp_path / "m"
    assert ouzel("train", address(broker, "anew"), "--learner", "ogd", "--model", model).status == 0
    learnt, notes = persistence.load_notes(model)
    notes["run"]["logs"][0]["identity"]["id"] = "another"
    persistence.save(learnt, model, notes)

    ran = ouzel("train", address(broker, "anew"), "--model", model, "--resume", model)

    assert ran.status == 2
    assert "has read anew with id another, and this is one with id" in ran.err


def test_a_gap_is_an_error_that_names_both_offsets(tmp_path, ouzel, monkeypatch):
    kafka = pytest.importorskip("confluent_kafka")
    monkeypatch.setattr("ouzel.streams.logs.kafka_client.RESPONSE_TIMEOUT", 1.0)  # seconds; topics have no number here
    # librdkafka's own cluster in memory keeps some of the last messages alone
    mock = kafka.Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "x", "log_level": 0})
    (place,) = mock.list_topics(timeout=10).brokers.values()

    def write(count):
        for k, line in enumerate(messages(count)):
            mock.produce("trimmed", line + b" " * 2000, partition=0)
            if k % 50 == 49:
                mock.flush(10)  # it keeps or drops what was sent together
        mock.flush(10)

    where = f"kafka://127.0.0.1:{place.port}/trimmed"
    model = tmp_path / "m"
    write(10)
    assert ouzel("train", where, "--learner", "ogd", "--model", model).status == 0
    write(4000)

    refused = ouzel("train", where, "--resume", model, "--model", model)
    skipped = ouzel("train", where, "--resume", model, "--model", model, "--on-gap", "skip")

    assert refused.status == 2
    assert "between offset 9, the last one learnt, and offset" in refused.err
    assert skipped.status == 0, skipped.err
    assert "left out" in skipped.err


def test_a_topic_that_is_not_there_and_a_broker_that_is_not_are_one_line(broker, ouzel):
    absent = ouzel("train", address(broker, "absent"))

    assert absent.status == 2
    assert "there is no such topic" in absent.err


def examples_in(model):
    from ouzel.model import persistence

    return persistence.load_model(model).examples


def _wait_for(condition):
    import time

    end = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
