"""Vowpal Wabbit text: `label importance tag| feature:value …|namespace:scale feature …`, one example a line.

Features of the default namespace that are whole numbers are ids, as in svmlight files; any other is hashed, as
`namespace^feature` outside the default namespace. A line that starts with `|` has no label.
"""

from __future__ import annotations

import math

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.sketches.hashing import MOST_ID, murmur3_32
from ouzel.streams.block import LARGEST, Block, Names
from ouzel.streams.feature_space import NOTHING_KNOWN, FeatureSpace, numbered
from ouzel.streams.limits import in_units
from ouzel.streams.options import Options
from ouzel.streams.row_order import sort_row
from ouzel.streams.text.lines import Parsed, problem_at, too_long
from ouzel.streams.text.numbers import parse_number
from ouzel.streams.text.plain_features import plain_features
from ouzel.streams.text.svmlight import with_labels
from ouzel.streams.text.vw_labels import is_foreign, label_advice

ADVICE = {
    1: "expected `label [importance] [tag]| features`; there is no | in this line",
    2: "expected a finite number as the feature's value",
    3: f"expected a feature id from 0 to {MOST_ID}, or a name that is not a whole number",
    4: "expected a value that fits 32-bit floating point",
    5: "expected an importance of 0 or more (labels with costs, `1:0.5 2:1.5 |`, are not read: one label a line)",
    6: "expected a finite label",
    7: "expected a finite number as the namespace's scale",
}

MOST_TEXT = 1 << 26  # bytes of names noted of a chunk: as many as are kept of all chunks, see `features.FeatureNames`


@kernel
def _count(data, start, stop):
    """Newlines, blanks and bars of a chunk: bounds on its examples and features."""
    lines = words = bars = np.uint32(0)
    for k in range(np.uint64(start), np.uint64(stop)):
        lines += np.uint32(data[k] == 10)
        words += np.uint32(data[k] <= 32)
        bars += np.uint32(data[k] == 124)
    return lines, words, bars


@kernel
def _word_end(data, at, stop):
    """The end of the word at `at`: a blank, a bar or the line's end."""
    while at < stop and data[at] > 32 and data[at] != 124:
        at += 1
    return at


@kernel
def _with_room(text, filled, more):
    """The text with room for so many bytes more."""
    if filled + more <= len(text):
        return text
    longer = np.empty(2 * (filled + more), np.uint8)
    for k in range(filled):
        longer[k] = text[k]
    return longer


@kernel
def _header(data, at, stop):
    """What stands before the first bar: (label, its span if it is not a number, importance, error, where, position)."""
    label = np.nan
    span_start = span_end = np.int64(-1)
    importance = 1.0
    numbers = 0
    while at < stop:
        byte = data[at]
        if byte <= 32 and byte != 10:
            at += 1
            continue
        if byte == 124 or byte == 10:
            break
        end = _word_end(data, at, stop)
        tag = data[at] == 39 or (end < stop and data[end] == 124 and numbers > 0)
        if not tag:
            value, number_end = parse_number(data, at, end)
            whole = number_end == end
            if numbers == 0 and whole:
                label = value
                if not math.isfinite(value):
                    return label, span_start, span_end, importance, 6, at, at
            elif numbers == 0:
                span_start, span_end = at, end
            elif numbers == 1:
                if not (whole and 0.0 <= value <= LARGEST):
                    return label, span_start, span_end, importance, 5, at, at
                importance = value
            numbers += 1
        at = end
    error = 0 if at < stop and data[at] == 124 else 1
    return label, span_start, span_end, importance, error, at, at


