"""Named features of Vowpal Wabbit text, `|namespace name name:value`, read where they lie.

Where words end, at blanks, bars and colons, is found for a whole chunk first (`ouzel.streams.text.marks`). Names are
hashed in place, four bytes a round.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import ends_of_words, not_digits
from ouzel.kernels.jit import force_inline
from ouzel.sketches.hashing import finish_hash
from ouzel.streams.text.marks import finding
from ouzel.streams.text.plain_features import WINDOW, plain_number
from ouzel.streams.text.spans import SEPARATOR, absorb, absorb_byte, is_new, note, prefix_of
from ouzel.streams.text.vw_factors import enter, put_factor

ZERO, ONE = np.uint64(0), np.uint64(1)


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
):
    """Read named features from `data[at:stop]` on, up to the line's end or to what is not written plainly.

    `ends[end]` is the first end of a word from `at` on, `space` (2,) where the namespace begins and ends; `names` (4,)
    are how many are noted in `spans`, their bytes, those of the names of this line, and how many features have names.
    If there are to be crosses, `crossed`, their factors go to `crossing`.
    Returns (at, end, nnz, ordered, previous).
    """
    at, stop = np.uint64(at), np.uint64(stop)
    last = np.uint64(max(0, len(data) - np.int64(WINDOW)))
    prefix, held, bits = prefix_of(seed, data, space[0], space[1])
    before = space[1] - space[0]  # bytes of the namespace
    while at < last:
        to = ends[end]
        if to >= stop or to > last:
            break
        byte = data[to]
        if to == at:
            if byte == 10 or byte == 58:
                break
            if byte != 124:
                at += ONE
                end += ONE
                continue
            to = ends[end + ONE]
            if to >= last or data[to] > 32:
                break
            space[0], space[1] = at + ONE, to
            before = to - at - ONE
            prefix, held, bits = np.uint32(seed), ZERO, ZERO
            if before:
                prefix, held, bits = absorb(prefix, held, bits, data, at + ONE, before)
                prefix, held, bits = absorb_byte(prefix, held, bits, SEPARATOR)
            if crossed and not enter(crossing, data, space[0], space[1]):
                break
            at = to
            end += ONE
            continue
        if before == ZERO and data[at] - np.uint8(48) <= 9:
            break
        size = before + to - at + ONE
        if size > longest + ONE or names[2] + size > most:
            break
        value, behind = 1.0, to
        if byte == 58:
            value, length = plain_number(data, to + ONE, not_digits(data, to + ONE), ZERO)
            if length == ZERO:
                break
            behind += ONE + length
            end += ONE
        word, tail, _ = absorb(prefix, held, bits, data, at, to - at)
        hashed = finish_hash(word, tail, size - np.uint64(before == ZERO))
        identity = hashed & mask
        if is_new(noted, identity):
            note(spans, names, space, at, to, identity)
        names[2] += size
        names[3] += ONE
        ids[nnz] = identity
        values[nnz] = value
        if crossed:
            put_factor(crossing, hashed, value, at, to)
        ordered &= np.int64(identity) > previous
        previous = np.int64(identity)
        nnz += 1
        at = behind
    return np.int64(at), end, nnz, ordered, previous
