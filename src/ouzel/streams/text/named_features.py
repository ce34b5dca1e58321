"""Named features of Vowpal Wabbit text, `|namespace name name:value`, read where they lie.

Where words end is found for a whole chunk first, 64 bytes at a time, so that no word waits for the end of the last one
(Langdale and Lemire 2019, "Parsing Gigabytes of JSON per Second"). Names are hashed in place, four bytes a round.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import LOOKED_AT, ends_of_words, not_digits, ones, trailing_zeros
from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import finish_hash
from ouzel.streams.text.plain_features import WINDOW, plain_number
from ouzel.streams.text.spans import SEPARATOR, absorb, absorb_byte, is_new, note, prefix_of

ZERO, ONE, EIGHT, THREE = (np.uint64(number) for number in (0, 1, 8, 3))
SPARE = 64  # places behind the last one found


@kernel
def find_ends(data, start, stop, found):
    """Write to `found` where words of `data[start:stop]` end: blanks, bars, colons; then `stop`. Returns their number.

    `found` has room for all and SPARE more.
    """
    count, at, stop = ZERO, np.uint64(start), np.uint64(stop)
    while at + np.uint64(LOOKED_AT) <= stop:
        word = ends_of_words(data, at)
        many = ones(word)
        for part in range(np.uint64(0), (many + np.uint64(7)) >> THREE):
            for k in range(8):  # as many as there are or more, which are written over
                found[count + EIGHT * part + np.uint64(k)] = at + trailing_zeros(word)
                word &= word - ONE
        count += many
        at += np.uint64(LOOKED_AT)
    while at < stop:
        found[count] = at
        count += np.uint64(data[at] <= 32 or data[at] == 124 or data[at] == 58)
        at += ONE
    for k in range(SPARE):
        found[count + np.uint64(k)] = stop
    return count


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
):
    """Read named features from `data[at:stop]` on, up to the line's end or to what is not written plainly.

    `ends[end]` is the first end of a word from `at` on, `space` (2,) where the namespace begins and ends; `names` (4,)
    are how many are noted in `spans`, their bytes, those of the names of this line, and how many features have names.
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
        identity = finish_hash(word, tail, size - np.uint64(before == ZERO)) & mask
        if is_new(noted, identity):
            note(spans, names, space, at, to, identity)
        names[2] += size
        names[3] += ONE
        ids[nnz] = identity
        values[nnz] = value
        ordered &= np.int64(identity) > previous
        previous = np.int64(identity)
        nnz += 1
        at = behind
    return np.int64(at), end, nnz, ordered, previous
