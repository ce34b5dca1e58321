"""Relative deltoids: planted and real ratios are found, in less memory than counting needs."""

from functools import reduce

import numpy as np
import pytest

import ouzel
from ouzel.analytics import active_counts
from ouzel.analytics.deltoids.paired_count_min import PairedCountMin
from ouzel.analytics.deltoids.two_streams import TwoStreams
from ouzel.analytics.exact import log_ratios, ratio_intervals
from ouzel.errors import OuzelError
from ouzel.layout import allocate
from ouzel.learners.budget import awm

FEATURES = ("src", "dst", "sport", "dport", "src sport", "dst dport", "src dst", "src dport", "src sport dst dport")


def planted(seed=0, items=50_000, special=1000, count=500_000):
    """Occurrences by Zipf's law in two streams alike, but for some items whose ratio is between 4 and 256."""
    random = np.random.default_rng(seed)
    slots = random.zipf(1.1, 4 * count)
    slots = slots[slots < items][:count].astype(np.uint32)
    exponents = np.zeros(items)
    exponents[random.choice(items, special, False)] = random.uniform(2, 8, special) * random.choice([-1, 1], special)
    which = random.random(len(slots)) > 1 / (1 + 2.0 ** -exponents[slots])
    return slots, which.astype(np.uint8)


def recalls(slots, which, threshold):
    reader = TwoStreams.start(ouzel.RelativeDeltoids("32KB"), compare=True)
    reader.learn(slots, which)
    return next(row for row in reader.recalls() if row["ratio"] == threshold)


def test_planted_ratios_are_found_four_times_as_often_as_by_paired_count_min():
    row = recalls(*planted(), threshold=8)

    assert row["items"] > 50
    assert row["awm"] > 0.6
    assert row["awm"] >= 4 * row["count-min"]


def test_planted_ratios_are_found_as_often_as_by_paired_count_min_in_eight_times_the_memory():
    row = recalls(*planted(), threshold=16)

    assert row["items"] > 30
    assert row["awm"] >= row["count-min x8"]


def test_features_of_network_flows_are_found_four_times_as_often_as_by_paired_count_min(data):
    pd = pytest.importorskip("pandas")
    flows = pd.read_csv(data("netflow_ctu.csv.xz"), dtype=str).fillna("")
    named = [reduce(lambda text, column: text + "|" + flows[column], name.split(), name) for name in FEATURES]
    codes = pd.factorize(np.stack(named, axis=1).ravel())[0].reshape(len(flows), -1).astype(np.uint32)
    malware = (flows["capture"] == "CTU-Malware-207-1").to_numpy()
    slots = [codes[malware].ravel(), codes[~malware].ravel()]
    order = np.argsort(np.concatenate([np.arange(len(part)) / len(part) for part in slots]), kind="stable")
    which = (order >= len(slots[0])).astype(np.uint8)

    row = recalls(np.concatenate(slots)[order] + np.uint32(1), which, threshold=8)

    assert row["items"] > 1000
    assert row["awm"] > 0.97
    assert row["awm"] >= 4 * row["count-min"]


def skewed(ratios, often=200_000, seed=1):
    """Occurrences of as many items as ratios, item 0 most often, each in the first stream `ratios` times as often."""
    random = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, len(ratios) + 1)
    items = random.choice(len(ratios), often, p=shares / shares.sum())
    return items, (random.random(often) > ratios[items] / (1 + ratios[items])).astype(int)


def true_ratios(items, stream, size):
    counts = np.stack([np.bincount(items[stream == which], minlength=size) for which in (0, 1)], axis=1)
    return np.exp(log_ratios(counts)), counts.sum(axis=1)


def test_the_weight_of_an_item_that_is_held_is_that_of_logistic_regression_with_pseudo_counts():
    items, stream = skewed(np.ones(20), 3000)
    first = np.bincount(items[stream == 0], minlength=20)
    second = np.bincount(items[stream == 1], minlength=20)

    found = ouzel.RelativeDeltoids("32KB", learning_rate=0.1).partial_fit(items, stream)

    weights = [found.weight(item) for item in range(20)]
    np.testing.assert_allclose(weights, np.log((first + 10) / (second + 10)), atol=1e-6)


def test_with_every_item_in_memory_ratios_are_those_of_counts():
    items, stream = skewed(2.0 ** np.random.default_rng(2).uniform(-6, 6, 1000))
    found = ouzel.RelativeDeltoids("32KB").partial_fit(items, stream)
    true, often = true_ratios(items, stream, 1000)

    error = np.array([found.ratio(item) for item in range(1000)]) / true - 1.0

    assert (often >= 10_000).sum() > 1
    assert (often >= 100).sum() > 100
    assert np.abs(error[often >= 100]).max() < 1e-6
    assert [item for item, *_ in found.top(50)] == [str(item) for item in np.lexsort((-often, -abs(np.log(true))))[:50]]