@kernel
def _parse(
    data, start, stop, skip, longest, most, seed, mask, offsets, ids, values, labels, weights, label_spans, starts, ends
):
    """Fill the arrays from the text; return (rows, nonzeros, name ids, names, lines, skipped, error, where).

    A name has at most `longest` bytes, all names of a line with their namespaces `most`. Those of the chunk are noted
    as far as they take MOST_TEXT bytes.
    """
    at = np.int64(start)
    row = nnz = named = filled = lines = skipped = 0
    offsets[0] = 0
    name_ids = np.empty(len(starts), np.uint32)
    text = np.empty(len(name_ids), np.uint8)
    while at < stop:
        byte = data[at]
        if byte == 10:
            lines += 1
            at += 1
            continue
        if byte <= 32 and byte != 10:
            at += 1
            continue
        row_start = nnz
        named_bytes = 0  # in this line
        label, span_start, span_end, importance, error, where, at = _header(data, at, stop)
        label_spans[row, 0], label_spans[row, 1] = span_start, span_end
        space_start = space_end = at
        scale = 1.0
        ordered = True
        previous = np.int64(-1)
        while error == 0 and at < stop:
            if space_start == space_end and scale == 1.0:
                place, nnz, ordered, previous = plain_features(data, at, stop, ids, values, nnz, ordered, previous)
                at = np.int64(place)
                if at == stop:
                    break
            byte = data[at]
            if byte == 10:
                break
            if byte <= 32:
                at += 1
                continue
            where = at
            if byte == 124:
                at += 1
                space_start = at
                at = _word_end(data, at, stop)
                space_end = space_start
                while space_end < at and data[space_end] != 58:
                    space_end += 1
                scale = 1.0
                if space_end < at:
                    scale, end = parse_number(data, space_end + 1, at)
                    if end != at or not abs(scale) <= LARGEST:
                        error = 7
                continue
            end = _word_end(data, at, stop)
            colon = at
            while colon < end and data[colon] != 58:
                colon += 1
            value = scale
            if colon < end:
                number, number_end = parse_number(data, colon + 1, end)
                if number_end != end:
                    error, where = 2, colon + 1
                    break
                value = number * scale
            if not abs(value) <= LARGEST:
                error = 4
                break
            digits = space_start == space_end
            identity = np.int64(0)
            for k in range(at, colon):
                digit = np.uint8(data[k] - np.uint8(48))
                if digit > 9:
                    digits = False
                    break
                identity = min(identity * 10 + np.int64(digit), np.int64(1) << 40)
            if digits and colon > at:
                if identity > MOST_ID:
                    error = 3
                    break
            else:
                size = colon - at + space_end - space_start + 1
                named_bytes += size
                if size > longest + 1 or named_bytes > most:
                    error = 8 if size > longest + 1 else 9
                    break
                begun = filled
                text = _with_room(text, filled, size)
                if space_end > space_start:
                    for k in range(space_start, space_end):
                        text[filled] = data[k]
                        filled += 1
                    text[filled] = 94
                    filled += 1
                for k in range(at, colon):
                    text[filled] = data[k]
                    filled += 1
                identity = np.int64(murmur3_32(text, begun, filled, seed) & mask)
                if filled <= MOST_TEXT:
                    name_ids[named] = identity
                    starts[named], ends[named] = begun, filled
                    named += 1
                else:
                    filled = begun
            ids[nnz] = identity
            values[nnz] = value
            ordered &= identity > previous
            previous = identity
            nnz += 1
            at = end
        if error:
            nnz = row_start
            if not skip:
                return row, nnz, name_ids[:named], text[:filled], lines, skipped, error, where
            skipped += 1
            while at < stop and data[at] != 10:
                at += 1
            continue
        if not ordered:
            nnz = sort_row(ids, values, row_start, nnz)
            for k in range(row_start, nnz):
                values[k] = min(max(values[k], np.float32(-LARGEST)), np.float32(LARGEST))
        labels[row], weights[row] = label, importance
        row += 1
        offsets[row] = nnz
    return row, nnz, name_ids[:named], text[:filled], lines, skipped, 0, stop


def parse_vw(data: np.ndarray, start: int, stop: int, options: Options) -> Parsed:
    """The examples in whole lines of text, `data[start:stop]` (uint8)."""
    lines, words, bars = _count(data, start, stop)
    room = words + bars + 2
    offsets = np.empty(lines + 2, np.uint64)
    ids, values = np.empty(room, np.uint32), np.empty(room, np.float32)
    labels, weights = np.empty(lines + 1), np.empty(lines + 1, np.float32)
    spans = np.empty((lines + 1, 2), np.int64)
    starts, ends = np.empty(room, np.uint64), np.empty(room, np.uint64)
    skip = options.on_error == "skip"
    limits = options.limits
    mask = np.uint32((1 << options.bits) - 1)
    rows, nonzeros, named, text, seen, skipped, error, where = _parse(
        data,
        start,
        stop,
        skip,
        limits.word,
        limits.line,
        options.seed,
        mask,
        offsets,
        ids,
        values,
        labels,
        weights,
        spans,
        starts,
        ends,
    )
    names = Names(named, starts[: len(named)], ends[: len(named)], text) if len(named) else None
    space = _space_of(ids[:nonzeros], len(named), rows)
    block = Block(offsets[: rows + 1], ids[:nonzeros], values[:nonzeros], labels[:rows], weights[:rows])
    block = block._replace(names=names, space=space)
    problem = problem_at(data, start, where, ADVICE.get(error, "")) if error else None
    if problem is not None and error == 8:
        problem = too_long(problem, limits)
    elif problem is not None and error == 9:
        advice = f"with the namespaces repeated, the names of its line take more than {in_units(limits.line)}"
        problem = problem._replace(advice=advice, limits=limits.longer("line"))
    return with_labels(
        Parsed(block, seen, skipped, problem), data, start, spans[:rows], options, label_advice, is_foreign
    )


def _space_of(ids: np.ndarray, names: int, rows: int) -> FeatureSpace:
    """What the features of a chunk are known by; numbers of a single line say nothing, as names may stand in the next.

    Where there are fewer names than features, others are numbers.
    """
    if names == 0:
        return numbered(ids, loose=True) if rows > 1 else NOTHING_KNOWN
    space = FeatureSpace(named=True, loose=True)
    return space._replace(lowest=0, highest=int(ids.max())) if names < len(ids) else space
