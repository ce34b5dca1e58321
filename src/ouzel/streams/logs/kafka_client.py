"""Connection to a Kafka broker: requests, settings, and reports of outages."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ouzel.errors import DataError
from ouzel.extras import missing
from ouzel.streams.logs.connection import RESPONSE_TIMEOUT, Outage
from ouzel.streams.sources.addresses import Address

try:
    from confluent_kafka import Consumer, KafkaError, KafkaException, TopicCollection, TopicPartition
    from confluent_kafka.admin import AdminClient
except ImportError:
    raise missing("reading Kafka topics", "confluent-kafka", "kafka") from None

CONNECTION_ERRORS = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT, KafkaError._RESOLVE)
OFFSET_ERRORS = (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)
PARTITION_END = KafkaError._PARTITION_EOF


class Client:
    """Consumer of one topic, without a consumer group."""

    def __init__(self, address: Address, outage: Outage) -> None:
        self.name, self.topic = address.name, address.path
        self.started = False  # whether messages are being read
        self.outage = outage
        self._settings = settings_of(address)
        self.consumer = Consumer({**consumer_settings(address), "error_cb": self._on_error}, logger=silent_logger())
        self.cluster = ""
        self.partitions = self._described()

    def number(self) -> str:
        """Return the id of the topic in the cluster; empty if it has none."""
        with suppress(KafkaException):
            client = AdminClient(self._settings, logger=silent_logger())
            found = client.describe_topics(TopicCollection([self.topic]), request_timeout=RESPONSE_TIMEOUT)
            return str(found[self.topic].result().topic_id)
        return ""

    def watermarks(self, partition: int) -> tuple[int, int]:
        """Return the first available offset, and the end."""
        return self._request(self.consumer.get_watermark_offsets, self.at(partition), timeout=RESPONSE_TIMEOUT)

    def cached_end(self, partition: int) -> int:
        """Return the end that came with the last messages; -1 if none came."""
        with suppress(KafkaException):
            return int(self.consumer.get_watermark_offsets(self.at(partition), cached=True)[1])
        return -1

    def offset_at(self, partition: int, time: int) -> int:
        """Return the first offset at or after a time (milliseconds since 1970); the end if there is none."""
        (found,) = self._request(self.consumer.offsets_for_times, [self.at(partition, time)], timeout=RESPONSE_TIMEOUT)
        return int(found.offset) if found.offset >= 0 else self.watermarks(partition)[1]

    def at(self, partition: int, offset: int = -1001) -> TopicPartition:
        """Return an offset of a partition as the client's object."""
        return TopicPartition(self.topic, partition, offset)

    def _described(self) -> list[int]:
        """Return the numbers of the partitions."""
        found = self._request(self.consumer.list_topics, self.topic, timeout=RESPONSE_TIMEOUT)
        self.cluster = str(found.cluster_id or "")
        topic = found.topics[self.topic]
        if topic.error is not None or not topic.partitions:
            reason = topic.error.str() if topic.error else "no partitions"
            raise DataError.at(self.name, f"there is no such topic ({reason}); is its name right?")
        return sorted(topic.partitions)

    def _request(self, question: Callable[..., Any], *arguments: object, **named: object) -> Any:
        """Call a method of the client; DataError in one line if the broker does not answer."""
        try:
            return question(*arguments, **named)
        except KafkaException as error:
            reason = self.outage.reason or error.args[0].str()
            raise DataError.at(self.name, f"does not answer ({reason}); is the address right?") from None

    def _on_error(self, error: KafkaError) -> None:
        if error.code() in CONNECTION_ERRORS and self.started:
            self.outage.begin(error.str())
        else:
            self.outage.reason = error.str()


DEFAULT_SETTINGS = {
    "group.id": "ouzel",  # required, though no group is joined
    "fetch.wait.max.ms": 100,
    "queued.min.messages": 10_000,  # the default, ten times as many, does not fit the processor's caches
    "fetch.queue.backoff.ms": 10,  # the default, a second, is longer than learning the queue takes
}
"""Default settings of the consumer; an address may override them."""

REQUIRED_SETTINGS = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
    "allow.auto.create.topics": False,
}
"""Settings that correctness depends on; an address cannot override them."""


def settings_of(address: Address) -> dict[str, Any]:
    """Return the settings of a client, with those in the address."""
    settings: dict[str, Any] = {}
    if address.user is not None:
        settings |= {"sasl.username": address.user, "sasl.password": address.password or ""}
        settings |= {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}
    return {**settings, **address.options, "bootstrap.servers": address.servers}


def consumer_settings(address: Address) -> dict[str, Any]:
    """Return the settings of a client that reads."""
    return {**DEFAULT_SETTINGS, **settings_of(address), **REQUIRED_SETTINGS}


def silent_logger() -> logging.Logger:
    """Return a logger that drops the client's own lines: its errors are reported here."""
    logger = logging.getLogger("ouzel.kafka")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
