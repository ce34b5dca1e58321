"""Messages as examples: they are put into lines, which the readers of files take, and each row knows its message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ouzel.errors import DataError, OuzelError, bad_line
from ouzel.streams.block import Block
from ouzel.streams.logs.protocol import Batch, shown
from ouzel.streams.options import Options, check_format
from ouzel.streams.sources.formats import told_by
from ouzel.streams.tables.kinds import ColumnKinds
from ouzel.streams.text.json_lines import JsonLines
from ouzel.streams.text.json_objects import object_of
from ouzel.streams.text.lines import Parsed
from ouzel.streams.text.svmlight import parse_svmlight
from ouzel.streams.text.vw import parse_vw
from ouzel.streams.text.vw_namespaces import Namespaces, names_namespaces

MOST_TRIED = 100  # messages by which the format is told
FORMATS = ("jsonl", "svmlight", "vw")
PARSERS = {"svmlight": parse_svmlight, "vw": parse_vw}


class Bad(NamedTuple):
    """A line that is not an example."""

    message: int  # of the batch
    line: int  # of the batch
    error: DataError
    original: bytes  # the whole message

    @property
    def reason(self) -> str:
        """What is wrong with it."""
        return str(self.error).partition("; mend it")[0]


class Decoded(NamedTuple):
    """What a batch holds."""

    batch: Batch
    blocks: list[Block]
    lines: np.ndarray  # (rows,) int64, which line of the batch each row is
    firsts: np.ndarray  # (n + 1,) int64, the first line of each message, and the number of all lines
    bad: list[Bad]


class Decoder:
    """Reads the messages of one log, all of which have one format."""

    def __init__(self, format: str | None, options: Options, name: str, say: Callable[[str], None]) -> None:
        self.options = replace(options, on_error="skip")
        self.name = name
        self.format = format
        self.kinds = ColumnKinds(options, say)
        self.looked = False  # whether it is known what the members of JSON objects hold
        self._json: JsonLines | None = None
        self._parse: Callable[..., Parsed] | None = None

    @property
    def ready(self) -> bool:
        """Whether it has looked at the first messages."""
        return self._json is not None or self._parse is not None

    def look(self, batches: Sequence[Batch]) -> None:
        """Tell the format by the first messages, and what members hold."""
        values = [value for batch in batches for value in batch.values if value]
        for value in values[:MOST_TRIED]:
            with suppress(DataError):
                self.format = self.format or told_by(value[:4096], self.name)
        if self.format is None:
            if len(values) < MOST_TRIED:
                return
            self.format = told_by(values[0][:4096], self.name)
        if self.format not in FORMATS:
            raise OuzelError(f"{self.name}: messages are {', '.join(FORMATS)}; got {self.format!r}")
        check_format(self.options, self.name, self.format)
        if self.format == "jsonl":
            self._json = JsonLines(self.options, lambda count: None, self.kinds, self.name)
            if not self.looked:
                lines = [line for value in values[: self.options.sample] for line in content(value, self.format)]
                self._json.look(lines[: self.options.sample])
        elif self.format == "vw" and names_namespaces(self.options):
            self._parse = Namespaces(self.options).parse
        else:
            self._parse = PARSERS[self.format]
        self.looked = True

    def decode(self, batch: Batch) -> Decoded:
        """The examples of a batch; those that are none are told apart, with what is wrong with them."""
        if not self.ready:
            self.look([batch])
        if self.format is None:
            for value in filter(None, batch.values):
                told_by(value[:4096], self.name)  # raises, or it would be known
            return Decoded(batch, [], np.empty(0, np.int64), np.zeros(len(batch.values) + 1, np.int64), [])
        text, firsts = self._text(batch)
        blocks, lines = self._blocks(text) if text else ([], np.empty(0, np.int64))
        bad = []
        if len(lines) < firsts[-1]:
            every = text.split(b"\n")
            for line in np.setdiff1d(np.arange(firsts[-1]), lines, assume_unique=True).tolist():
                if self.format == "svmlight" and every[line].lstrip().startswith(b"#"):
                    continue
                message = int(np.searchsorted(firsts, line, side="right")) - 1
                bad.append(Bad(message, line, self._reason(batch, message, every[line]), batch.values[message] or b""))
        return Decoded(batch, blocks, lines, firsts, bad)

    def _text(self, batch: Batch) -> tuple[bytes, np.ndarray]:
        """The lines of all messages, and the first of each."""
        values = batch.values
        if None not in values and b"" not in values:
            text = b"\n".join(values) + b"\n"  # type: ignore[arg-type]
            if text.count(b"\n") == len(values) and not any(map(bytes.isspace, values)):  # type: ignore[arg-type]
                return text, np.arange(len(values) + 1)
        lines = [content(value, self.format or "") for value in values]
        text = b"".join(line + b"\n" for message in lines for line in message)
        return text, np.cumsum([0, *map(len, lines)])

    def _blocks(self, text: bytes) -> tuple[list[Block], np.ndarray]:
        """Blocks of lines, and which line each row is."""
        data = np.frombuffer(text, np.uint8)
        if self._json is not None:
            before = self._json.read
            blocks = list(self._json.blocks(data, 0, len(data)))
            numbers = [block.numbers - before for block in blocks if block.numbers is not None]
        else:
            assert self._parse is not None
            parsed = self._parse(data, 0, len(data), self.options)
            blocks = [parsed.block] if parsed.block.rows else []
            numbers = [parsed.block.numbers] if blocks and parsed.block.numbers is not None else []
            if parsed.problem is not None:  # that no option leaves out
                raise parsed.problem.error(self.name, 0)
        return blocks, np.concatenate(numbers) if numbers else np.empty(0, np.int64)

    def _reason(self, batch: Batch, message: int, line: bytes) -> DataError:
        """What is wrong with a line: the same readers say it."""
        where = place_of(self.name, batch, message)
        strict = replace(self.options, on_error="raise")
        data = np.frombuffer(line + b"\n", np.uint8)
        if self._json is not None:
            alone = JsonLines(strict, lambda count: None, self.kinds, where)
            alone.examples.label = self._json.examples.label
            try:
                list(alone.blocks(data, 0, len(data)))
            except DataError as error:
                return bad_line(
                    str(error).partition("; mend it")[0].replace(f"{where}:1:", f"{where}, column "), "messages"
                )
        else:
            assert self._parse is not None
            problem = self._parse(data, 0, len(data), strict).problem
            if problem is not None:
                return bad_line(
                    f"{where}, column {problem.column}: found {problem.found}; {problem.advice}", "messages"
                )
        return bad_line(f"{where}: is not an example", "messages")


def content(value: bytes | None, format: str) -> list[bytes]:
    """The lines of a message that hold something; a JSON object may stand on several.

    >>> content(b'{"a":\\n1}', "jsonl"), content(b"1 2:3\\n\\n0 4:5\\n", "svmlight"), content(None, "vw")
    ([b'{"a": 1}'], [b'1 2:3', b'0 4:5'], [])
    """
    lines = [line for line in (value or b"").splitlines() if line.strip()]
    if format == "jsonl" and len(lines) > 1:
        try:
            object_of(b" ".join(lines))
        except (ValueError, RecursionError):
            return lines
        return [b" ".join(lines)]
    return [line for line in lines if format != "svmlight" or not line.startswith(b"#")]


def place_of(name: str, batch: Batch, message: int) -> str:
    """Where a message is, for people."""
    partition = f"partition {batch.partition}, " if batch.partition else ""
    return f"{name}: {partition}offset {shown(batch.places[message])}"
