"""A model file gives back the model, to the bit, or one clear line."""

import tracemalloc

import numpy as np
import pytest
from safetensors import numpy as safetensors

import ouzel
from ouzel import files
from ouzel.errors import OuzelError
from ouzel.layout import flat
from ouzel.learners import catalogue
from ouzel.model import model_file, persistence
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from tests import forging


def weather(count, classes=2, seed=0):
    """Pairs of features by name and label."""
    random = np.random.default_rng(seed)
    features = random.standard_normal((count, 6))
    labels = features[:, :classes].argmax(axis=1)
    return [({f"f{j}": float(x) for j, x in enumerate(row)}, f"c{k}") for row, k in zip(features, labels, strict=True)]


def learn(model, examples):
    for block in blocks_from(examples, bits=model.bits, seed=model.seed):
        model.learn(block)
    return model


def arrays(model):
    return [array.tobytes() for state in model.states for _, array in flat(state)]


def test_saving_takes_no_second_model_in_memory(tmp_path):
    model = learn(Model("ogd", bits=22), weather(20))
    size = sum(array.nbytes for state in model.states for _, array in flat(state))

    tracemalloc.start()
    persistence.save(model, tmp_path / "large")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert size > 1 << 23
    assert most < size / 8


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["ogd", "adagrad"])
def test_learning_after_loading_gives_the_bits_of_one_run(tmp_path, name, classes):
    examples = weather(200, classes)
    whole = learn(Model(name), examples)
    persistence.save(learn(Model(name), examples[:77]), tmp_path / "half")

    resumed = learn(persistence.load_model(tmp_path / "half"), examples[77:])

    assert arrays(resumed) == arrays(whole)
    assert (resumed.examples, resumed.classes.known) == (whole.examples, whole.classes.known)
    assert resumed.names.to_json() == whole.names.to_json()


def test_a_model_that_could_not_be_read_again_is_not_written(tmp_path):
    sound = learn(Model("adagrad", standardize=True), weather(20))
    place = tmp_path / "m"
    persistence.save(sound, place)
    before = place.read_bytes()
    broken = learn(Model("adagrad", standardize=True), weather(20))
    broken.states[0].table[0, 0] = np.nan
    contradicting = learn(Model("ons"), weather(20))
    contradicting.states[0].place[1] = 3
    uncounted = learn(Model("adagrad", standardize=True), weather(20))
    uncounted.preparation.features.moments[1, 0] = np.inf

    for model in (broken, contradicting, uncounted):
        with pytest.raises(OuzelError, match=r"m: not written, for it could not be read again: .*; train again with"):
            persistence.save(model, place)

    assert place.read_bytes() == before


def test_every_setting_comes_back(tmp_path):
    model = Model("ogd", loss="quantile", learning_rate=0.3, power=0.25, intercept=False, bits=12, seed=9)
    persistence.save(model, tmp_path / "m")

    loaded = persistence.load_model(tmp_path / "m")

    assert loaded.settings == model.settings
    assert (loaded.task.name, loaded.intercept, loaded.bits, loaded.seed) == ("regression", False, 12, 9)


def test_declared_classes_stay_closed(tmp_path):
    persistence.save(Model("ogd", classes=[0, 1]), tmp_path / "m")

    with pytest.raises(OuzelError, match="unknown class 7"):
        learn(persistence.load_model(tmp_path / "m"), [({"a": 1.0}, 7)])


def test_notes_come_back(tmp_path):
    persistence.save(Model("ogd"), tmp_path / "m", {"label": "income", "text": ["body"]})

    assert persistence.load_notes(tmp_path / "m")[1] == {"label": "income", "text": ["body"]}


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "m"
    persistence.save(learn(Model("ogd"), weather(10)), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OuzelError, match=r"cannot be written \(No space left on device\)"):
        persistence.save(learn(Model("ogd"), weather(20)), path)

    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["m"]


