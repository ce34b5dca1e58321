"""What a device has learnt comes back, and learns on as if it had been learnt here."""

import numpy as np
import pytest

from ouzel.errors import OuzelError
from ouzel.exporting.device.dump import resume
from ouzel.layout import flat
from ouzel.model import persistence
from ouzel.streams.memory import blocks_from
from ouzel.terms.penalties.l1_and_l2 import L1
from tests.exporting.device.compiled import Device
from tests.exporting.device.test_header import fused, places_of
from tests.exporting.test_onnx_file import BITS, learnt, weather

LEARNERS = [
    ("awm", {"budget": "1KB"}, 2),
    ("awm", {"budget": "8KB"}, 3),
    ("adagrad", {"penalty": L1(1e-3)}, 2),
    ("ftrl-proximal", {"l1": 0.01}, 3),
]
REFUSED = 3  # how the program ends where `load` says 0
REBUILT = ("bounds", "places", "cells", "signed", "rows")  # of a sketch: for speed, or scratch


def on_device(name, settings, classes, folder):
    """A model, the same of a file after a device has learnt more, and the file of what that saved."""
    classes_of = {"classes": list("abc")[:classes] if classes > 2 else None}
    model = learnt(name, weather(200, classes), standardize=False, **settings, **classes_of)
    persistence.save(model, folder / "m.ouzel")
    (block,) = blocks_from(weather(900, classes, seed=1), bits=BITS)
    device = Device(model, folder / "c", *fused())
    device.says(block, places_of(model, block))
    model.learn(block)
    return model, persistence.load_model(folder / "m.ouzel"), folder / "c" / "state.bin", device


@pytest.mark.parametrize(("name", "settings", "classes"), LEARNERS)
def test_a_state_comes_back_and_learns_on(name, settings, classes, tmp_path):
    model, back, state, _ = on_device(name, settings, classes, tmp_path)

    assert resume(back, state) == 900

    assert back.examples == model.examples
    for ours, theirs in zip(model.states, back.states, strict=True):
        for (part, array), (_, other) in zip(flat(ours), flat(theirs), strict=True):
            if part not in REBUILT:
                size = min(len(array), len(other))
                assert np.array_equal(array[:size], other[:size]), part
                assert not array[size:].any()
                assert not other[size:].any()
    persistence.save(back, tmp_path / "back.ouzel")
    again = persistence.load_model(tmp_path / "back.ouzel")
    (block,) = blocks_from(weather(500, classes, seed=2), bits=BITS)
    assert np.array_equal(again.learn(block).margins, model.learn(block).margins)


@pytest.mark.parametrize(("name", "settings", "classes"), LEARNERS)
def test_a_device_that_starts_again_reads_what_it_saved(name, settings, classes, tmp_path):
    model, _, state, device = on_device(name, settings, classes, tmp_path)
    (block,) = blocks_from(weather(300, classes, seed=2), bits=BITS)
    kept = tmp_path / "kept.bin"
    kept.write_bytes(state.read_bytes())

    found, _ = device.says(block, before=kept)

    assert np.array_equal(found, model.answers(block).margins)
    for damaged in (state.read_bytes()[:-1], b"\0" + state.read_bytes()[1:]):
        kept.write_bytes(damaged)
        with pytest.raises(AssertionError, match=f"^{REFUSED}"):
            device.says(block, before=kept)


def test_ids_that_the_device_alone_has_met_have_room(tmp_path):
    model = learnt("adagrad", [({3: 1.0}, "a"), ({4: 1.0}, "b")], standardize=False)
    model.space = learnt("adagrad", weather(5), standardize=False).space  # named: of all ids
    device = Device(model, tmp_path)
    (block,) = blocks_from([({"far": 2.0, "off": 1.0}, "a"), ({"off": 1.0}, "b")] * 5, bits=BITS)
    device.says(block, places_of(model, block))

    resume(model, tmp_path / "state.bin")

    assert model.dimension > int(block.indices.max()) + 1
    assert np.array_equal(Device(model, tmp_path).says(block)[0], model.answers(block).margins)


def sum_of(data):
    from ouzel.exporting.device import dump

    return data[:-4] + dump._sum(data[:-4]).to_bytes(4, "little")


@pytest.mark.parametrize(("alter", "said"), [
    (lambda data: b"", "begins otherwise"),
    (lambda data: b"no state at all", "begins otherwise"),
    (lambda data: data[:8] + b"\1\2\3\4" + data[12:], "the state of another model"),
    (lambda data: data[:-9], "bytes, and a state of this model has"),
    (lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:], "damaged on its way"),
    (lambda data: sum_of(data[:12] + b"\xff\xff\xff\x0f" + data[16:]), "not a state that a device can have"),
    (lambda data: sum_of(data[:16] + data[20:24] + data[20:]), "not a state that a device can have"),
    (lambda data: sum_of(data[:-12] + b"\xff" * 8 + data[-4:]), "not a state that a device can have"),
    (lambda data: sum_of(data[:-20] + b"\xff" * 8 + data[-12:]), "not a state that a device can have"),
])  # fmt: skip
def test_what_is_no_state_is_refused_in_one_line(alter, said, tmp_path):
    _, back, state, _ = on_device("awm", {"budget": "400"}, 2, tmp_path)
    state.write_bytes(alter(state.read_bytes()))
    before = [array.copy() for array in back.states[0]]

    with pytest.raises(OuzelError, match=said) as raised:
        resume(back, state)

    assert "\n" not in str(raised.value)
    assert all(np.array_equal(*pair) for pair in zip(before, back.states[0], strict=True))


def test_a_model_that_does_not_learn_on_devices_takes_nothing(tmp_path):
    with pytest.raises(OuzelError, match="of the learners awm, adagrad, ftrl-proximal"):
        resume(learnt("ogd", weather(20), standardize=False), tmp_path / "state.bin")
    with pytest.raises(OuzelError, match="No such file"):
        resume(learnt("adagrad", weather(20), standardize=False), tmp_path / "state.bin")
