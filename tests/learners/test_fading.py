"""With `forget` what a learner has accumulated counts for half after so many examples."""

import numpy as np
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.layout import copied, flat
from ouzel.learners import protocol
from ouzel.learners.auto import standardisation
from ouzel.learners.catalogue import LEARNERS
from ouzel.learners.fading import faded_covariance, faded_variances
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.preparation import STEPS
from ouzel.model.room import make_room

FORGETFUL = [name for name, learner in LEARNERS.items() if isinstance(learner.module, protocol.Fading)]
FAMILIES = ("ogd", "adagrad", "adagrad-rda", "ftrl-proximal", "son-oja", "son-fd", "arow", "arow-full")
CONFIDENT = [name for name, learner in LEARNERS.items() if learner.module_name == "gaussian.rule"]
FROZEN = ("arow", "arow-full", "scw1", "nherd", "nherd-full")
"""Those of them that a turned rule, learnt before, keeps wrong for as many examples and more."""


def flipped(rows=4000, classes=2, seed=0):
    """X (rows, 5), and classes by a rule that is turned to its opposite in the middle."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5)).astype(np.float32)
    scores = X @ np.random.default_rng(9).normal(size=(5, classes)) + 0.2 * rng.normal(size=(rows, classes))
    scores[rows // 2 :] *= -1.0
    return X, scores.argmax(axis=1).astype(float)


def learnt(X, y, learner="adagrad", block_rows=1000, **how):
    """A model that has learnt, and where it was wrong."""
    model = Model(learner, classes=range(int(y.max()) + 1), **how)
    margins = [model.learn(block).margins for block in ouzel.blocks_from(X, y, block_rows=block_rows)]
    margins = np.concatenate(margins)
    return model, (margins > 0 if margins.ndim == 1 else margins.argmax(axis=1)) != y


@pytest.mark.parametrize("learner", FAMILIES)
def test_after_a_change_it_is_sooner_right_again(learner):
    X, y = flipped()

    _, wrong = learnt(X, y, learner)
    _, forgetting = learnt(X, y, learner, forget=100.0)

    before = wrong[:2000].mean()
    assert forgetting[2000:].mean() - before < 0.8 * (wrong[2000:].mean() - before)


def noisy_then_clean(rows=3000):
    """X (rows, 10), and classes by a rule of which a first half says the opposite, with one label of five at random."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 10)).astype(np.float32)
    y = X @ np.random.default_rng(7).normal(size=10) > 0.0
    y[: rows // 2] = ~y[: rows // 2] ^ (rng.random(rows // 2) < 0.2)
    return X, y.astype(float)


@pytest.mark.parametrize("learner", CONFIDENT)
def test_confidence_weighted_learners_recover_from_noise_as_they_forget(learner):
    X, y = noisy_then_clean()

    _, wrong = learnt(X, y, learner)
    model, forgetting = learnt(X, y, learner, forget=50.0)

    assert forgetting[2000:].mean() < 0.1
    if learner in FROZEN:
        assert wrong[1500:2000].mean() > 0.6
        assert wrong[2000:].mean() > 3.0 * forgetting[2000:].mean()
    assert all(np.isfinite(array).all() for _, array in flat(model.states[0]))


@pytest.mark.parametrize("learner", ["wm", "awm"])
@pytest.mark.parametrize("per_feature", [False, True])
def test_steps_of_sketches_within_a_budget_stay_long_as_they_forget(learner, per_feature):
    X, y = flipped()
    how = {"schedule": "inverse-root", "learning_rate": 1.0, "per_feature": per_feature}

    _, wrong = learnt(X, y, learner, **how)
    model, forgetting = learnt(X, y, learner, forget=100.0, **how)

    assert forgetting[2000:].mean() < wrong[2000:].mean()
    assert model.states[0].scale[1] < 200.0
    assert model.states[0].scale[0] > 0.0


@pytest.mark.parametrize("learner", ["wm", "awm"])
@pytest.mark.parametrize("how", [{}, {"l1": 1e-4}, {"schedule": "constant"}], ids=["default", "l1", "constant"])
def test_sketches_of_equal_steps_are_sooner_right_after_a_change_as_their_weights_decay(learner, how):
    X, y = flipped()

    _, wrong = learnt(X, y, learner, **how)
    _, forgetting = learnt(X, y, learner, forget=500.0, **how)

    assert forgetting[:2000].mean() < wrong[:2000].mean() + 0.02
    assert forgetting[2000:2500].mean() < 0.7 * wrong[2000:2500].mean()


def test_a_heavy_feature_that_is_gone_leaves_the_active_set_of_one_that_forgets():
    rng = np.random.default_rng(0)
    first, second = (sparse_rows(rng, names) for names in (range(40), range(40, 80)))
    never, forgetting = (Model("awm", budget=512.0, forget=half_life, classes=[0, 1]) for half_life in (0.0, 200.0))

    for model in (never, forgetting):
        for block in ouzel.blocks_from(first + second):
            model.learn(block)

    gone = [sum(model.feature_name(k) in FIRST for k, _ in model.top(20)[0]) for model in (never, forgetting)]
    assert gone[0] >= 5
    assert gone[1] == 0


FIRST = {f"w{k}" for k in range(40)}


def sparse_rows(rng, numbers, rows=3000):
    """Examples of two of the words each, whose first half speaks for the class 1."""
    pairs = rng.choice(list(numbers), size=(rows, 2))
    middle = np.mean(numbers)
    return [({f"w{k}": 1.0 for k in pair}, int(pair[0] < middle)) for pair in pairs.tolist()]


@pytest.mark.parametrize("learner", ["wm", "awm"])
def test_time_without_examples_to_learn_leaves_a_sketch_able_to_learn(learner):
    X, y = flipped(300)
    model = Model(learner, classes=[0, 1], forget=1.0)
    (block,) = ouzel.blocks_from(X, y)
    model.learn(block)
    for _ in range(20):
        model.learn(block._replace(weights=np.zeros(300, np.float32)))
    model.learn(block)

    assert np.isfinite(model.margins(block)).all()
    assert np.abs(model.margins(block)).max() > 0.0


def test_the_mean_of_iterates_forgets_with_them():
    X, y = flipped()
    how = {"averaging": True, "learning_rate": 1.0}
    model, _ = learnt(X, y, "wm", forget=100.0, **how)
    whole, _ = learnt(X, y, "wm", **how)
    late, _ = learnt(X[2000:], y[2000:], "wm", **how)

    def weights(model):
        return model.module.estimates(model.states[0], np.arange(1, 6, dtype=np.uint32), model.settings)

    cosine = weights(model) @ weights(late) / np.linalg.norm(weights(model)) / np.linalg.norm(weights(late))
    assert cosine > 0.95
    assert np.linalg.norm(weights(whole)) < 0.5 * np.linalg.norm(weights(model))


def test_a_sketch_of_frequent_directions_decays_and_keeps_its_weights():
    X, y = flipped(300)
    model, _ = learnt(X, y, "son-fd", sketch_size=3, diagonal=False)
    state, before = model.states[0], model.weights()
    settled = model.module.eigenvalues(type(state)(copied(state.sketch), *state[1:])) * state.sketch.counts[0]

    model.module.fade(state, 0.25, model.settings)

    np.testing.assert_allclose(model.weights(), before, rtol=1e-9)
    masses = model.module.eigenvalues(state) * state.sketch.counts[0]
    assert state.sketch.counts[0] == 75
    assert (masses <= 0.25 * settled * (1.0 + 1e-9)).all()
    assert masses[0] > 0.2 * settled[0]


@pytest.mark.parametrize("learner", FORGETFUL)
@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_predicted_does_not_jump_as_it_forgets(learner, classes):
    X, y = flipped(300, classes)
    model, _ = learnt(X[:150], y[:150], learner)
    (block,) = ouzel.blocks_from(X[150:])
    before = model.margins(block)

    for state in model.states:
        model.module.fade(state, 2.0 ** (-1.0 / STEPS), model.settings)

    # moments, a prior beside what was learnt, weights that decay, predictions closer to 0 where less is known
    moving = ("sop", "sop-full", "auto", "wm", "awm", "aioli")
    close = 0.05 if learner in moving else 1e-3
    assert np.abs(model.margins(block) - before).max() <= close * np.abs(before).max()


def test_blocks_of_any_size_single_examples_and_going_on_from_a_file_give_the_same_bits(tmp_path):
    X, y = flipped(400)
    how = {"forget": 100.0, "standardize": True}
    whole, _ = learnt(X, y, **how)
    parts, _ = learnt(X, y, block_rows=7, **how)
    first, _ = learnt(X[:83], y[:83], **how)
    one = Model("adagrad", classes=[0, 1], **how)
    make_room(one, 4)
    for x, label in zip(np.column_stack([np.ones(400, np.float32), X]), y, strict=True):
        one.learn_one(np.arange(6, dtype=np.uint32), x, int(label), np.float32(1.0))

    for name, model in (("whole", whole), ("parts", parts), ("first", first)):
        persistence.save(model, tmp_path / name)
    on = persistence.load_model(tmp_path / "first")
    for block in ouzel.blocks_from(X[83:], y[83:]):
        on.learn(block)
    persistence.save(on, tmp_path / "on")

    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes() == (tmp_path / "on").read_bytes()
    (block,) = ouzel.blocks_from(X)
    assert np.array_equal(whole.margins(block), one.margins(block))
    assert ouzel.load(tmp_path / "on").get_params()["forget"] == 100.0


def test_sums_of_squares_are_half_after_a_half_life():
    X, y = flipped(640)
    model, _ = learnt(X[:320], y[:320], "adagrad", forget=320.0)
    before = model.states[0].table[:, 1].copy()

    (block,) = ouzel.blocks_from(X[320:], y[320:])
    model.learn(block._replace(weights=np.zeros(320, np.float32)))  # time passes, nothing is learnt

    np.testing.assert_allclose(model.states[0].table[:, 1], before / 2, rtol=1e-5)


def test_penalties_are_paid_before_steps_change():
    X, y = flipped(300)
    model, _ = learnt(X, y, "adagrad", l1=1e-3)
    before = model.weights()

    model.module.fade(model.states[0], 0.5, model.settings)

    np.testing.assert_allclose(model.weights(), before, rtol=1e-6)


def test_moments_of_features_and_of_numbers_to_predict_follow_the_stream():
    X, _ = flipped(4000)
    X[2000:] += 50.0
    y = X.sum(axis=1) * 3.0
    model = Model("ogd", loss="squared", standardize=True, forget=200.0)
    for block in ouzel.blocks_from(X, y):
        model.learn(block)

    mean = model.preparation.features.moments[1:6, standardisation.MEAN]
    assert np.abs(mean - 50.0).max() < 1.0
    assert abs(model.states[0].targets[1] - 750.0) < 20.0


def test_precisions_decay_towards_the_prior():
    covariance = np.cov(np.random.default_rng(0).normal(size=(4, 9))) / 10.0

    found = faded_covariance(covariance, 0.9, 2.0)

    np.testing.assert_allclose(np.linalg.inv(found), 0.9 * np.linalg.inv(covariance) + 0.05 * np.eye(4))
    np.testing.assert_allclose(faded_variances(np.array([0.1, 2.0, 0.0]), 0.9, 2.0), [1.0 / 9.05, 2.0, 0.0])


@pytest.mark.parametrize("learner", ["perceptron", "pa", "truncation", "son-rp"])
def test_learners_without_anything_to_forget_say_so(learner):
    with pytest.raises(OuzelError, match=f"{learner} has nothing that could be forgotten by half.*choose auto, ogd"):
        Model(learner, forget=100.0)


def test_a_ranking_does_not_forget():
    with pytest.raises(OuzelError, match="a ranking learns groups and does not forget"):
        Model("adagrad", task="ranking", forget=100.0)


def test_models_of_other_half_lives_do_not_merge():
    X, y = flipped(100)

    with pytest.raises(OuzelError, match="same forget"):
        ouzel.merge([learnt(X, y, forget=10.0)[0], learnt(X, y)[0]])
