"""Redis streams, read with redis-py.

The position is the id of the last entry learnt, with the number of entries ever added up to it. Redis counts these
(since version 7), which reveals entries that were trimmed before they were learnt.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Sequence
from typing import Any, overload
from urllib.parse import quote

from ouzel.errors import DataError
from ouzel.extras import missing
from ouzel.numerals import is_number
from ouzel.streams.logs.connection import ConnectedLog
from ouzel.streams.logs.messages import Metadata
from ouzel.streams.logs.protocol import (
    COUNT_MARK,
    MOST_AT_ONCE,
    POLL_INTERVAL,
    Batch,
    Idle,
    Place,
    Position,
    gap,
    shown,
)
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import Address

try:
    import redis
except ImportError:
    raise missing("reading Redis streams", "redis", "redis") from None

Id = tuple[int, int]
CONNECTION_ERRORS = (redis.ConnectionError, redis.TimeoutError)
FIRST_ID = "0-0"


def open_address(address: Address, reading: Reading) -> RedisStream:
    """Open the stream at an address."""
    return RedisStream(address, reading)


def open_sink(address: Address) -> RedisSink:
    """Open the sink that adds messages to the stream at an address."""
    return RedisSink(address)


def connect(address: Address) -> Any:
    """Return a client of the server at an address."""
    server = address.servers if ":" in address.servers else f"{address.servers}:6379"
    login = f"{quote(address.user or '')}:{quote(address.password)}@" if address.password else ""
    query = "&".join(f"{name}={value}" for name, value in address.options.items() if name not in ("field", "key"))
    return redis.Redis.from_url(f"{address.scheme}://{login}{server}?{query}", socket_timeout=10.0)


class RedisStream(ConnectedLog):
    """One stream. An entry with one field is the value of that field; any other is an object of its fields."""

    def __init__(self, address: Address, reading: Reading) -> None:
        super().__init__(address.name, address.path, reading)
        self._field, self._key = (_encoded(address.options.get(name)) for name in ("field", "key"))
        self._server = connect(address)
        self._server.set_response_callback("XREAD", _unchanged)  # makes no dictionary of each entry's fields
        self._added: int | None = None
        try:
            kind: Any = self._server.type(self.topic)
        except redis.RedisError as error:
            raise DataError.at(self.name, f"does not answer ({error}); is the address right?") from None
        if kind != b"stream":
            other = "" if kind == b"none" else f" (what has the name is a {kind.decode()})"
            raise DataError.at(self.name, f"there is no such stream{other}; is its name right?")

    def identity(self) -> dict[str, str]:
        """Name of the stream; Redis has no further id of one."""
        return {"kind": "redis", "topic": self.topic}

    def order(self, place: Place) -> Id:
        """Return the two numbers of an id."""
        time, _, number = str(place).partition(COUNT_MARK)[0].partition("-")
        return int(time), int(number or 0)

    def lag(self, position: Position) -> int | None:
        """Return the lag behind the number of entries at the last reading."""
        count = _count_of(position.last.get("", ""))
        return None if count is None or self._added is None else max(0, self._added - count)

    def close(self) -> None:
        """Close the connection."""
        self._server.close()

    def read(self, position: Position, follow: bool) -> Generator[Batch | Idle, None, None]:
        """Yield the entries after a position."""
        last: str | None = str(position.last[""]) if "" in position.last else None
        while True:
            try:
                info, entries = self._request(last)
                self.outage.end()
            except CONNECTION_ERRORS as error:
                self.outage.begin(str(error))
                self.outage.check(follow)
                yield Idle.WAITING
                time.sleep(self.outage.pause())
                continue
            if last is None:
                last = self._start_place(info)
                continue
            count = self._count_before(last, info)
            last = _place(str(shown(last)), count)
            if entries:
                places = Places([identity for identity, _ in entries], count)
                times = [self.order(place)[0] for place in places] if self.reading.timed else []
                metadata = (
                    [self._metadata(_as_dict(fields)) for _, fields in entries] if any(self.reading.metadata) else []
                )
                yield Batch("", places, self._values(entries), times, metadata=metadata)
                last = str(places[-1])
            elif follow:
                yield Idle.AT_END
                time.sleep(POLL_INTERVAL)
            else:
                yield Idle.AT_END
                return

    def _request(self, last: str | None) -> tuple[dict[str, Any], list[Any]]:
        """Return the state of the stream and its next entries, in one transaction."""
        pipeline = self._server.pipeline(transaction=True)
        pipeline.xinfo_stream(self.topic)
        if last is not None:
            pipeline.xread({self.topic: shown(last)}, count=MOST_AT_ONCE)
        info, *found = pipeline.execute()
        self._added = info.get("entries-added")
        answer = found[0] if found else None
        if isinstance(answer, dict):  # third version of the protocol
            answer = list(answer.items())
        return info, answer[0][1] if answer else []

    def _start_place(self, info: dict[str, Any]) -> str:
        added, length = info.get("entries-added"), int(info["length"])
        if self.start == "end":
            return _place(info["last-generated-id"].decode(), added)
        if self.start == "beginning":
            return _place(FIRST_ID, None if added is None else added - length)
        return f"{int(self.start) - 1}-{2**64 - 1}"

    def _count_before(self, last: str, info: dict[str, Any]) -> int | None:
        """Return the number of entries up to a place; GapError if entries after it are gone."""
        count, newest = _count_of(last), info["last-generated-id"].decode()
        if self.order(newest) < self.order(last) and count is not None:
            raise DataError.at(
                self.name,
                f"ends at {newest}, and the model has learnt up to {shown(last)}: entries "
                "were taken back, or this is another stream of that name",
            )
        first = info.get("first-entry")
        if count is None or info.get("entries-added") is None:
            return None
        gone = int(info["entries-added"]) - int(info["length"]) - count
        oldest = first[0].decode() if first else newest
        if gone <= 0 or self.order(oldest) <= self.order(last):
            return count
        error = gap(self.name, "", shown(last), oldest, gone)
        if self.reading.on_gap != "skip":
            raise error
        self.lost += gone
        self.say(f"{error.reason}: left out")
        return count + gone

    def _values(self, entries: list[Any]) -> list[bytes | None]:
        """Convert entries to messages."""
        if self._key is self._field is None and all(len(fields) == 2 for _, fields in entries):
            return [fields[1] for _, fields in entries]
        return [self._value(_as_dict(fields)) for _, fields in entries]

    def _value(self, fields: dict[bytes, bytes]) -> bytes | None:
        """Convert an entry to a message."""
        if self._field is not None:
            return fields.get(self._field)
        if len(fields) - (self._key in fields) == 1:
            return next(value for name, value in fields.items() if name != self._key)
        object_ = {_text(name): _json_value(value) for name, value in fields.items() if name != self._key}
        return json.dumps(object_, ensure_ascii=False).encode()

    def _metadata(self, fields: dict[bytes, bytes]) -> Metadata:
        """Return the metadata of an entry: its key field, and as headers all others if one field is the message."""
        headers = [(_text(name), value) for name, value in fields.items() if name not in (self._field, self._key)]
        return self.reading.metadata.of_message(
            fields.get(self._key or b""), headers if self._field is not None else ()
        )


class Places(Sequence[Place]):
    """Lazy sequence of the places of entries: most are never used."""

    def __init__(self, ids: Sequence[bytes], before: int | None) -> None:
        self._ids, self._before = ids, before  # entries before them

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, which: int) -> Place: ...
    @overload
    def __getitem__(self, which: slice) -> Places: ...
    def __getitem__(self, which: int | slice) -> Place | Places:
        here = range(len(self))[which]
        before = self._before
        if isinstance(here, range):
            return Places(self._ids[which], None if before is None else before + here.start)  # type: ignore[arg-type]
        return _place(self._ids[here].decode(), None if before is None else before + here + 1)


def _unchanged(answer: Any, **options: Any) -> Any:
    return answer


def _as_dict(fields: list[bytes]) -> dict[bytes, bytes]:
    """Convert the fields of an entry, alternating names and values, to a dictionary."""
    return dict(zip(fields[::2], fields[1::2], strict=True))


def _encoded(name: str | None) -> bytes | None:
    return None if name is None else name.encode()


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _json_value(value: bytes) -> str | float:
    """Convert a field of an entry to a JSON value: a number if it is written as one, else text."""
    text = _text(value)
    return float(text) if is_number(text) else text


def _place(identity: str, count: int | None) -> str:
    return identity if count is None else f"{identity}{COUNT_MARK}{count}"


def _count_of(place: Place) -> int | None:
    count = str(place).partition(COUNT_MARK)[2]
    return int(count) if count else None


class RedisSink:
    """Sink that adds to a Redis stream; each message is the field `message` of an entry."""

    def __init__(self, address: Address) -> None:
        self.name, self.topic = address.name, address.path
        self._server = connect(address)

    def send(self, messages: Sequence[bytes]) -> None:
        """Add messages in one transaction."""
        try:
            pipeline = self._server.pipeline(transaction=True)
            for message in messages:
                pipeline.xadd(self.topic, {"message": message})
            pipeline.execute()
        except redis.RedisError as error:
            raise DataError.at(self.name, f"messages were not taken ({error})") from None

    def close(self) -> None:
        """Close the connection."""
        self._server.close()
