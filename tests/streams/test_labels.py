"""Whether labels are numbers to predict, seen from a stream's first block."""

import numpy as np
import pytest

from ouzel.streams.label_remarks import amounts_in, why_numbers
from ouzel.streams.memory import blocks_from


def first(labels):
    return next(blocks_from(np.ones((len(labels), 1)), labels))


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ([0, 1] * 50, ""),
        (list(range(26)) * 3, ""),
        ([0.5, 1.0, 2.0], "such as 0.5"),
        (list(range(300)), "300 different ones in 300 examples"),
        (list(range(105)) * 30, ""),  # many classes, each seen often
        (["1.5", "x"], ""),
        ([np.nan, 1.0, 2.0], ""),
    ],
)
def test_labels_are_numbers_if_not_whole_or_too_many(labels, why):
    assert why_numbers(first(labels)) == why


def test_a_stream_gives_out_the_block_that_was_looked_at(tmp_path):
    from ouzel import read

    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n")
    with read(tmp_path / "a.svm") as stream:
        assert stream.first() is stream.first()
        assert [block.rows for block in stream] == [2]


def test_amounts_with_marks_are_told_from_names():
    (said,) = amounts_in(first([f"${k},200.50" for k in range(1, 12)]))
    assert said == "labels such as $1,200.50 are words, and classes; write 1200.50 to have numbers predicted"
    (said,) = amounts_in(first([f"{k}.200,5 €" for k in range(1, 12)]))
    assert said == "labels such as 1.200,5 € are words, and classes; write 1200.5 to have numbers predicted"
    assert amounts_in(first([f"shop {k}" for k in range(12)])) == []
    assert amounts_in(first(["$1", "$2"])) == []
