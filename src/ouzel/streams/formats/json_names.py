"""The keys of JSON objects in one stream, and the names `key=word` of features, put where they lie to be hashed.

A key has a row in a table: its text, its role, the id of its number, the hash of `key=`, and the key that followed it.
Names wait in the lanes of the row buffer; lines of its blocks say where each name lies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.kernels.bytes import eight_bytes
from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import murmur3_32
from ouzel.streams.dates import PARTS, WORDS
from ouzel.streams.kernels.batch_hash import EIGHT, LANES, ONE, THREE, ZERO, hash_update_bytes, lane_of, put_name
from ouzel.streams.kernels.new_names import find_new, record_name
from ouzel.streams.kernels.row_buffer import OWN_LINE, PLACES, put_word
from ouzel.streams.missing import NA_FEATURE

PLAIN, NUMBERS, CATEGORIES, DATES, LABEL, WEIGHT, IGNORED, FALLBACK, PART = (np.uint8(role) for role in range(9))
"""Roles of a member: PLAIN has the kind of its value, FALLBACK leaves its object to Python, and a PART is the calendar
part of a member with dates."""

MOST = 1 << 16  # keys that a table holds; objects with others are left to Python
GAP = 8  # unused bytes behind each key
ALL = np.uint64(2**64 - 1)

# The columns of the table of keys.
NEXT = 0  # the key that followed it last
HEAD, HEAD_BITS = 1, 2  # the first eight bytes of `"key":`, and the bits that count
TAIL = 3  # its last eight bytes, if there are more
SIZE = 4  # bytes of the key
LAST = 5  # the last object with it; in row 0, the number of objects
STATE, HASH_TAIL, BITS = 6, 7, 8  # the unfinished hash of `key=`, see `batch_hash`
ROLE, QUICK = 9, 10  # its role; the same, or FALLBACK if `read_repeated` must not read it
ID, HASH = 11, 12  # the id of its numbers, and their hash before masking
USED = 13  # the first object since the last reset whose number was a feature; 0 if there is none
NAMED = 14  # whether that feature has a name, not a number, as its id
FIELD = 15  # its number, from 1 on, among the fields of crosses; else 0
START = 16  # its start in the text of keys
JOURNAL = 17  # row j: the j-th key with USED; row 0: the number of those keys
PART_ROWS = 18  # the row of its first calendar part; 0 if parts have no rows yet
PURE = 19  # whether it holds categories, none of them known to be a number
COLUMNS = 24
WORD_ROOM = 4  # bytes for each word of a calendar part; the text of keys begins with these words
PART_WORDS = b"".join(word.encode().ljust(WORD_ROOM, b"\0") for part in PARTS for word in WORDS[part])
NO_WORD = NA_FEATURE.encode()  # what is missing has a name with this word, which stands behind those
NO_WORD_AT, NO_WORD_END = np.uint64(len(PART_WORDS)), np.uint64(len(PART_WORDS) + len(NO_WORD))
TWO = np.uint64(2)

# The lines of a block of names that say where each name lies.
MARKS, STARTS, ENDS, WORD_STARTS, WORD_ENDS = (np.uint64((OWN_LINE + k) * LANES) for k in range(5))
"""MARKS holds the number of the quotation mark before the key, if key and word lie between marks. Else it is NONE or
IN_KEYS, and the other lines hold where the key (empty for the name of a number) and the word start and end."""
NONE = np.uint64(2**32 - 1)
IN_KEYS = np.uint64(2**32 - 2)  # the name lies in the text of keys
TEXT_OF_KEYS = np.uint64(1 << 32)  # added to the positions of such a name in its span


class Keys(NamedTuple):
    """The keys, from row 1 on; row 0 stands for the beginning of an object."""

    text: np.ndarray  # (bytes,) uint8
    table: np.ndarray  # (k, COLUMNS) uint64
    places: np.ndarray  # (2^m,) uint32  hash table of rows; 0 where there is none


@force_inline
def same_text(keys, key, data, at, size):
    """Return whether `data[at:at + size]` is the text of a key of that size; GAP bytes behind must be readable."""
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
    """Return whether `data[at:at + size]` is a key; GAP bytes behind it must be readable."""
    return key > ZERO and keys.table[key, SIZE] == size and same_text(keys, key, data, at, size)


@force_inline
def record_use(keys, key, stamp):
    """Record that a number of a key is a feature of this object, the first one since the last reset."""
    count = keys.table[0, JOURNAL] + ONE
    keys.table[key, USED] = stamp
    keys.table[count, JOURNAL] = key
    keys.table[0, JOURNAL] = count


@kernel
def forget_uses(keys, stamp):
    """Undo `record_use` from an object on, which is left to Python after all."""
    count = keys.table[0, JOURNAL]
    while count > ZERO and keys.table[keys.table[count, JOURNAL], USED] >= stamp:
        keys.table[keys.table[count, JOURNAL], USED] = ZERO
        count -= ONE
    keys.table[0, JOURNAL] = count


@force_inline
def find_key(keys, data, at, size):
    """Return the row of the key `data[at:at + size]`, 0 if there is none.

    Inlined: a call would count references to all arrays of the keys, which costs more than the search.
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
    word, tail, bits = hash_update_bytes(np.uint32(seed), ZERO, ZERO, text, 0, len(text))
    begun[0], begun[1], begun[2] = word, tail, bits