def test_each_way_a_file_can_be_wrong_has_one_line(tmp_path):
    good = tmp_path / "good"
    persistence.save(learn(Model("ogd"), weather(10)), good)
    content = good.read_bytes()
    middle = bytearray(content)
    middle[-3] ^= 1
    described = safetensors.save({"x": np.zeros(3)})
    format, older = (f'\\"format\\": {number:>2}'.encode() for number in (model_file.FORMAT, 7))
    cases = {
        b"": "not a model file, or one cut short",
        b"+1 1:2\n": "text, as examples are, not a model; `ouzel train FILE --model MODEL` makes one",
        content[:-5]: "not a model file, or one cut short",
        content[: len(content) // 2]: "not a model file, or one cut short",
        bytes(middle): "the model file is damaged",
        described: "not one that Ouzel wrote",
        content.replace(format, older): "is a model of format 7",
        content.replace(b'\\"seed\\": 0', b'\\"seed\\": 1'): "the model file is damaged",
    }

    for number, (bytes_, message) in enumerate(cases.items()):
        path = tmp_path / f"bad{number}"
        path.write_bytes(bytes_)
        with pytest.raises(OuzelError, match=message) as caught:
            persistence.load_model(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)
    with pytest.raises(OuzelError, match="there is no such model file"):
        persistence.load_model(tmp_path / "absent")


@pytest.mark.parametrize(
    "change",
    [
        {"learner": "nonesuch"},
        {"dimension": 10**12},
        {"dimension": -1},
        {"states": 3},
        {"settings": {"alpha": 1}},
        {"classes": 5},
        {"names_hashed_by": "crc"},
        {"version": 3},
        {"stored": []},
        {"names": [["x", 1]]},
    ],
)
def test_a_file_whose_description_is_made_up_is_refused(tmp_path, change):
    path = tmp_path / "m"
    persistence.save(learn(Model("ogd"), weather(10)), path)
    described, tensors = forging.tensors_of(path)
    forging.write_tensors(path, described | change, tensors)

    with pytest.raises(OuzelError, match=f"^{tmp_path / 'm'}: "):
        persistence.load_model(tmp_path / "m")


@pytest.mark.parametrize("name", catalogue.LEARNERS)
def test_every_learner_goes_on_from_a_file(tmp_path, name):
    examples = weather(60)
    few = (
        {"bits": 8} if "full" in name or name.startswith("ons") else {}
    )  # a matrix over all features leaves room for few
    whole = learn(Model(name, **few), examples)
    persistence.save(learn(Model(name, **few), examples[:25]), tmp_path / "half")

    assert arrays(learn(persistence.load_model(tmp_path / "half"), examples[25:])) == arrays(whole)


@pytest.mark.parametrize("options", [{}, {"classes": ["c0", "c1", "c2"]}, {"loss": "squared"}])
def test_a_file_of_before_effects_of_columns_is_a_model_that_has_learnt_none(tmp_path, options):
    examples = [(row, float(label[1])) if "loss" in options else (row, label) for row, label in weather(300, 3)]
    model = learn(Model("auto", forms="raw", **options), examples[:100])
    persistence.save(model, tmp_path / "raw")
    described, arrays = forging.parts_of(tmp_path / "raw")
    for name in ("forms", "derived_budget"):
        del described["settings"][name]
    old = {name: array for name, array in arrays.items() if ".effects." not in name}
    forging.write(tmp_path / "old", described, old)

    loaded = persistence.load_model(tmp_path / "old")

    block = next(blocks_from(examples, bits=model.bits, seed=model.seed))
    assert len(old) < len(arrays)
    assert loaded.settings == Model("auto", **options).settings
    np.testing.assert_array_equal(loaded.margins(block), model.margins(block))
    assert not loaded.states[0].effects.opened.any()
    assert learn(loaded, examples[100:]).states[0].effects.opened.any()
    persistence.save(loaded, tmp_path / "new")
    np.testing.assert_array_equal(persistence.load_model(tmp_path / "new").margins(block), loaded.margins(block))


def test_effects_of_columns_of_before_pairs_were_chosen_begin_anew(tmp_path):
    block = weather(100)
    persistence.save(learn(Model("auto"), block), tmp_path / "m")
    described, arrays = forging.parts_of(tmp_path / "m")
    pairs = [name for name in arrays if name.startswith("state.0.effects.pairs.")]
    for name in pairs:
        del arrays[name]
    forging.write(tmp_path / "m", described, arrays | {"state.0.effects.edges": np.zeros((4, 24, 31), np.float32)})

    model = persistence.load_model(tmp_path / "m")

    assert len(pairs) == 6
    assert not model.states[0].effects.opened.any()
    assert learn(model, block).states[0].effects.opened.any()


def test_a_file_of_before_classes_were_counted_begins_to_count(tmp_path):
    block = weather(100)
    persistence.save(learn(Model("auto"), block), tmp_path / "m")
    described, arrays = forging.parts_of(tmp_path / "m")
    counts = arrays.pop("state.0.counts")
    forging.write(tmp_path / "m", described, arrays)

    model = persistence.load_model(tmp_path / "m")

    assert not model.states[0].counts.any()
    np.testing.assert_array_equal(learn(model, block).states[0].counts, counts)


@pytest.mark.parametrize("options", [{}, {"classes": ["c0", "c1", "c2"]}])
def test_a_file_of_version_0_2_predicts_what_it_did(tmp_path, options):
    block = weather(100, 3 if options else 2)
    persistence.save(model := learn(Model("auto", **options), block), tmp_path / "m")
    described, arrays = forging.parts_of(tmp_path / "m")
    described["settings"] |= dict.fromkeys(("second_loss", "third_loss"), described["settings"]["loss"])  # gone since
    forging.write(tmp_path / "m", described, {k: array for k, array in arrays.items() if ".scale." not in k})

    (rows,) = blocks_from(block, bits=model.bits, seed=model.seed)
    np.testing.assert_array_equal(persistence.load_model(tmp_path / "m").margins(rows), model.margins(rows))


def test_a_file_that_lacks_a_part_of_the_effects_of_columns_is_refused(tmp_path):
    persistence.save(learn(Model("auto"), weather(100)), tmp_path / "m")
    described, arrays = forging.parts_of(tmp_path / "m")
    del arrays["state.0.effects.cells"]
    forging.write(tmp_path / "m", described, arrays)

    with pytest.raises(OuzelError, match=r"state\.0\.effects\.cells is missing"):
        persistence.load_model(tmp_path / "m")


def test_cells_of_effects_do_not_count_as_slots_that_were_touched(tmp_path):
    model = learn(Model("auto"), weather(3000))
    persistence.save(model, tmp_path / "m")

    assert model.states[0].effects.opened.any()
    assert ouzel.info(tmp_path / "m").touched == 6 + 1


@pytest.mark.parametrize("options", [{}, {"loss": "squared"}], ids=["classes", "numbers"])
def test_effects_of_columns_without_steps_between_knots_predict_what_they_did(tmp_path, options):
    X = np.random.default_rng(0).normal(size=(700, 3)).astype(np.float32)
    y = (np.abs(X[:, 0]) > 0.7) ^ (X[:, 1] * X[:, 2] > 0.0)
    blocks = list(blocks_from(X, y.astype(float) if options else y.astype(int)))
    model = Model("auto", **(options or {"classes": [0, 1]}))
    for block in blocks:
        model.learn(block)
    effects = model.states[0].effects
    before = np.full((4, 64, 31), np.inf, np.float32)
    for level, (knots, steps) in enumerate(((4, 8), (8, 8), (16, 4), (32, 2))):
        before[level, :, : knots - 1] = effects.edges[level, :, steps - 1 : (knots - 1) * steps : steps]
    persistence.save(model, tmp_path / "m")
    described, arrays = forging.parts_of(tmp_path / "m")
    forging.write(tmp_path / "m", described, arrays | {"state.0.effects.edges": before})

    loaded = persistence.load_model(tmp_path / "m")

    found = loaded.states[0].effects
    numbers = X[:, :, None] >= before[1, None, :3]  # at eight knots: a number has the weight of the last one it reached
    reached, passed = numbers.sum(axis=2), (X[:, :, None] >= found.edges[1, None, :3]).sum(axis=2)
    np.testing.assert_array_equal(passed, 8 * reached)
    assert not np.array_equal(loaded.margins(blocks[0]), model.margins(blocks[0]))
    assert not found.pairs.counted.any()
    loaded.learn(blocks[0])
    persistence.save(loaded, tmp_path / "again")
    np.testing.assert_array_equal(
        persistence.load_model(tmp_path / "again").margins(blocks[0]), loaded.margins(blocks[0])
    )
