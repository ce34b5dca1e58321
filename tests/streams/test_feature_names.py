"""Names that wait as they came are those that would have been taken at once, to the last that has room."""

import pickle

import numpy as np
import pytest

from ouzel.streams.block import Names
from ouzel.streams.feature_names import BYTES_AN_ENTRY, FeatureNames


def names_of(pairs):
    texts = [text.encode() for _, text in pairs]
    ends = np.cumsum([len(text) for text in texts]).astype(np.uint64)
    starts = ends - np.array([len(text) for text in texts], np.uint64)
    ids = np.array([feature for feature, _ in pairs], np.uint32)
    return Names(ids, starts, ends, np.frombuffer(b"".join(texts), np.uint8))


@pytest.mark.parametrize("limit", [0, 1, 500, 5000, 1 << 20])
@pytest.mark.parametrize("asked", [0, 1, 10])
def test_names_that_wait_are_those_taken_at_once(limit, asked):
    rng = np.random.default_rng(limit)
    names, expected, size = FeatureNames(limit), {}, 0
    for _ in range(20):
        pairs = [(int(k), f"é{k}" + "x" * int(k % 7)) for k in rng.integers(0, rng.choice([50, 5000]), 10)]
        names.add(names_of(pairs))
        for feature, text in pairs:
            if feature not in expected and size < limit:
                expected[feature] = text
                size += BYTES_AN_ENTRY + len(text)
        for feature in [feature for feature, _ in pairs][:asked]:
            assert names.name(feature) == expected.get(feature)
        assert (names.name(9999), len(names), names.bytes_used) == (None, len(expected), size)

    assert names.to_json() == [[feature, text] for feature, text in sorted(expected.items())]
    assert names.bytes_used == size
    assert names.full == (size >= limit)
    names.restrict(np.array([*expected][:3]))
    assert len(names) == min(3, len(expected))


def test_copies_take_the_bytes_of_their_names_and_go_on():
    names = FeatureNames()
    names.add(names_of([(500_000, "price")]))

    data = pickle.dumps(names)
    copy = pickle.loads(data)
    copy.add(names_of([(500_000, "other"), (7, "size")]))

    assert len(data) < 1000
    assert copy.to_json() == [[7, "size"], [500_000, "price"]]


def test_names_of_single_examples_and_of_blocks_are_one():
    names = FeatureNames()
    names.add(names_of([(900, "price")]))
    names.remember(5, "size")
    names.add(names_of([(5, "other"), (6, "colour")]))

    assert (len(names), names.name(5), names.name(6)) == (3, "size", "colour")
    names.add(names_of([(1 << 25, "large")]))
    names.remember((1 << 25) + 7, "larger")
    names.add(names_of([((1 << 25) + 7, "other")]))
    assert len(names) == len(names.to_json()) == 5


def test_a_name_of_a_large_id_takes_no_place_of_a_smaller_one():
    names = FeatureNames()
    names.remember(5000, "far")  # beyond the ids that the set has room for

    names.add(names_of([(1500, "a")]))  # grows the set, to 2,048 ids
    names.add(names_of([(5000 % 2048, "b")]))

    assert [names.name(feature) for feature in (1500, 5000 % 2048, 5000)] == ["a", "b", "far"]
