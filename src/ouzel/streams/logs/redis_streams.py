"""Redis streams, read with redis-py.

The position is the id of the last entry learnt, with how many entries the stream had been given up to it. Redis counts
those that it was ever given (since version 7), so that entries that were trimmed before they were learnt are noticed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Sequence
from typing import Any, overload
from urllib.parse import quote

from ouzel.errors import DataError, OuzelError
from ouzel.numerals import is_number
from ouzel.streams.logs.brokers import Topic
from ouzel.streams.logs.metadata import Members
from ouzel.streams.logs.protocol import MOST_AT_ONCE, NOTED_WITH, TOUCH, Batch, Pause, Place, Position, gap, shown
from ouzel.streams.logs.reading import Reading
from ouzel.streams.sources.addresses import Address

try:
    import redis
except ImportError:
    raise OuzelError('Redis streams are read with redis-py: pip install "ouzel[redis]"') from None

Id = tuple[int, int]
GONE = (redis.ConnectionError, redis.TimeoutError)
BEFORE_ALL = "0-0"


def open_address(address: Address, reading: Reading) -> RedisStream:
    """The stream at an address."""
    return RedisStream(address, reading)


def open_sink(address: Address) -> RedisSink:
    """What adds messages to the stream at an address."""
    return RedisSink(address)


def connected(address: Address) -> Any:
    """A client of the server at an address."""
    server = address.servers if ":" in address.servers else f"{address.servers}:6379"
    login = f"{quote(address.user or '')}:{quote(address.password)}@" if address.password else ""
    query = "&".join(f"{name}={value}" for name, value in address.options.items() if name not in ("field", "key"))
    return redis.Redis.from_url(f"{address.scheme}://{login}{server}?{query}", socket_timeout=10.0)


class RedisStream(Topic):
    """One stream. An entry of one field is the value of that field, any other an object of its fields."""

    def __init__(self, address: Address, reading: Reading) -> None:
        super().__init__(address, reading)
        self._field, self._key = (_encoded(address.options.get(name)) for name in ("field", "key"))
        self._server = connected(address)
        self._server.set_response_callback("XREAD", _as_it_is)  # no dictionary of each entry's fields is made
        self._added: int | None = None
        try:
            kind: Any = self._server.type(self.topic)
        except redis.RedisError as error:
            raise DataError.at(self.name, f"does not answer ({error}); is the address right?") from None
        if kind != b"stream":
            raise DataError.at(self.name, f"there is no such stream (it is {kind.decode()}); is its name right?")

    def identity(self) -> dict[str, str]:
        """Redis gives no other name to a stream."""
        return {"kind": "redis", "topic": self.topic}

    def order(self, place: Place) -> Id:
        """The two numbers of an id."""
        time, _, number = str(place).partition(NOTED_WITH)[0].partition("-")
        return int(time), int(number or 0)

    def behind(self, position: Position) -> int | None:
        """By the number of entries at the last reading."""
        count = _count_of(position.last.get("", ""))
        return None if count is None or self._added is None else max(0, self._added - count)

    def close(self) -> None:
        """Close the connection."""
        self._server.close()

    def read(self, position: Position, follow: bool) -> Generator[Batch | Pause, None, None]:
        """The entries behind a position."""
        last: str | None = str(position.last[""]) if "" in position.last else None
        while True:
            try:
                info, entries = self._asked(last)
                self.outage.end()
            except GONE as error:
                self.outage.begin(str(error))
                self.outage.check(follow)
                yield Pause.WAITING
                time.sleep(self.outage.pause())
                continue
            if last is None:
                last = self._beginning(info)
                continue
            count = self._checked(last, info)
            last = _place(str(shown(last)), count)
            if entries:
                places = Places([identity for identity, _ in entries], count)
                times = [self.order(place)[0] for place in places] if self.reading.timed else []
                beside = [self._beside(_members(fields)) for _, fields in entries] if any(self.reading.beside) else []
                yield Batch("", places, self._values(entries), times, beside=beside)
                last = str(places[-1])
            elif follow:
                yield Pause.CAUGHT_UP
                time.sleep(TOUCH)
            else:
                yield Pause.CAUGHT_UP
                return

    def _asked(self, last: str | None) -> tuple[dict[str, Any], list[Any]]:
        """What Redis knows of the stream, and the entries that come next, both of one moment."""
        pipeline = self._server.pipeline(transaction=True)
        pipeline.xinfo_stream(self.topic)
        if last is not None:
            pipeline.xread({self.topic: shown(last)}, count=MOST_AT_ONCE)
        info, *found = pipeline.execute()
        self._added = info.get("entries-added")
        answer = found[0] if found else None
        if isinstance(answer, dict):  # of the third version of the protocol
            answer = list(answer.items())
        return info, answer[0][1] if answer else []

    def _beginning(self, info: dict[str, Any]) -> str:
        added, length = info.get("entries-added"), int(info["length"])
        if self.begin == "end":
            return _place(info["last-generated-id"].decode(), added)
        if self.begin == "beginning":
            return _place(BEFORE_ALL, None if added is None else added - length)
        return f"{int(self.begin) - 1}-{2**64 - 1}"

    def _checked(self, last: str, info: dict[str, Any]) -> int | None:
        """How many entries there were up to a place; GapError if some behind it are gone."""
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
        """Entries as messages."""
        if self._key is self._field is None and all(len(fields) == 2 for _, fields in entries):
            return [fields[1] for _, fields in entries]
        return [self._value(_members(fields)) for _, fields in entries]

    def _value(self, fields: dict[bytes, bytes]) -> bytes | None:
        """An entry as a message."""
        if self._field is not None:
            return fields.get(self._field)
        if len(fields) - (self._key in fields) == 1:
            return next(value for name, value in fields.items() if name != self._key)
        object_ = {_text(name): _plain(value) for name, value in fields.items() if name != self._key}
        return json.dumps(object_, ensure_ascii=False).encode()

    def _beside(self, fields: dict[bytes, bytes]) -> Members:
        """The field that is the key, and those that are headers: all others, where one is the message."""
        headers = [(_text(name), value) for name, value in fields.items() if name not in (self._field, self._key)]
        return self.reading.beside.members(fields.get(self._key or b""), headers if self._field is not None else ())


class Places(Sequence[Place]):
    """The places of entries with these ids, made when they are asked for: most never are."""

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


def _as_it_is(answer: Any, **options: Any) -> Any:
    return answer


def _members(fields: list[bytes]) -> dict[bytes, bytes]:
    """Fields of an entry, which Redis tells as names and values in turn."""
    return dict(zip(fields[::2], fields[1::2], strict=True))


def _encoded(name: str | None) -> bytes | None:
    return None if name is None else name.encode()


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _plain(value: bytes) -> Any:
    """A field of an entry, which Redis has as bytes: a number if it reads as one."""
    text = _text(value)
    return float(text) if is_number(text) else text


def _place(identity: str, count: int | None) -> str:
    return identity if count is None else f"{identity}{NOTED_WITH}{count}"


def _count_of(place: Place) -> int | None:
    count = str(place).partition(NOTED_WITH)[2]
    return int(count) if count else None


class RedisSink:
    """A Redis stream; each message is the field `message` of an entry."""

    def __init__(self, address: Address) -> None:
        self.name, self.topic = address.name, address.path
        self._server = connected(address)

    def send(self, messages: Sequence[bytes]) -> None:
        """Add them in one transaction."""
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