def test_ratios_near_one_are_told_on_their_side_of_it():
    items, stream = skewed(np.array([1.2, 1 / 1.2] * 10))
    found = ouzel.RelativeDeltoids("2KB").partial_fit(items, stream)

    assert [found.ratio(item) > 1 for item in range(20)] == [True, False] * 10


def test_ratios_are_those_of_counts_where_an_eighth_of_the_items_is_held():
    ratios = np.where(np.arange(5000) % 50 == 7, 2.0 ** np.random.default_rng(4).uniform(4, 8, 5000), 1.0)
    items, stream = skewed(np.where(np.arange(5000) % 100 == 7, ratios, 1 / ratios), 400_000)
    found = ouzel.RelativeDeltoids("10KB").partial_fit(items, stream)
    true, _ = true_ratios(items, stream, 5000)

    held = np.array([int(item) for item, *_ in found.top(1000)])
    error = np.log([found.ratio(item) for item in held]) - np.log(true[held])

    assert len(held) < 650
    assert abs(np.median(error[:50])) < 0.02
    assert np.quantile(np.abs(error[:50]), 0.75) < 0.3
    exact = set(np.argsort(-np.abs(np.log(true)))[:50])
    assert np.mean([item in exact for item in held[:50]]) >= 0.7


@pytest.mark.parametrize("column", ["src", "dst", "proto", "dport"])
def test_ratios_of_network_flows_are_those_of_counts(column, data):
    pd = pytest.importorskip("pandas")
    flows = pd.read_csv(data("netflow_ctu.csv.xz"), dtype=str).fillna("")
    malware = (flows["capture"] == "CTU-Malware-207-1").to_numpy()
    order = np.argsort(np.concatenate([np.arange(part.sum()) / part.sum() for part in (malware, ~malware)]))
    cells = np.concatenate([flows[column][malware], flows[column][~malware]])[order]
    which = (order >= malware.sum()).astype(int)
    names, items = np.unique(cells, return_inverse=True)
    true, _ = true_ratios(items, which, len(names))

    found = ouzel.RelativeDeltoids("32KB").partial_fit(cells, which)

    top = found.top(50)
    least = np.sort(np.abs(np.log(true)))[-len(top)]
    ratios = dict(zip(names.tolist(), true.tolist(), strict=True))
    assert sum(abs(np.log(ratios[item])) >= least - 1e-9 for item, *_ in top) >= 0.9 * len(top)
    errors = [ratio / ratios[item] - 1.0 for item, ratio, _ in top if max(ratio, 1 / ratio) > 3]
    assert abs(np.median(errors)) < 1e-6
    assert np.mean(np.abs(errors) < 1e-6) > 0.9


@pytest.mark.parametrize("ratio", [1, 7, 1000, 10**6])
def test_counts_are_exact_up_to_sixteen_million_and_keep_their_ratio_beyond(ratio):
    state, settings = awm.init(0, awm.Settings(heap_size=1.0, width=1.0)), awm.Settings(learning_rate=0.5)
    held = allocate(active_counts.layout(1))
    often = active_counts.MOST - 10
    first = often - often // (1 + ratio)
    active_counts.learn_counted(state, np.uint32(7), True, held, settings)
    active_counts.set_counts(state, held, 0, float(first), float(often - first), 2.0)

    for k in range(10):
        active_counts.learn_counted(state, np.uint32(7), k < 5, held, settings)

    slots = np.array([7], np.uint32)
    assert active_counts.counts_of(state, slots, held, settings).tolist() == [[first + 5, often - first + 5]]
    active_counts.learn_counted(state, np.uint32(7), True, held, settings)
    assert held.often[0] < 0.6 * active_counts.MOST
    halves = active_counts.counts_of(state, slots, held, settings)[0]
    np.testing.assert_allclose(halves, [(first + 6) / 2, (often - first + 5) / 2], atol=1)


def test_shares_do_not_depend_on_the_length_of_a_stream():
    random = np.random.default_rng(3)
    items = np.array(["rare", "common"] * 20_000)
    stream = (random.random(len(items)) < 0.1).astype(int)  # the second stream is nine times shorter, and no different

    numbers = ouzel.RelativeDeltoids("2KB").partial_fit(items, stream)
    shared = ouzel.RelativeDeltoids("2KB", shares=True).partial_fit(items, stream)

    assert 5 < numbers.ratio("rare") < 15
    assert shared.ratio("rare") == pytest.approx(1.0, abs=0.1)


