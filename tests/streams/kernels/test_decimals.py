"""Decimal numbers are read as Python's `float` reads them, to the last bit."""

import struct
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.kernels.jit import kernel
from ouzel.streams.kernels.numbers import parse_number

FLOATS = st.integers(0, 2**63 - 1).map(lambda bits: struct.unpack("d", struct.pack("Q", bits))[0]).filter(np.isfinite)


@kernel
def _parse(data, stop):
    return parse_number(data, 0, stop)


def read(word):
    data = np.frombuffer(bytearray(word.encode()), np.uint8)
    value, end = _parse(data, len(data))
    assert end == len(data)
    return value


@given(FLOATS, st.integers(0, 30))
@settings(max_examples=500)
def test_any_float_is_read_in_any_number_of_digits(value, digits):
    for word in (repr(value), f"{value:.{digits}e}", f"{-value:.{digits}E}"):
        assert read(word) == float(word)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12), st.integers(0, 10**25))
@settings(max_examples=200)
def test_plain_decimals_are_read_whatever_their_length(number, digits):
    for word in (f"{number:f}", f"{digits}", f"0.{digits}", f"000{digits}.5", f"{digits}.", f".{digits}"):
        assert read(word) == float(word)


@given(st.integers(2**52, 2**53 - 1), st.integers(-1074, 60), st.integers(-1, 1))
@settings(max_examples=200)
def test_halfway_between_two_floats_rounds_to_even_and_beside_it_to_the_nearer(mantissa, power, nudge):
    with localcontext() as context:
        context.prec = 1200
        halfway = Decimal(2 * mantissa + 1) * Decimal(2) ** (power - 1)
        word = str(halfway + nudge * halfway * Decimal(10) ** -900)

    assert read(word) == float(word)


@pytest.mark.parametrize(
    "word",
    [
        *("0", "+0.0", "0e5", "1e309", "1e-400", "1e99999999999999999999", "1" * 400, "0." + "0" * 400 + "1"),
        *("5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308"),
        *("1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308"),
        *("9007199254740993", "9999999999999999999", "18446744073709551616"),
    ],
)
def test_the_edges_of_the_floats_are_read(word):
    assert read(word) == float(word)


@pytest.mark.parametrize(
    ("text", "length"), [("", 0), ("-", 0), (".", 0), ("nan", 0), ("inf", 0), ("1e", 1), ("2e+x", 1)]
)
def test_what_is_no_number_is_left_alone(text, length):
    data = np.frombuffer(bytearray(text.encode()), np.uint8)

    assert _parse(data, len(data))[1] == length
