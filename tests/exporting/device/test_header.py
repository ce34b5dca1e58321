"""A header of C, compiled, says and learns what the model does: to the bit, or within the rounding that is said."""

import itertools
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ouzel as library
from ouzel.errors import OuzelError
from ouzel.exporting.device.header import header_of
from ouzel.exporting.device.linear import _sums
from ouzel.exporting.export import export
from ouzel.exporting.expressions import expression_of
from ouzel.model.answers import shown
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from ouzel.terms.penalties.l1_and_l2 import L1
from tests.conftest import DATA
from tests.exporting.device.compiled import Device, compile_c
from tests.exporting.test_onnx_file import BITS, learnt, weather

FUSED = ["-O2", "-mfma", "-ffp-contract=fast"]
LEARNERS = [
    ("awm", {"budget": "1KB"}, 2),
    ("awm", {"budget": "600", "l2": 0.01, "schedule": "inverse-root", "loss": "smoothed-hinge"}, 2),
    ("awm", {"heap_size": 20, "width": 900}, 3),
    ("adagrad", {}, 2),
    ("adagrad", {"penalty": L1(1e-3)}, 3),
    ("adagrad", {"loss": "squared-hinge"}, 2),
    ("ftrl-proximal", {"l1": 0.01, "l2": 0.1}, 2),
]
SEVERAL_ROWS = ("awm", {"heap_size": 20, "width": 30, "depth": 3}, 2)
STREAM = 2000


def fused():
    """How to compile so that products and sums are one instruction where the kernels' are: what this machine has."""
    from llvmlite import binding

    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("which products and sums are one instruction was worked out for x86-64")
    return FUSED if binding.get_host_cpu_features().get("fma", False) else []


def places_of(model, block):
    """The place of each label among the classes shown; numbers themselves."""
    if model.task.numbers:
        return block.labels
    order = model.classes.in_order()
    labels = [block.label_names[int(k)] for k in block.labels] if block.label_names else block.labels.tolist()
    return np.array([order.index(label) for label in labels])


def columns_of(model, margins):
    found = margins if model.task.numbers else shown(model.classes, margins)
    return found[:, None] if found.ndim == 1 else found


def assert_learns(model, block, folder, *options):
    """The device's margins from before each example, and what it says after, are the model's, which learns them too."""
    device = Device(model, folder, *options)
    assert device.learns
    found, _ = device.says(block, places_of(model, block))
    told = model.learn(block)
    assert np.array_equal(found, columns_of(model, told.margins))
    after, labels = Device(model, folder, *options).says(block)
    answers = model.answers(block)
    assert np.array_equal(after, answers.margins)
    order = model.classes.in_order()
    assert [order[int(k)] for k in labels] == answers.labels.tolist()


@pytest.mark.parametrize(("name", "settings", "classes"), LEARNERS)
def test_a_device_learns_to_the_bit_what_the_model_learns(name, settings, classes, tmp_path):
    model = learnt(name, weather(300, classes), standardize=False, **settings)
    (block,) = blocks_from(weather(STREAM, classes, seed=1), bits=BITS)

    assert_learns(model, block, tmp_path, *fused())


def test_a_sketch_of_several_rows_learns_the_same_within_rounding(tmp_path):
    name, settings, classes = SEVERAL_ROWS
    model = learnt(name, weather(300, classes), standardize=False, **settings)
    (block,) = blocks_from(weather(300, classes, seed=1), bits=BITS)

    found, _ = Device(model, tmp_path).says(block, places_of(model, block))

    told = columns_of(model, model.learn(block).margins)
    np.testing.assert_allclose(found, told, rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("name", ["awm", "adagrad", "ftrl-proximal"])
def test_numbers_and_importances_are_learnt_to_the_bit(name, tmp_path):
    model = learnt(
        name, weather(300, numbers=True), task="regression", loss="squared", scale_targets=False, standardize=False
    )
    (block,) = blocks_from(weather(500, numbers=True, seed=1), bits=BITS)
    importances = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], block.rows).astype(np.float32)
    device = Device(model, tmp_path, *fused())

    found, _ = device.says(block, block.labels, importances)

    told = model.learn(block._replace(weights=importances))
    assert np.array_equal(found[:, 0], told.margins)


