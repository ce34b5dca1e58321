"""Rows put into a buffer are those put in order one by one; new ids and new names are found and copied once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.sketches.hashing import murmur3_32
from ouzel.streams.block import Names
from ouzel.streams.kernels.batch_hash import hash_prefix
from ouzel.streams.kernels.new_names import NewNames, copy_names, empty_seen_set, new_ids
from ouzel.streams.kernels.row_buffer import (
    allocate_rows,
    begin_row,
    finish_names,
    finish_row,
    has_repeats,
    put_number,
    put_word,
    sort_row,
)

pytestmark = pytest.mark.interpreted
MASK = np.uint32(63)
FEATURES = st.one_of(
    st.integers(1, 40),  # a word of so many bytes
    st.tuples(st.integers(0, 63), st.floats(0.5, 4.0, width=32)),  # a number
)


@given(st.lists(st.lists(FEATURES, max_size=30), min_size=1, max_size=8), st.binary(min_size=80, max_size=80))
@settings(deadline=None, max_examples=40)
def test_rows_of_a_buffer_are_those_put_in_order_one_by_one(rows, text):
    data = np.frombuffer(text, np.uint8)
    prefix = hash_prefix(np.uint32(7), data, np.uint64(0), np.uint64(0))
    buffer = allocate_rows(sum(map(len, rows)) + 1)
    features = names = np.uint64(0)
    expected = []
    for number, row in enumerate(rows):
        begin_row(buffer, number, features, names)
        pairs = []
        for feature in row:
            if isinstance(feature, tuple):
                put_number(buffer, features, feature[0], feature[0], np.float32(feature[1]))
                pairs.append(feature)
            else:
                size = np.uint64(feature)
                put_word(buffer, features, names, *prefix, data, np.uint64(0), size, size)
                pairs.append((int(murmur3_32(data, 0, feature, 7)) & int(MASK), 1.0))
                names += np.uint64(1)
            features += np.uint64(1)
        expected.append(pairs)
    finish_names(buffer, features, names, np.uint64(len(rows)), MASK)

    for number, pairs in enumerate(expected):
        ids, values = np.zeros(64, np.uint32), np.zeros(64, np.float32)
        end = int(finish_row(buffer, np.uint64(number), ids, values, np.uint64(0)))
        one_ids = np.array([identity for identity, _ in pairs], np.uint32)
        one_values = np.array([value for _, value in pairs], np.float32)
        stop = sort_row(one_ids, one_values, 0, len(pairs))
        assert ids[:end].tolist() == one_ids[:stop].tolist()
        assert values[:end].tolist() == one_values[:stop].tolist()


def test_ids_that_collide_are_not_a_feature_twice():
    buffer = allocate_rows(4)
    zero, one, two = (np.uint64(number) for number in range(3))
    for row, hashes in enumerate([(5, 5 + 64), (5, 5)]):
        begin_row(buffer, zero, zero, zero)
        for place, hashed in enumerate(hashes):
            put_number(buffer, np.uint64(place), hashed & 63, hashed, np.float32(1.0))
        finish_names(buffer, two, zero, one, MASK)
        size = finish_row(buffer, zero, np.zeros(16, np.uint32), np.zeros(16, np.float32), zero)

        assert size == 1
        assert bool(has_repeats(buffer, zero, size)) == bool(row)


@given(st.lists(st.lists(st.integers(0, 300), max_size=40), max_size=4))
def test_new_ids_are_those_not_seen_before(batches):
    seen, known = empty_seen_set(10), set()
    for batch in batches:
        expected = [place for place, identity in enumerate(batch) if identity not in {*known, *batch[:place]}]

        assert new_ids(seen, np.array(batch, np.uint32)).tolist() == expected
        known |= set(batch)


def test_names_are_copied_with_a_separator_behind_a_prefix_alone():
    text = np.frombuffer(b"red  green", np.uint8)
    names = Names(np.array([3, 4], np.uint32), np.array([0, 5], np.uint64), np.array([3, 10], np.uint64), text)
    found = [NewNames.of(names), NewNames.of(names, np.array([1]), np.frombuffer(b"color", np.uint8))]

    copied = copy_names(found, np.uint8(ord("=")))

    spans = zip(copied.starts.tolist(), copied.ends.tolist(), strict=True)
    assert [copied.text[start:end].tobytes() for start, end in spans] == [b"red", b"green", b"color=green"]
    assert copied.ids.tolist() == [3, 4, 4]