def test_true_ratios_are_of_shares_where_shares_are_compared():
    reader = TwoStreams.start(ouzel.RelativeDeltoids("2KB", shares=True), exact=True)
    reader.learn(np.tile(np.array([1, 2, 1, 3], np.uint32), 500), np.tile(np.array([0, 1, 1, 1], np.uint8), 500))

    rows = reader.rows(3)

    assert rows[-1]["true_ratio"] == pytest.approx(500 / 500 * 3)
    assert [row["ratio"] for row in rows] == pytest.approx([row["true_ratio"] for row in rows])


@pytest.mark.parametrize("shares", [False, True])
def test_a_saved_model_goes_on_as_if_it_had_not_been_saved(tmp_path, shares):
    slots, which = planted(count=20_000)
    names = [f"item {slot}" for slot in slots]
    whole = ouzel.RelativeDeltoids("2KB", shares=shares).partial_fit(names, which)
    part = ouzel.RelativeDeltoids("2KB", shares=shares).partial_fit(names[:7777], which[:7777])

    part.save(tmp_path / "part")
    part = ouzel.RelativeDeltoids.load(tmp_path / "part").partial_fit(names[7777:], which[7777:])

    assert part.top(50) == whole.top(50)
    assert all(item.startswith("item ") for item, *_ in part.top(50))
    assert part.bytes_used == 2048


def test_another_model_is_not_taken_for_this_one(tmp_path):
    ouzel.AWMSketchClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).save(tmp_path / "other")

    with pytest.raises(OuzelError, match="not relative deltoids"):
        ouzel.RelativeDeltoids.load(tmp_path / "other")


def test_only_names_of_the_active_set_are_kept():
    found = ouzel.RelativeDeltoids("1KB").partial_fit([f"item {k}" for k in range(5000)], np.arange(5000) % 2)

    found.forget_names()

    assert len(found.model.names) == len(found.state.keys) == 64


def test_what_is_no_stream_is_refused():
    with pytest.raises(OuzelError, match="0 for items of the first stream"):
        ouzel.RelativeDeltoids().partial_fit(["a"], [2])
    with pytest.raises(OuzelError, match="lies between 0"):
        ouzel.RelativeDeltoids().partial_fit([-1], 0)


def test_paired_count_min_is_exact_where_nothing_collides():
    slots, which = planted(items=60, special=20, count=5000)
    reader = TwoStreams.start(ouzel.RelativeDeltoids("2KB"), exact=True)
    pair = PairedCountMin("256KB")
    reader.learn(slots, which)
    pair.learn_slots(slots, which)

    found, weights = pair.top(1000)

    np.testing.assert_allclose(weights, log_ratios(reader.exact.of(found)), atol=1e-6)
    assert (np.diff(np.abs(weights)) <= 0).all()


@pytest.mark.parametrize("often", [20, 200, 5000])
def test_intervals_of_ratios_hold_as_often_as_they_say(often):
    random, ratios = np.random.default_rng(0), np.exp(np.random.default_rng(1).uniform(-3.0, 3.0, 4000))
    first = random.binomial(often, ratios / (1.0 + ratios))
    low, high = ratio_intervals(np.column_stack([first, often - first]))

    assert np.mean((low <= ratios) & (ratios <= high)) == pytest.approx(0.95, abs=0.015)


def test_an_item_of_one_stream_alone_has_an_interval_with_one_end():
    found = ouzel.RelativeDeltoids("2KB").partial_fit(["a", "b"] * 70 + ["c", "c"] * 50, [0, 1] * 120)
    intervals = dict(zip([item for item, _, _ in found.top(3)], found.intervals(3), strict=True))

    assert intervals["a"] == (pytest.approx(18.2, abs=0.05), np.inf)
    assert intervals["b"] == (0.0, pytest.approx(1 / 18.2, abs=0.001))
    assert intervals["c"][0] < 1.0 < intervals["c"][1]


def test_intervals_are_of_shares_where_shares_are_compared():
    items, stream, ends = ["a", "a", "b"] * 300, [0, 1, 1] * 300, []
    for shares in (False, True):
        found = ouzel.RelativeDeltoids("2KB", shares=shares).partial_fit(items, stream)
        ends.append(dict(zip([item for item, _, _ in found.top(2)], found.intervals(2), strict=True))["a"])

    assert ends[0][0] < 1.0 < ends[0][1]
    assert ends[1] == pytest.approx([2.0 * end for end in ends[0]])
