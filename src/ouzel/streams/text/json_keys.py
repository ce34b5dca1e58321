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
ZERO, ONE, EIGHT, THREE = (np.uint64(number) for number in (0, 1, 8, 3))


class Keys(NamedTuple):
    """The keys, from 1 on; 0 stands for the beginning of an object."""

    text: np.ndarray  # (bytes,) uint8
    starts: np.ndarray  # (k,) uint64  where each begins in the text
    sizes: np.ndarray  # (k,) uint64  in bytes
    roles: np.ndarray  # (k,) uint8
    ids: np.ndarray  # (k,) uint32  of the feature that a number of this member is
    hashes: np.ndarray  # (k,) uint32  the same, not masked
    begun: np.ndarray  # (k, 3) uint64  the hash of `key=`, not finished (see `spans`)
    fields: np.ndarray  # (k,) uint16  its number among those with a part in crosses, from 1 on; else 0
    nexts: np.ndarray  # (k,) uint32  which key followed
    named: np.ndarray  # (k,) uint8  whether that feature has a name, and not a number of its own
    rows: np.ndarray  # (k,) uint64  the last object with it; of 0 how many there were
    met: np.ndarray  # (k,) uint64  the first object since it was last asked of which a number was a feature; 0 if none
    places: np.ndarray  # (2^m,) uint32  keys by their hash; 0 where there is none


@force_inline
def is_key(keys, key, data, at, size):
    """Whether `data[at:at + size]` is the key; GAP bytes behind it must be there."""
    if keys.sizes[key] != size or key == ZERO:
        return False
    start = keys.starts[key]
    while size > EIGHT:
        if eight_bytes(keys.text, start) != eight_bytes(data, at):
            return False
        start += EIGHT
        at += EIGHT
        size -= EIGHT
    odd = eight_bytes(keys.text, start) ^ eight_bytes(data, at)
    return size == ZERO or (odd << ((EIGHT - size) << THREE)) == ZERO


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
    words, numbers, bytes_ = (np.zeros(1, kind) for kind in (np.uint64, np.uint32, np.uint8))
    return Keys(
        text=np.zeros(2 * GAP, np.uint8),
        starts=words,
        sizes=words,
        roles=bytes_,
        ids=numbers,
        hashes=numbers,
        begun=np.zeros((1, 3), np.uint64),
        fields=np.zeros(1, np.uint16),
        nexts=numbers.copy(),
        named=bytes_,
        rows=words.copy(),
        met=words.copy(),
        places=np.zeros(64, np.uint32),
    )


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
    begun = np.zeros((1, 3), np.uint64)
    _begin(np.frombuffer(name + b"=", np.uint8), seed, begun[0])
    more = Keys(
        np.frombuffer(name + bytes(GAP), np.uint8),
        np.array([len(keys.text)], np.uint64),
        np.array([len(name)], np.uint64),
        np.array([role], np.uint8),
        np.array([feature], np.uint32),
        np.array([hashed], np.uint32),
        begun,
        np.array([field], np.uint16),
        np.zeros(1, np.uint32),
        np.array([named], np.uint8),
        np.zeros(1, np.uint64),
        np.zeros(1, np.uint64),
        keys.places,
    )
    joined = Keys._make([*map(np.concatenate, zip(keys[:-1], more[:-1], strict=True)), keys.places])
    if 4 * len(joined.sizes) > len(keys.places):
        joined = joined._replace(places=np.zeros(2 * len(keys.places), np.uint32))
        for key in range(1, len(joined.sizes)):
            _place(joined, key)
    else:
        _place(joined, len(joined.sizes) - 1)
    return joined


def _place(keys: Keys, key: int) -> None:
    start, mask = int(keys.starts[key]), len(keys.places) - 1
    place = int(murmur3_32(keys.text, start, start + int(keys.sizes[key]), 0)) & mask
    while keys.places[place]:
        place = (place + 1) & mask
    keys.places[place] = key
