"""The streaming contract, crossed with every learner of the catalogue."""

import itertools

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.streams.block import Block

every_learner = pytest.mark.parametrize("name", catalogue.LEARNERS)
every_budgeted_learner = pytest.mark.parametrize(
    "name", [name for name in catalogue.LEARNERS if catalogue.find(name).budgeted]
)


def stream(rows=120, features=20, classes=3, scale=1.0, seed=0) -> Block:
    """Sparse examples, some of them empty, of classes that appear one after the other."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 6, rows)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    chosen = [np.sort(rng.choice(features, size, replace=False)) for size in lengths]
    values = (rng.normal(size=lengths.sum()) * scale).astype(np.float32)
    labels = np.minimum(rng.integers(0, classes, rows), np.arange(rows) // 10).astype(np.float64)
    weights = rng.integers(0, 3, rows).astype(np.float32)
    return Block(offsets, np.concatenate(chosen).astype(np.uint32), values, labels, weights)


def learnt(model: Model, block: Block, cuts) -> Model:
    """The model after the pieces of a block between the cuts."""
    for start, stop in itertools.pairwise(cuts):
        model.learn(block.slice(start, stop))
    return model


def arrays_of(state) -> list[np.ndarray]:
    """The arrays of a state and of states in it."""
    return [array for part in state for array in (arrays_of(part) if isinstance(part, tuple) else [part])]


def numbers(model: Model) -> list[np.ndarray]:
    """Every array of a model's states but for scratch, which is called `work`."""
    states = [state._replace(work=np.zeros(0)) if hasattr(state, "work") else state for state in model.states]
    return [array for state in states for array in arrays_of(state)]


@every_learner
def test_cuts_into_blocks_and_files_do_not_change_a_bit(name, tmp_path):
    block = stream()
    whole = learnt(Model(name), block, [0, 120])

    pieces = learnt(Model(name), block, [0, 1, 9, 50])
    persistence.save(pieces, tmp_path / "half.ouzel")
    pieces = learnt(persistence.load_model(tmp_path / "half.ouzel"), block, [50, 51, 120])

    assert pieces.classes.known == whole.classes.known == [0, 1, 2]
    for one, other in zip(numbers(whole), numbers(pieces), strict=True):
        np.testing.assert_array_equal(one, other)


@every_learner
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e6, 1e15, 1e30])
def test_no_nan_enters_a_model(name, scale):
    block = stream(scale=scale, classes=2)
    model = learnt(Model(name), block, [0, 120])

    assert not any(np.isnan(array).any() for array in numbers(model) if array.dtype.kind == "f")
    if not model.budgeted:
        assert np.isfinite(model.weights()).all()
    if scale < 1e30:  # beyond, a product of two 32-bit numbers may be infinite
        assert not np.isnan(model.margins(block)).any()


@every_learner
def test_predicting_changes_nothing(name):
    block = stream()
    model = learnt(Model(name), block, [0, 120])
    before = [array.copy() for array in numbers(model)]

    first = model.margins(block)

    np.testing.assert_array_equal(first, model.margins(block))
    for one, other in zip(before, numbers(model), strict=True):
        np.testing.assert_array_equal(one, other)


@every_learner
def test_single_examples_teach_what_blocks_teach(name):
    block = stream(classes=2)
    whole, one_by_one = learnt(Model(name), block, [0, 120]), Model(name)
    one_by_one.make_room(19)

    for i in range(block.rows):
        here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
        slots = np.concatenate([[0], block.indices[here] + 1]).astype(np.uint32)
        values = np.concatenate([[1.0], block.values[here]]).astype(np.float32)
        one_by_one.learn_one(slots, values, int(block.labels[i]), block.weights[i])

    for one, other in zip(numbers(whole), numbers(one_by_one), strict=True):
        np.testing.assert_array_equal(one, other)


@every_budgeted_learner
def test_a_budget_holds_for_each_class(name):
    learner = catalogue.find(name)

    model = learnt(Model(name, budget=2048.0), stream(features=5000, rows=600, classes=2), [0, 600])

    assert model.bytes_used <= 2048 * (2 if learner.multiclass else 1)
