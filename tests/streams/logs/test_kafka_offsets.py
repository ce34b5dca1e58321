"""Offsets that hold no message, of compacted topics and of the marks of transactions, are not gaps."""

import copy
import random

import pytest

from ouzel.streams.logs.protocol import Batch, Position
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import address_of
from tests.streams.logs.given_messages import GivenClient
from tests.streams.logs.killing import train_to_the_end
from tests.streams.logs.servers import kafka_broker, make_topic, messages, running

STRIPE = 4096


def holding(held, ends, monkeypatch, seed=0):
    """A topic whose partitions hold messages at these offsets, and end there."""
    pytest.importorskip("confluent_kafka")
    from ouzel.streams.logs import kafka

    monkeypatch.setattr(kafka, "Client", lambda address, outage: GivenClient(held, ends, kafka.PARTITION_END, seed))
    return kafka.Kafka(address_of("kafka://broker:9092/clicks"), Reading())


def read(log, position):
    """Where each message is, with the position before it."""
    found, position = [], copy.deepcopy(position)
    for batch in log.read(copy.deepcopy(position), follow=False):
        for k, place in enumerate(batch.places if isinstance(batch, Batch) else ()):
            found.append((copy.deepcopy(position), int(batch.partition), place))
            position.advance(batch, k + 1)
    return found


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_compacted_topic_is_read_in_the_order_of_its_offsets_and_on_from_anywhere(partitions, monkeypatch):
    chance = random.Random(partitions)
    held = {k: sorted(chance.sample(range(k * 9000, 30_000), 150)) for k in range(partitions)}  # stripes that hold none
    ends = dict.fromkeys(held, 31_000)
    everything = read(holding(held, ends, monkeypatch), Position())
    order = [(partition, place) for _, partition, place in everything]

    assert sorted(order) == [(partition, place) for partition, places in held.items() for place in places]
    assert order == sorted(order, key=lambda one: (one[1] // STRIPE if partitions > 1 else 0, one))
    for k in chance.sample(range(len(order)), 12):
        again = read(holding(held, ends, monkeypatch, seed=k), everything[k][0])
        assert [(partition, place) for _, partition, place in again] == order[k:]


@pytest.mark.parametrize("partitions", [1, 3])
def test_marks_of_transactions_are_not_gaps(tmp_path, partitions):
    confluent_kafka = pytest.importorskip("confluent_kafka")
    lines = messages(900)
    with running(kafka_broker, tmp_path) as broker:
        make_topic(broker.port, "marks", partitions)
        place = {"bootstrap.servers": f"127.0.0.1:{broker.port}", "log_level": 0}
        producer = confluent_kafka.Producer({**place, "transactional.id": "one"})
        producer.init_transactions(30)
        for start in range(0, 900, 9):
            producer.begin_transaction()
            for k, line in enumerate(lines[start : start + 9]):
                producer.produce("marks", line, partition=k % partitions)
            producer.commit_transaction(30)
        command = (f"kafka://127.0.0.1:{broker.port}/marks", "--learner", "adagrad", "--model")
        whole, parts = tmp_path / "whole", tmp_path / "parts"
        train_to_the_end(*command, whole)
        for examples in (9, 700):
            train_to_the_end(*command, parts, "--resume", parts, "--until", f"examples {examples}")
        said = train_to_the_end(*command, parts, "--resume", parts)

    assert "gone" not in said
    assert last_offsets(whole) == dict.fromkeys(map(str, range(partitions)), 998 if partitions == 1 else 398)
    assert whole.read_bytes() == parts.read_bytes()


def last_offsets(model):
    from ouzel.model import persistence

    return persistence.load_notes(model)[1]["run"]["logs"][0]["position"]["last"]
