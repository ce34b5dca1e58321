"""Coverage by group: each value of a column has intervals of its own, whatever the blocks, saved or merged."""

import copy

import numpy as np
import pyarrow as pa
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.model import group_coverage, persistence
from ouzel.model.merge import merge
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from

ROWS = 8_000


def examples(rows=ROWS, seed=0, classes=False):
    """Examples of which those of one region, a fifth, are ten times as noisy."""
    rng = np.random.default_rng(seed)
    regions, x = rng.choice(["north", "south", "east"], rows, p=[0.5, 0.3, 0.2]), rng.normal(size=rows)
    y = 2.0 * x + rng.normal(size=rows) * np.where(regions == "east", 10.0, 1.0)
    labels = np.digitize(y, [-1.0, 1.0]) if classes else y
    given = zip(x.tolist(), regions.tolist(), labels.tolist(), strict=True)
    return [({"x": value, "region": region}, label) for value, region, label in given]


def learnt(stream, size=ROWS, **options):
    loss = "squared" if isinstance(stream[0][1], float) else "logistic"
    model = Model("adagrad", **{"loss": loss, "interval": (0.8, 0.9), "interval_by": "region", **options})
    covered = [model.learn(block).covered for block in blocks_from(stream, block_rows=size)]
    return model, covered


def states_of(model):
    return [array.tolist() for array in (*model.preparation.group_coverage, *model.preparation.coverage)]


@pytest.mark.parametrize("classes", [False, True])
def test_coverage_holds_in_each_group(classes):
    estimator = ouzel.OnlineClassifier if classes else ouzel.OnlineRegressor
    model = estimator("adagrad", interval=(0.8, 0.9), interval_by="region")
    report = ouzel.progressive_validation(model, blocks_from(examples(40_000, classes=classes)))

    for one in report.intervals:
        assert sorted(group["group"] for group in one["groups"]) == ["region=east", "region=north", "region=south"]
        assert all(abs(group["coverage"] - one["level"]) < 0.01 for group in one["groups"])
        assert sum(group["examples"] for group in one["groups"]) == one["examples"]
    sizes = {group["group"]: group["size"] for group in report.intervals[1]["groups"]}
    assert sizes["region=east"] > (1.2 if classes else 5.0) * sizes["region=north"]


def test_intervals_for_all_together_miss_a_noisy_group():
    shared = Model("adagrad", loss="squared", interval=0.9)
    stream = examples(20_000)
    hits = np.concatenate([shared.learn(block).covered.hits[:, 0] for block in blocks_from(stream)])
    noisy = np.array([features["region"] == "east" for features, _ in stream])

    assert hits.mean() == pytest.approx(0.9, abs=0.005)
    assert hits[noisy].mean() < 0.65


@pytest.mark.parametrize("classes", [False, True])
def test_groups_do_not_depend_on_blocks(classes):
    stream = examples(3_000, classes=classes)
    whole, pieces = learnt(stream)[0], learnt(stream, 7)[0]
    estimator = ouzel.OnlineClassifier if classes else ouzel.OnlineRegressor
    single = estimator("adagrad", interval=(0.8, 0.9), interval_by="region")
    for features, label in stream:
        single.learn_one(features, label)

    assert states_of(whole) == states_of(pieces)
    for array, other in zip(whole.preparation.group_coverage, single.model_.preparation.group_coverage, strict=True):
        np.testing.assert_allclose(array, other, rtol=1e-12)  # margins of single examples are rounded otherwise


def test_each_group_is_judged_as_by_a_model_of_its_own_intervals():
    stream = examples(2_000)
    model, covered = learnt(stream)
    hits, groups = (np.concatenate([getattr(part, name) for part in covered]) for name in ("hits", "groups"))
    names = np.array([model.preparation.group_name(key, model.names) for key in groups.tolist()])

    assert names.tolist() == [f"region={features['region']}" for features, _ in stream]
    alone = Model("adagrad", loss="squared")
    margins = np.concatenate([alone.learn(block).margins for block in blocks_from(stream)])
    here = names == "region=east"
    twin, levels = group_coverage.coverage.init(2), np.array([0.8, 0.9])
    found = np.zeros((here.sum(), 2), np.bool_), np.empty((here.sum(), 2))
    targets = np.array([label for _, label in stream])[here]
    ones = np.ones(len(targets), np.float32)
    group_coverage.coverage.cover_numbers(twin, levels, margins[here], targets, ones, True, *found)
    assert found[0].tolist() == hits[here].tolist()


def test_numbers_are_groups_by_value_and_later_values_share_one():
    stream = [({"x": 1.0, "store": float(k % 100)}, float(k)) for k in range(1_000)]
    model = learnt(stream, interval_by="store")[0]
    keys = model.preparation.group_coverage.keys
    names = [model.preparation.group_name(key, model.names) for key in keys.tolist()]

    assert names == [f"store={k}" for k in range(1, group_coverage.MOST + 1)]
    assert model.preparation.group_coverage.size[:, 1].tolist() == [10.0] * group_coverage.MOST
    assert model.preparation.coverage.size[1] == 10.0 * (100 - group_coverage.MOST)
    assert model.preparation.group_name(group_coverage.OTHERS, model.names) == "(others)"


