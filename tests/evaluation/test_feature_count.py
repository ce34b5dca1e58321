"""How many different features a stream has had."""

import numpy as np
import pytest

from ouzel.evaluation.counts import LIMIT, FeaturesSeen
from ouzel.streams.block import Block


def block_of(ids):
    offsets = np.array([0, len(ids)], np.uint64)
    return Block(offsets, np.array(ids, np.uint32), np.ones(len(ids), np.float32), np.ones(1), np.ones(1, np.float32))


@pytest.mark.parametrize("most", [1, 60, 70_000, LIMIT])
def test_every_id_counts_once(most):
    random = np.random.default_rng(most)
    seen, known = FeaturesSeen(), set()

    for size in (1, 5, 31, 32, 33, 300, 0, 2000):
        ids = random.integers(0, most, size)
        ids[: size // 2] //= 8
        seen.add(block_of(ids))
        known.update(ids.tolist())

        assert seen.used == len(known)
        assert seen.largest == max(known)
        assert seen.span == max(known) + (0 in known)


@pytest.mark.parametrize("least", [0, 1])
def test_ids_beyond_what_is_told_apart_are_not_counted(least):
    seen = FeaturesSeen()

    seen.add(block_of([least, 5, LIMIT, 2 * LIMIT]))

    assert seen.used is None
    assert seen.span == 2 * LIMIT + (least == 0)
