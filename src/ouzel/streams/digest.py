"""A running digest of examples: it recognises a stream that was read before, whatever its blocks.

Multiply-and-shift mixing in the manner of splitmix64 (Steele, Lea & Flood 2014, "Fast Splittable Pseudorandom Number
Generators"), 64 bits: it finds any change that happens by accident, and is not a defence against one made with intent.
The entries of a row are mixed lightly and independently, then added up, so that a processor works on several at a time;
rows are mixed in full, one after the other.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Self

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.streams.block import Block

GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
NO_LABEL = np.uint64(0x7FF8000000000000)  # the word of an example without a label


@force_inline
def mix(word):
    """A permutation of 64-bit words in which every bit of the result depends on every bit of the word."""
    word = np.uint64((word ^ (word >> np.uint64(30))) * FIRST)
    word = np.uint64((word ^ (word >> np.uint64(27))) * SECOND)
    return np.uint64(word ^ (word >> np.uint64(31)))


@kernel
def digest_rows(offsets, indices, values, labels, weights, groups, digest):
    """The digest (uint64) of rows that follow others with the digest that is given.

    Words (n,) uint64 stand for the labels; the bits of the values (nnz,) and of the weights (n,) are uint32; groups are
    (n,) or (0,) uint64.
    """
    for i in range(len(labels)):
        start, stop = offsets[i], offsets[i + np.uint64(1)]
        row = np.uint64(labels[i] + np.uint64(weights[i]) * GOLDEN)
        if len(groups):
            row = np.uint64(mix(row) + groups[i])
        place = np.uint64(stop - start)
        for k in range(start, stop):
            place = np.uint64(place + GOLDEN)
            word = np.uint64((((np.uint64(indices[k]) << np.uint64(32)) | np.uint64(values[k])) ^ place) * FIRST)
            row = np.uint64(row + (word ^ (word >> np.uint64(32))))
        digest = mix(np.uint64(digest + row + GOLDEN))
    return digest


class Digest:
    """The digest of the examples of a stream so far.

    >>> from ouzel.streams.memory import blocks_from
    >>> examples = [({"sun": 1.0}, "dry"), ({"cloud": 0.5}, "wet"), ({"sun": 2.0}, 3)]
    >>> whole, parts = Digest(), Digest()
    >>> for block in blocks_from(examples):
    ...     whole.add(block)
    >>> for block in blocks_from(examples, block_rows=1):
    ...     parts.add(block)
    >>> whole.examples, whole.text == parts.text
    (3, True)
    """

    def __init__(self) -> None:
        self.examples = 0
        self._word = np.uint64(0)

    @classmethod
    def of(cls, examples: int, text: str) -> Self:
        """The digest of a number of examples, from its text."""
        digest = cls()
        digest.examples, digest._word = examples, np.uint64(int(text or "0", 16))
        return digest

    @property
    def text(self) -> str:
        """The digest in 16 characters."""
        return f"{int(self._word):016x}"

    def add(self, block: Block) -> None:
        """Add more examples."""
        groups = np.empty(0, np.uint64) if block.groups is None else block.groups.astype(np.uint64)
        words, weights, values = _label_words(block), block.weights.view(np.uint32), block.values.view(np.uint32)
        with np.errstate(over="ignore"):  # where nothing is compiled
            digest = digest_rows(block.offsets, block.indices, values, words, weights, groups, self._word)
        self._word = np.uint64(digest)
        self.examples += block.rows


def _label_words(block: Block) -> np.ndarray:
    """A word (n,) uint64 for each label: the same for a label that is a number and for one that is among names."""
    missing = np.isnan(block.labels)
    if block.label_names is None:
        words = (block.labels + 0.0).view(np.uint64)  # no negative zero
    else:
        known = np.array([_label_word(label) for label in block.label_names] or [NO_LABEL], np.uint64)
        words = known[np.where(missing, 0.0, block.labels).astype(np.int64)]
    return np.where(missing, NO_LABEL, words)


def _label_word(label: object) -> np.uint64:
    if isinstance(label, (int, float)):
        return np.float64(label).view(np.uint64)
    return np.frombuffer(blake2b(str(label).encode("utf-8", "replace"), digest_size=8).digest(), np.uint64)[0]
