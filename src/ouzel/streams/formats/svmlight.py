"""svmlight / libsvm text: `label qid:7 3:0.5 17:1 # a remark`, one example a line.

The label may be a number, a name, a list `1,15,16` (with `label_positive` saying which class is +1), or absent. Ids may
come in any order and repeat; repeated ids add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ouzel.errors import DataError
from ouzel.kernels.jit import force_inline, kernel_of
from ouzel.numerals import as_number
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.block import LARGEST, Block
from ouzel.streams.feature_space import numbered
from ouzel.streams.formats.protocol import LineParser
from ouzel.streams.formats.writing import features_of, word_of
from ouzel.streams.kernels.lines import Parsed, checked_text, problem_at, too_long
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.kernels.numbers import ONE, parse_number, plain_features
from ouzel.streams.kernels.row_buffer import empty_zero_range, record_zeros, sort_row
from ouzel.streams.labels import Label, as_sign, label_of, labels_in, signs_of
from ouzel.streams.options import Options
from ouzel.streams.truth_values import TRUTHS

ADVICE = {
    1: "expected a feature id:value (or is this another format?)",
    2: "expected a finite number as the value",
    3: f"expected a feature id from 0 to {MOST_ID}; renumber the ids",
    4: "expected a value that fits 32-bit floating point",
    5: "expected a whole number after qid:",
    6: "expected a finite label",
}


@force_inline
def _at_qid(data, at, stop):
    """Whether `qid:` stands here."""
    if at + np.uint64(4) >= stop or data[at] != 113 or data[at + ONE] != 105:
        return False
    return data[at + np.uint64(2)] == 100 and data[at + np.uint64(3)] == 58


@force_inline
def _no_prefix(data, at, stop):
    """The position of an id, which nothing comes before."""
    return at


def make_parse(home, behind_prefix, plain_features):
    """A kernel of the module `home` that parses lines of features `id:value`, each with a prefix.

    `behind_prefix(data, at, stop)` is where the id begins; `plain_features` reads on as far as it can, fast.
    """

    @kernel_of(home, inline=True)
    def parse(data, start, stop, skip, offsets, ids, values, labels, groups, label_spans, numbers, zeros):
        """Fill the arrays from the text; return (rows, nonzeros, lines, skipped, error, where).

        A label that is not a number leaves its span in `label_spans` (rows, 2), others -1; so do groups without a qid.
        Bad lines count in the `numbers` (rows,) of the others. `zeros` records ids whose value is 0.
        """
        at = np.uint64(start)
        stop = np.uint64(stop)
        row = nnz = lines = skipped = error = 0
        offsets[0] = 0
        while at < stop:
            byte = data[at]
            if byte == 10:
                lines += 1
                at += ONE
                continue
            if byte == 32 or byte == 9 or byte == 13:
                at += ONE
                continue
            if byte == 35:
                while at < stop and data[at] != 10:
                    at += ONE
                continue
            row_start = nnz
            where = at
            label, signed_end = parse_number(data, at, stop)
            end = np.uint64(signed_end)
            label_spans[row, 0] = -1
            groups[row] = -1
            if end > at and end < stop and data[end] == 58:
                label = np.nan
            elif end > at and (end == stop or data[end] <= 32 or data[end] == 35):
                at = end
                if not math.isfinite(label):
                    error = 6
            else:
                end = at
                while end < stop and data[end] > 32 and data[end] != 58:
                    end += ONE
                if end < stop and data[end] == 58:
                    label = np.nan
                else:
                    label_spans[row, 0] = at
                    label_spans[row, 1] = end
                    at = end
            ordered = True
            previous = np.int64(-1)
            while error == 0 and at < stop:
                at, nnz, ordered, previous = plain_features(data, at, stop, ids, values, nnz, ordered, previous)
                if at == stop:
                    break
                byte = data[at]
                if byte == 32 or byte == 9 or byte == 13:
                    at += ONE
                    continue
                if byte == 10 or byte == 35:
                    break
                where = at
                at = behind_prefix(data, at, stop)
                begin = at
                identity = np.int64(0)
                while at < stop:
                    digit = np.uint8(data[at] - np.uint8(48))
                    if digit > 9:
                        break
                    identity = min(identity * 10 + np.int64(digit), np.int64(1) << 40)
                    at += ONE
                if at == begin or at >= stop or data[at] != 58:
                    if at == where and _at_qid(data, at, stop):
                        after = at + np.uint64(4)
                        group, signed_end = parse_number(data, after, stop)
                        end = np.uint64(signed_end)
                        whole = end > after and group == math.floor(group) and abs(group) < 2.0**53
                        if whole and (end == stop or data[end] <= 32):
                            groups[row] = np.int64(group)
                            at = end
                            continue
                        error = 5
                    else:
                        error = 1
                    break
                at += ONE
                value, signed_end = parse_number(data, at, stop)
                end = np.uint64(signed_end)
                if end == at or (end < stop and data[end] > 32 and data[end] != 35):
                    error, where = 2, at
                    break
                if identity > MOST_ID:
                    error = 3
                    break
                if abs(value) > LARGEST:
                    error, where = 4, at
                    break
                at = end
                ids[nnz] = identity
                values[nnz] = value
                ordered &= identity > previous and values[nnz] != 0.0
                previous = identity
                nnz += 1
            if error:
                nnz = row_start
                if not skip:
                    return row, nnz, lines, skipped, error, np.int64(where)
                error = 0
                skipped += 1
                while at < stop and data[at] != 10:
                    at += ONE
                continue
            if not ordered:
                record_zeros(ids, values, row_start, nnz, zeros)
                nnz = sort_row(ids, values, row_start, nnz)
                for k in range(row_start, nnz):
                    values[k] = min(max(values[k], np.float32(-LARGEST)), np.float32(LARGEST))
            labels[row] = label
            numbers[row] = row + skipped
            row += 1
            offsets[row] = nnz
            while at < stop and data[at] != 10:
                at += ONE
        return row, nnz, lines, skipped, 0, np.int64(stop)

    return parse


_parse = make_parse(__name__, _no_prefix, plain_features)


def parse_svmlight(data: np.ndarray, start: int, stop: int, options: Options) -> Parsed:
    """Parse whole lines of text, `data[start:stop]` (uint8)."""
    return parse_with(_parse, ADVICE, data, start, stop, options)


def parser(options: Options, emitter: NameEmitter) -> LineParser:
    """Return the parser of the lines of a stream."""
    return LineParser(parse_svmlight)


def parse_with(
    kernel: Callable[..., Any], advice: Mapping[int, str], data: np.ndarray, start: int, stop: int, options: Options
) -> Parsed:
    """Parse whole lines of text by a kernel of `make_parse`; `advice` says what to do about each of its errors."""
    data, start, stop, lines, not_utf8 = checked_text(data, start, stop, options)
    capacity = (stop - start) // 3 + 1  # a feature takes three bytes or more; untouched pages cost no memory
    offsets = np.empty(lines + 2, np.uint64)
    ids = np.empty(capacity, np.uint32)
    values = np.empty(capacity, np.float32)
    labels = np.empty(lines + 1)
    groups = np.empty(lines + 1, np.int64)
    spans = np.empty((lines + 1, 2), np.int64)
    numbers = np.empty(lines + 1, np.int64)
    skip = options.on_error == "skip"
    zeros = empty_zero_range()
    rows, nonzeros, seen, skipped, error, where = kernel(
        data, start, stop, skip, offsets, ids, values, labels, groups, spans, numbers, zeros
    )
    block = Block(
        offsets[: rows + 1],
        ids[:nonzeros],
        values[:nonzeros],
        labels[:rows],
        np.ones(rows, np.float32),
        groups=groups[:rows] if rows and (groups[:rows] >= 0).any() else None,
        space=numbered(ids[:nonzeros], zeros=zeros),
        numbers=numbers[:rows],
    )
    problem = problem_at(data, start, where, advice[error]) if error else not_utf8
    return with_labels(Parsed(block, seen, skipped, problem), data, start, spans[:rows], options, _label_advice)


def lines_of(block: Block, prefix: str = "", format: str = "svmlight") -> Iterator[str]:
    """Yield the examples of a block as lines of a format, a prefix before each id; DataError if they have weights."""
    if (block.weights != 1.0).any():
        raise DataError(
            f"{format} text has no importance weights, and this data has; convert it to vw, parquet or arrow"
        )
    groups = [""] * block.rows if block.groups is None else [f" qid:{group}" for group in block.groups.tolist()]
    for label, group, features in zip(labels_in(block), groups, features_of(block, prefix), strict=True):
        yield f"{word_of(label)}{group}{features}\n"


def with_labels(
    parsed: Parsed,
    data: np.ndarray,
    start: int,
    spans: np.ndarray,
    options: Options,
    advice: Callable[[np.ndarray, np.ndarray], str],
    foreign: Callable[[str], bool] = lambda word: False,
) -> Parsed:
    """Name the labels of the chunk at `start`; `advice` returns what to do about a bad one, by its text and span.

    Words that are `foreign` are not labels.
    """
    block, wrong = name_labels(parsed.block, data, spans, options, foreign)
    if not len(wrong):
        return parsed._replace(block=block)
    if options.on_error == "skip":
        block = block.select(np.setdiff1d(np.arange(block.rows), wrong))
        return parsed._replace(block=block, skipped=parsed.skipped + len(wrong))
    first = wrong[0]
    span = spans[first]
    passed = options.limits.passed_by(int(span[1] - span[0]))
    if passed:
        problem = too_long(problem_at(data, start, int(span[0]), ""), options.limits, passed)
    else:
        problem = problem_at(data, start, int(span[0]), advice(data, span))
    return parsed._replace(block=block.slice(0, int(first)), problem=problem)


def name_labels(
    block: Block, data: np.ndarray, spans: np.ndarray, options: Options, foreign: Callable[[str], bool]
) -> tuple[Block, np.ndarray]:
    """Write labels that are words as names, or as members of `label_positive`; return the rows with bad labels, too."""
    positive = options.label_positive
    named = np.flatnonzero(spans[:, 0] >= 0)
    labels = block.labels.copy()  # it is compared below with what is written here
    if positive is not None:
        labels = signs_of(labels, positive)
    wrong: list[int] = []
    codes: dict[Label, int] = {}
    for row in named:
        if spans[row, 1] - spans[row, 0] > options.limits.longest_label:
            wrong.append(int(row))
            continue
        word = bytes(data[spans[row, 0] : spans[row, 1]]).decode()
        if foreign(word):
            wrong.append(int(row))
        elif positive is not None:
            labels[row] = max(as_sign(label_of(part), positive) or -1 for part in word.split(","))
        elif "," in word or not word.isprintable() or not math.isnan(as_number(word)) or word.lower() == "nan":
            wrong.append(int(row))
        else:
            labels[row] = codes.setdefault(TRUTHS.get(word.lower(), word), len(codes))
    if not codes:
        return block._replace(labels=labels), np.array(wrong, np.int64)
    plain = np.setdiff1d(np.flatnonzero(~np.isnan(labels)), named)
    names: list[Label] = list(codes)
    for number in np.unique(labels[plain]):
        labels[plain[block.labels[plain] == number]] = len(names)
        names.append(int(number) if number.is_integer() else float(number))
    return block._replace(labels=labels, label_names=names), np.array(wrong, np.int64)


def _label_advice(data: np.ndarray, span: np.ndarray) -> str:
    if 44 in data[span[0] : span[1]]:
        return (
            "a list of labels needs --label-positive CLASS, or it is not svmlight text: name its format (--format csv)"
        )
    return "expected a label: a finite number or a printable name"
