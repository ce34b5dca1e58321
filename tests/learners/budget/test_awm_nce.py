"""Noise-contrastive estimation: the plain recursion where there is room for all, and what its scores mean."""

import numpy as np
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.learners.budget import awm_nce as nce
from ouzel.learners.budget.awm_nce import Settings
from ouzel.learners.rows import Rows
from ouzel.model.model import Model
from ouzel.model.persistence import load_model, save
from ouzel.streams.memory import blocks_from
from ouzel.terms.schedules import InverseRoot
from tests.learners.streams import merged_states, row, sparse_rows

MASK = 2**64 - 1


def words(seed):
    """splitmix64's random words."""
    at = 2 * seed + 1
    while True:
        at = (at + 0x9E3779B97F4A7C15) & MASK
        word = ((at ^ (at >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
        yield word ^ (word >> 31)


def oracle(rows, targets, classes, dimension, noise, seed):
    """Scores of dense logistic updates on the true class and the drawn ones, scores less log(k q)."""
    w, counts, seen, draws = np.zeros((classes, dimension)), np.zeros(classes), np.zeros(classes), words(seed)
    scores = []
    for i, target in enumerate(targets):
        slots, values = row(rows, i)
        scores.append(w[:, slots] @ values + np.log((counts + 1) / (counts.sum() + classes)))
        counts[target] += 1
        drawn = [
            np.searchsorted(np.cumsum(counts), ((next(draws) >> 11) + 0.5) / 2**53 * counts.sum(), side="right")
            for _ in range(noise)
        ]
        for c, label in [(target, 1.0), *((c, -1.0) for c in drawn)]:
            odds = (w[c, slots] @ values + np.log(counts[c] / counts.sum())) - np.log(noise * counts[c] / counts.sum())
            eta = 0.1 / (1.0 + 1e-6 * 0.1 * seen[c])
            seen[c] += 1
            w[c] *= 1.0 - 1e-6 * eta
            w[c, slots] += eta * label / (1.0 + np.exp(label * odds)) * values
    return np.array(scores)


def stream(n=400, classes=5, seed=3):
    rows, _ = sparse_rows(n, 60, 5, seed)
    return rows, np.random.default_rng(seed).choice(classes, n, p=[0.4, 0.3, 0.15, 0.1, 0.05])


def learn(rows, targets, settings, classes=5, state=None):
    state = nce.init(0, classes, settings) if state is None else state
    scores = np.empty((len(targets), classes))
    nce.learn_rows(state, rows, targets, np.ones(len(targets), np.float32), settings, scores)
    return state, scores


def test_with_room_for_all_it_is_logistic_regression_on_true_and_drawn_classes():
    rows, targets = stream()
    settings = Settings(heap_size=64.0, width=8.0, noise=3.0, sketch_seed=7.0)

    _, scores = learn(rows, targets, settings)

    np.testing.assert_allclose(scores, oracle(rows, targets, 5, 60, 3, 7), atol=2e-5)


def test_scores_tend_to_the_logarithms_of_probabilities():
    rng = np.random.default_rng(1)
    table = np.array([[0.7, 0.2, 0.05, 0.05], [0.1, 0.1, 0.4, 0.4], [0.25, 0.25, 0.25, 0.25]])
    slots = rng.integers(0, 3, 30_000)
    targets = (rng.random(30_000)[:, None] > np.cumsum(table[slots], axis=1)).sum(axis=1)
    rows = Rows(np.arange(30_001).astype(np.uint64), slots.astype(np.uint32), np.ones(30_000, np.float32))
    settings = Settings(heap_size=4.0, width=4.0, noise=8.0, learning_rate=0.3, schedule=InverseRoot())

    state, _ = learn(rows, targets, settings, 4)

    one_hot = Rows(np.arange(4).astype(np.uint64), np.arange(3, dtype=np.uint32), np.ones(3, np.float32))
    scores = np.empty((3, 4))
    nce.predict_rows(state, one_hot, settings, scores)
    np.testing.assert_allclose(np.exp(scores), table, atol=0.03)


def test_blocks_can_be_cut_anywhere_and_classes_come_late():
    rows, targets = stream()
    settings = Settings(budget=1024.0)
    targets = np.sort(targets % 3)  # class 2 appears last
    whole, _ = learn(rows, targets, settings, 3)
    cut = int(np.argmax(targets == 2))
    state, _ = learn(Rows(rows.offsets[: cut + 1], rows.indices, rows.values), targets[:cut], settings, 2)
    state, _ = learn(
        Rows(rows.offsets[cut:], rows.indices, rows.values), targets[cut:], settings, 3, nce.grow(state, 0, 3, settings)
    )

    for one, other in zip(whole, state, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("classes", [2, 4])
def test_a_model_of_it_learns_is_asked_and_is_kept(classes, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, 3000)
    X = rng.normal(size=(3000, 6)).astype(np.float32) * 0.5
    X[np.arange(3000), y] += 2.0
    model = Model("awm-nce", budget="1KB", noise=4, learning_rate=0.2)
    for block in blocks_from(X, y, block_rows=700):
        learnt = model.learn(block)
    block = next(blocks_from(X, y, block_rows=3000))
    save(model, tmp_path / "model.ouzel")
    margins = model.margins(block)
    predicted = margins.argmax(axis=1) if classes > 2 else (margins > 0.0).astype(int)

    assert np.mean(np.array(model.classes.known)[predicted] == y) > 0.9
    assert learnt.margins.shape == ((200, classes) if classes > 2 else (200,))
    assert model.bytes_used == classes * 1024
    assert (model.classes.known[0] if classes > 2 else 0) in [feature for feature, _ in model.top(2)[0]]
    np.testing.assert_array_equal(load_model(tmp_path / "model.ouzel").margins(block), margins)


def test_the_estimator_of_awm_has_it_as_an_option(tmp_path):
    X = np.eye(3, dtype=np.float32)[np.arange(300) % 3]
    y = np.array(["a", "b", "c"])[np.arange(300) % 3]
    estimator = ouzel.AWMSketchClassifier(noise=2, budget="1KB").partial_fit(X, y)
    estimator.save(tmp_path / "model.ouzel")

    assert estimator.bytes_used_ == 3 * 1024
    assert ouzel.load(tmp_path / "model.ouzel").predict(X[:3]).tolist() == ["a", "b", "c"]
    assert ouzel.load(tmp_path / "model.ouzel").noise == 2
    with pytest.raises(OuzelError, match="noise-contrastive estimation has loss="):
        ouzel.AWMSketchClassifier(noise=2, loss="squared").partial_fit(X, y)


def test_learning_without_predicting_learns_the_same():
    rows, targets = stream()
    settings = Settings(budget=1024.0)
    state, _ = learn(rows, targets, settings)

    silent, scores = learn(rows, targets, settings._replace(scored=False))

    assert np.isnan(scores).all()
    for one, other in zip(state, silent, strict=True):
        np.testing.assert_array_equal(one, other)


def test_states_merge():
    rows, targets = stream()
    settings = Settings(heap_size=64.0, width=8.0)
    state, _ = learn(rows, targets, settings)

    merged = merged_states(nce, [state, state], settings, 0, 5)

    np.testing.assert_array_equal(merged.counts, 2 * state.counts)
    for (slots, weights), (same, expected) in zip(
        nce.top(merged, 9, settings, 5), nce.top(state, 9, settings, 5), strict=True
    ):
        assert slots.tolist() == same.tolist()
        np.testing.assert_allclose(weights, expected, atol=1e-6)