@kernel
def _place(keys, first, stop):
    """Add the rows from `first` to `stop` to the hash table."""
    mask = np.uint64(len(keys.places) - 1)
    for key in range(np.uint64(first), np.uint64(stop)):
        if keys.table[key, ROLE] == PART:
            continue
        start = keys.table[key, START]
        place = np.uint64(murmur3_32(keys.text, start, start + keys.table[key, SIZE], 0)) & mask
        while keys.places[place]:
            place = (place + ONE) & mask
        keys.places[place] = key


class KeyTable:
    """The keys of a stream, in arrays that double in size when they are full."""

    def __init__(self) -> None:
        table = np.zeros((16, COLUMNS), np.uint64)
        table[0, HEAD_BITS] = ALL  # no key has eight zeros
        text = np.frombuffer((PART_WORDS + NO_WORD).ljust(512, b"\0"), np.uint8).copy()
        self.arrays = Keys(text, table, np.zeros(64, np.uint32))
        self._count = 1  # rows of the table, row 0 counted
        self._filled = len(PART_WORDS + NO_WORD) + 2 * GAP  # bytes of the text

    def __len__(self) -> int:
        return self._count - 1

    def add(
        self,
        name: bytes,
        role: np.uint8,
        feature: int = 0,
        hashed: int = 0,
        named: bool = False,
        seed: int = 0,
        field: int = 0,
        pure: bool = False,
    ) -> int:
        """Add a key; return its row."""
        key, start, text = self._count, self._filled, np.frombuffer(name, np.uint8)
        self._count += 1
        self._filled += len(name) + GAP
        self._make_room()
        row, written = self.arrays.table[key], b'"' + name + b'":'
        row[START], row[SIZE], row[ROLE], row[QUICK] = start, len(name), role, FALLBACK if field else role
        row[HEAD], row[HEAD_BITS] = (int.from_bytes(word[:8], "little") for word in (written, b"\xff" * len(written)))
        row[TAIL] = int.from_bytes(written[-8:], "little")
        row[ID], row[HASH], row[NAMED], row[FIELD] = feature, hashed, named, field
        row[PURE] = pure
        _begin(np.frombuffer(name + b"=", np.uint8), seed, row[STATE : BITS + 1])
        self.arrays.text[start : start + len(name)] = text
        _place(self.arrays, key, key + 1)
        return key

    def add_parts(self, key: int, name: bytes, seed: int) -> None:
        """Add rows for the calendar parts of a key with this name."""
        rows = [self.add(name + b"." + part.encode(), PART, seed=seed) for part in PARTS]
        self.arrays.table[key, PART_ROWS] = rows[0]

    def _make_room(self) -> None:
        """Double the arrays that are full."""
        text, table, places = self.arrays
        if self._filled > len(text):
            text = np.concatenate([text, np.zeros(max(len(text), self._filled - len(text)), np.uint8)])
        if self._count > len(table):
            table = np.concatenate([table, np.zeros_like(table)])
        self.arrays = Keys(text, table, places)
        if 4 * self._count > len(places):
            self.arrays = Keys(text, table, np.zeros(2 * len(places), np.uint32))
            _place(self.arrays, 1, self._count - 1)

    def forget_all_uses(self) -> None:
        """Reset: no number of any key is known to be a feature."""
        table = self.arrays.table
        table[self._used_rows(), USED] = 0
        table[0, JOURNAL] = 0

    def used(self) -> np.ndarray:
        """Return the rows (k, COLUMNS) of keys whose numbers were features since the last reset."""
        return self.arrays.table[self._used_rows()]

    def _used_rows(self) -> np.ndarray:
        count = int(self.arrays.table[0, JOURNAL])
        return self.arrays.table[1 : count + 1, JOURNAL].astype(np.int64)


