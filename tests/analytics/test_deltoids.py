"""Relative deltoids: planted and real ratios are found, in less memory than counting needs."""

from functools import reduce

import numpy as np
import pytest

import ouzel
from ouzel.analytics.deltoids.paired_count_min import PairedCountMin
from ouzel.analytics.deltoids.two_streams import TwoStreams
from ouzel.analytics.exact import log_ratios
from ouzel.errors import OuzelError

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
    assert row["awm"] > 0.99
    assert row["awm"] >= 4 * row["count-min"]


def test_the_weight_of_an_item_is_that_of_online_logistic_regression():
    random = np.random.default_rng(1)
    items, stream = random.integers(0, 20, 3000), random.integers(0, 2, 3000)
    weights = np.zeros(20)
    for item, which in zip(items, stream, strict=True):
        target = 1 - 2 * which
        weights[item] += 0.1 * target / (1 + np.exp(target * weights[item]))

    found = ouzel.RelativeDeltoids("32KB", learning_rate=0.1, l2=0.0).partial_fit(items, stream)

    np.testing.assert_allclose([found.weight(item) for item in range(20)], weights, atol=1e-5)


def test_ratios_are_estimated():
    random = np.random.default_rng(2)
    true = np.repeat([1 / 16, 1 / 4, 1.0, 4.0, 16.0], 20)
    items = random.integers(0, 100, 200_000)
    stream = (random.random(len(items)) > true[items] / (1 + true[items])).astype(int)
    found = ouzel.RelativeDeltoids("8KB", learning_rate=0.1).partial_fit(items, stream)

    estimated = np.array([found.ratio(item) for item in range(100)])

    assert np.abs(np.log(estimated / true)).max() < 1.0
    assert np.corrcoef(np.log(estimated), np.log(true))[0, 1] > 0.98


def test_shares_do_not_depend_on_the_length_of_a_stream():
    random = np.random.default_rng(3)
    items = np.array(["rare", "common"] * 20_000)
    stream = (random.random(len(items)) < 0.1).astype(int)  # the second stream is nine times shorter, and no different

    counted = ouzel.RelativeDeltoids("2KB", learning_rate=0.1).partial_fit(items, stream)
    shared = ouzel.RelativeDeltoids("2KB", learning_rate=0.1, shares=True).partial_fit(items, stream)

    assert 5 < counted.ratio("rare") < 15
    assert 0.5 < shared.ratio("rare") < 2


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

    assert len(found.model.names) == 64


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
