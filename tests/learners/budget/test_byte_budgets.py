"""Learners within a byte budget: true to it, and to online logistic regression where memory is no constraint."""

import numpy as np
import pytest

from ouzel.layout import flat
from ouzel.learners import catalogue
from ouzel.learners.budget import awm
from ouzel.learners.rows import Rows
from ouzel.model.settings import resolve_settings
from ouzel.sketches import active_set

NAMES = [name for name, learner in catalogue.LEARNERS.items() if learner.budgeted and not learner.multiclass]


def stream(n=2000, d=200, s=8, seed=0):
    rng = np.random.default_rng(seed)
    indices = np.sort(np.array([rng.choice(d, s, replace=False) for _ in range(n)]), axis=1).astype(np.uint32)
    values = rng.normal(size=(n, s)).astype(np.float32)
    w = rng.normal(size=d) * (rng.random(d) < 0.1)
    y = np.where((w[indices] * values).sum(axis=1) + 0.1 * rng.normal(size=n) > 0, 1.0, -1.0)
    return Rows(np.arange(0, n * s + 1, s).astype(np.uint64), indices.ravel(), values.ravel()), y


def learn(name, rows, y, **given):
    learner = catalogue.find(name)
    settings = resolve_settings(learner, given)
    state = learner.module.init(0, settings)
    margins = np.empty(len(y))
    learner.module.learn_rows(state, rows, y, np.ones(len(y), np.float32), settings, margins)
    return learner.module, state, settings, margins


def logistic_regression(rows, y, rate=0.1, l2=1e-6):
    """Margins of plain online logistic regression with steps rate / (1 + l2 rate t), and its weights."""
    w, margins = np.zeros(1000), []
    for t, label in enumerate(y):
        here = slice(int(rows.offsets[t]), int(rows.offsets[t + 1]))
        x, ids = rows.values[here], rows.indices[here]
        margins.append(w[ids] @ x)
        eta = rate / (1 + l2 * rate * t)
        w *= 1 - l2 * eta
        w[ids] += eta * label / (1 + np.exp(label * margins[-1])) * x
    return np.array(margins), w


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("awm", {"heap_size": 256, "width": 64}),
        ("wm", {"width": 65536, "depth": 1, "heap_size": 64}),
        ("truncation", {"heap_size": 256}),
        ("space-saving", {"heap_size": 256}),
        ("count-min", {"heap_size": 256, "width": 4096}),
        ("mission", {"heap_size": 256, "width": 65536, "depth": 1}),
    ],
)
def test_with_room_for_all_it_is_online_logistic_regression(name, given):
    rows, y = stream()
    expected, _ = logistic_regression(rows, y)

    _, _, _, margins = learn(name, rows, y, **given)

    np.testing.assert_allclose(margins, expected, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget", ["2KB", "8KB", "32KB"])
def test_a_budget_is_kept(name, budget):
    learner = catalogue.find(name)
    settings = resolve_settings(learner, {"budget": budget})

    used = learner.module.bytes_used(learner.module.init(0, settings))

    assert 0.95 * settings.budget <= used <= settings.budget


def test_an_evicted_feature_is_remembered_by_the_sketch():
    rows, y = stream(n=400)
    settings = resolve_settings(catalogue.find("awm"), {"heap_size": 10, "width": 4096})
    state = awm.init(0, settings)
    kept = {}
    evictions = 0
    for i in range(len(y)):
        here = slice(int(rows.offsets[i]), int(rows.offsets[i + 1]))
        for k in range(here.start, here.stop):  # a feature at a time, so that no later one moves the evicted
            before = dict(zip(awm.members(state).tolist(), state.weights.tolist(), strict=False))
            active_set.change_weight(state, rows.indices[k], np.float32(0.1 * rows.values[k] * y[i]))
            for slot in set(before) - set(awm.members(state).tolist()):
                evictions += 1
                kept[slot] = before[slot]

                assert active_set.query(state, np.uint32(slot)) == pytest.approx(before[slot], abs=1e-6)

    assert evictions > 10


@pytest.mark.parametrize("name", NAMES)
def test_blocks_can_be_cut_anywhere_and_nothing_becomes_nan(name):
    rows, y = stream(n=500)
    rows.values[:40] = 1e18
    module, whole, settings, margins = learn(name, rows, y)
    parts = module.init(0, settings)
    ones = np.ones(len(y), np.float32)
    cut = np.empty(len(y))
    for a, b in [(0, 1), (1, 77), (77, 500)]:
        piece = Rows(rows.offsets[a : b + 1], rows.indices, rows.values)
        module.learn_rows(parts, piece, y[a:b], ones[a:b], settings, cut[a:b])

    np.testing.assert_array_equal(margins, cut)
    for (_, one), (_, other) in zip(flat(whole), flat(parts), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype.kind != "f" or not np.isnan(one).any()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hashing"])
def test_the_planted_features_are_found(name):
    rows, y = stream(n=8000, d=150, seed=3)
    _, w = logistic_regression(rows, y)
    heavy = set(np.argsort(-np.abs(w))[:5].tolist())

    module, state, settings, _ = learn(name, rows, y, budget="4KB")

    assert len(heavy & set(module.top(state, 12, settings)[0].tolist())) >= 4