@pytest.mark.parametrize("name", ["awm", "adagrad", "ftrl-proximal"])
def test_extreme_values_are_learnt_to_the_bit(name, tmp_path):
    random = np.random.default_rng(0)
    sizes = [0.0, 1e-40, 1e-20, 1.0, 1e10, 1e20, 3e38]
    pairs = [
        ({f"n{k}": float(random.choice(sizes) * random.choice([-1, 1])) for k in random.choice(30, 5)}, "ab"[j % 2])
        for j in range(400)
    ]
    model = learnt(name, pairs[:10], standardize=False)
    (block,) = blocks_from(pairs, bits=BITS)

    assert_learns(model, block, tmp_path, *fused())


PLAIN = """
import sys
from tests.exporting.device.test_header import *

for name, settings, classes in [*LEARNERS, SEVERAL_ROWS]:
    model = learnt(name, weather(300, classes), standardize=False, **settings)
    (block,) = blocks_from(weather(STREAM, classes, seed=1), bits=BITS)
    assert_learns(model, block, Path(sys.argv[1]), "-ffp-contract=off")
print("the same")
"""


@pytest.mark.long
def test_without_fused_instructions_a_device_has_the_bits_of_a_processor_without_them(request, tmp_path):
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("kernels for processors without fused instructions are compiled on x86-64")
    folder = request.config.cache.mkdir("kernels-x86-64")
    (folder / "processor.json").write_text('{"family": "x86-64"}')
    root = Path(__file__).parents[3]

    ran = subprocess.run(
        [sys.executable, "-c", PLAIN, str(tmp_path)],
        env={**os.environ, "OUZEL_CACHE_DIR": str(folder), "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        cwd=root,
    )

    assert ran.stdout == "the same\n", ran.stderr[-2000:]


@pytest.mark.parametrize("name", ["awm", "adagrad", "ftrl-proximal"])
def test_real_examples_are_learnt_to_the_bit(name, tmp_path):
    path = DATA / "a9a.svm.xz"
    if not path.exists():
        path = next(iter(sorted(DATA.glob("a9a*"))), None)
    if path is None:
        pytest.skip(f"there is no a9a in {DATA}")
    (block, *_) = library.read(path)
    model = Model(name, standardize=False, **({"budget": "1KB"} if name == "awm" else {}))
    model.learn(block.select(np.arange(2000, block.rows)))  # of all ids: a device has no room for others

    assert_learns(model, block.select(np.arange(2000)), tmp_path, *fused())


PREDICTED = [
    ("ogd", {}, 2),
    ("arow", {}, 3),
    ("auto", {"forms": "raw"}, 2),
    ("auto", {"forms": "raw"}, 3),
    ("auto", {"forms": "raw", "loss": "hinge"}, 2),
    ("auto", {"forms": "raw", "loss": "hinge"}, 3),
    ("arow", {"standardize": True}, 2),
    ("adagrad", {"standardize": True}, 3),
    ("awm", {"forget": 200.0}, 2),
    ("wm", {"budget": "2KB"}, 2),
    ("ons", {}, 2),
    ("adagrad-multiclass", {}, 3),
    ("elementwise-ons", {}, 2),
]


@pytest.mark.parametrize(("name", "settings", "classes"), PREDICTED)
def test_a_header_says_what_the_model_says(name, settings, classes, tmp_path):
    model = learnt(name, weather(400, classes), **settings)
    far = [
        (row | {"n0": value}, label) for row, label in weather(5, classes) for value in (60.0, -9e2, 1e5, -1e9, 1e30)
    ]
    pairs = [*weather(300, classes, seed=1), ({"never": 3.0}, "a"), ({}, "b")]
    (block,) = blocks_from(pairs if name not in ("auto", "arow") else [*pairs, *far], bits=BITS)

    found, labels = Device(model, tmp_path).says(block)

    told = model.answers(block)
    size = max(1.0, float(np.abs(told.margins).max()))
    np.testing.assert_allclose(found, told.margins, rtol=0.0, atol=1e-6 * size)
    sure = np.abs(np.sort(told.margins, axis=1)[:, -1] - (np.sort(told.margins, axis=1)[:, -2] if classes > 2 else 0.0))
    order = model.classes.in_order()
    clear = sure > 1e-5 * size
    assert [order[int(k)] for k in labels[clear]] == told.labels[clear].tolist()


@pytest.mark.parametrize(
    "settings", [{"loss": "squared", "forms": "raw"}, {"loss": "quantile(tau=0.9)", "forms": "raw"}, {"name": "ogd"}]
)
def test_numbers_are_predicted(settings, tmp_path):
    given = {"name": "auto", "task": "regression", **settings}
    model = learnt(given.pop("name"), weather(400, numbers=True), **given)
    (block,) = blocks_from(weather(300, seed=1, numbers=True), bits=BITS)
    if "tau" in str(settings):
        with pytest.raises(OuzelError, match="experts that take logarithms"):
            header_of(model)
        return

    _, numbers = Device(model, tmp_path).says(block)

    np.testing.assert_allclose(numbers, model.answers(block).labels, rtol=2e-6, atol=1e-6)


PROBABILITIES = """
#include "model.h"
#include <stdio.h>
int main(void) {
    const char *const names[] = {"n0", "city=Rome", "7", "99999999999", "", "caf\\303\\251"};
    double margins[3] = {1.5, -0.25, 800.0};
    for (int k = 0; k < 6; k++) {
        printf("%u ", (unsigned)ouzel_id(names[k]));
    }
    printf("%u %u %s\\n", (unsigned)ouzel_word_id("city", "Rome"), (unsigned)ouzel_text_id("7"), ouzel_labels[0]);
    for (int k = 0; k < 3; k++) {
        printf("%a ", ouzel_probability(margins[k]));
    }
#if OUZEL_COLUMNS > 1
    ouzel_probabilities(margins);
    for (int k = 0; k < 3; k++) {
        printf("%a ", margins[k]);
    }
#endif
    return (int)sizeof(ouzel_feature) - 8;
}
"""


@pytest.mark.parametrize("classes", [2, 3])
def test_names_have_their_ids_and_margins_their_probabilities(classes, tmp_path):
    from ouzel.model.answers import probabilities

    model = learnt("adagrad", weather(100, classes), seed=3)
    export(model, tmp_path / "model.h")
    (tmp_path / "p.c").write_text(PROBABILITIES)
    program = compile_c(tmp_path / "p.c", tmp_path / "p", f"-I{tmp_path}")

    first, second = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.split("\n")

    names = ["n0", "city=Rome", "7", "99999999999", "", "café", "city=Rome"]
    expected = [model.space.id_of(name, 3, BITS) for name in names]
    from ouzel.streams.feature_space import Token

    assert list(map(int, first.split()[:-1])) == [*expected, model.space.id_of(Token("7"), 3, BITS)]
    assert first.split()[-1] == "a"
    margins = np.array([1.5, -0.25, 800.0])
    said = [float.fromhex(word) for word in second.split()]
    np.testing.assert_allclose(said[:3], probabilities(model.loss, margins)[:, 1], rtol=1e-15)
    if classes > 2:
        np.testing.assert_allclose(said[3:], probabilities(model.loss, margins[None])[0], rtol=1e-15)


def test_features_are_put_in_the_order_of_ouzel(tmp_path):
    """The driver sorts what it is sent: rows upside down, and values in two parts, say the same."""
    model = learnt("adagrad", weather(100), standardize=False)
    (block,) = blocks_from(weather(50, seed=1), bits=BITS)
    device = Device(model, tmp_path)
    turned = block._replace(indices=block.indices.copy(), values=block.values.copy())
    for a, b in zip(block.offsets[:-1].astype(int), block.offsets[1:].astype(int), strict=True):
        turned.indices[a:b], turned.values[a:b] = block.indices[a:b][::-1], block.values[a:b][::-1]

    assert np.array_equal(device.says(turned)[0], device.says(block)[0])


@pytest.mark.parametrize(("name", "planted"), [
    ("awm", ("word & 1u ? -1.0f : 1.0f", "word & 2u ? -1.0f : 1.0f")),
    ("awm", ("last - ouzel_query(column, evicted)", "last")),
    ("adagrad", ("OUZEL_DAMPING + OUZEL_SQRTF", "OUZEL_SQRTF")),
    ("adagrad", ("scale > 0.0f", "scale > 1.0f")),
    ("ftrl-proximal", ("total - OUZEL_L1", "total + OUZEL_L1")),
    ("ftrl-proximal", ("exponent -= 1;", "exponent += 1;")),
])  # fmt: skip
def test_a_planted_bug_is_caught(name, planted, tmp_path):
    model = learnt(
        name, weather(300), standardize=False, **{"awm": {"budget": "400"}, "ftrl-proximal": {"l1": 0.01}}.get(name, {})
    )
    (block,) = blocks_from(weather(STREAM, seed=1), bits=BITS)

    def alter(code):
        assert planted[0] in code
        return code.replace(*planted)

    device = Device(model, tmp_path, *fused(), alter=alter)
    found, _ = device.says(block, places_of(model, block))

    assert not np.array_equal(found, columns_of(model, model.learn(block).margins))


BUDGET = '#include "model.h"\n#include <stdio.h>\nint main(void) { printf("%u %u", (unsigned)sizeof(ouzel_sketch), '
BUDGET += "(unsigned)sizeof(ouzel_state)); return 0; }\n"


@pytest.mark.parametrize("budget", ["1KB", "8KB"])
def test_a_sketch_has_the_bytes_of_its_budget(budget, tmp_path):
    model = learnt("awm", weather(50), budget=budget)
    export(model, tmp_path / "model.h")
    (tmp_path / "b.c").write_text(BUDGET)
    program = compile_c(tmp_path / "b.c", tmp_path / "b", f"-I{tmp_path}")

    sizes = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.split()

    assert list(map(int, sizes)) == [model.bytes_used, model.bytes_used + 24]


def test_a_header_is_compiled_for_32_bits(tmp_path):
    model = learnt("awm", weather(300), budget="1KB")
    (block,) = blocks_from(weather(STREAM, seed=1), bits=BITS)
    (tmp_path / "m.c").write_text("int main(void) { return 0; }\n")
    try:
        compile_c(tmp_path / "m.c", tmp_path / "m", "-m32")
    except AssertionError as error:
        pytest.skip(f"the compiler makes no programs of 32 bits: {str(error).splitlines()[0]}")
    options = [option for option in fused() if option] + ["-m32", "-msse2", "-mfpmath=sse"]

    assert_learns(model, block, tmp_path, *options)


@pytest.mark.parametrize("prefix", ["", "2x", "_x", "a-b", "a b", "é", "x;int y", "a" * 41, "ouzel\n"])
def test_names_that_c_does_not_have_are_refused(prefix, tmp_path):
    with pytest.raises(OuzelError, match="names in C begin with a letter"):
        export(learnt("adagrad", weather(20)), tmp_path / "m.h", prefix)


def test_two_headers_stand_in_one_program(tmp_path):
    for name, prefix in (("adagrad", "sun"), ("awm", "rain"), ("ogd", "m2")):
        export(learnt(name, weather(50)), tmp_path / f"{prefix}.h", prefix)
    code = "".join(f'#include "{prefix}.h"\n' for prefix in ("sun", "rain", "m2"))
    code += (
        "int main(void) { return sun_predict(&sun_start, 0, 0) + rain_predict(&rain_start, 0, 0) + m2_predict(0, 0); }"
    )
    (tmp_path / "t.c").write_text(code)

    compile_c(tmp_path / "t.c", tmp_path / "t", f"-I{tmp_path}")


@pytest.mark.parametrize(("name", "settings", "said"), [
    ("auto", {}, "--set forms=raw"),
    ("sop", {}, "predicts otherwise than by weights"),
])  # fmt: skip
def test_what_no_header_says_is_refused_in_one_line(name, settings, said):
    with pytest.raises(OuzelError, match=said) as raised:
        header_of(learnt(name, weather(400), **settings))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("name", "settings", "said"), [
    ("ogd", {}, "awm, adagrad, ftrl-proximal learn"),
    ("awm", {"cell_bits": 8}, "plain settings"),
    ("adagrad", {"standardize": True}, "it scales features"),
    ("adagrad", {"forget": 100.0}, "--half-life"),
    ("adagrad", {"class_weight": "balanced"}, "--class-weight"),
    ("ftrl-proximal", {"task": "regression"}, "--raw-targets"),
])  # fmt: skip
def test_why_a_header_only_predicts_is_said(name, settings, said):
    pairs = weather(400, numbers="task" in settings)
    _, header = header_of(learnt(name, pairs, **{"standardize": False, **settings}))

    assert said in header.hindrance
    assert "ouzel_learn" not in header.functions


def test_the_comparison_before_writing_computes_what_the_header_does(tmp_path):
    model = learnt("arow", weather(400), standardize=True)
    (block,) = blocks_from(weather(20, seed=1), bits=BITS)
    expression = expression_of(model)
    ends = block.offsets.astype(int)
    own = [
        _sums(expression, block.indices[a:b] + 1, block.values[a:b].astype(float))[0]
        for a, b in itertools.pairwise(ends)
    ]

    np.testing.assert_allclose(Device(model, tmp_path).says(block)[0][:, 0], own, rtol=1e-12, atol=1e-12)
