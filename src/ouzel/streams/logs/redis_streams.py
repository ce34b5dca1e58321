"""Redis streams, read with redis-py.

The position is the id of the last entry learnt, with how many entries the stream had been given up to it. Redis counts
those that it was ever given (since version 7), so that entries that were trimmed before they were learnt are noticed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from typing import Any
from urllib.parse import quote

from ouzel.errors import DataError, OuzelError
from ouzel.numerals import is_number
from ouzel.streams.logs.address import Address
from ouzel.streams.logs.beside import Members
from ouzel.streams.logs.protocol import MOST_AT_ONCE, NOTED_WITH, TOUCH, Batch, Pause, Place, Position, gap, shown
from ouzel.streams.logs.reading import Reading
from ouzel.streams.logs.topic import Topic

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
        self._added: int | None = None
        try:
            kind: Any = self._server.type(self.topic)
        except redis.RedisError as error:
            raise DataError(f"{self.name}: does not answer ({error}); is the address right?") from None
        if kind != b"stream":
            raise DataError(f"{self.name}: there is no such stream (it is {kind.decode()}); is its name right?")

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
                counts = [None if count is None else count + k for k in range(1, len(entries) + 1)]
                places = [_place(entry[0].decode(), number) for entry, number in zip(entries, counts, strict=True)]
                times = [self.order(place)[0] for place in places] if self.reading.timed else []
                beside = [self._beside(fields) for _, fields in entries] if any(self.reading.beside) else []
                yield Batch("", places, [self._value(fields) for _, fields in entries], times, beside=beside)
                last = places[-1]
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
        entries = answer[0][1] if answer else []
        return info, entries[0] if entries and isinstance(entries[0], list) else entries

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
            raise DataError(
                f"{self.name}: ends at {newest}, and the model has learnt up to {shown(last)}: entries "
                "were taken back, or this is another stream of that name"
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
        self.say(str(error).partition("; ")[0] + ": left out")
        return count + gone

    def _value(self, fields: Any) -> bytes | None:
        """An entry as a message."""
        if self._field is not None:
            return fields.get(self._field)
        if len(fields) - (self._key in fields) == 1:
            return next(value for name, value in fields.items() if name != self._key)
        object_ = {_text(name): _plain(value) for name, value in fields.items() if name != self._key}
        return json.dumps(object_, ensure_ascii=False).encode()

    def _beside(self, fields: Any) -> Members:
        """The field that is the key, and those that are headers: all others, where one is the message."""
        headers = [(_text(name), value) for name, value in fields.items() if name not in (self._field, self._key)]
        return self.reading.beside.members(fields.get(self._key), headers if self._field is not None else ())


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
