"""The sketches keep their textbook guarantees, and merge exactly."""

import numpy as np
import pytest

from ouzel.errors import OuzelError
from ouzel.sketches import count_min, count_sketch, reservoir, space_saving, top_k


def zipf(count, seed):
    return np.minimum(np.random.default_rng(seed).zipf(1.3, count), 5000).astype(np.uint32)


def all_of(module, state, keys):
    for key in keys:
        module.update(state, key, 1)
    return state


def test_count_sketch_errs_by_the_norm_of_the_tail():
    keys = zipf(4000, 0)
    state = all_of(count_sketch, count_sketch.init(256, 7, seed=1), keys)
    true = np.bincount(keys, minlength=5001)
    errors = np.array([count_sketch.query(state, np.uint32(key)) for key in range(1000)]) - true[:1000]
    tail = np.sort(true)[:-32].astype(float)

    assert np.mean(np.abs(errors) <= 3 * np.sqrt(tail @ tail / 256)) > 0.98


def test_count_min_is_never_too_low_and_seldom_much_too_high():
    keys = zipf(4000, 1)
    state = all_of(count_min, count_min.init(256, 4, seed=1), keys)
    true = np.bincount(keys, minlength=5001)
    excess = np.array([count_min.query(state, np.uint32(key)) for key in range(1000)]) - true[:1000]

    assert (excess >= 0).all()
    assert np.mean(excess > np.e * len(keys) / 256) < np.exp(-4) + 0.02


def test_space_saving_holds_every_frequent_key_with_a_bounded_count():
    keys = zipf(4000, 2)
    state = all_of(space_saving, space_saving.init(50), keys)
    true = np.bincount(keys, minlength=5001)
    held = dict(zip(*map(np.ndarray.tolist, space_saving.heaviest(state, 50)), strict=True))

    assert set(np.flatnonzero(true > len(keys) / 50).tolist()) <= set(held)
    assert all(true[key] <= count <= true[key] + len(keys) / 50 for key, count in held.items())


@pytest.mark.parametrize("module", [count_sketch, count_min])
def test_merged_sketches_are_the_sketch_of_both_streams(module):
    first, second = zipf(500, 3), zipf(700, 4)
    merged = module.merge([all_of(module, module.init(64, 3), first), all_of(module, module.init(64, 3), second)])
    whole = all_of(module, module.init(64, 3), np.concatenate([first, second]))

    np.testing.assert_array_equal(merged.counters, whole.counters)


@pytest.mark.parametrize("module", [count_sketch, count_min])
@pytest.mark.parametrize("other", [{"seed": 1}, {"width": 128}, {"depth": 4}])
def test_sketches_that_do_not_fit_are_not_merged(module, other):
    with pytest.raises(OuzelError, match="one seed, width and depth"):
        module.merge([module.init(**{"width": 64, "depth": 3, "seed": 0, **given}) for given in ({}, other)])


@pytest.mark.parametrize("depth", range(1, 10))
def test_the_median_is_that_of_a_sort(depth):
    for numbers in np.random.default_rng(depth).integers(-3, 4, (40, depth)).astype(np.float32):
        assert count_sketch.median(numbers) == np.median(numbers)


def test_merged_counters_keep_the_bound_of_the_joint_stream():
    first, second = zipf(2000, 5), zipf(2000, 6)
    parts = [all_of(space_saving, space_saving.init(60), keys) for keys in (first, second)]
    true = np.bincount(np.concatenate([first, second]), minlength=5001)
    held = dict(zip(*map(np.ndarray.tolist, space_saving.heaviest(space_saving.merge(parts), 60)), strict=True))

    assert all(abs(count - true[key]) <= 4000 / 60 + 1 for key, count in held.items())


@pytest.mark.parametrize("count", [2**24, 2**31, 2**32 - 3])
def test_counts_go_on_to_the_largest_of_32_bits_and_stay_there(count):
    sketch, summary = count_min.init(64, 2), space_saving.init(2)
    for module, state in ((count_min, sketch), (space_saving, summary)):
        module.update(state, np.uint32(7), count)
        module.update(state, np.uint32(7), 1)
        module.update(state, np.uint32(7), 1)

    assert int(count_min.query(sketch, np.uint32(7))) == count + 2
    assert space_saving.heaviest(summary, 1)[1].tolist() == [count + 2]
    assert int(count_min.query(count_min.merge([sketch, sketch]), np.uint32(7))) == min(2 * count + 4, 2**32 - 1)
    assert space_saving.merge([summary, summary]).weights[0] == min(2 * count + 4, 2**32 - 1)


