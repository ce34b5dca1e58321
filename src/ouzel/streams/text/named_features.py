"""Named features of Vowpal Wabbit text, `|namespace name name:value`, read where they lie.

Where words end, at blanks, bars and colons, is found for a whole chunk first (`ouzel.streams.text.marks`). Names are
hashed in place, those of a line together.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import ends_of_words, not_digits
from ouzel.kernels.jit import force_inline
from ouzel.streams.text.hashing_together import hash_names, put_name
from ouzel.streams.text.marks import finding
from ouzel.streams.text.plain_features import WINDOW, plain_number
from ouzel.streams.text.spans import SEPARATOR, absorb, absorb_byte, is_new, keep_note, prefix_of
from ouzel.streams.text.vw_factors import enter_next, put_factor

AT_ONCE = 128  # features that are gathered, then hashed together
ZERO, ONE, MOST = np.uint64(0), np.uint64(1), np.uint64(AT_ONCE)


@force_inline
def _ends_a_word(byte):
    return byte <= 32 or byte == 124 or byte == 58


find_ends = finding(__name__, ends_of_words, _ends_a_word)


@force_inline
def named_features(
    data,
    at,
    stop,
    longest,
    most,
    seed,
    mask,
    ends,
    end,
    ids,
    values,
    nnz,
    ordered,
    previous,
    space,
    names,
    noted,
    spans,
    crossing,
    crossed,
    unhashed,
    fields,
):
    """Read named features from `data[at:stop]` on, up to the line's end or to what is not written plainly.

    `ends[end]` is the first end of a word from `at` on, `space` (2,) where the namespace begins and ends; `names` (4,)
    are how many are noted in `spans`, their bytes, those of the names of this line, and how many features have names.
    If there are to be crosses, `crossed`, their factors go to `crossing`. `unhashed` and `fields` are room for AT_ONCE
    features.
    Returns (at, end, nnz, ordered, previous).
    """
    at, stop = np.uint64(at), np.uint64(stop)
    last = np.uint64(max(0, len(data) - np.int64(WINDOW)))
    prefix, held, bits = prefix_of(seed, data, space[0], space[1])
    before = space[1] - space[0]  # bytes of the namespace
    line = names[2]
    going_on = True
    while going_on:
        count, noting = ZERO, names[0]
        while count < MOST:
            going_on = False  # until a feature is read, or a namespace
            if at >= last:
                break
            to = ends[end]
            if to >= stop or to > last:
                break
            byte = data[to]
            if to == at:
                if byte == 10 or byte == 58:
                    break
                if byte == 124:
                    to = ends[end + ONE]
                    if to >= stop or to > last or data[to] > 32:
                        break
                    space[0], space[1] = at + ONE, to
                    before = to - at - ONE
                    prefix, held, bits = np.uint32(seed), ZERO, ZERO
                    if before:
                        prefix, held, bits = absorb(prefix, held, bits, data, at + ONE, before)
                        prefix, held, bits = absorb_byte(prefix, held, bits, SEPARATOR)
                    if crossed and not enter_next(crossing, data, at + ONE, before):
                        break
                    at = to
                    end += ONE
                    byte = data[to]
                blank = np.uint64(byte != 10)
                at += blank
                end += blank
                going_on = True
                continue
            if before == ZERO and data[at] - np.uint8(48) <= 9:
                break
            size = before + to - at + ONE
            if size > longest + ONE or line + size > most:
                break
            value, behind = 1.0, to
            if byte == 58:
                value, length = plain_number(data, to + ONE, not_digits(data, to + ONE), ZERO)
                if length == ZERO:
                    break
                behind += ONE + length
                if behind > stop:
                    break
                end += ONE
            put_name(unhashed, count, prefix, held, bits, data, at, to - at, size - np.uint64(before == ZERO))
            span = noting + count
            spans[span, 0], spans[span, 1], spans[span, 2], spans[span, 3] = space[0], space[1], at, to
            if crossed:
                fields[count] = crossing.state[2]
            values[nnz + np.int64(count)] = value
            count += ONE
            line += size
            blank = np.uint64(data[behind] == 32) & np.uint64(behind < stop)
            at = behind + blank
            end += blank
            going_on = True
        hash_names(unhashed, count)
        for k in range(count):
            hashed = unhashed.hashes[k]
            identity = hashed & mask
            if crossed and fields[k]:
                put_factor(crossing, fields[k], hashed, values[nnz], spans[noting + k, 2], spans[noting + k, 3])
            if is_new(noted, identity):
                keep_note(spans, names, noting + k, identity)
            ids[nnz] = identity
            ordered &= (np.int64(identity) > previous) & (values[nnz] != 0.0)
            previous = np.int64(identity)
            nnz += 1
        names[3] += count
    names[2] = line
    return np.int64(at), end, nnz, ordered, previous
