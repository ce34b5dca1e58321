"""The discriminant is that of a slow transcription, which finds bugs that are planted in it."""

from types import SimpleNamespace

import numpy as np
import pytest

import ouzel
from ouzel.layout import allocate
from ouzel.learners.auto import discriminant, newton_block, several_classes, standardisation
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.rounds import merge_onto
from ouzel.streams.memory import blocks_from
from tests import forging
from tests.learners.planted import interpreted
from tests.oracles.auto import Discriminant

MEMBERS, CLASSES = 6, 3  # the first one is the constant


def examples(count, seed=0):
    """z with the constant first, one that is mostly 0, one that comes late; classes of unlike size and means."""
    rng = np.random.default_rng(seed)
    y = rng.choice(CLASSES, count, p=[0.5, 0.4, 0.1])
    mixed = rng.normal(size=(MEMBERS - 1, MEMBERS - 1))
    z = rng.normal(size=(count, MEMBERS - 1)) @ mixed + 2.0 * rng.normal(size=(CLASSES, MEMBERS - 1))[y]
    z[:, 3] *= rng.random(count) < 0.2
    z[: count // 3, 4] = 0.0
    return np.column_stack([np.ones(count), np.clip(z, -3.0, 3.0)]), y


def drive(rule, z, y, turns=()):
    """The scores (n, K) of examples, each before it is learnt; at some examples a member turns."""
    state, block = allocate(discriminant.layout(CLASSES)), allocate(newton_block.layout(CLASSES, MEMBERS))
    places, slots = np.arange(1, MEMBERS + 1, dtype=np.uint32), np.arange(MEMBERS, dtype=np.uint32)
    block.totals[newton_block.MEMBERS] = MEMBERS
    work = SimpleNamespace(z=np.zeros(128), v=np.zeros(128), chosen=np.zeros(128, np.int64))
    found, room = np.zeros((len(z), CLASSES)), np.zeros(CLASSES)
    for i, values in enumerate(z):
        block.totals[[newton_block.SEEN, newton_block.PRESENT, newton_block.ENTRIES]] += 1.0
        rule.score(state, block, places, slots, values, True, found[i])
        work.z[:MEMBERS] = values
        rule.learn(state, block, places, work, y[i], 1.0, room)
        for slot, factor, part in (turn[1:] for turn in turns if turn[0] == i):
            one = np.array([slot])
            rule.rescale(state, places, one, np.array([factor]), np.array([part]))
    return found


def expected(z, y, turns=()):
    slow, found = Discriminant(MEMBERS, CLASSES), []
    for i, values in enumerate(z):
        found.append(slow.score(values))
        slow.learn(values, y[i])
        for turn in (turn[1:] for turn in turns if turn[0] == i):
            slow.turn(*turn)
    return np.array(found)


TURNS = ((50, 3, 0.5, 0.2), (90, 2, 0.0, 0.1), (200, 1, 2.0, -0.4))


@pytest.mark.parametrize("turns", [(), TURNS])
def test_scores_are_those_of_the_transcription(turns):
    z, y = examples(500)

    np.testing.assert_allclose(
        drive(interpreted(discriminant), z, y, turns), expected(z, y, turns), rtol=1e-8, atol=1e-8
    )


BUGS = {
    "the constant is a member": ("t[constant] = 0.0", "pass"),
    "who is new knows all": ("inverse[place, place] = 1.0 / PRIOR", "inverse[place, place] = 1.0"),
    "the first example spreads its class": ("f, g = weight * count", "f, g = weight * (count + 1.0)"),
    "nothing is forgotten": ("1.0 / KEPT if discriminant.below[0] > 0.0 else 1.0", "1.0"),
    "counts are not forgotten": ("discriminant.counts[c] /= factor", "pass"),
    "norms of others stand still": ("factor * (norms[c] - f * rest * a[c] * a[c])", "norms[c]"),
    "a mean moves, and its norm does not": ("g * (2.0 * a[target] + g * s)", "0.0"),
    "weights do not follow the matrix": ("weights[place, c] - step * a[c]", "weights[place, c]"),
    "weights do not follow the mean": ("factor * rest * g * u[place]", "0.0"),
    "classes are alike at first": ("log(discriminant.counts[c] + SMOOTHING)", "0.0"),
    "norms do not count": ("- 0.5 * norm * discriminant.norms[c]", ""),
    "classes without examples are near all others": ("out[c] if discriminant.counts[c] > 0.0 else mean", "out[c]"),
    "the prior does not count": ("out[c] = (total + PRIOR)", "out[c] = total"),
    "one is worked out anew by half": ("for j in range(members):", "for j in range(members // 2):"),
    "turning moves no mean": ("discriminant.means[members] - part[inside, None]", "discriminant.means[members]"),
    "what is forgotten stays in the others": ("-= beside.T @", "-= 0.0 * beside.T @"),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_the_transcription_finds_a_planted_bug(bug):
    z, y = examples(500)
    with np.errstate(all="ignore"):
        found = drive(interpreted(discriminant, *BUGS[bug]), z, y, TURNS)

    assert not np.allclose(found, expected(z, y, TURNS), rtol=1e-8, atol=1e-8)


def iris_like(count, seed=0):
    """Three classes of normal distributions with one covariance."""
    rng = np.random.default_rng(seed)
    y, mixed, means = rng.integers(0, 3, count), rng.normal(size=(4, 4)), 2.0 * rng.normal(size=(3, 4))
    return (means[y] + rng.normal(size=(count, 4)) @ mixed).astype(np.float32), y


def learnt(X, y, **options):
    model = Model("auto", **({"classes": range(3)} | options))
    for block in blocks_from(X, y):
        model.learn(block)
    return model


def test_of_normal_distributions_few_examples_say_more_with_it():
    wrong, never = np.zeros(2), several_classes.MODELS - 1
    for seed in range(10):
        (block,) = blocks_from(*iris_like(100, seed))
        for k in range(2):
            model = Model("auto", classes=range(3))
            mixture = model.states[0].mixture
            if k:  # with weights of 0, and a curvature that keeps them there
                mixture.weights[never], mixture.curvature[never, never] = 0.0, 1e90
                model.states[0].shares.scales[never], model.states[0].shares.curvatures[never] = 0.0, 1e90
            wrong[k] += np.sum(model.learn(block).margins.argmax(axis=1) != block.labels)

    assert wrong[0] < 0.95 * wrong[1]


def test_the_state_of_one_worker_is_what_it_has_learnt():
    X, y = iris_like(600)
    model = learnt(X, y)

    merged = merge_onto(Model("auto", classes=range(3)), [model])

    mine, theirs = (each.states[0].discriminant for each in (merged, model))
    members, places = (each.states[0].block.slots[:5] for each in (merged, model))
    order = [places.tolist().index(slot) for slot in members.tolist()]
    for name in ("means", "weights"):
        np.testing.assert_allclose(getattr(mine, name)[:5], getattr(theirs, name)[order], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(mine.inverse[:5, :5], theirs.inverse[np.ix_(order, order)], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose([mine.norms, mine.counts], [theirs.norms, theirs.counts], rtol=1e-6)


def test_workers_merge_to_the_means_of_all_and_what_values_differ_from_these_by():
    X, y = iris_like(800)
    parts = [learnt(X[here], y[here]) for here in (slice(400), slice(400, None))]

    merged = ouzel.merge(parts).states[0]

    for c in range(3):
        slots = merged.block.slots[:5].astype(int)
        x = np.column_stack([np.ones(len(X)), X])[y == c][:, slots]
        scale, moved = units_of(merged, slots)
        near = (merged.discriminant.means[:5, c] + moved) / scale
        known = slots > 0
        np.testing.assert_allclose(near[known], x.mean(axis=0)[known], atol=0.25 * X.std())
    within = sum((y == c).sum() * np.cov(X[y == c].T, bias=True) for c in range(3)) / len(X)
    slots = merged.block.slots[:5].astype(int)
    order = np.argsort(slots)[1:]
    scale = units_of(merged, slots)[0][order]
    matrix = np.linalg.inv(merged.discriminant.inverse[np.ix_(order, order)]) - 3.0 * np.eye(4)
    found = matrix / np.outer(scale, scale) / merged.discriminant.counts.sum()
    np.testing.assert_allclose(found, within, atol=0.25 * np.abs(within).max())


def units_of(state, slots):
    scale, moved = standardisation.units(state.features)
    return np.where(slots > 0, scale[slots], 1.0), np.where(slots > 0, moved[slots], 0.0)


def test_a_file_of_before_predicts_what_it_did_and_learns_a_discriminant(tmp_path):
    X, y = iris_like(300)
    (block,) = blocks_from(X, y)
    model = Model("auto", classes=range(3))
    shares, mixture, never = model.states[0].shares, model.states[0].mixture, several_classes.MODELS - 1
    mixture.weights[never], mixture.curvature[never, never] = 0.0, 1e90  # by it nothing is predicted
    shares.scales[never], shares.curvatures[never] = 0.0, 1e90
    model.learn(block)
    persistence.save(model, tmp_path / "m")
    described, arrays = forging.parts_of(tmp_path / "m")
    old = {name: array for name, array in arrays.items() if ".discriminant." not in name}
    for name in ("mixture.weights", "mixture.curvature", "shares.scales", "shares.curvatures"):
        array = old[f"state.0.{name}"]
        old[f"state.0.{name}"] = array[(slice(-1),) * array.ndim]
    old["state.0.shares.weights"] = np.delete(old["state.0.shares.weights"], never)
    forging.write(tmp_path / "old", described, old)

    loaded = persistence.load_model(tmp_path / "old")

    chances = [np.exp(each.margins(block)) for each in (loaded, model)]
    np.testing.assert_allclose(*(each / each.sum(axis=1, keepdims=True) for each in chances), atol=2e-3)
    assert not loaded.states[0].discriminant.counts.any()
    assert np.mean(loaded.learn(block).margins.argmax(axis=1) != y) < 0.2
    assert loaded.states[0].discriminant.counts.sum() > 200
    persistence.save(loaded, tmp_path / "new")
    np.testing.assert_array_equal(persistence.load_model(tmp_path / "new").margins(block), loaded.margins(block))


def test_what_all_classes_share_does_not_make_a_feature_important():
    X, y = iris_like(1000)
    drifting = np.column_stack([X, np.arange(1000)]).astype(np.float32)

    column = learnt(drifting, y).weights()[:, -1]

    assert np.abs(column).max() < 2.0 * np.ptp(column)  # its means are those of later rows, in every class


@pytest.mark.parametrize("rows", [64, 256])
def test_what_workers_with_columns_of_their_own_units_merge_to_is_a_covariance(rows):
    X, y = iris_like(2 * rows)
    rng = np.random.default_rng(1)
    rare = rng.normal(size=(2 * rows, 12)) * (rng.random((2 * rows, 12)) < rng.random(12))
    X = np.column_stack([X, rare]).astype(np.float32)
    X[rows:] *= 10.0 ** rng.uniform(-2, 2, X.shape[1])
    parts = [learnt(X[here], y[here]) for here in (slice(rows), slice(rows, None))]

    merged = ouzel.merge(parts)

    values = np.linalg.eigvalsh(merged.states[0].discriminant.inverse)
    assert values[0] > -1e-12
    assert values[-1] < 0.34
    (block,) = blocks_from(X, y)
    assert np.isfinite(merged.learn(block).margins).all()


def test_workers_that_know_two_classes_each_merge():
    X, y = iris_like(300)
    parts = [learnt(X[y != absent], y[y != absent], classes=None) for absent in (2, 0)]

    merged = ouzel.merge(parts)

    assert len(merged.classes) == 3
    (block,) = blocks_from(X, y)
    assert np.isfinite(merged.learn(block).margins).all()


def test_with_a_half_life_stray_and_missing_values_leave_numbers():
    rng = np.random.default_rng(0)
    X, y = iris_like(1500)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.003] = 1e25
    model = ouzel.OnlineClassifier(forget=20.0).partial_fit(X, y)

    assert np.isfinite(model.predict_proba(X)).all()
