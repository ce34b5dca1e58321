"""Numbers and texts in C: all bits, and nothing but themselves."""

import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.errors import OuzelError
from ouzel.exporting.device.header import header_of
from ouzel.exporting.device.literals import LONGEST_TEXT, array, number, single, text
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from tests.exporting.device.compiled import compile_c

NASTY = ['a"; system("x', "b\\", "c??/", "*/ d /*", "\n#error e", "\0f", "ünïcode\u2028", "%s%n", "??=define", "", "\\"]


@given(st.text())
def test_a_text_is_one_string_of_its_bytes(value):
    written = text(value)

    assert written.isascii()
    assert written.isprintable()
    inner = written[1:-1]
    assert not {'"', "?"} & set(inner)
    read = inner.encode().decode("unicode_escape").encode("latin1")  # octal escapes are those of Python, too
    assert read == value.encode("utf-8", "surrogatepass")


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**60), 2**60).map(float)))
def test_a_number_keeps_all_its_bits(value):
    written = number(value)

    read = float.fromhex(written) if "0x" in written else float(written)
    assert "." in written  # or C would take it for a whole number
    assert np.float64(read).tobytes() == np.float64(value).tobytes()


def test_numbers_that_c_does_not_write_are_refused():
    for value in (np.nan, np.inf):
        with pytest.raises(OuzelError, match="cannot write"):
            number(value)
    with pytest.raises(OuzelError, match="rename it"):
        text("x" * (LONGEST_TEXT + 1))


def test_labels_and_numbers_come_out_of_the_compiler_as_they_went_in(tmp_path):
    random = np.random.default_rng(0)
    doubles = random.standard_normal(50) * 10.0 ** random.integers(-300, 300, 50)
    singles = doubles[np.abs(doubles) < 1e38].astype(np.float32)
    labels = "".join(f"{text(label)}, " for label in NASTY)
    code = f"""#include <stdio.h>
static const char *const labels[] = {{{labels}}};
static const double doubles[] = {array(doubles)};
static const float singles[] = {array(singles)};
static const char lengths[] = {{{"".join(f"sizeof({text(label)}) - 1, " for label in NASTY)}}};
int main(void) {{
    for (int k = 0; k < {len(NASTY)}; k++) fwrite(labels[k], 1, (size_t)lengths[k], stdout);
    fwrite(doubles, 8, {len(doubles)}, stdout);
    fwrite(singles, 4, {len(singles)}, stdout);
    return 0;
}}
"""
    (tmp_path / "t.c").write_text(code)

    told = subprocess.run([str(compile_c(tmp_path / "t.c", tmp_path / "t"))], capture_output=True, check=True).stdout

    assert told == "".join(NASTY).encode() + doubles.tobytes() + singles.tobytes()
    assert single(0.1) == "0x1.99999a0000000p-4f"


@pytest.mark.parametrize("name", ["adagrad", "ogd"])
def test_names_and_labels_of_a_model_are_no_code(name, tmp_path):
    """Whatever features and classes are called, the header is compiled, and says no more than the labels' strings."""
    pairs = [({feature: 1.0}, label) for feature, label in zip(NASTY * 2, [*NASTY[1:], NASTY[0]] * 2, strict=True)]
    model = Model(name, bits=8)
    for block in blocks_from([pair for pair in pairs if pair[1].strip()], bits=8):
        model.learn(block)

    code, _ = header_of(model)

    assert "system(" not in code.replace(text(NASTY[0]), "")
    (tmp_path / "m.h").write_text(code)
    (tmp_path / "t.c").write_text('#include "m.h"\nint main(void) { return 0; }\n')
    compile_c(tmp_path / "t.c", tmp_path / "t", f"-I{tmp_path}")
