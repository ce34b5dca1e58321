"""The members that the objects of a stream have had: what each is, and its name hashed as far as it is known.

A key is compared with the one that followed the last key in the object before. So objects that are alike cost no
search; others find a key by its hash.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.bytes import eight_bytes
from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import murmur3_32
from ouzel.streams.text.spans import absorb_bytes

PLAIN, NUMBERS, CATEGORIES, LABEL, WEIGHT, IGNORED, ODD = (np.uint8(role) for role in range(7))
"""What a member is: of the kind that its value has, a number, a category; a role of its own, nothing; not read here."""

MOST = 1 << 16  # keys that are known; objects with others are not read here
GAP = 8  # bytes behind each key that are nothing
ZERO, ONE, THREE, EIGHT = (np.uint64(number) for number in (0, 1, 3, 8))
ALL = np.uint64(2**64 - 1)

# The columns of a key's row: what a member needs lies together.
NEXT = 0  # which key followed
HEAD, HEAD_BITS = 1, 2  # the first eight bytes of `"key":`, and the bits of those that count
TAIL = 3  # its last eight bytes, if it has more than that
SIZE = 4  # bytes of the key
LAST = 5  # the last object with it; of key 0 how many there were
STATE, HELD, BITS = 6, 7, 8  # the hash of `key=`, not finished (see `spans`)
ROLE, QUICK = 9, 10  # what it is; the same if it can be read quickly, else ODD
ID, HASH = 11, 12  # of the feature that a number of this member is; the same, not masked
MET = 13  # the first object since it was last asked of which a number was a feature; 0 if none
NAMED = 14  # whether that feature has a name, and not a number of its own
FIELD = 15  # its number among those with a part in crosses, from 1 on; else 0
START = 16  # where it begins in the text
COLUMNS = 24


class Keys(NamedTuple):
    """The keys, from 1 on; 0 stands for the beginning of an object."""

    text: np.ndarray  # (bytes,) uint8
    table: np.ndarray  # (k, COLUMNS) uint64
    places: np.ndarray  # (2^m,) uint32  keys by their hash; 0 where there is none


@force_inline
def same_text(keys, key, data, at, size):
    """Whether `data[at:at + size]` is the text of the key, which has as many bytes; GAP bytes behind must be there."""
    start = keys.table[key, START]
    while size > EIGHT:
        if eight_bytes(keys.text, start) != eight_bytes(data, at):
            return False
        start += EIGHT
        at += EIGHT
        size -= EIGHT
    odd = eight_bytes(keys.text, start) ^ eight_bytes(data, at)
    return size == ZERO or (odd << ((EIGHT - size) << THREE)) == ZERO


@force_inline
def is_key(keys, key, data, at, size):
    """Whether `data[at:at + size]` is the key; GAP bytes behind it must be there."""
    return key > ZERO and keys.table[key, SIZE] == size and same_text(keys, key, data, at, size)


@force_inline
def find_key(keys, data, at, size):
    """The key that `data[at:at + size]` is, 0 if it is not known.

    As a call it would count references to all arrays of the keys, which costs more than the search.
    """
    mask = np.uint64(len(keys.places) - 1)
    place = np.uint64(murmur3_32(data, at, at + size, 0)) & mask
    while keys.places[place]:
        key = np.uint64(keys.places[place])
        if is_key(keys, key, data, at, size):
            return key
        place = (place + ONE) & mask
    return ZERO


@kernel
def _begin(text, seed, begun):
    word, held, bits = absorb_bytes(np.uint32(seed), ZERO, ZERO, text, 0, len(text))
    begun[0], begun[1], begun[2] = word, held, bits


def no_keys() -> Keys:
    """None but the beginning of an object."""
    table = np.zeros((1, COLUMNS), np.uint64)
    table[0, HEAD_BITS] = ALL  # no key has eight zeros
    return Keys(np.zeros(2 * GAP, np.uint8), table, np.zeros(64, np.uint32))


def with_key(
    keys: Keys,
    name: bytes,
    role: np.uint8,
    feature: int = 0,
    hashed: int = 0,
    named: bool = False,
    seed: int = 0,
    field: int = 0,
) -> Keys:
    """The keys with one more."""
    row, written = np.zeros(COLUMNS, np.uint64), b'"' + name + b'":'
    row[START], row[SIZE], row[ROLE], row[QUICK] = len(keys.text), len(name), role, ODD if field else role
    row[HEAD], row[HEAD_BITS] = (int.from_bytes(word[:8], "little") for word in (written, b"\xff" * len(written)))
    row[TAIL] = int.from_bytes(written[-8:], "little")
    row[ID], row[HASH], row[NAMED], row[FIELD] = feature, hashed, named, field
    _begin(np.frombuffer(name + b"=", np.uint8), seed, row[STATE : BITS + 1])
    text = np.concatenate([keys.text, np.frombuffer(name + bytes(GAP), np.uint8)])
    joined = Keys(text, np.vstack([keys.table, row]), keys.places)
    if 4 * len(joined.table) > len(keys.places):
        joined = joined._replace(places=np.zeros(2 * len(keys.places), np.uint32))
        for key in range(1, len(joined.table)):
            _place(joined, key)
    else:
        _place(joined, len(joined.table) - 1)
    return joined


def _place(keys: Keys, key: int) -> None:
    start, mask = int(keys.table[key, START]), len(keys.places) - 1
    place = int(murmur3_32(keys.text, start, start + int(keys.table[key, SIZE]), 0)) & mask
    while keys.places[place]:
        place = (place + 1) & mask
    keys.places[place] = key
