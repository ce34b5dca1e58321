"""What stands before the first bar of a line of Vowpal Wabbit text: its label, its importance, its tag."""

from __future__ import annotations

import math

import numpy as np

from ouzel.kernels.bytes import not_digits
from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.block import LARGEST
from ouzel.streams.text.numbers import parse_number
from ouzel.streams.text.plain_features import WINDOW, plain_number


@kernel
def word_end(data, at, stop):
    """The end of the word at `at`: a blank, a bar or the line's end."""
    while at < stop and data[at] > 32 and data[at] != 124:
        at += 1
    return at


@force_inline
def plain_header(data, at, stop):
    """The label of a line that begins `label |`, and where the bar is; that is `at` if it begins otherwise."""
    start = np.uint64(at)
    if start + WINDOW > np.uint64(len(data)):
        return 0.0, at
    label, length = plain_number(data, start, not_digits(data, start), np.uint64(0))
    bar = start + length + np.uint64(1)
    plain = length > np.uint64(0) and bar < np.uint64(stop) and data[bar - np.uint64(1)] == 32 and data[bar] == 124
    return label, np.int64(bar) if plain else at


@kernel
def read_header(data, at, stop):
    """What stands before the first bar: (label, its span if it is not a number, importance, tag's span, error, at)."""
    label = np.nan
    span_start = span_end = tag_start = tag_end = np.int64(-1)
    importance = 1.0
    numbers = 0
    while at < stop:
        byte = data[at]
        if byte <= 32 and byte != 10:
            at += 1
            continue
        if byte == 124 or byte == 10:
            break
        end = word_end(data, at, stop)
        tag = data[at] == 39 or (end < stop and data[end] == 124 and numbers > 0)
        if not tag:
            value, number_end = parse_number(data, at, end)
            whole = number_end == end
            if numbers == 0 and whole:
                label = value
                if not math.isfinite(value):
                    return label, span_start, span_end, importance, tag_start, tag_end, 6, at
            elif numbers == 0:
                span_start, span_end = at, end
            elif numbers == 1:
                if not (whole and 0.0 <= value <= LARGEST):
                    return label, span_start, span_end, importance, tag_start, tag_end, 5, at
                importance = value
            numbers += 1
        else:
            tag_start, tag_end = at + (data[at] == 39), end
        at = end
    error = 0 if at < stop and data[at] == 124 else 1
    return label, span_start, span_end, importance, tag_start, tag_end, error, at


def tags_at(data: np.ndarray, spans: np.ndarray) -> np.ndarray | None:
    """The tags (n,) at some spans (n, 2), None of lines that have none; None if no line has one."""
    if (spans[:, 0] == spans[:, 1]).all():
        return None
    texts = [bytes(data[start:end]).decode() or None for start, end in spans.tolist()]
    return np.array(texts, object)