def test_saved_and_resumed_models_go_on_alike(tmp_path):
    stream = examples(3_000)
    model = learnt(stream[:2_000])[0]
    persistence.save(model, tmp_path / "m.ouzel")
    again = persistence.load_model(tmp_path / "m.ouzel")

    assert again.interval_by == "region"
    for block in blocks_from(stream[2_000:], model=model):
        model.learn(block)
    for block in blocks_from(stream[2_000:], model=again):
        again.learn(block)
    assert states_of(again) == states_of(model) == states_of(learnt(stream)[0])


def test_merged_models_have_the_groups_of_all_and_means_by_examples():
    one, two = learnt(examples(3_000, 1))[0], learnt([*examples(1_000, 2), ({"x": 1.0, "region": "west"}, 0.0)] * 2)[0]
    merged = merge([one, two]).preparation
    names = {merged.group_name(key, one.names) for key in merged.group_coverage.keys.tolist()}

    assert {"region=north", "region=south", "region=east"} < names
    counts = [
        dict(zip(part.keys.tolist(), part.size[:, 1].tolist(), strict=True))
        for part in (one.preparation.group_coverage, two.preparation.group_coverage)
    ]
    for place, key in enumerate(merged.group_coverage.keys.tolist()):
        if key != group_coverage.OTHERS:
            parts = [m.preparation.group_coverage for m in (one, two)]
            weights = [count.get(key, 0.0) for count in counts]
            assert merged.group_coverage.size[place, 1] == sum(weights)
            own = [p.settled[p.keys.tolist().index(key)] if w else 0.0 for p, w in zip(parts, weights, strict=True)]
            mean = sum(w * s for w, s in zip(weights, own, strict=True)) / sum(weights)
            np.testing.assert_allclose(merged.group_coverage.settled[place], mean)
    group_coverage.check(merged.group_coverage)
    assert states_of(merge([one])) == states_of(one)


def test_predicted_intervals_are_those_of_the_group():
    stream = examples(6_000)
    model = ouzel.OnlineRegressor("adagrad", interval=0.9, interval_by="region")
    for features, label in stream:
        model.learn_one(features, label)
    given = [{"x": 0.0, "region": "north"}, {"x": 0.0, "region": "east"}]
    settled = model.predict_interval(given)
    following = [model.predict_interval_one(features) for features in given]

    for ends in (settled, np.array(following)):
        widths = ends[:, 1] - ends[:, 0]
        assert 2.5 < widths[0] < 4.5
        assert 25.0 < widths[1] < 45.0
    assert model.predict_interval([{"x": 0.0, "region": "new"}]).tolist() == [[-np.inf, np.inf]]


def test_a_budgeted_learner_keeps_the_names_of_groups():
    stream = [({f"w{k % 997}": 1.0, "region": "a" if k % 2 else "b"}, int(k % 3 == 0)) for k in range(9_000)]
    model = Model("awm", budget="2KB", interval=0.9, interval_by="region")
    for block in blocks_from(stream):
        model.learn(block)
    found = [
        model.preparation.group_name(key, model.names) for key in model.preparation.group_coverage.keys[:2].tolist()
    ]
    assert sorted(found) == ["region=a", "region=b"]


def test_held_out_examples_are_judged_by_settled_intervals_of_their_group():
    model = learnt(examples(4_000))[0]
    before = copy.deepcopy(model.preparation)
    outcome = model.evaluate(next(iter(blocks_from(examples(2_000, seed=9), model=model))))
    assert outcome.covered.groups is not None
    assert states_of(model) == [array.tolist() for array in (*before.group_coverage, *before.coverage)]


@pytest.mark.parametrize(
    ("options", "data", "said"),
    [
        ({"interval": None}, None, "give interval, or leave out interval_by='region'"),
        ({"interval_by": 3}, None, "interval_by is the name of a column; got 3"),
        (
            {"interval_by": "regoin"},
            "table",
            "there are x, note; got interval_by='regoin'",
        ),
        (
            {"interval_by": "note"},
            "table",
            "groups are of a column of categories or numbers; of text is interval_by='note'",
        ),
    ],
)
def test_refusals_are_one_line(options, data, said):
    table = pa.table({"x": [1.0, 2.0], "note": ["so it goes", "and so on"], "y": [1.0, 2.0]})

    def learn():
        model = Model("adagrad", loss="squared", **{"interval": 0.9, "interval_by": "region", **options})
        return [model.learn(block) for block in (blocks_from(table, label="y", text="note") if data else ())]

    with pytest.raises(OuzelError) as error:
        learn()
    assert said in str(error.value)
