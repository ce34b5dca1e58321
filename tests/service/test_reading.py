"""Lines read together are what they are one by one."""

import json
import random

import numpy as np
import pytest

import ouzel
from ouzel.model.model import Model
from ouzel.service.limits import Line
from ouzel.service.reading import Reading
from ouzel.streams.formats.records import record_of_rows
from ouzel.streams.labels import labels_in


def content(block):
    """What a block holds, but for the order of its names."""
    names = sorted(
        block.names.text[int(start) : int(end)].tobytes()
        for start, end in zip(block.names.starts, block.names.ends, strict=True)
    )
    rows = [
        list(zip(block.indices[start:end].tolist(), block.values[start:end].tolist(), strict=True))
        for start, end in zip(block.offsets[:-1].astype(int), block.offsets[1:].astype(int), strict=True)
    ]
    return rows, labels_in(block), block.weights.tolist(), set(names), block.space


@pytest.mark.parametrize("crosses", [(), ("b*c",)])
@pytest.mark.parametrize("to_predict", [False, True])
@pytest.mark.parametrize("odd", [0.0, 0.03, 0.5])
def test_lines_read_together_are_what_they_are_alone(odd, to_predict, crosses):
    rng = random.Random(odd)
    reading = Reading(Model("ogd"), {"label": "label", "ignore": ["_id"], "sample": 0, "crosses": crosses})
    texts = []
    for k in range(200):
        row = {"label": rng.choice([1, 0, "no", None]), "a": rng.random(), "b": rng.choice("xyz"), "c": k % 5}
        if rng.random() < odd:
            row |= rng.choice([{"_id": f"i{k}"}, {"d": [1, "p"]}, {"e": {"f": 1}}, {"é": "\n"}, {"a": 1e300}])
        texts.append(json.dumps(row).encode() + rng.choice([b"", b" ", b"\r"]))
        if rng.random() < odd:
            texts.append(rng.choice([b"", b"[]", b"{", b'{"label": 1e999}', b'{"_id": ""}']))
    keys = [None] * len(texts)

    together = reading.lines(texts, keys, to_predict)
    alone = [reading.line(text, None, to_predict) for text in texts]

    for one, other in zip(together, alone, strict=True):
        assert type(one) is type(other)
        if isinstance(one, Line):
            assert (one.text, one.key) == (other.text, other.key)
            assert (len(one.example[0]), one.example[1]) == (len(other.example[0]), other.example[1])
        else:
            assert one == other
    lines = [k for k, line in enumerate(together) if isinstance(line, Line)]
    for some in (lines, lines[::3], lines[5:]):
        found = reading.block([together[k].example for k in some], to_predict)
        expected = reading.block([alone[k].example for k in some], to_predict)
        assert content(found) == content(expected)
        np.testing.assert_array_equal(found.labels, expected.labels)


def test_rows_of_other_formats_stay_where_only_some_lines_of_those_read_together_are_learnt():
    reading = Reading(Model("ogd"), {"label": "label", "ignore": ["_id"], "sample": 0})
    texts = [json.dumps({"label": k % 2, "a": k + 0.5}).encode() for k in range(6)]
    lines = [line.example for line in reading.lines(texts, [None] * 6)]
    packed = record_of_rows(next(ouzel.blocks_from([({"a": 7.5}, 1), ({"b": 8.5}, 0)])), reading.options)
    rows = reading.examples([packed])

    block = reading.block([*lines[:2], *rows, *lines[4:]])  # the other lines were refused, say

    assert block.rows == 6
    assert labels_in(block) == [0, 1, 1, 0, 0, 1]
    assert block.values.tolist() == [0.5, 1.5, 7.5, 8.5, 4.5, 5.5]
