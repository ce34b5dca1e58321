"""libffm text is read as an oracle reads it, and what is wrong with it is a line."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.streams.formats import libffm
from ouzel.streams.kernels.new_names import NameEmitter
from ouzel.streams.options import Options
from tests.oracles.svmlight import read_lines
from tests.streams.formats.test_text import LINES, parse, rows_of

PARSE = libffm.parser(Options(), NameEmitter(18)).parse


@given(LINES, st.lists(st.integers(0, 999), min_size=48, max_size=48))
@settings(max_examples=60)
def test_libffm_is_svmlight_whose_ids_have_a_field_before_them(lines, fields):
    rest = iter(fields)
    text, plain = (
        "\n".join(f"{y} {' '.join(f'{before()}{k}:{v}' for k, v in pairs)}{end}" for y, pairs, end in lines)
        for before in (lambda: f"{next(rest)}:", lambda: "")
    )

    found = list(rows_of(parse(PARSE, text).block))

    for (label, features), (true_label, true_features) in zip(found, read_lines(plain), strict=True):
        assert label == pytest.approx(true_label, rel=1e-15)
        assert list(features) == list(true_features)
        np.testing.assert_allclose(list(features.values()), list(true_features.values()), rtol=2e-7)


@given(data=st.one_of(st.binary(max_size=80), st.text("0123456789.:+-eEqidnaf |#\n\t", max_size=80).map(str.encode)))
@settings(max_examples=150)
def test_no_bytes_crash_the_parser_or_become_nan(data):
    for on_error in ("raise", "skip"):
        parsed = parse(PARSE, data, on_error=on_error)

        assert np.isfinite(parsed.block.values).all()
        assert parsed.problem is None or on_error == "raise"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 0:1:1\n0 3:1\n", "f:2:3: found '3:1'; expected a feature field:id:value"),
        ("1 x:1:1\n", "f:1:3: found 'x:1:1'; expected a feature field:id:value"),
        ("1 0:2:nan\n", "f:1:7: found 'nan'; expected a finite number"),
        ("1 0:2:1:5\n", "f:1:7: found '1:5'; expected a finite number"),
        ("1 0:99999999999:1\n", "f:1:3: found '0:99999999999:1'; expected a feature id from 0"),
        ("1 0:2:1e39\n", "f:1:7: found '1e39'; expected a value that fits"),
    ],
)
def test_a_bad_line_is_explained(text, said):
    assert parse(PARSE, text).problem.error("f", 0).reason.startswith(said)


def test_groups_and_remarks_are_those_of_svmlight():
    block = parse(PARSE, "# none\n1 qid:7 0:3:0.5 # why\n").block

    assert (block.groups.tolist(), block.indices.tolist(), block.values.tolist()) == ([7], [3], [0.5])
