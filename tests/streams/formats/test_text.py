"""Readers of text: svmlight and Vowpal Wabbit."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.errors import DataError
from ouzel.sketches.hashing import feature_id
from ouzel.streams.formats.svmlight import parse_svmlight
from ouzel.streams.formats.vw import parse_vw
from ouzel.streams.formats.writing import write_svmlight
from ouzel.streams.kernels.numbers import parse_number
from ouzel.streams.options import Options
from ouzel.streams.read import read
from tests.oracles.svmlight import read_lines

NUMBERS = st.one_of(
    st.integers(-1000, 1000).map(str),
    st.floats(-1e6, 1e6).map(repr),
    st.floats(-1e30, 1e30).map(lambda x: f"{x:.3e}"),
    st.sampled_from(["+1", "-0", ".5", "7.", "1E3", "0.1000000000000000055", "123456789012345678901234567890"]),
)
FEATURES = st.lists(st.tuples(st.integers(0, 40), NUMBERS), max_size=6)
LINES = st.lists(st.tuples(NUMBERS, FEATURES, st.sampled_from(["", " # why", "\r", "   "])), min_size=1, max_size=8)


def rows_of(block):
    for i in range(block.rows):
        here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
        label = block.labels[i]
        if block.label_names is not None and not math.isnan(label):
            label = block.label_names[int(label)]
        yield label, dict(zip(block.indices[here].tolist(), block.values[here].tolist(), strict=True))


def parse(parser, text, **options):
    data = np.frombuffer(bytearray(text if isinstance(text, bytes) else text.encode()), np.uint8)
    return parser(data, 0, len(data), Options(**options))


def refusal(parser, text):
    return parse(parser, text).problem.error("f", 0).reason


@given(LINES)
@settings(max_examples=60)
def test_svmlight_is_read_as_the_oracle_reads_it(lines):
    text = "\n".join(f"{y} {' '.join(f'{k}:{v}' for k, v in pairs)}{end}" for y, pairs, end in lines)

    found = list(rows_of(parse(parse_svmlight, text).block))

    for (label, features), (true_label, true_features) in zip(found, read_lines(text), strict=True):
        assert label == pytest.approx(true_label, rel=1e-15)
        assert list(features) == list(true_features)
        np.testing.assert_allclose(list(features.values()), list(true_features.values()), rtol=2e-7)


def test_numbers_keep_their_value_beside_labels_that_are_names():
    labels = [label for label, _ in rows_of(parse(parse_svmlight, "+1 1:1\n-1 1:1\nyes 1:1\n0 1:1\n2.5 1:1\n").block)]

    assert labels == [1, -1, "yes", 0, 2.5]


@given(NUMBERS)
@settings(max_examples=200)
def test_numbers_are_read_to_two_ulps(word):
    data = np.frombuffer(bytearray(word.encode()), np.uint8)

    value, end = parse_number(data, 0, len(data))

    assert end == len(data)
    assert abs(value - float(word)) <= 2 * math.ulp(float(word))


@pytest.mark.parametrize("parser", [parse_svmlight, parse_vw])
@given(data=st.one_of(st.binary(max_size=80), st.text("0123456789.:+-eEqidnaf |#\n\t", max_size=80).map(str.encode)))
@settings(max_examples=150)
def test_no_bytes_crash_a_parser_or_become_nan(parser, data):
    for on_error in ("raise", "skip"):
        parsed = parse(parser, data, on_error=on_error)

        assert np.isfinite(parsed.block.values).all()
        assert not np.isinf(parsed.block.labels).any()
        assert parsed.problem is None or on_error == "raise"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 2:nan\n", "f:1:5: found 'nan'; expected a finite number"),
        ("1 2:1\n1 x:3\n", "f:2:3: found 'x:3'; expected a feature id:value"),
        ("1 99999999999:1\n", "f:1:3: found '99999999999:1'; expected a feature id from 0"),
        ("1 2:1e39\n", "f:1:5: found '1e39'; expected a value that fits"),
        ("1,2 3:1\n", "f:1:1: found '1,2'; a list of labels needs --label-positive"),
        ("1 qid:x 2:1\n", "f:1:3: found 'qid:x'; expected a whole number after qid:"),
        ("\x00\x01\n", "f:1:1: found a zero byte"),
    ],
)
def test_a_bad_svmlight_line_is_explained(text, said):
    assert refusal(parse_svmlight, text).startswith(said)


def test_rows_before_a_bad_line_are_given_out_and_skipping_counts(tmp_path):
    path = tmp_path / "bad.svm"
    path.write_text("1 1:1\n-1 2:1\n1 3:x\n-1 4:1\n")
    stream = read(path)

    assert next(stream).rows == 2
    with pytest.raises(DataError, match=r"bad.svm:3:5: found 'x'"):
        next(stream)
    skipping = read(path, on_error="skip")
    assert sum(block.rows for block in skipping) == 3
    assert skipping.skipped == 1


def test_labels_may_be_names_lists_or_missing():
    block = parse(parse_svmlight, "spam 1:1\n1,15,16 1:1\n3:4\n", label_positive="15").block
    names = parse(parse_svmlight, "spam 1:1\n2 1:1\nham 1:1\n").block

    assert block.labels[:2].tolist() == [-1.0, 1.0]
    assert math.isnan(block.labels[2])
    assert [label for label, _ in rows_of(names)] == ["spam", 2, "ham"]


def test_writing_and_reading_again_gives_the_same_bits(tmp_path):
    rng = np.random.default_rng(0)
    text = "".join(f"{rng.normal()} 3:{rng.normal()} 9:{rng.normal() * 1e-9}\n" for _ in range(50))
    first = parse(parse_svmlight, text).block
    write_svmlight([first], tmp_path / "again.svm")
    again = next(read(tmp_path / "again.svm"))

    for one, other in zip(first[:3], again[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(first.labels, again.labels, rtol=4e-16)


def test_vowpal_wabbit_lines_have_labels_weights_tags_namespaces_and_scales():
    block = parse(parse_vw, "1 2.0 'tag|a:2 x:1 y |b 3\n| 5:1 7\n-1 |\n").block

    rows = list(rows_of(block))
    assert rows[0] == (
        1.0,
        dict(sorted([(feature_id("a^x"), 2.0), (feature_id("a^y"), 2.0), (feature_id("b^3"), 1.0)])),
    )
    assert math.isnan(rows[1][0])
    assert rows[1][1] == {5: 1.0, 7: 1.0}
    assert rows[2] == (-1.0, {})
    assert block.weights.tolist() == [2.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 2 3\n", "found the end of the line; expected `label"),
        ("1 | a:nan\n", "f:1:7: found 'nan'; expected a finite number"),
        ("1 -1 | a\n", "f:1:3: found '-1'; expected an importance"),
    ],
)
def test_a_bad_vowpal_wabbit_line_is_explained(text, said):
    assert said in refusal(parse_vw, text)
