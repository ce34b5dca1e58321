"""Streams of examples: the model learns them as they arrive; the answer has a line for each, or only a summary."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ouzel.errors import DataError, OuzelError
from ouzel.service.endpoint import JSON, LINES
from ouzel.service.example_log import MOST_ROW
from ouzel.service.formats import cells_of_stream, rows_of_stream
from ouzel.service.limits import Refused
from ouzel.service.problems import ProblemError
from ouzel.service.routes.bodies import file_of, lines_of, plain, texts_of
from ouzel.service.served import Served
from ouzel.service.submission import ArrowBatch, Result, RowsBatch, Submitted, TextBatch, Whole
from ouzel.streams.formats.catalogue import Family, Format
from ouzel.streams.formats.records import rows_as_json

if TYPE_CHECKING:
    import pyarrow

AT_ONCE = 512  # lines of a stream that are submitted together
FEWEST = 64  # rows of Arrow that are stored as Arrow; fewer take no more space as lines
AHEAD = 24  # pending submissions of one stream
ENOUGH = 2  # of them: then parts of a text are collected before the next submission
MOST_TEXT, MOST_PARTS = 1 << 19, 16  # bytes and parts that are collected at most
SHOWN = 20  # refused lines in a summary


class Batch(NamedTuple):
    """Pending lines of a stream: their numbers, or the batch that has them, and the task that returns their results."""

    numbers: Sequence[int] | Numbered
    results: asyncio.Task[list[Result] | int]


class Numbered(NamedTuple):
    """A batch, and the number of lines before it."""

    whole: Whole
    before: int

    def numbers(self) -> list[int]:
        """Return the numbers of the lines that are not blank."""
        return [self.before + number for number in self.whole.numbers()]


class LearnedLines(Response):
    """The answer to a stream: a line for each of its lines and a summary at the end, or the summary alone."""

    def __init__(self, request: Request, served: Served, key: str | None, format: Format) -> None:
        answers = request.query_params.get("answers", "all")
        if answers not in ("all", "summary"):
            raise ProblemError(422, "answers: expected all or summary", field="answers")
        self.return_predictions = answers == "all"
        super().__init__(None, 200, media_type=LINES if self.return_predictions else JSON)
        del self.headers["content-length"]
        self.request, self.served, self.key, self.format = request, served, key, format
        self.counts: Counter[str] = Counter()
        self.refusals: list[dict[str, object]] = []
        self.lines = 0  # so far
        self.under_way: deque[Batch] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False
        async for text in self._answers():
            if not begun:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                begun = True
            await send({"type": "http.response.body", "body": text, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _answers(self) -> AsyncIterator[bytes]:
        """Yield the lines of the answer as they are known; the summary comes last."""
        under_way = self.under_way
        stopped: OuzelError | ProblemError | None = None
        try:
            try:
                async for batch in self._batches():
                    under_way.append(batch)
                    while under_way and (len(under_way) > AHEAD or under_way[0].results.done()):
                        yield await self._answer(under_way[0].numbers, await under_way[0].results)
                        under_way.popleft()
            except (OuzelError, ProblemError) as error:  # the examples before it are learnt all the same
                stopped = error
            while under_way:
                yield await self._answer(under_way[0].numbers, await under_way[0].results)
                under_way.popleft()
        except OuzelError as error:
            stopped = stopped or error
        finally:
            for batch in under_way:
                batch.results.add_done_callback(lambda task: task.cancelled() or task.exception())
        counts = {name: self.counts[name] for name in ("learnt", "repeated", "refused")}
        summary = {**counts, "lines": self.lines, "refusals": self.refusals, "stopped": stopped and _why(stopped)}
        yield msgspec.json.encode({"summary": summary} if self.return_predictions else summary) + b"\n"

    async def _batches(self) -> AsyncIterator[Batch]:
        """Submit the lines of the body; as whole batches, unless lines have keys."""
        if self.key is not None:
            async for lines in self._lines():
                numbers, given = await self._to_submit(lines, self.lines)
                self.lines += len(lines)
                await self.served.room()
                if given:
                    yield Batch(numbers, asyncio.create_task(self.served.learn(given, patient=True)))
            return
        async for whole in self._wholes():
            before = self.lines
            self.lines += whole.lines
            await self.served.room()
            yield Batch(Numbered(whole, before), asyncio.create_task(self.served.learn_whole(whole)))

    async def _wholes(self) -> AsyncIterator[Whole]:
        """Yield the lines of the body as batches; collect arriving lines while enough submissions are pending."""
        waiting: list[bytes] = []
        size = 0
        async for part in self._parts():
            if isinstance(part, bytes):
                waiting.append(part)
                size += len(part)
                if not (self._idle() or size > MOST_TEXT or len(waiting) == MOST_PARTS):
                    continue
            if waiting:
                yield await self._text(b"".join(waiting))
                waiting, size = [], 0
            if isinstance(part, ArrowBatch):
                yield part
        if waiting:
            yield await self._text(b"".join(waiting))

    async def _text(self, text: bytes) -> TextBatch | RowsBatch:
        """Return whole lines as a batch; lines of other formats than JSON are parsed."""
        if self.format.family is not Family.LINES:
            return TextBatch(text, text.count(b"\n"), self.return_predictions)
        lines = text.split(b"\n")[:-1]
        numbers, given = await self._to_submit(lines, 0)
        return RowsBatch(given, numbers, len(lines), self.return_predictions)

    def _idle(self) -> bool:
        """Return whether few submissions are pending."""
        return sum(not batch.results.done() for batch in self.under_way) < ENOUGH

    async def _parts(self) -> AsyncIterator[bytes | ArrowBatch]:
        """Yield whole lines of the body, or the rows of an Arrow stream: as Arrow if they are plain and many."""
        if self.format.is_lines:
            async for text in texts_of(self.request, self.served.limits):
                yield text
            return
        if self.format.is_delimited:
            async for lines in self._lines():
                yield b"".join(line + b"\n" for line in lines)
            return
        numbers = self.served.owner.reading.numbers
        async for batch in self._rows():
            if batch.num_rows >= FEWEST and numbers.supports(batch.schema):
                yield ArrowBatch(batch, self.return_predictions)
                continue
            for start in range(0, batch.num_rows, AT_ONCE):
                lines = await asyncio.to_thread(rows_as_json, batch.slice(start, AT_ONCE))
                yield b"".join(line + b"\n" for line in lines)

    async def _rows(self) -> AsyncIterator[pyarrow.RecordBatch]:
        """Yield the record batches of an Arrow stream; a thread reads them as they arrive."""
        file = file_of(self.request, self.served.limits)
        rows = rows_of_stream(file, self.served.owner.reading.options.limits)
        while (batch := await asyncio.to_thread(next, rows, None)) is not None:
            # few rows if they are wide, because predictions wait for them
            most = max(1, batch.num_rows * MOST_ROW // max(1, batch.nbytes))
            for start in range(0, batch.num_rows, most):
                yield batch.slice(start, most)

    async def _lines(self) -> AsyncIterator[list[bytes]]:
        """Yield the lines of the body, some at a time."""
        if self.format.is_lines:
            async for lines in lines_of(self.request, self.served.limits, AT_ONCE):
                yield lines
            return
        if self.format.is_delimited:
            file, reading = file_of(self.request, self.served.limits), self.served.owner.reading
            rows = cells_of_stream(file, self.format, AT_ONCE, reading.options)
            while (some := await asyncio.to_thread(next, rows, None)) is not None:
                yield some
            return
        async for batch in self._rows():
            for start in range(0, batch.num_rows, AT_ONCE):
                yield await asyncio.to_thread(rows_as_json, batch.slice(start, AT_ONCE))

    async def _to_submit(self, lines: list[bytes], before: int) -> tuple[list[int], list[Submitted]]:
        """Return the numbers of the lines that are not blank, and these lines to submit."""
        comment = self.format.comment or b"\n"
        kept = [(before + k, line) for k, line in enumerate(lines, 1) if line.strip() and not line.startswith(comment)]
        numbers, texts = [number for number, _ in kept], [line for _, line in kept]
        keys = [numbered(self.key, number) for number in numbers]
        if self.format.family is not Family.LINES or not texts:
            return numbers, [Submitted(text, key) for text, key in zip(texts, keys, strict=True)]
        return numbers, await asyncio.to_thread(self._parsed, texts, keys)

    def _parsed(self, texts: list[bytes], keys: list[str | None]) -> list[Submitted]:
        """Return lines of another format, parsed; for a thread."""
        read = self.served.owner.reading.parsed(texts, self.format)
        return [Submitted(text, key).read_as(found) for text, key, found in zip(texts, keys, read, strict=True)]

    async def _answer(self, numbers: Sequence[int] | Numbered, results: list[Result] | int) -> bytes:
        """Count results and return their lines of the answer; long ones are made in a thread."""
        if isinstance(results, int):
            self.counts["learnt"] += results
            return b""
        if len(results) <= AT_ONCE:
            return self._encoded(numbers, results)
        return await asyncio.to_thread(self._encoded, numbers, results)

    def _encoded(self, numbers: Sequence[int] | Numbered, results: list[Result]) -> bytes:
        answers = []
        for number, result in zip(
            numbers.numbers() if isinstance(numbers, Numbered) else numbers, results, strict=True
        ):
            if isinstance(result, Refused):
                kind = "refused"
                if len(self.refusals) < SHOWN:
                    self.refusals.append({"line": number, **plain(result)})
            else:
                kind = "repeated" if "repeated" in result else "learnt"
            self.counts[kind] += 1
            if self.return_predictions:
                answers.append(msgspec.json.encode({"line": number, **plain(result)}))
        return b"\n".join([*answers, b""])


def numbered(key: str | None, number: int) -> str | None:
    """Return the key of one line of a request."""
    return None if key is None else f"{key}:{number}"


def _why(stopped: OuzelError | ProblemError) -> str:
    """Return why the stream stopped, without advice on options that a service does not have."""
    if isinstance(stopped, ProblemError):
        return stopped.detail
    if isinstance(stopped, DataError) and "on_error" in stopped.options:
        return f"{stopped.reason}; earlier rows were learnt; correct this one, and send it again with the rows after it"
    return str(stopped)
