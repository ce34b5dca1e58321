"""Learners that keep a number for every pair of features learn features of any id, wherever they come from."""

import copy

import numpy as np
import pytest

import ouzel
from ouzel.errors import OuzelError, RoomError
from ouzel.learners.catalogue import LEARNERS
from ouzel.learners.newton import online_newton
from ouzel.model import persistence
from ouzel.model.contributions import explained
from ouzel.model.importance import most_important
from ouzel.model.model import Model
from ouzel.model.room import check_block, order_slots
from ouzel.model.slot_map import SlotMap
from ouzel.streams.block import Block
from ouzel.streams.memory import blocks_from

COLUMNS = ["age", "height", "income", "rooms", "score", "weight"]
FULL = [name for name in LEARNERS if Model(name).keeps_pairs]


def table(rows=60, seed=0):
    """Six numeric columns with a label that follows from them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6)).astype(np.float32).round(3)
    return X, (X @ np.arange(-2.0, 4.0) > 0.0).astype(int)


def examples(X, y, columns=COLUMNS):
    """The rows as dictionaries with their labels."""
    return [(dict(zip(columns, row.tolist(), strict=True)), int(label)) for row, label in zip(X, y, strict=True)]


def trained(name, data, **options):
    model = Model(name, **options)
    for block in blocks_from(data):
        model.learn(block)
    return model


def margins(model, data):
    return np.concatenate([model.margins(block) for block in blocks_from([(x, None) for x, _ in data], model=model)])


def wide(ids, weights=None):
    """A block with one feature an example."""
    count = len(ids)
    return Block(
        np.arange(count + 1, dtype=np.uint64),
        np.array(ids, np.uint32),
        np.ones(count, np.float32),
        np.arange(count) % 2 * 1.0,
        np.ones(count, np.float32) if weights is None else np.array(weights, np.float32),
    )


def test_every_learner_with_a_full_matrix_has_slots_by_first_appearance():
    assert {"ons", "ons-invariant", "adagrad-full", "adagrad-full-rda", "arow-full", "sop-full"} <= set(FULL)
    assert all(Model(name).slot_map is not None for name in FULL)
    assert all(Model(name).slot_map is None for name in ("arow", "adagrad", "adagrad-block", "auto", "awm"))


@pytest.mark.interpreted
@pytest.mark.parametrize("name", ["ons", "adagrad-full", "arow-full", "sop-full"])
def test_names_teach_what_columns_of_an_array_teach(name):
    X, y = table()
    columns = trained(name, X[:0], classes=[0, 1])
    for block in blocks_from(X, y):
        columns.learn(block)

    named = trained(name, examples(X, y), classes=[0, 1])

    assert named.slots == columns.slots == 7
    assert named.capacity == columns.capacity
    np.testing.assert_allclose(margins(named, examples(X, y)), columns.margins(next(blocks_from(X))), rtol=1e-4)


@pytest.mark.interpreted
def test_the_order_in_which_columns_come_does_not_matter():
    X, y = table()
    data = examples(X, y)
    turned = [(dict(reversed(x.items())), label) for x, label in data]

    one, other = trained("ons", data), trained("ons", turned)

    np.testing.assert_array_equal(margins(one, data), margins(one, turned))
    np.testing.assert_array_equal(margins(one, data), margins(other, data))


@pytest.mark.interpreted
def test_blocks_of_any_size_and_single_examples_give_the_same_slots_and_bits():
    X, y = table(40)
    data = [({**x, f"late {k // 10}": 1.0}, label) for k, (x, label) in enumerate(examples(X, y))]
    whole = trained("arow-full", data)
    pieces, single = Model("arow-full"), ouzel.OnlineClassifier("arow-full")
    for k in range(0, 40, 7):
        for block in blocks_from(data[k : k + 7]):
            pieces.learn(block)
    for x, label in data:
        single.learn_one(x, label)

    for model in (pieces, single.model_):
        assert model.slot_map.ids.tolist() == whole.slot_map.ids.tolist()
        for one, other in zip(model.states[0], whole.states[0], strict=True):
            np.testing.assert_array_equal(one, other)
    assert [single.predict_one(x) for x, _ in data] == [int(m > 0) for m in margins(whole, data)]


@pytest.mark.interpreted
def test_a_model_that_is_saved_half_way_goes_on_in_the_same_bits(tmp_path):
    X, y = table(40)
    data = examples(X, y)
    whole = trained("ons", data)

    half = trained("ons", data[:20])
    persistence.save(half, tmp_path / "half")
    loaded = persistence.load_model(tmp_path / "half")
    for block in blocks_from(data[20:]):
        loaded.learn(block)
    persistence.save(loaded, tmp_path / "loaded")
    persistence.save(whole, tmp_path / "whole")

    assert (tmp_path / "loaded").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.interpreted
def test_a_file_of_before_has_an_id_plus_one_as_the_slot_of_each_feature(tmp_path, monkeypatch):
    X, y = table()
    model = Model("ons")
    model.slot_map = SlotMap(range(6))
    for block in blocks_from(X, y):
        model.learn(block)
    described = persistence.describe
    monkeypatch.setattr(
        persistence, "describe", lambda *given: {k: v for k, v in described(*given).items() if k != "slots"}
    )
    persistence.save(model, tmp_path / "old")

    loaded = persistence.load_model(tmp_path / "old")

    assert loaded.slot_map.ids.tolist() == [*range(6)]
    np.testing.assert_array_equal(loaded.margins(next(blocks_from(X))), model.margins(next(blocks_from(X))))


@pytest.mark.interpreted
@pytest.mark.parametrize("slots", [[1, 1], [0, 1, 300_000], [0, 1, -1], "01", [*range(70_000)]])
def test_a_file_whose_slots_are_not_those_of_its_features_is_refused(slots, tmp_path, monkeypatch):
    described = persistence.describe
    monkeypatch.setattr(persistence, "describe", lambda *given: {**described(*given), "slots": slots})
    persistence.save(trained("ons", examples(*table())), tmp_path / "forged")

    with pytest.raises(OuzelError, match="slots"):
        persistence.load_model(tmp_path / "forged")


@pytest.mark.interpreted
@pytest.mark.parametrize("name", ["ons", "adagrad-full", "arow-full", "sop-full"])
@pytest.mark.parametrize("standardize", [False, True])
def test_workers_that_met_features_in_other_orders_merge_by_id(name, standardize):
    X, y = table(80)
    data = examples(X, y)
    options = {"classes": [0, 1], "standardize": standardize}
    turned = [({"late": 1.0, **dict(list(x.items())[::-1])}, label) for x, label in data[40:]]
    one, two = trained(name, data[:40], **options), trained(name, turned, **options)
    assert one.slot_map.ids.tolist() != two.slot_map.ids.tolist()
    before = margins(two, data)

    merged, other_way = ouzel.merge([one, two]), ouzel.merge([two, one])

    np.testing.assert_allclose(margins(merged, data), margins(other_way, data), rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(margins(two, data), before)
    assert ((margins(merged, data) > 0.0) == (y == 1)).mean() > 0.8


@pytest.mark.interpreted
@pytest.mark.parametrize("name", ["ons", "ons-invariant", "adagrad-full", "adagrad-full-rda", "cw-full", "sop-full"])
def test_another_order_of_slots_changes_no_prediction(name):
    data = examples(*table(30))
    model = trained(name, data, classes=[0, 1], standardize=True)
    moved = copy.deepcopy(model)

    order_slots(moved, (999, *model.slot_map.ids.tolist()[::-1]))

    np.testing.assert_allclose(margins(moved, data), margins(model, data), rtol=1e-5, atol=1e-7)
    for block in blocks_from(data, model=model):
        np.testing.assert_allclose(moved.learn(block).margins, model.learn(block).margins, rtol=1e-5, atol=1e-6)


@pytest.mark.interpreted
def test_weights_important_features_and_reasons_go_by_id_and_name():
    data = examples(*table())
    model = trained("ons", data)
    important = most_important(model, 3)[0][1]
    why = next(explained(model, next(blocks_from(data[:1], model=model))))

    assert important[0].name in COLUMNS
    weights = model.weights()[0]
    assert len(weights) == model.dimension
    for feature, weight in model.top(7)[0]:
        assert weights[feature + 1] == weight
    assert np.count_nonzero(weights) == 7
    named = {part["name"]: part["weight"] for part in why[0]["features"]}
    assert [named[feature.name] for feature in important] == [feature.weight for feature in important]
    assert abs(why[0]["remainder"]) < 1e-5


@pytest.mark.interpreted
def test_one_feature_too_many_is_refused_and_nothing_is_changed(monkeypatch):
    monkeypatch.setattr(online_newton, "MOST_SLOTS", 65)
    model = Model("ons", classes=[0, 1])
    model.learn(wide(range(1_000_000, 1_000_064)))
    more = wide([4_000_000_000])

    for refuse in (model.learn, lambda block: check_block(model, block)):
        with pytest.raises(RoomError, match=r"takes up to 64 of them; there are more"):
            refuse(more)
    assert model.slots == 65
    assert model.dimension == 1_000_065
    model.learn(wide([1_000_063]))
    np.testing.assert_array_equal(model.margins(more), [0.0 + model.weights()[0, 0]])


@pytest.mark.interpreted
def test_an_example_of_importance_0_takes_no_slot():
    model = Model("ons")

    model.learn(wide([5, 7, 9], [1.0, 0.0, 1.0]))

    assert model.slot_map.ids.tolist() == [5, 9]


def test_too_many_bits_and_too_large_an_id_are_advised_apart(monkeypatch):
    monkeypatch.setattr("ouzel.model.room.memory", lambda: 1 << 20)
    names = [({f"word{k}": 1.0}, k % 2) for k in range(100)]

    with pytest.raises(RoomError, match="hash to fewer --bits"):
        ouzel.progressive_validation(ouzel.Model("ogd", bits=22), ouzel.blocks_from(names, bits=22))
    with pytest.raises(RoomError, match="renumber the ids"):
        ouzel.progressive_validation(ouzel.Model("ogd"), ouzel.blocks_from([({3_000_000: 1.0}, 1)]))
