"""Of which features a stream has told the names: each block tells those it meets, or else the stream each but once."""

from __future__ import annotations

import numpy as np

from ouzel.kernels.bytes import COPIED, copy_some, eight_bytes
from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import mix_part
from ouzel.streams.block import Names
from ouzel.streams.feature_names import FILTER_BITS

MOST_TEXT = np.uint64(1 << 26)  # bytes of names noted of a chunk: as many as are kept of all, see `FeatureNames`
ROOM = 8  # bytes behind a name that must be there
ZERO, ONE, THREE, FOUR, EIGHT, HALF = (np.uint64(number) for number in (0, 1, 3, 4, 8, 32))
LOW = np.uint64(2**32 - 1)
BLANK, SEPARATOR = np.uint8(32), np.uint8(94)  # ^, between a namespace and a name


@force_inline
def absorb(word, held, bits, data, at, size):
    """Hash `size` bytes more from `data[at]` on; ROOM bytes behind them must be there."""
    while size >= FOUR:
        held |= (eight_bytes(data, at) & LOW) << bits
        word = mix_part(word, np.uint32(held))
        held >>= HALF
        at += FOUR
        size -= FOUR
    rest = size << THREE
    held |= (eight_bytes(data, at) & ((ONE << rest) - ONE)) << bits
    bits += rest
    if bits >= HALF:
        word = mix_part(word, np.uint32(held))
        held >>= HALF
        bits -= HALF
    return word, held, bits


@force_inline
def absorb_byte(word, held, bits, byte):
    """Hash one byte more."""
    held |= np.uint64(byte) << bits
    bits += EIGHT
    if bits == HALF:
        word = mix_part(word, np.uint32(held))
        held = bits = ZERO
    return word, held, bits


@force_inline
def absorb_bytes(word, held, bits, data, start, stop):
    """Hash `data[start:stop]`, byte by byte: whatever lies behind."""
    for k in range(np.uint64(start), np.uint64(stop)):
        word, held, bits = absorb_byte(word, held, bits, data[k])
    return word, held, bits


@force_inline
def prefix_of(seed, data, start, stop):
    """The hash, not finished, of a namespace and the separator behind it; of an empty one there is none."""
    word, held, bits = np.uint32(seed), ZERO, ZERO
    if stop > start:
        word, held, bits = absorb_bytes(word, held, bits, data, start, stop)
        word, held, bits = absorb_byte(word, held, bits, SEPARATOR)
    return word, held, bits


@force_inline
def is_new(noted, identity):
    """Whether an id is met for the first time; marks it in the bits of `noted` (uint64), a power of two of them."""
    identity = np.uint64(identity) & (np.uint64(len(noted)) * np.uint64(64) - ONE)
    place, bit = identity >> np.uint64(6), ONE << (identity & np.uint64(63))
    if noted[place] & bit:
        return False
    noted[place] |= bit
    return True


@force_inline
def first_met(noted, identity, present):
    """1 if an id is `present` (1, else 0) and met for the first time, else 0; as `is_new`, without a branch."""
    identity = np.uint64(identity) & (np.uint64(len(noted)) * np.uint64(64) - ONE)
    place, shift = identity >> np.uint64(6), identity & np.uint64(63)
    before = noted[place]
    noted[place] = before | (present << shift)
    return present & ~(before >> shift)


@force_inline
def trimmed(data, start, stop):
    """A span without the blanks around it."""
    while start < stop and data[start] == BLANK:
        start += ONE
    while stop > start and data[stop - ONE] == BLANK:
        stop -= ONE
    return start, stop


@force_inline
def note(spans, names, space, start, stop, identity):
    """Note the name `data[start:stop]` of a namespace, `space` (2,), as that of an id, within MOST_TEXT bytes."""
    size = space[1] - space[0] + ONE + stop - start
    if names[1] + size <= MOST_TEXT:
        span = spans[names[0]]
        span[0], span[1], span[2], span[3], span[4] = space[0], space[1], start, stop, identity
        names[0] += ONE
        names[1] += size


@force_inline
def keep_note(spans, names, place, identity):
    """Note the name whose span stands at a place of `spans` as that of an id: it is moved to the next free place.

    That is not behind the first. As `note`, within MOST_TEXT bytes.
    """
    size = spans[place, 1] - spans[place, 0] + ONE + spans[place, 3] - spans[place, 2]
    if names[1] + size <= MOST_TEXT:
        kept = names[0]
        for k in range(4):
            spans[kept, k] = spans[place, k]
        spans[kept, 4] = identity
        names[0] += ONE
        names[1] += size


@force_inline
def append(text, filled, data, start, stop):
    """Copy `data[start:stop]` to `text[filled:]`, which has COPIED bytes more room; the new end."""
    size = stop - start
    if stop + np.uint64(COPIED) <= np.uint64(len(data)):
        for part in range(ZERO, size, np.uint64(COPIED)):
            copy_some(text, filled + part, data, start + part)
    else:
        for k in range(size):
            text[filled + k] = data[start + k]
    return filled + size


@kernel
def _write(data, spans, separator, starts, ends, text):
    filled = ZERO
    for k in range(len(spans)):
        starts[k] = filled
        if spans[k, 1] > spans[k, 0]:
            filled = append(text, filled, data, spans[k, 0], spans[k, 1])
            text[filled] = separator
            filled += ONE
        filled = append(text, filled, data, spans[k, 2], spans[k, 3])
        ends[k] = filled


def names_of(data: np.ndarray, spans: np.ndarray, size: int, separator: np.uint8 = SEPARATOR) -> Names | None:
    """The names noted in spans (k, 5), of at most so many bytes, `separator` behind what stands before them."""
    if not len(spans):
        return None
    starts, ends = np.empty(len(spans), np.uint64), np.empty(len(spans), np.uint64)
    text = np.empty(size + COPIED, np.uint8)
    _write(data, spans, separator, starts, ends, text)
    return Names(spans[:, 4].astype(np.uint32), starts, ends, text[:size])


def nothing_noted(bits: int) -> np.ndarray:
    """What marks no id yet; ids are told apart by as many bits as by those who take the names."""
    return np.zeros(max(1, 1 << min(bits, FILTER_BITS) >> 6), np.uint64)


@kernel
def _mark(noted, ids):
    for identity in ids:
        is_new(noted, identity)


class Telling:
    """What a stream has told, for readers that look ahead.

    A name may be told more than once all the same, for what is read ahead does not know of blocks not yet given out.
    """

    def __init__(self, bits: int) -> None:
        self.once = False  # whether names are told once only, for one who keeps them
        self._bits = bits
        self._told = nothing_noted(bits)

    def begin(self) -> np.ndarray:
        """The marks, see `is_new`, of what need not be told of a block that is read now, to be marked on."""
        return self._told.copy() if self.once else nothing_noted(self._bits)

    def told(self, names: Names | None) -> None:
        """Take note of the names of a block that is given out."""
        if self.once and names is not None:
            _mark(self._told, names.ids)
