"""Columns of text, from wherever they come, are of one type, for which kernels are compiled."""

import numba
import pyarrow
import pytest

from ouzel.streams.tables.arrow_columns import plain_words_of
from ouzel.streams.tables.cells import words_of, words_of_cells

ARRAYS = [
    pyarrow.array(["a", "b"]),
    pyarrow.array(["a", None, "TRUE"]),
    pyarrow.array([1, 2]),
    pyarrow.array([1, None]),
    pyarrow.array([], pyarrow.string()),
    pyarrow.array(["a", "b", None]).slice(1),
    pyarrow.array(["a"]).dictionary_encode(),
]


@pytest.mark.parametrize("of", [words_of, words_of_cells])
def test_text_of_any_array_is_of_one_type(of):
    assert len({numba.typeof(of(array)) for array in ARRAYS}) == 1


def test_plain_text_is_of_one_type_for_each_width_of_its_offsets():
    types = {numba.typeof(plain_words_of(array)) for array in ARRAYS}

    assert len(types) == 2
    assert {kind.types[0].dtype for kind in types} == {numba.int32, numba.int64}
