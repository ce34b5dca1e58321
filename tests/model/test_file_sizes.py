"""A model file is as large as what was touched, and the same state comes back from it."""

import os
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings, strategies

import ouzel
from ouzel.errors import OuzelError
from ouzel.layout import Array, flat
from ouzel.model import model_file, persistence, tensor_reader, tensor_writer
from ouzel.model.changed_rows import changed_rows
from ouzel.model.model import Model
from ouzel.model.packed_bytes import is_square, pack, pieces_of, unpack
from ouzel.model.room import make_room
from ouzel.model.tensor_reader import TensorReader
from ouzel.streams.block import Block
from ouzel.streams.feature_space import FeatureSpace
from ouzel.streams.memory import blocks_from
from tests import forging

KB = 1000


def arrays(model):
    found = [array.tobytes() for state in model.states for _, array in flat(state)]
    moments = model.preparation.features
    return found + ([] if moments is None else [array.tobytes() for _, array in flat(moments)])


def like_titanic(count=891, seed=0):
    """Rows of numbers and categories that make 28 features, and whether a passenger survived."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        sex, place = random.choice(["male", "female"]), random.integers(1, 4)
        row = {
            "PassengerId": number + 1.0, "Pclass": float(place), "Age": round(random.uniform(1.0, 80.0), 1),
            "SibSp": float(random.poisson(0.5)), "Parch": float(random.poisson(0.4)), "Fare": random.lognormal(3.0),
            f"Sex={sex}": 1.0, f"Embarked={random.choice(list('SCQ'))}": 1.0, f"Cabin={random.integers(16)}": 1.0,
        }  # fmt: skip
        rows.append((row, int(random.random() < (0.7 if sex == "female" else 0.3) - 0.1 * place)))
    return rows


def named_features(count, examples, seed=0):
    """Examples of names, all of which come, and a label that follows from them."""
    random = np.random.default_rng(seed)
    weights, often = random.standard_normal(count), 1.0 / np.arange(1, count + 1) ** 0.9
    often /= often.sum()
    rows = []
    for number in range(examples):
        ids = random.choice(count, 12, p=often)
        if 12 * number < count:
            ids = np.append(ids, np.arange(12 * number, min(count, 12 * number + 12)))
        ids = np.unique(ids)
        rows.append(({f"word_{k}": 1.0 for k in ids}, int(weights[ids].sum() > 0.0)))
    return rows


def learnt(rows, learner="auto", **options):
    model = Model(learner, **options)
    for block in blocks_from(rows, bits=model.bits, seed=model.seed):
        model.learn(block)
    return model


def touched(learner, slots, bits=14, **options):
    """A model of a few classes that has learnt a few of many slots."""
    random = np.random.default_rng(1)
    ids = np.sort(random.choice(1 << bits, slots, replace=False)).astype(np.uint32)
    rows = 40
    block = Block(
        offsets=np.arange(rows + 1, dtype=np.uint64) * np.uint64(5),
        indices=np.concatenate([np.sort(random.choice(ids, 5, replace=False)) for _ in range(rows)]),
        values=random.standard_normal(5 * rows).astype(np.float32),
        labels=random.integers(0, 3, rows).astype(float),
        weights=np.ones(rows, np.float32),
        space=FeatureSpace(named=True),
    )
    model = Model(learner, bits=bits, **options)
    model.learn(block)
    make_room(model, (1 << bits) - 1)
    return model


@pytest.mark.parametrize(
    ("rows", "bits", "most"),
    [(like_titanic(), 18, 60 * KB), (named_features(1871, 2000), 22, 150 * KB)],
    ids=["titanic", "1,871 features"],
)
def test_a_file_of_few_features_is_small_however_many_slots_there_are(tmp_path, rows, bits, most):
    model = learnt(rows, bits=bits)

    persistence.save(model, tmp_path / "m")

    assert os.path.getsize(tmp_path / "m") < most
    assert arrays(persistence.load_model(tmp_path / "m")) == arrays(model)


@pytest.mark.parametrize("learner", ["adagrad", "auto", "arow", "son-oja", "adagrad-multiclass", "sop"])
def test_states_of_several_classes_share_what_slots_were_touched(tmp_path, learner):
    model = touched(learner, slots=50)

    persistence.save(model, tmp_path / "m")

    assert os.path.getsize(tmp_path / "m") < sum(map(len, arrays(model))) / 4
    described, _ = forging.tensors_of(tmp_path / "m")
    assert len(described["stored"]["lists"]) <= 4
    assert arrays(persistence.load_model(tmp_path / "m")) == arrays(model)


@pytest.mark.parametrize("learner", ["adagrad", "auto", "awm"])
def test_the_same_model_makes_the_same_bytes_loaded_or_not(tmp_path, learner):
    model = learnt(like_titanic(100), learner)
    persistence.save(model, tmp_path / "first", {"reading": {"label": "y"}})

    persistence.save(*persistence.load_notes(tmp_path / "first")[:1], tmp_path / "second", {"reading": {"label": "y"}})

    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_standardised_features_and_what_was_forgotten_come_back(tmp_path):
    model = learnt(like_titanic(100), "adagrad", standardize=True, forget=50.0)

    persistence.save(model, tmp_path / "m")

    assert arrays(persistence.load_model(tmp_path / "m")) == arrays(model)


@pytest.mark.parametrize("learner", ["auto", "adagrad", "awm"])
def test_a_file_of_the_format_before_loads_and_goes_on(tmp_path, learner):
    rows = like_titanic(120)
    half, whole = learnt(rows[:60], learner), learnt(rows, learner)
    persistence.save(half, tmp_path / "new", {"reading": {"label": "y"}})
    forging.write(tmp_path / "old", *forging.parts_of(tmp_path / "new"))

    model, notes = persistence.load_notes(tmp_path / "old")
    for block in blocks_from(rows[60:], bits=model.bits, model=model):
        model.learn(block)

    assert notes == {"reading": {"label": "y"}}
    assert model.names.to_json() == whole.names.to_json()
    assert arrays(model) == arrays(whole)


def test_weights_that_have_changed_sides_are_as_few_as_before(tmp_path):
    model = touched("adagrad", slots=50, bits=18)

    persistence.save(model, tmp_path / "m")

    assert model.states[0].table[100_000].tobytes() != model.states[1].table[100_000].tobytes()  # -0.0 and 0.0
    assert os.path.getsize(tmp_path / "m") < 15 * KB
    assert arrays(persistence.load_model(tmp_path / "m")) == arrays(model)


def test_a_negative_zero_is_not_what_was_there_at_first(tmp_path):
    model = learnt(like_titanic(50), "ogd")
    model.states[0].weight[7] = -0.0

    persistence.save(model, tmp_path / "m")

    assert arrays(persistence.load_model(tmp_path / "m")) == arrays(model)


def test_ids_beyond_what_the_features_say_are_stored_whole(tmp_path):
    block = Block(
        offsets=np.array([0, 1, 2], np.uint64),
        indices=np.array([5, 70_000], np.uint32),
        values=np.ones(2, np.float32),
        labels=np.array([0.0, 1.0]),
        weights=np.ones(2, np.float32),
    )
    model = Model("adagrad", bits=10)
    model.learn(block)

    persistence.save(model, tmp_path / "m")

    assert os.path.getsize(tmp_path / "m") > 500 * KB
    assert arrays(persistence.load_model(tmp_path / "m")) == arrays(model)


def test_whole_arrays_are_mapped_where_they_lie(tmp_path):
    model = learnt(like_titanic(100), "adagrad")
    persistence.save(model, tmp_path / "packed")
    persistence.save(model, tmp_path / "whole", whole=True)

    mapped = persistence.load_notes(tmp_path / "whole", mapped=True)[0]

    assert [persistence.is_whole(tmp_path / name) for name in ("packed", "whole")] == [False, True]
    base = mapped.states[0].table
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    assert arrays(mapped) == arrays(model)
    assert arrays(persistence.load_notes(tmp_path / "packed", mapped=True)[0]) == arrays(model)


def test_a_budgeted_learners_file_keeps_to_its_budget_and_goes_on(tmp_path):
    rows = like_titanic(200)
    persistence.save(learnt(rows[:100], "awm", budget=4096.0), tmp_path / "m", {})

    model = persistence.load_model(tmp_path / "m")
    for block in blocks_from(rows[100:], bits=18, model=model):
        model.learn(block)

    assert arrays(model) == arrays(learnt(rows, "awm", budget=4096.0))
    assert os.path.getsize(tmp_path / "m") < 20 * KB


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dimension": (1 << 31) + 1}, "the ids of its features make fewer slots"),
        ({"dimension": (1 << 31) + 1, "bits": 31}, "more than this machine has"),
    ],
)
def test_a_small_file_takes_little_memory_until_it_is_found_sound(tmp_path, monkeypatch, change, message):
    persistence.save(learnt(like_titanic(100)), tmp_path / "m")
    described, tensors = forging.tensors_of(tmp_path / "m")
    forging.write_tensors(tmp_path / "m", {**described, **change}, tensors)
    monkeypatch.setattr(tensor_reader, "memory", lambda: 1 << 35)

    tracemalloc.start()
    with pytest.raises(OuzelError, match=message):
        persistence.load_model(tmp_path / "m")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert most < 8 << 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda how, tensors: how["lists"].__setitem__(0, how["lists"][0] + 1), "unpacks to|but there are"),
        (lambda how, tensors: how["lists"].__setitem__(0, 1 << 31), "more than there can be"),
        (lambda how, tensors: how["tensors"]["state.0.weight"].update(rows=9), "has no list of rows"),
        (lambda how, tensors: how["tensors"]["state.0.weight"].update(rows=True), "has no list of rows"),
        (lambda how, tensors: how["tensors"]["state.0.seen"].update(rows=0), "stored as rows, which it has not"),
        (lambda how, tensors: how["tensors"].update({"state.0.seen": {"odd": 1}}), "says of 'state.0.seen'"),
        (lambda how, tensors: tensors["slots.0"].__setitem__(2, 0), "does not rise"),
        (lambda how, tensors: tensors["slots.0"].__setitem__(2, 1 << 31), "has rows beyond"),
        (lambda how, tensors: tensors["state.0.weight"].__setitem__(1, np.nan), "weight holds what is not a number"),
        (lambda how, tensors: tensors.pop("slots.0"), "has no list of rows"),
        (lambda how, tensors: how["tensors"]["state.0.weight"].update(common=True), "common.state.0.weight is missing"),
        (lambda how, tensors: how["tensors"]["state.0.weight"].update(common=1), "says of 'state.0.weight'"),
        (lambda how, tensors: tensors.pop("state.0.weight"), "weight is missing"),
        (lambda how, tensors: tensors.update({"slots.9": np.zeros(3)}) or how.update(more=1), "the table of tensors"),
        (lambda how, tensors: tensors.update({"state.0.weight": np.zeros(9, np.float32)}), "the settings ask for"),
        (lambda how, tensors: tensors["names.lengths"].__setitem__(0, 1 << 30), "more than there can be|bytes"),
    ],
)
def test_each_lie_about_rows_has_its_line(tmp_path, change, message):
    with forging.as_rows():
        persistence.save(learnt(like_titanic(100), "ogd"), tmp_path / "m")
    described, tensors = forging.tensors_of(tmp_path / "m")
    described["stored"]["tensors"].setdefault("state.0.seen", {})
    tensors = {name: array.copy() for name, array in tensors.items()}
    change(described["stored"], tensors)
    forging.write_tensors(tmp_path / "m", described, tensors)

    with pytest.raises(OuzelError, match=message):
        persistence.load_model(tmp_path / "m")


@settings(max_examples=60, deadline=None)
@given(
    shape=strategies.sampled_from([(0,), (1,), (300,), (40, 3), (16, 16), (9, 9, 2), (5, 700), (12, 12)]),
    dtype=strategies.sampled_from(["f4", "f8", "u2", "u4", "u8", "i8"]),
    seed=strategies.integers(0, 99),
)
def test_packing_and_unpacking_gives_every_bit_back(shape, dtype, seed):
    array = np.frombuffer(np.random.default_rng(seed).bytes(int(np.prod(shape)) * int(dtype[1])), dtype).reshape(shape)
    if seed % 3 == 0 and is_square(array.shape, array.dtype):
        array = np.maximum(array, array.T)
    square = is_square(array.shape, array.dtype)

    data = np.frombuffer(b"".join(pack(pieces_of(array), array.nbytes, square)), np.uint8)

    assert unpack(data, array.shape, array.dtype, "it", square).tobytes() == array.tobytes()


@settings(max_examples=40, deadline=None)
@given(
    count=strategies.integers(1, 40_000),
    width=strategies.sampled_from([1, 3, 20]),
    seed=strategies.integers(0, 99),
    first=strategies.sampled_from([0.0, -1.0, 0.25]),
)
def test_changed_rows_are_those_whose_bits_differ(count, width, seed, first):
    random = np.random.default_rng(seed)
    array = np.full((count, width), first, np.float32)
    places = random.choice(count, count // 5, replace=False)
    array[places, random.integers(0, width, len(places))] = 7.0

    found = changed_rows(array, np.full(width, first, np.float32))

    np.testing.assert_array_equal(found, np.sort(places))


def test_rows_of_arrays_with_first_values_of_their_own_are_found_and_put_back():
    from typing import Any, NamedTuple

    class State(NamedTuple):
        table: Any

    layout = State(Array((5000, 3), np.float32, fill=(1.0, 0.0, 2.0)))
    state = State(np.full((5000, 3), (1.0, 0.0, 2.0), np.float32))
    state.table[[3, 77], 1] = 5.0
    writer = tensor_writer.TensorWriter()
    writer.add_state(layout, state, "a.")
    how, tensors = writer.finish()
    stored = {tensor.name: np.concatenate(list(tensor.pieces())) for tensor in tensors}

    found = TensorReader(stored, how).state(layout, "a.")

    assert how == {"lists": [2], "tensors": {"a.table": {"rows": 0}}}
    np.testing.assert_array_equal(found.table, state.table)


def test_many_names_are_compressed_and_come_back(tmp_path):
    model = Model("ogd", bits=20)
    model.names.update((k * 3, f"namespace^a feature, as long as they are {k} ß") for k in range(50_000))

    persistence.save(model, tmp_path / "m")

    assert os.path.getsize(tmp_path / "m") < 700 * KB
    assert persistence.load_model(tmp_path / "m").names.to_json() == model.names.to_json()


def test_the_notes_of_a_run_stand_beside_the_description(tmp_path):
    model, notes = learnt(like_titanic(30), "ogd"), {"reading": {"label": "y"}, "long": ["é" * 100] * 50}

    persistence.save(model, tmp_path / "m", notes)

    described, tensors = forging.tensors_of(tmp_path / "m")
    assert not {"notes", "names"} & set(described)
    assert len(tensors["notes"]) < 1000
    assert persistence.load_notes(tmp_path / "m")[1] == notes
    assert (described["version"], described["format"]) == (ouzel.__version__, model_file.FORMAT)
