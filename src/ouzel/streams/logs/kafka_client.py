"""The connection to a Kafka broker: what it is asked, what it says, what is said when it is gone."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

from ouzel.errors import DataError, OuzelError
from ouzel.streams.logs.brokers import Outage
from ouzel.streams.logs.protocol import Say
from ouzel.streams.sources.addresses import Address

try:
    from confluent_kafka import Consumer, KafkaError, KafkaException, TopicCollection, TopicPartition
    from confluent_kafka.admin import AdminClient
except ImportError:
    raise OuzelError('Kafka topics are read with confluent-kafka: pip install "ouzel[kafka]"') from None

ANSWER = 10.0  # seconds that a broker has to answer
LOST = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT, KafkaError._RESOLVE)
GONE = (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)
END = KafkaError._PARTITION_EOF


class Client:
    """A consumer of one topic that belongs to no group."""

    def __init__(self, address: Address, say: Say) -> None:
        self.name, self.topic = address.name, address.path
        self.begun = False  # whether messages are being read
        self.outage = Outage(self.name, say)
        self._settings = settings_of(address)
        self.consumer = Consumer({**consumer_settings(address), "error_cb": self._on_error}, logger=silent())
        self.cluster = ""
        self.partitions = self._described()

    def number(self) -> str:
        """The number that the cluster gave to the topic, if it gives any."""
        with suppress(KafkaException):
            client = AdminClient(self._settings, logger=silent())
            found = client.describe_topics(TopicCollection([self.topic]), request_timeout=ANSWER)
            return str(found[self.topic].result().topic_id)
        return ""

    def watermarks(self, partition: int) -> tuple[int, int]:
        """The first offset that is left, and the end."""
        return self._asked(self.consumer.get_watermark_offsets, self.at(partition), timeout=ANSWER)

    def noticed_end(self, partition: int) -> int:
        """The end as it came with the last messages; -1 if none came."""
        with suppress(KafkaException):
            return int(self.consumer.get_watermark_offsets(self.at(partition), cached=True)[1])
        return -1

    def offset_at(self, partition: int, time: int) -> int:
        """The first offset of a time (milliseconds since 1970) or a later one; the end if there is none."""
        (found,) = self._asked(self.consumer.offsets_for_times, [self.at(partition, time)], timeout=ANSWER)
        return int(found.offset) if found.offset >= 0 else self.watermarks(partition)[1]

    def at(self, partition: int, offset: int = -1001) -> TopicPartition:
        """A place in the topic."""
        return TopicPartition(self.topic, partition, offset)

    def _described(self) -> list[int]:
        """The numbers of the partitions."""
        found = self._asked(self.consumer.list_topics, self.topic, timeout=ANSWER)
        self.cluster = str(found.cluster_id or "")
        topic = found.topics[self.topic]
        if topic.error is not None or not topic.partitions:
            reason = topic.error.str() if topic.error else "no partitions"
            raise DataError.at(self.name, f"there is no such topic ({reason}); is its name right?")
        return sorted(topic.partitions)

    def _asked(self, question: Any, *arguments: Any, **named: Any) -> Any:
        """The broker's answer; DataError in one line if there is none."""
        try:
            return question(*arguments, **named)
        except KafkaException as error:
            reason = self.outage.reason or error.args[0].str()
            raise DataError.at(self.name, f"does not answer ({reason}); is the address right?") from None

    def _on_error(self, error: Any) -> None:
        if error.code() in LOST and self.begun:
            self.outage.begin(error.str())
        else:
            self.outage.reason = error.str()


FETCHING = {
    "group.id": "ouzel",  # no group is joined, but one is asked for
    "fetch.wait.max.ms": 100,
    "queued.min.messages": 10_000,  # that wait: ten times as many, as is usual, do not fit the processor's caches
    "fetch.queue.backoff.ms": 10,  # once they do; a second, as is usual, is longer than learning them takes
}
"""Settings of the consumer that an address may say otherwise."""

READING = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
    "allow.auto.create.topics": False,
}
"""Settings that what is promised here depends on."""


def settings_of(address: Address) -> dict[str, Any]:
    """The settings of a client, those in the address with them."""
    settings: dict[str, Any] = {}
    if address.user is not None:
        settings |= {"sasl.username": address.user, "sasl.password": address.password or ""}
        settings |= {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}
    return {**settings, **address.options, "bootstrap.servers": address.servers}


def consumer_settings(address: Address) -> dict[str, Any]:
    """The settings of a client that reads."""
    return {**FETCHING, **settings_of(address), **READING}


def silent() -> logging.Logger:
    """A logger for the client's own lines, which repeat what is said here."""
    logger = logging.getLogger("ouzel.kafka")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
