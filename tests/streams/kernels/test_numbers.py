"""Features read by arithmetic on many bytes, beside a regular expression and Python's own `float`."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ouzel.streams.kernels import numbers
from ouzel.streams.kernels.numbers import plain_feature

PLAIN = re.compile(rb"(\d{1,8}):(-?\d{1,7}(?:\.\d{0,8})?)(?=[\x00-\x20])")

near_features = st.text("0123456789:.-+e# \n\x00", max_size=40).map(str.encode)
features = st.from_regex(rb"\A\d{1,9}:-?\d{1,8}(\.\d{0,9})?[ \n]", fullmatch=False)


def padded(text):
    return np.frombuffer(text + b"7" * int(numbers.WINDOW), np.uint8).copy()


@given(st.one_of(near_features, features, st.binary(max_size=40)))
@example(b"12345678:-1234567.12345678 ")
@example(b"3:1\n")
@example(b"3:-0 ")
def test_plain_features_are_those_of_the_expression_and_no_others(text):
    data = padded(b"1 " + text)

    identity, value, end = plain_feature(data, np.uint64(2))

    found = PLAIN.match(text)
    assert end == 2 + (found.end() if found else 0)
    if found:
        assert (identity, repr(value)) == (int(found[1]), repr(float(found[2])))


@given(st.binary(min_size=32, max_size=32))
def test_kernels_do_what_the_plain_bodies_say(text):
    data = padded(text)

    with np.errstate(over="ignore"):  # unsigned words wrap round
        expected = plain_feature.py_func(data, np.uint64(0))

    assert repr(list(map(float, plain_feature(data, np.uint64(0))))) == repr(list(map(float, expected)))


@pytest.mark.parametrize("count", range(9))
def test_digits_become_their_number(count):
    data = padded(b"987654321")

    assert numbers.digits_at(data, np.uint64(0), np.uint64(count)) == int("0" + "98765432"[:count])
