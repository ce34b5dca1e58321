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
ZERO, ONE, EIGHT = (np.uint64(number) for number in (0, 1, 8))

# The columns of a key's row: what a member needs lies together.
START, SIZE = 0, 1  # where the key begins in the text, and its bytes
FIRST, SEEN = 2, 3  # its first eight bytes, zeros behind it, and which bits of those are the key
ROLE = 4
NEXT = 5  # which key followed
LAST = 6  # the last object with it; of key 0 how many there were
STATE, HELD, BITS = 7, 8, 9  # the hash of `key=`, not finished (see `spans`)
ID, HASH = 10, 11  # of the feature that a number of this member is; the same, not masked
NAMED = 12  # whether that feature has a name, and not a number of its own
MET = 13  # the first object since it was last asked of which a number was a feature; 0 if none
FIELD = 14  # its number among those with a part in crosses, from 1 on; else 0
COLUMNS = 16


class Keys(NamedTuple):
    """The keys, from 1 on; 0 stands for the beginning of an object."""

    text: np.ndarray  # (bytes,) uint8
    table: np.ndarray  # (k, COLUMNS) uint64
    places: np.ndarray  # (2^m,) uint32  keys by their hash; 0 where there is none


@force_inline
def same_rest(keys, key, data, at, size):
    """Whether all but the first eight bytes of the key, which has `size` > 8 of them, stand behind `data[at]`."""
    start, last = keys.table[key, START], size - EIGHT
    for k in range(EIGHT, last, EIGHT):
        if eight_bytes(keys.text, start + k) != eight_bytes(data, at + k):
            return False
    return eight_bytes(keys.text, start + last) == eight_bytes(data, at + last)


@force_inline
def is_key(keys, key, data, at, size):
    """Whether `data[at:at + size]` is the key; GAP bytes behind it must be there."""
    if keys.table[key, SIZE] != size or key == ZERO:
        return False
    if (keys.table[key, FIRST] ^ eight_bytes(data, at)) & keys.table[key, SEEN]:
        return False
    return size <= EIGHT or same_rest(keys, key, data, at, size)


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
    return Keys(np.zeros(2 * GAP, np.uint8), np.zeros((1, COLUMNS), np.uint64), np.zeros(64, np.uint32))


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
    row = np.zeros(COLUMNS, np.uint64)
    row[START], row[SIZE], row[ROLE] = len(keys.text), len(name), role
    row[FIRST], row[SEEN] = (int.from_bytes(word[:GAP], "little") for word in (name, b"\xff" * len(name)))
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
