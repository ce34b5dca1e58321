"""Messages as examples: they are put into lines, which the readers of files take, and each row knows its message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ouzel.errors import DataError, OuzelError, bad_line
from ouzel.streams.block import Block
from ouzel.streams.formats.catalogue import FORMATS, MESSAGE_FORMATS, Family, Format, by_content
from ouzel.streams.formats.json_lines import JsonLines
from ouzel.streams.formats.json_parser import PADDING
from ouzel.streams.kernels.lines import Parsed
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.logs.arrow import ArrowDecoder
from ouzel.streams.logs.messages import Bad, Decoded, lines_of, place_of
from ouzel.streams.logs.protocol import Batch
from ouzel.streams.options import Options, check_format
from ouzel.streams.tables.schema import ColumnKinds

if TYPE_CHECKING:
    from ouzel.streams.logs.arrow import ArrowDecoder

MOST_TRIED = 100  # messages by which the format is told
BEHIND, NEWLINE = bytes(PADDING), 10


def _as_array(text: bytearray) -> np.ndarray:
    """Text as the bytes that kernels are compiled for: those of files can be written, too."""
    return np.frombuffer(text, np.uint8)


class Decoder:
    """Reads the messages of one log, all of which have one format."""

    def __init__(self, format: str | None, options: Options, name: str, say: Callable[[str], None]) -> None:
        self.options = replace(options, on_error="skip")
        self.name = name
        self.format = None if format is None else FORMATS.get(format) or self._refused(format)
        self.kinds = ColumnKinds(options, say)
        self.looked = False  # whether it is known what the members of JSON objects hold
        self._json: JsonLines | None = None
        self._parse: Callable[..., Parsed] | None = None
        self._tables: ArrowDecoder | None = None

    @property
    def ready(self) -> bool:
        """Whether it has looked at the first messages."""
        return self._json is not None or self._parse is not None or self._tables is not None

    @property
    def format_name(self) -> str:
        """The format of the messages, once it is known."""
        return "" if self.format is None else self.format.name

    def look(self, batches: Sequence[Batch]) -> None:
        """Tell the format by the first messages, and what members hold."""
        self.format = self.format or self._told(batches)
        if self.format is None or not any(value and not value.isspace() for batch in batches for value in batch.values):
            return
        if not self.format.in_messages:
            self._refused(self.format.name)
        check_format(self.options, self.name, self.format)
        if self.format.family is Family.OBJECTS:
            self._json = JsonLines(self.options, lambda count: None, self.kinds, self.name)
            if not self.looked:
                lines = (line for batch in batches for some in lines_of(batch, self.format) for line in some)
                self._json.infer(list(islice(lines, self.options.sample)))
        elif self.format.is_columnar:
            self._tables = ArrowDecoder(self.options, self.name, self.kinds)
        else:
            self._parse = self.format.module.parser(self.options, NameEmitter(self.options.bits)).parse
        self.looked = True

    def _refused(self, format: str) -> NoReturn:
        raise OuzelError(f"{self.name}: messages are {', '.join(MESSAGE_FORMATS)}; got {format!r}")

    def _told(self, batches: Sequence[Batch]) -> Format | None:
        """The format by the first message that tells one; None if there are too few to give up."""
        values = [value for batch in batches for value in batch.values if value]
        for value in values[:MOST_TRIED]:
            with suppress(DataError):
                return by_content(value[:4096], self.name)
        return None if len(values) < MOST_TRIED else by_content(values[0][:4096], self.name)

    def decode(self, batch: Batch) -> Decoded:
        """The examples of a batch; those that are none are told apart, with what is wrong with them."""
        if not self.ready:
            self.look([batch])
        if self._tables is not None:
            return self._tables.decode(batch)
        if self.format is None:
            for value in filter(None, batch.values):
                by_content(value[:4096], self.name)  # raises, or it would be known
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
        """The lines of all messages (uint8), with the room behind them that readers need, and the first of each."""
        values = batch.values
        if None not in values and b"" not in values and not batch.beside:
            data = _as_array(bytearray(b"\n").join([*values, BEHIND]))  # type: ignore[list-item]
            if np.count_nonzero(data == NEWLINE) == len(values) and not any(map(bytes.isspace, values)):  # type: ignore[arg-type]
                return data, np.arange(len(values) + 1)
        assert self.format is not None
        lines = lines_of(batch, self.format)
        text = bytearray(b"\n").join([*chain.from_iterable(lines), BEHIND])
        return _as_array(text), np.cumsum([0, *map(len, lines)])

    def _blocks(self, data: np.ndarray, stop: int) -> tuple[list[Block], np.ndarray]:
        """Blocks of lines that end at a byte, and which line each row is."""
        if self._json is not None:
            before = self._json.read
            blocks = list(self._json.blocks(data, 0, stop))
            numbers = [block.numbers - before for block in blocks if block.numbers is not None]
        else:
            assert self._parse is not None
            parsed = self._parse(data, 0, stop, self.options)
            blocks = [parsed.block] if parsed.block.rows else []
            numbers = [parsed.block.numbers] if blocks and parsed.block.numbers is not None else []
            if parsed.problem is not None:  # that no option leaves out
                raise parsed.problem.error(self.name, 0)
        return blocks, np.concatenate(numbers) if numbers else np.empty(0, np.int64)

    def _reason(self, batch: Batch, message: int, line: bytes) -> DataError:
        """What is wrong with a line: the same readers say it."""
        where = place_of(self.name, batch, message)
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
