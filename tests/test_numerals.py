"""What is a number: the same in Python and in the kernels that read files."""

import numpy as np
import pytest

import ouzel
from ouzel.numerals import is_number, plain_amount
from ouzel.streams.kernels.numbers import parse_number
from ouzel.streams.labels import group_id, label_of


@pytest.mark.parametrize("text", ["1", "-2.5", "1e3", ".5", "1_000", "1_1", "٣", "５", "two", "+7", "1e", "0x10"])
def test_a_text_is_a_number_where_kernels_read_one(text):
    data = np.frombuffer(text.encode() + bytes(32), np.uint8)

    assert is_number(text) == (parse_number(data, 0, len(text.encode()))[1] == len(text.encode()))


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_classes_with_underscores_are_not_those_without(tmp_path, suffix):
    labels = ["1_1", "11", "2_3"]
    lines = {"csv": ["x,label", *(f"1,{label}" for label in labels)], "jsonl": [f'{{"label": "{n}"}}' for n in labels]}
    path = tmp_path / f"t.{suffix}"
    path.write_text("\n".join([*lines[suffix], ""]))

    assert next(ouzel.read(str(path))).label_names == ["1_1", 11, "2_3"]
    assert label_of("1_1") == "1_1"
    assert label_of(" 1.0 ") == 1


def test_groups_with_underscores_are_not_those_without():
    assert group_id("1_1", 0) != group_id("11", 0) == group_id(11, 0) == group_id(" 11 ", 0)


@pytest.mark.parametrize(
    ("amount", "number"),
    [
        ("1,200", "1200"),
        ("1,5", "1.5"),
        ("+.5", ".5"),
        ("-$5", "-5"),
        ("1'234'567.8", "1234567.8"),
        ("1\u00a0234,5\u00a0€", "1234.5"),
        ("12,34,567", None),
        ("49 30", None),
        ("%", None),
        ("٣,٤", None),
        ("", None),
    ],
)
def test_amounts_are_numbers_but_for_signs_and_commas(amount, number):
    assert plain_amount(amount) == number