@force_inline
def put_category(buffer, name, place, keys, key, data, key_size, word, word_end, mark):
    """Put a feature named `key=word` whose key stands behind a mark, and its word between the next two."""
    state, tail, bits = np.uint32(keys.table[key, STATE]), keys.table[key, HASH_TAIL], keys.table[key, BITS]
    size = word_end - word
    put_word(buffer, place, name, state, tail, bits, data, word, size, key_size + ONE + size)
    buffer.names.lanes[lane_of(name) + MARKS] = mark


@force_inline
def put_any_category(buffer, name, place, keys, key, data, start, end, word, word_end, mark):
    """Put a feature named `key=word` whose key is `data[start:end]`; `mark` says which text that is: NONE, IN_KEYS."""
    put_category(buffer, name, place, keys, key, data, end - start, word, word_end, mark)
    lanes, lane = buffer.names.lanes, lane_of(name)
    lanes[lane + STARTS], lanes[lane + ENDS] = start, end
    lanes[lane + WORD_STARTS], lanes[lane + WORD_ENDS] = word, word_end


@force_inline
def put_missing(buffer, name, place, keys, key):
    """Put the feature of a missing value of a key."""
    start, end = keys.table[key, START], keys.table[key, START] + keys.table[key, SIZE]
    put_any_category(buffer, name, place, keys, key, keys.text, start, end, NO_WORD_AT, NO_WORD_END, IN_KEYS)


@force_inline
def put_own_name(buffer, name, place, seed, data, start, end):
    """Put the name of a number, `data[start:end]`."""
    lanes, lane = buffer.names.lanes, lane_of(name)
    put_name(buffer.names, name, np.uint32(seed), ZERO, ZERO, data, start, end - start, end - start)
    lanes[lane + PLACES], lanes[lane + MARKS] = place, NONE
    lanes[lane + STARTS], lanes[lane + ENDS] = ZERO, ZERO
    lanes[lane + WORD_STARTS], lanes[lane + WORD_ENDS] = start, end


@force_inline
def record_new_names(buffer, count, mask, seen, marks, spans, names):
    """Record those of the first `count` names whose ids are new."""
    lanes, hashes, new = buffer.names
    for k in range(find_new(seen, hashes, count, mask, new)):
        name = np.uint64(new[k])
        lane, identity = lane_of(name), hashes[name] & mask
        mark = np.uint64(lanes[lane + MARKS])
        if mark < IN_KEYS:
            key = marks[mark] + ONE, marks[mark + ONE]
            word, word_end = marks[mark + TWO] + ONE, marks[mark + TWO + ONE]
        else:
            text = TEXT_OF_KEYS if mark == IN_KEYS else ZERO
            key = text + np.uint64(lanes[lane + STARTS]), text + np.uint64(lanes[lane + ENDS])
            word, word_end = text + np.uint64(lanes[lane + WORD_STARTS]), text + np.uint64(lanes[lane + WORD_ENDS])
        record_name(spans, names, key, word, word_end, identity)
