"""Blocks behind one another hold what one block of all the examples holds."""

import numpy as np

from ouzel.streams.concatenation import concatenate
from ouzel.streams.labels import labels_in
from ouzel.streams.memory import blocks_from


def test_blocks_behind_one_another_are_one_block():
    def block(rows):
        return next(blocks_from([(features, label) for features, label in rows]))

    one = [({"a": 1.0, "b": 2.0}, "yes"), ({"c": 3.0}, None)]
    two = [({}, "no"), ({"b": 4.0}, "yes")]
    three = [({"a": 5.0}, 1), ({"d": 6.0}, 2)]
    for parts in ([one, two], [three, three], [one, two, three], [one]):
        found = concatenate([block(part).slice(0, 2) for part in parts])
        expected = block([row for part in parts for row in part])

        assert labels_in(found) == labels_in(expected)
        assert found.space == expected.space
        for name in ("offsets", "indices", "values", "weights"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert set(found.names.ids.tolist()) == set(expected.names.ids.tolist())
