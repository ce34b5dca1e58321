"""Words of a column of text, hashed where they lie, sixteen at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.missing import NOTHING, says_nothing
from ouzel.streams.tables.arrow_types import as_text, is_there, types
from ouzel.streams.tables.row_layout import Layout
from ouzel.streams.tables.told_names import Told
from ouzel.streams.text.hashing_together import Unhashed, hash_names, put_name, room_to_hash
from ouzel.streams.text.spans import BLANK, ONE, ZERO, absorb_bytes, first_met, trimmed
from ouzel.streams.truth_values import is_large_truth

if TYPE_CHECKING:
    import pyarrow

NONE = np.uint32(MOST_ID + 1)  # the id of nothing
SOME = np.uint64(512)  # cells whose hashes are worked out together, in the nearest cache
BEHIND = np.uint64(24)  # bytes from the beginning of a word on that must be there to gather it without a loop
OF_NOTHING = np.uint8(1)  # what a byte may be: itself, or that of a word for nothing or a truth value
ODD_FIRST, ODD_LAST = np.zeros((2, 256), np.uint8)
for _bytes, _place in ((ODD_FIRST, 0), (ODD_LAST, -1)):
    _bytes[[ord(word[_place]) for word in (*NOTHING, "true", "TRUE", "false", "FALSE")]] = OF_NOTHING
    _bytes[BLANK] = BLANK
EMPTY = np.frombuffer(bytes(1), np.uint8)[:0]
UNSOUND = np.int64(-1)


class PlainWords(NamedTuple):
    """A column of text: cell i is `data[offsets[i]:offsets[i + 1]]`, UTF-8, where it is valid."""

    offsets: np.ndarray  # (n + 1,) int32 or int64
    data: np.ndarray  # (bytes,) uint8
    valid: np.ndarray  # (n,) bool, or (0,) where all are


def plain_words_of(array: pyarrow.Array) -> PlainWords:
    """The text of an Arrow array of any type but a dictionary; what is text already stays where it lies."""
    short = types.is_string(array.type) or types.is_binary(array.type)
    if not (short or types.is_large_string(array.type)):
        array = as_text(array)
    _, offsets, data = array.buffers()
    here = np.frombuffer(offsets, np.int32 if short else np.int64)[array.offset : array.offset + len(array) + 1]
    text = EMPTY if data is None else np.frombuffer(data, np.uint8)
    return PlainWords(here, text, is_there(array) if array.null_count else np.empty(0, np.bool_))


@force_inline
def _says_word(data, start, stop):
    """Whether a span, without the blanks around it, is a word."""
    return start < stop and not says_nothing(data, np.int64(start), np.int64(stop))


@kernel
def _hash_words(words, layout, column, longest, mask, noted, unhashed, ids, new):
    """Write the id of each word, or NONE, to `ids` (n,); return how many of them are not yet noted.

    Their cells come first in `new` (n,). UNSOUND if a word has more than `longest` bytes, lies outside of the text, or
    is a truth value with large letters.
    """
    offsets, data, valid = words
    some_are_null = len(valid) > 0
    size_of_text = np.uint64(len(data))
    near_end = max(size_of_text, BEHIND) - BEHIND  # from there on, words are gathered byte by byte
    word, held, bits = layout.words[column], layout.held[column], layout.bits[column]
    before = layout.ends[column + ONE] - layout.ends[column]
    count, n = ZERO, np.uint64(len(ids))
    next_start, is_odd = np.uint64(offsets[0]), np.uint8(0)
    for first in range(ZERO, n, SOME):
        some = min(SOME, n - first)
        for k in range(some):
            start, stop = next_start, np.uint64(offsets[first + k + ONE])
            next_start = stop
            if (start > stop) | (stop > size_of_text):
                return UNSOUND
            present = np.uint64(stop > start)
            if some_are_null:
                present &= np.uint64(valid[first + k])
            if start < near_end:
                at_start, at_end = ODD_FIRST[data[start]], ODD_LAST[data[max(stop, start + ONE) - ONE]]
                is_odd = (at_start & at_end & OF_NOTHING) | ((at_start | at_end) & BLANK)
            if start >= near_end or is_odd:
                start, stop = trimmed(data, start, stop)
                present &= np.uint64(_says_word(data, start, stop))
                if present and is_large_truth(data, start, stop):
                    return UNSOUND
            size = stop - start
            if start < near_end:
                put_name(unhashed, k, word, held, bits, data, start, max(size, ONE), before + size)
            else:
                unhashed.words[k], unhashed.firsts[k], _ = absorb_bytes(word, held, bits, data, start, stop)
                unhashed.parts[k], unhashed.lengths[k] = 0, before + size
            if present & np.uint64(size > longest):
                return UNSOUND
            ids[first + k] = present
        hash_names(unhashed, some)
        for k in range(some):
            identity, present = unhashed.hashes[k] & mask, np.uint64(ids[first + k])
            ids[first + k] = identity if present else NONE
            new[count] = first + k
            count += first_met(noted, identity, present)
    return np.int64(count)


@kernel
def _tell(words, column, new, ids, told):
    """Tell of the words in the cells `new` (k,): column, id, and where they start and end; return their bytes."""
    size = ZERO
    for k in range(len(new)):
        i = new[k]
        start, stop = trimmed(words.data, np.uint64(words.offsets[i]), np.uint64(words.offsets[i + ONE]))
        word = told[k]
        word[0], word[1], word[2], word[3] = column, ids[i], start, stop
        size += stop - start
    return size


class PlainReader:
    """Reads columns of text, whose words have `longest` bytes at most and ids within `mask`."""

    def __init__(self, layout: Layout, longest: int, mask: np.uint32) -> None:
        self._layout, self._longest, self._mask = layout, np.uint64(longest), mask
        self._unhashed: Unhashed | None = None

    def read(
        self, words: PlainWords, column: int, noted: np.ndarray, ids: np.ndarray, new: np.ndarray, told: np.ndarray
    ) -> Told | None:
        """Write the id of each cell of a column, or NONE, to `ids` (n,); words that are not yet `noted` are told.

        None if there is a cell to complain of. `new` (n,) uint64 is room.
        """
        if self._unhashed is None:
            self._unhashed = room_to_hash(int(SOME))
        place = np.uint64(column)
        room = noted, self._unhashed, ids, new
        count = _hash_words(words, self._layout, place, self._longest, self._mask, *room)
        if count < 0:
            return None
        size = _tell(words, place, new[:count], ids, told)
        return Told(int(count), int(size), words.data)
