"""libffm text, of field-aware factorisation machines: `label field:id:value …`, one example a line.

An id is a feature whatever its field: a linear model has no use for fields. `qid:7` and remarks are as in svmlight.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ouzel.kernels.jit import force_inline
from ouzel.streams.block import Block
from ouzel.streams.formats import svmlight
from ouzel.streams.formats.protocol import LineParser
from ouzel.streams.kernels.lines import Parsed
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.kernels.numbers import ONE
from ouzel.streams.options import Options

ADVICE = {**svmlight.ADVICE, 1: "expected a feature field:id:value (or is this another format?)"}


@force_inline
def _behind_field(data, at, stop):
    """Return the position behind `field:`; `at` itself if there is none."""
    end = at
    while end < stop and np.uint8(data[end] - np.uint8(48)) <= 9:
        end += ONE
    return end + ONE if end > at and end < stop and data[end] == 58 else at


@force_inline
def _one_by_one(data, at, stop, ids, values, nonzeros, ordered, previous):
    """Read no features here: the caller reads them one by one."""
    return at, nonzeros, ordered, previous


_parse = svmlight.make_parse(__name__, _behind_field, _one_by_one)


def parser(options: Options, emitter: NameEmitter) -> LineParser:
    """Return the parser of the lines of a stream.

    >>> text = np.frombuffer(bytearray(b"1 0:3:1 7:1203:0.5"), np.uint8)
    >>> block = parser(Options(), NameEmitter(18)).parse(text, 0, len(text), Options()).block
    >>> block.indices.tolist(), block.values.tolist()
    ([3, 1203], [1.0, 0.5])
    """
    return LineParser(_lines)


def _lines(data: np.ndarray, start: int, stop: int, options: Options) -> Parsed:
    return svmlight.parse_with(_parse, ADVICE, data, start, stop, options)


def lines_of(block: Block) -> Iterator[str]:
    """Yield the examples of a block as lines, all features of the field 0; DataError if they have weights."""
    return svmlight.lines_of(block, "0:", "libffm")