def test_a_full_counter_is_not_passed_by_others_and_does_not_begin_again():
    summary = space_saving.init(2)
    space_saving.update(summary, np.uint32(7), 2**32 - 1)
    for key in (7, 8, 9, 9):
        space_saving.update(summary, np.uint32(key), 1)

    assert [keys.tolist() for keys in space_saving.heaviest(summary, 2)] == [[7, 9], [2**32 - 1, 3]]


def test_the_least_of_many_counts_is_found_whatever_run_it_is_in():
    counts = dict(enumerate(np.random.default_rng(5).permutation(200).tolist()))
    summary = space_saving.init(200)
    for key, count in counts.items():
        space_saving.update(summary, np.uint32(key), count + 2**31)

    for new in range(1000, 1100):
        space_saving.update(summary, np.uint32(new), 3)
        gone = set(counts) - set(summary.keys.tolist())
        assert [counts[key] for key in gone] == [min(counts.values())]
        counts[new] = counts.pop(*gone) + 3


def test_a_reservoir_is_a_uniform_sample():
    hits = np.zeros(40)
    for seed in range(400):
        sample = reservoir.init(10, seed)
        for item in range(40):
            reservoir.update(sample, np.uint32(item))
        hits[sample.items] += 1

    assert abs(hits / 400 - 0.25).max() < 0.1


def test_merged_reservoirs_are_a_uniform_sample_of_both_streams():
    hits = np.zeros(60)
    for seed in range(600):
        parts = [reservoir.init(8, 2 * seed), reservoir.init(8, 2 * seed + 1)]
        for item in range(60):
            reservoir.update(parts[item >= 45], np.uint32(item))
        merged = reservoir.merge(parts)
        assert len(set(merged.items.tolist())) == 8
        hits[merged.items] += 1

    assert merged.counts[0] == 60
    assert abs(hits[:45].mean() / 600 - 8 / 60) < 0.01  # the longer stream has its share,
    assert abs(hits / 600 - 8 / 60).max() < 0.05  # and no item more than another


def test_merged_reservoirs_that_are_not_full_hold_all():
    parts = [reservoir.init(8, seed) for seed in range(2)]
    for item in range(5):
        reservoir.update(parts[item % 2], np.uint32(item))

    merged = reservoir.merge(parts)

    assert sorted(merged.items[:5].tolist()) == [0, 1, 2, 3, 4]
    assert merged.counts[0] == 5


def test_top_k_finds_keys_and_the_smallest_through_all_changes():
    rng = np.random.default_rng(7)
    state, swap_classes = top_k.init(100), {}
    for _ in range(3000):
        key = np.uint32(rng.integers(400))
        weight = np.float32(rng.normal())
        entry = top_k.find(state, key)
        assert (entry >= 0) == (int(key) in swap_classes)
        if entry >= 0:
            top_k.set_weight(state, entry, weight)
        elif len(swap_classes) < 100:
            top_k.insert(state, key, weight)
        else:
            least = top_k.smallest(state)
            assert abs(state.weights[least]) == min(abs(w) for w in swap_classes.values())
            del swap_classes[int(state.keys[least])]
            top_k.replace(state, least, key, weight)
        swap_classes[int(key)] = weight


@pytest.mark.parametrize("capacity", [2**16 - 1, 2**16])
def test_a_large_heap_finds_its_last_key(capacity):
    state = top_k.init(capacity)
    state.taken[0] = capacity - 1  # as if the others were there
    top_k.insert(state, np.uint32(9), np.float32(1.0))

    assert top_k.find(state, np.uint32(9)) == capacity - 1
    assert [int(part) for part in top_k.locate(state, np.uint32(9))] == [1, capacity - 1]
    assert not top_k.locate(state, np.uint32(8))[0]
