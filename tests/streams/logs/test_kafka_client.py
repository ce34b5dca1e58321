"""What the client of Kafka gives is taken together, and no more of it is awaited than it takes to learn the rest."""

import pytest

from ouzel.streams.logs.kafka import PendingMessages, runs_by_partition
from ouzel.streams.logs.reading import Reading
from tests.streams.logs.given_messages import Given


def test_messages_of_a_partition_come_together_and_errors_alone_where_they_stood():
    found = [
        Given(0, 1),
        Given(0, 2),
        Given(1, 7),
        Given(0, 3),
        Given(0, 4, "the end"),
        Given(0, 5),
        Given(None, 0, "gone"),
    ]

    runs = [(partition, [one.at for one in run]) for partition, run in runs_by_partition(found)]

    assert runs == [(0, [1, 2]), (1, [7]), (0, [3]), (0, [4]), (0, [5]), (0, [0])]


def test_what_waits_is_taken_up_to_a_bound():
    pending = PendingMessages(2, Reading())
    pending.add([Given(2, 5), Given(2, 6)])
    pending.add([Given(2, 9)])

    batch = pending.take(9)

    assert (batch.partition, list(batch.places), list(batch.values)) == ("2", [5, 6], [b"5", b"6"])
    assert len(pending) == 1


def test_the_client_waits_no_second_before_it_fetches_on_unless_the_address_says_so():
    pytest.importorskip("confluent_kafka")
    from ouzel.streams.logs.kafka_client import consumer_settings
    from ouzel.streams.sources.addresses import address_of

    usual = consumer_settings(address_of("kafka://broker:9092/clicks"))
    told = consumer_settings(
        address_of("kafka://broker:9092/clicks?fetch.queue.backoff.ms=500&auto.offset.reset=latest")
    )

    assert usual["fetch.queue.backoff.ms"] < 50
    assert (told["fetch.queue.backoff.ms"], told["auto.offset.reset"]) == ("500", "error")
