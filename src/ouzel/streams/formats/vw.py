"""Vowpal Wabbit text: `label importance tag| feature:value …|namespace:scale feature …`, one example a line.

Features of the default namespace that are whole numbers are ids, as in svmlight files; any other is hashed, as
`namespace^feature` outside the default namespace. A line that starts with `|` has no label.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterator
from functools import partial

import numpy as np

from ouzel.errors import DataError
from ouzel.kernels.bytes import not_digits
from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import MOST_ID, finish_hash
from ouzel.streams.block import LARGEST, Block
from ouzel.streams.feature_space import NOTHING_KNOWN, FeatureSpace, numbered
from ouzel.streams.formats.protocol import LineParser
from ouzel.streams.formats.svmlight import with_labels
from ouzel.streams.formats.vw_features import (
    MOST_SPACES,
    NAMES_AT_ONCE,
    allocate_crossing,
    crossing_inputs,
    enter_default_namespace,
    enter_namespace,
    find_ends,
    named_features,
    put_input,
)
from ouzel.streams.formats.writing import features_of, word_of
from ouzel.streams.kernels.batch_hash import SEPARATOR, allocate_names, hash_prefix, hash_update_bytes
from ouzel.streams.kernels.lines import SPARE, Parsed, checked_text, problem_at, too_long
from ouzel.streams.kernels.new_names import NameEmitter, NewNames, add_if_new, copy_names, empty_seen_set, record_name
from ouzel.streams.kernels.numbers import WINDOW, parse_number, plain_features, plain_number
from ouzel.streams.kernels.row_buffer import allocate_ranking, empty_zero_range, rank_row, record_zeros
from ouzel.streams.labels import labels_in
from ouzel.streams.limits import in_units
from ouzel.streams.options import Options

FOREIGN = re.compile(r"[0-9]+(:[-+.0-9eE]*)+")  # an action or a label with its cost, and its probability
MOST_KEPT = 1 << 22  # numbers of an array that is kept for the next chunk
_buffers = threading.local()
ADVICE = {
    1: "expected `label [importance] [tag]| features`; there is no | in this line",
    2: "expected a finite number as the feature's value",
    3: f"expected a feature id from 0 to {MOST_ID}, or a name that is not a whole number",
    4: "expected a value that fits 32-bit floating point",
    5: "expected an importance of 0 or more (labels with costs, `1:0.5 2:1.5 |`, are not read: one label a line)",
    6: "expected a finite label",
    7: "expected a finite number as the namespace's scale",
    11: "expected the name of a feature before the colon",
    10: f"expected at most {MOST_SPACES} namespaces to cross",
}


def is_foreign(word: str) -> bool:
    """Return whether a label belongs to a line that Vowpal Wabbit reads for another task.

    >>> is_foreign("1:2:0.4"), is_foreign("shared"), is_foreign("spam:ham")
    (True, True, False)
    """
    return word == "shared" or FOREIGN.fullmatch(word) is not None


def label_advice(data: np.ndarray, span: np.ndarray) -> str:
    """Return what is expected instead of the bad label at a span."""
    if is_foreign(bytes(data[span[0] : span[1]]).decode()):
        return (
            "expected one label: lines of contextual bandits (action:cost:probability), with costs of labels, or "
            "`shared` are another task, which Ouzel does not learn; give each example a label of its own"
        )
    return "expected a finite number or a printable name as label"


def scratch(name: str, size: int) -> np.ndarray:
    """Return an array (size,) uint64, not cleared, that calls of the same name in one thread share.

    >>> scratch("ends", 3).shape
    (3,)
    """
    array: np.ndarray | None = getattr(_buffers, name, None)
    if array is None or len(array) < size:
        array = np.empty(size, np.uint64)
        if size <= MOST_KEPT:
            setattr(_buffers, name, array)
    return array[:size]


@kernel
def word_end(data, at, stop):
    """Return the end of the word at `at`: a blank, a bar or the end of the line."""
    while at < stop and data[at] > 32 and data[at] != 124:
        at += 1
    return at


@force_inline
def plain_header(data, at, stop):
    """Return the label of a line that begins `label |`, and the position of the bar; `at` if it begins otherwise."""
    start = np.uint64(at)
    if start + WINDOW > np.uint64(len(data)):
        return 0.0, at
    label, length = plain_number(data, start, not_digits(data, start), np.uint64(0))
    bar = start + length + np.uint64(1)
    plain = length > np.uint64(0) and bar < np.uint64(stop) and data[bar - np.uint64(1)] == 32 and data[bar] == 124
    return label, np.int64(bar) if plain else at


@kernel
def read_header(data, at, stop):
    """Read up to the first bar: (label, its span if it is not a number, importance, span of the tag, error, at)."""
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
    """Return the tags (n,) at spans (n, 2), None for a line without one; None if no line has one."""
    if (spans[:, 0] == spans[:, 1]).all():
        return None
    texts = [bytes(data[start:end]).decode() or None for start, end in spans.tolist()]
    return np.array(texts, object)


@kernel
def _parse(
    data,
    start,
    stop,
    skip,
    longest,
    most,
    seed,
    mask,
    ends,
    seen,
    arrays,
    spans,
    crossing,
    crossed,
    zeros,
    pending,
):
    """Parse lines into `arrays`; return (rows, nonzeros, names, lines, skipped, error, where).

    `head_spans` (rows, 4) are those of labels that are not numbers, and of tags. Bad lines count in the `numbers`
    (rows,) of the others. A name has at most `longest` bytes, all names of a line with their namespaces `most`. What is
    not plain is read byte by byte. `names` (4,) counts the names recorded in `spans`, their bytes, the bytes of names
    in the last line, and the features with names. `zeros` records what rows lose, see `empty_zero_range`.
    """
    offsets, ids, values, labels, weights, head_spans, numbers = arrays
    at = np.int64(start)
    row = nnz = lines = skipped = 0
    end = np.uint64(0)
    offsets[0] = 0
    names, space = np.zeros(4, np.uint64), np.zeros(2, np.uint64)
    ranking, fields = allocate_ranking(), np.empty(NAMES_AT_ONCE, np.uint64)
    while at < stop:
        byte = data[at]
        if byte == 10:
            lines += 1
            at += 1
            continue
        if byte <= 32:
            at += 1
            continue
        row_start = nnz
        for k in range(4):
            head_spans[row, k] = -1
        importance, error = 1.0, 0
        label, header_end = plain_header(data, at, stop)
        if header_end == at:
            label, label_start, label_end, importance, tag_start, tag_end, error, at = read_header(data, at, stop)
            head_spans[row, 0], head_spans[row, 1] = label_start, label_end
            head_spans[row, 2], head_spans[row, 3] = tag_start, tag_end
        else:
            at = header_end
        where = at
        names[2] = 0
        inputs = crossing.state[0]
        if crossed:
            enter_default_namespace(crossing, data, at)
        space[0] = space[1] = at
        scale = 1.0
        ordered = True
        previous = np.int64(-1)
        while error == 0 and at < stop:
            if scale == 1.0:
                if space[0] == space[1] and data[at] != 124 and crossing.state[2] == 0:
                    place, nnz, ordered, previous = plain_features(data, at, stop, ids, values, nnz, ordered, previous)
                    at = np.int64(place)
                while ends[end] < at:
                    end += np.uint64(1)
                at, end, nnz, ordered, previous = named_features(
                    data, at, stop, longest, most, seed, mask, ends, end, ids, values, nnz, ordered, previous, space,
                    names, seen, spans, crossing, crossed, pending, fields,
                )  # fmt: skip
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
                space[0] = at
                at = word_end(data, at, stop)
                space_end = np.int64(space[0])
                while space_end < at and data[space_end] != 58:
                    space_end += 1
                space[1] = space_end
                if crossed and not enter_namespace(crossing, data, space[0], space[1]):
                    error = 10
                    break
                scale = 1.0
                if space_end < at:
                    scale, number_end = parse_number(data, space_end + 1, at)
                    if number_end != at or not abs(scale) <= LARGEST:
                        error = 7
                continue
            stopped = word_end(data, at, stop)
            colon = at
            while colon < stopped and data[colon] != 58:
                colon += 1
            value = scale
            if colon < stopped:
                number, number_end = parse_number(data, colon + 1, stopped)
                if number_end != stopped:
                    error, where = 2, colon + 1
                    break
                value = number * scale
            if not abs(value) <= LARGEST:
                error = 4
                break
            digits = space[0] == space[1]
            if digits and colon == at:
                error = 11
                break
            identity = hashed = np.int64(0)
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
                hashed = identity
            else:
                before = np.int64(space[1] - space[0])
                size = np.uint64(before + colon - at + 1)
                names[2] += size
                names[3] += np.uint64(1)
                if size > longest + np.uint64(1) or names[2] > most:
                    error = 8 if size > longest + np.uint64(1) else 9
                    break
                word, tail, bits = hash_prefix(seed, data, space[0], space[1])
                word, tail, bits = hash_update_bytes(word, tail, bits, data, at, colon)
                hashed = np.int64(finish_hash(word, tail, size - np.uint64(before == 0)))
                identity = hashed & np.int64(mask)
                if add_if_new(seen, identity):
                    record_name(spans, names, space, np.uint64(at), np.uint64(colon), np.uint64(identity))
            ids[nnz] = identity
            values[nnz] = value
            if crossed and crossing.state[2]:
                put_input(crossing, crossing.state[2], hashed, value, at, colon)
            ordered &= identity > previous and values[nnz] != 0.0
            previous = identity
            nnz += 1
            at = stopped
        if error:
            nnz = row_start
            crossing.state[0] = inputs
            if not skip:
                return row, nnz, names, lines, skipped, error, where
            skipped += 1
            while at < stop and data[at] != 10:
                at += 1
            continue
        if not ordered:
            record_zeros(ids, values, row_start, nnz, zeros)
            zeros[2] += nnz
            nnz = rank_row(ids, values, row_start, nnz, ranking)
            zeros[2] -= nnz
        labels[row], weights[row], numbers[row] = label, importance, row + skipped
        if crossed:
            crossing.entries.bounds[row, 0], crossing.entries.bounds[row, 1] = inputs, crossing.state[0]
        row += 1
        offsets[row] = nnz
    return row, nnz, names, lines, skipped, 0, stop


def parser(options: Options, emitter: NameEmitter) -> LineParser:
    """Return the parser of the lines of a stream."""
    from ouzel.streams.formats.vw_features import Namespaces, selects_namespaces

    parse = partial(parse_vw, emitter=emitter)
    if selects_namespaces(options):
        namespaces = Namespaces(options, parse)
        return LineParser(namespaces.parse, namespaces.remarks)
    return LineParser(parse)


def lines_of(block: Block) -> Iterator[str]:
    """Yield the examples of a block as lines, ids as whole numbers; DataError if they have groups, or weights alone."""
    if block.groups is not None:
        raise DataError("Vowpal Wabbit text has no groups, and this data has; convert it to svmlight, parquet or arrow")
    weights = ["" if weight == 1.0 else f" {weight:.9g}" for weight in block.weights.tolist()]
    for label, weight, features in zip(labels_in(block), weights, features_of(block), strict=True):
        if label is None and weight:
            raise DataError("Vowpal Wabbit text has no weights without labels; convert to parquet or arrow")
        yield f"{word_of(label)}{weight} |{features}\n"


def parse_vw(data: np.ndarray, start: int, stop: int, options: Options, emitter: NameEmitter | None = None) -> Parsed:
    """Parse whole lines of text, `data[start:stop]` (uint8); the block emits the names that `emitter` decides."""
    data, start, stop, lines, not_utf8 = checked_text(data, start, stop, options)
    ends = scratch("ends", stop - start + SPARE)
    capacity = int(find_ends(data, start, stop, ends)) + 2
    lines += 1
    offsets = np.empty(lines + 1, np.uint64)
    ids, values = np.empty(capacity, np.uint32), np.empty(capacity, np.float32)
    labels, weights = np.empty(lines), np.empty(lines, np.float32)
    head_spans, numbers = np.empty((lines, 4), np.int64), np.empty(lines, np.int64)
    spans = scratch("spans", 5 * capacity).reshape(capacity, 5)
    limits = options.limits
    crossing, zeros = allocate_crossing(options, data, lines, capacity), empty_zero_range()
    rows, nonzeros, names, seen, skipped, error, where = _parse(
        data,
        start,
        stop,
        options.on_error == "skip",
        np.uint64(limits.word),
        np.uint64(limits.line),
        options.seed,
        np.uint32((1 << options.bits) - 1),
        ends,
        empty_seen_set(options.bits) if emitter is None else emitter.begin(),
        (offsets, ids, values, labels, weights, head_spans, numbers),
        spans,
        crossing,
        bool(options.derived),
        zeros,
        allocate_names(NAMES_AT_ONCE),
    )
    seen = int(names[0])
    found = copy_names([NewNames(data, data, spans[:seen], int(names[1]))], SEPARATOR) if seen else None
    block = Block(offsets[: rows + 1], ids[:nonzeros], values[:nonzeros], labels[:rows], weights[:rows])
    space = _space_of(ids[:nonzeros], int(names[3]), rows, zeros)
    block = block._replace(names=found, space=space, numbers=numbers[:rows])
    if options.derived:
        block = block._replace(interaction_inputs=crossing_inputs(crossing, rows))
    if options.unlabelled:
        block = block._replace(tags=tags_at(data, head_spans[:rows, 2:]))
    problem = problem_at(data, start, where, ADVICE.get(error, "")) if error else not_utf8
    if problem is not None and error == 8:
        problem = too_long(problem, limits)
    elif problem is not None and error == 9:
        expected = f"with the namespaces repeated, the names of its line take more than {in_units(limits.line)}"
        problem = problem._replace(expected=expected, limits=limits.longer("line"))
    return with_labels(
        Parsed(block, seen, skipped, problem), data, start, head_spans[:rows, :2], options, label_advice, is_foreign
    )


def _space_of(ids: np.ndarray, names: int, rows: int, zeros: np.ndarray) -> FeatureSpace:
    """Return the feature space of a chunk; a single line of numbers says nothing, for the next may have names.

    Where there are fewer names than features, zeros counted, the other features are numbers.
    """
    if names == 0:
        return numbered(ids, open_vocabulary=True, zeros=zeros) if rows > 1 else NOTHING_KNOWN
    space = FeatureSpace(named=True, open_vocabulary=True)
    if names >= len(ids) + zeros[2]:
        return space
    return space._replace(lowest=0, highest=numbered(ids, zeros=zeros).highest)
