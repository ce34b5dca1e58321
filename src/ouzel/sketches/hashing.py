"""Hashing: MurmurHash3 for names of features, tabulation for the tables of sketches.

MurmurHash3 (Austin Appleby, public domain), the 32-bit x86 variant, is what Vowpal Wabbit and scikit-learn hash names
with. Simple tabulation (Carter & Wegman 1979; Patrascu & Thorup 2012, "The Power of Simple Tabulation Hashing") XORs
one random word for every byte of the key: 3-wise independent, and stronger in use than that says.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline, kernel

MOST_ID = 2**32 - 2  # the largest feature id; a slot is an id plus one


@force_inline
def _rotate(word, by):
    return (word << np.uint32(by)) | (word >> np.uint32(32 - by))


@force_inline
def _scramble(word):
    return np.uint32(_rotate(np.uint32(word * np.uint32(0xCC9E2D51)), 15) * np.uint32(0x1B873593))


@force_inline
def mix_part(word, part):
    """The state of a hash (uint32) with four bytes more (uint32, the first lowest)."""
    return np.uint32(_rotate(np.uint32(word ^ _scramble(part)), 13) * np.uint32(5) + np.uint32(0xE6546B64))


@force_inline
def finish_hash(word, tail, length):
    """The hash of so many bytes: the last up to three of them are `tail`."""
    word = np.uint32(word ^ _scramble(np.uint32(tail)))
    word = np.uint32(word ^ np.uint32(length))
    word = np.uint32(np.uint32(word ^ (word >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    word = np.uint32(np.uint32(word ^ (word >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    return np.uint32(word ^ (word >> np.uint32(16)))


@kernel
def murmur3_32(data, start, stop, seed):
    """The hash (uint32) of the bytes `data[start:stop]`."""
    word = np.uint32(seed)
    length = np.int64(stop) - np.int64(start)
    at = np.int64(start)
    for _ in range(length // 4):
        part = (
            np.uint32(data[at])
            | (np.uint32(data[at + 1]) << np.uint32(8))
            | (np.uint32(data[at + 2]) << np.uint32(16))
            | (np.uint32(data[at + 3]) << np.uint32(24))
        )
        word = mix_part(word, part)
        at += 4
    tail = np.uint32(0)
    for k in range(length % 4):
        tail |= np.uint32(data[at + k]) << np.uint32(8 * k)
    return finish_hash(word, tail, length)


@kernel
def hash_spans(data, starts, ends, seed, mask, hashes):
    """Write the masked hash of each span `data[starts[k]:ends[k]]` to `hashes` (k,) uint32."""
    for k in range(len(starts)):
        hashes[k] = murmur3_32(data, starts[k], ends[k], seed) & mask


def feature_id(name: Any, seed: int = 0, bits: int = 18) -> int:
    """The id of a feature: an integer is its own id, anything else hashes by its text to `bits` bits.

    >>> feature_id(7), feature_id("price"), feature_id("price", seed=1)
    (7, 229902, 204211)
    """
    if isinstance(name, (int, np.integer)):
        if 0 <= name <= MOST_ID:
            return int(name)
        raise OuzelError(f"a feature id lies between 0 and {MOST_ID}; got {name}")
    text = np.frombuffer(str(name).encode(), np.uint8)
    return int(murmur3_32(text, 0, len(text), seed)) & ((1 << bits) - 1)


def tabulation(rows: int, seed: int) -> np.ndarray:
    """Random words (rows, 4, 256) uint32: the tables of `rows` independent hash functions of 32-bit keys."""
    return np.random.Generator(np.random.PCG64(seed)).integers(0, 2**32, (rows, 4, 256), np.uint32)


@force_inline
def tabulate(tables, key):
    """The hash (uint32) of a 32-bit key under the tables (4, 256) of one function."""
    key = np.uint32(key)
    return (
        tables[0, key & np.uint32(0xFF)]
        ^ tables[1, (key >> np.uint32(8)) & np.uint32(0xFF)]
        ^ tables[2, (key >> np.uint32(16)) & np.uint32(0xFF)]
        ^ tables[3, key >> np.uint32(24)]
    )
