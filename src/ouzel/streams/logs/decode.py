"""Decoder of messages: joins them into lines, parses these as lines of a file, and maps each row to its message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import NoReturn

import numpy as np

from ouzel.errors import DataError, OuzelError, bad_line
from ouzel.streams.block import Block
from ouzel.streams.formats.catalogue import FORMATS, MESSAGE_FORMATS, Family, Format, by_content
from ouzel.streams.formats.json_lines import JsonLines
from ouzel.streams.formats.json_parser import PADDING
from ouzel.streams.kernels.lines import Parsed
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.logs.arrow import ArrowDecoder
from ouzel.streams.logs.messages import Bad, Decoded, lines_of, location_of
from ouzel.streams.logs.protocol import Batch
from ouzel.streams.options import Options, check_format
from ouzel.streams.tables.schema import ColumnKinds

DETECTION_MESSAGES = 100  # messages tried to detect the format
BEHIND, NEWLINE = bytes(PADDING), 10


def _as_array(text: bytearray) -> np.ndarray:
    """Return text as a writable array, the type that kernels are compiled for."""
    return np.frombuffer(text, np.uint8)


class Decoder:
    """Decoder of the messages of one log, which all have one format."""

    def __init__(self, format: str | None, options: Options, name: str, say: Callable[[str], None]) -> None:
        self.options = replace(options, on_error="skip")
        self.name = name
        self.format = None if format is None else FORMATS.get(format) or self._refuse_format(format)
        self.kinds = ColumnKinds(options, say)
        self.schema_known = False  # whether the kinds of the columns are inferred
        self._json: JsonLines | None = None
        self._parse: Callable[..., Parsed] | None = None
        self._tables: ArrowDecoder | None = None

    @property
    def ready(self) -> bool:
        """Whether the format is known and the parser made."""
        return self._json is not None or self._parse is not None or self._tables is not None

    @property
    def format_name(self) -> str:
        """Name of the format of the messages, once it is known."""
        return "" if self.format is None else self.format.name

    def infer(self, batches: Sequence[Batch]) -> None:
        """Infer the format, and the kinds of columns, from the first messages."""
        self.format = self.format or self._detect_format(batches)
        if self.format is None or not any(value and not value.isspace() for batch in batches for value in batch.values):
            return
        if not self.format.in_messages:
            self._refuse_format(self.format.name)
        check_format(self.options, self.name, self.format)
        if self.format.family is Family.OBJECTS:
            self._json = JsonLines(self.options, lambda count: None, self.kinds, self.name)
            if not self.schema_known:
                lines = (line for batch in batches for some in lines_of(batch, self.format) for line in some)
                self._json.infer(list(islice(lines, self.options.sample)))
        elif self.format.is_columnar:
            self._tables = ArrowDecoder(self.options, self.name, self.kinds)
        else:
            self._parse = self.format.module.parser(self.options, NameEmitter(self.options.bits)).parse
        self.schema_known = True

    def _refuse_format(self, format: str) -> NoReturn:
        raise OuzelError(f"{self.name}: messages are {', '.join(MESSAGE_FORMATS)}; got {format!r}")

    def _detect_format(self, batches: Sequence[Batch]) -> Format | None:
        """Return the format of the first message that has a known one; None while too few messages were tried."""
        values = [value for batch in batches for value in batch.values if value]
        for value in values[:DETECTION_MESSAGES]:
            with suppress(DataError):
                return by_content(value[:4096], self.name)
        return None if len(values) < DETECTION_MESSAGES else by_content(values[0][:4096], self.name)

    def decode(self, batch: Batch) -> Decoded:
        """Return the examples of a batch, and its bad lines with their errors."""
        if not self.ready:
            self.infer([batch])
        if self._tables is not None:
            return self._tables.decode(batch)
        if self.format is None:
            for value in filter(None, batch.values):
                by_content(value[:4096], self.name)  # raises the error: no format fits
            return Decoded(batch, [], np.empty(0, np.int64), np.zeros(len(batch.values) + 1, np.int64), [])
        data, firsts = self._text(batch)
        stop = len(data) - PADDING
        blocks, lines = self._blocks(data, stop) if stop else ([], np.empty(0, np.int64))
        bad = []
        if len(lines) < firsts[-1]:
            every = data[:stop].tobytes().split(b"\n")
            for line in np.setdiff1d(np.arange(firsts[-1]), lines, assume_unique=True).tolist():
                if self.format.comment and every[line].lstrip().startswith(self.format.comment):
                    continue
                message = int(np.searchsorted(firsts, line, side="right")) - 1
                bad.append(Bad(message, line, self._reason(batch, message, every[line]), batch.values[message] or b""))
        return Decoded(batch, blocks, lines, firsts, bad)

    def _text(self, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        """Return the lines of all messages (uint8), padded as parsers need it, and the first line of each message."""
        values = batch.values
        if None not in values and b"" not in values and not batch.metadata:
            data = _as_array(bytearray(b"\n").join([*values, BEHIND]))  # type: ignore[list-item]
            if np.count_nonzero(data == NEWLINE) == len(values) and not any(map(bytes.isspace, values)):  # type: ignore[arg-type]
                return data, np.arange(len(values) + 1)
        assert self.format is not None
        lines = lines_of(batch, self.format)
        text = bytearray(b"\n").join([*chain.from_iterable(lines), BEHIND])
        return _as_array(text), np.cumsum([0, *map(len, lines)])

    def _blocks(self, data: np.ndarray, stop: int) -> tuple[list[Block], np.ndarray]:
        """Return the blocks of `data[:stop]`, and the line number of each row."""
        if self._json is not None:
            before = self._json.read
            blocks = list(self._json.blocks(data, 0, stop))
            numbers = [block.numbers - before for block in blocks if block.numbers is not None]
        else:
            assert self._parse is not None
            parsed = self._parse(data, 0, stop, self.options)
            blocks = [parsed.block] if parsed.block.rows else []
            numbers = [parsed.block.numbers] if blocks and parsed.block.numbers is not None else []
            if parsed.problem is not None:  # one that on_error="skip" does not cover
                raise parsed.problem.error(self.name, 0)
        return blocks, np.concatenate(numbers) if numbers else np.empty(0, np.int64)

    def _reason(self, batch: Batch, message: int, line: bytes) -> DataError:
        """Return the error of a bad line, as the same parsers report it."""
        where = location_of(self.name, batch, message)
        strict = replace(self.options, on_error="raise")
        data = _as_array(bytearray(line + b"\n"))
        if self._json is not None:
            alone = JsonLines(strict, lambda count: None, self.kinds, where)
            alone.examples.label = self._json.examples.label
            try:
                list(alone.blocks(data, 0, len(data)))
            except DataError as error:
                return error.elsewhere(where, "messages")
        else:
            assert self._parse is not None
            problem = self._parse(data, 0, len(data), strict).problem
            if problem is not None:
                return bad_line(where, problem.found, problem.expected, column=problem.column, unit="messages")
        return bad_line(where, "is not an example", unit="messages")
