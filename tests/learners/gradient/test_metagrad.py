"""MetaGrad against a slow transcription, the regret that it promises, and what a coordinate costs."""

import numpy as np
import pytest

from ouzel.learners.gains.parts import sum_of
from ouzel.learners.gradient import metagrad
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from ouzel.terms.losses import Absolute, Hinge, Logistic, Squared, derivative
from tests.learners.gradient.test_coin_betting import targets_of
from tests.learners.newton.test_online_newton import learn, stream
from tests.oracles.metagrad import MetaGrad


def growing(rows, dimension, seed):
    """A stream with zeros, the features of which jump in size."""
    X, labels = stream(rows, dimension, seed=seed)
    random = np.random.default_rng(seed)
    X = (
        X
        * (random.random(X.shape) < 0.7)
        * np.exp(random.choice([0.0, 2.0, 4.0], size=(rows, 1), p=[0.95, 0.04, 0.01]))
    )
    return X.astype(np.float32), labels


@pytest.mark.interpreted
@pytest.mark.parametrize("radius", [1.0, 6.5])
@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Squared(), Absolute()])
def test_it_is_the_slow_transcription(loss, radius):
    X, labels = growing(250, 5, seed=1)
    targets = targets_of(loss, X, labels)
    slow = MetaGrad(5, radius)
    slopes = [lambda z, y=y: derivative(loss, z, y) for y in targets]
    margins = [slow.learn(x.astype(float), slope) for x, slope in zip(X, slopes, strict=True)]

    settings = metagrad.Settings(loss=loss, radius=radius, experts=40.0)
    state, found = learn(metagrad, X, targets, settings)

    np.testing.assert_allclose(found, margins, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(state.weight, slow.weights(), rtol=1e-7, atol=1e-9)
    assert max(len(coordinate.experts) for coordinate in slow.coordinates) > 1


@pytest.mark.interpreted
def test_the_experts_kept_are_those_of_the_largest_learning_rates():
    X, labels = stream(2000, 3, seed=2)
    few, many = (learn(metagrad, X, labels, metagrad.Settings(experts=experts))[0] for experts in (5.0, 20.0))

    counts = [metagrad.used(*many.sizes[j, :2], 10.0, 20) for j in range(3)]

    assert min(counts) > 5
    assert few.expert.shape == (3, 5)
    assert np.all(few.expert != 0.0)
    assert np.all(many.expert[:, max(counts) :] == 0.0)
    np.testing.assert_allclose(few.weight, many.weight, atol=0.5)


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", [Logistic(), Hinge()])
def test_regret_is_within_what_the_experts_promise(loss):
    """Of the linear losses, a coordinate's is of the order of D sqrt(sum of g^2 log T) against the best corner."""
    X, labels = stream(3000, 4, seed=3)
    settings = metagrad.Settings(loss=loss, radius=3.0)
    _, margins = learn(metagrad, X, labels, settings)
    slopes = np.array([derivative(loss, z, y) for z, y in zip(margins, labels, strict=True)])
    gradients = slopes[:, None] * X.astype(float)
    regret = slopes @ margins + settings.radius * np.abs(gradients.sum(axis=0)).sum()
    assert regret <= 2.0 * settings.radius * np.sqrt(np.log(3000) * (gradients**2).sum(axis=0)).sum()


@pytest.mark.interpreted
def test_an_example_changes_the_slots_of_its_features_alone():
    X, labels = stream(50, 4, seed=4)
    X[25:, 1] = 0.0
    before, _ = learn(metagrad, X[:25], labels[:25], metagrad.Settings())
    after, _ = learn(metagrad, X, labels, metagrad.Settings())

    for one, other in zip(before[:5], after[:5], strict=True):
        assert np.array_equal(one[1], other[1])
        assert not np.array_equal(one[0], other[0])


@pytest.mark.interpreted
def test_a_feature_moves_from_its_third_gradient_on():
    """The first gives a size, the second an expert: the sum is then above the largest, and an eta fits between."""
    X = np.array([[0.7], [0.6], [0.8]])
    for rows, moved in ((1, False), (2, False), (3, True)):
        state, _ = learn(metagrad, X[:rows], np.ones(rows), metagrad.Settings())
        assert (state.weight[0] > 0.0) == moved


@pytest.mark.interpreted
def test_the_unit_of_a_loss_changes_nothing():
    X, labels = stream(300, 4, seed=5)
    targets = targets_of(Absolute(), X, labels)
    settings = metagrad.Settings(loss=Absolute())
    margins = []
    for importance in (1.0, 1024.0):
        state = metagrad.init(4, settings)
        indices = np.arange(4, dtype=np.uint32)
        margins.append(
            [metagrad.learn_row(state, indices, x, y, importance, settings) for x, y in zip(X, targets, strict=True)]
        )

    np.testing.assert_allclose(*margins, rtol=1e-9)


@pytest.mark.interpreted
def test_workers_of_very_different_gradients_merge_into_a_state_that_can_be_learnt_on():
    """One has many learning rates, the other a gradient so large that few of them are left."""
    X, labels = stream(400, 3, seed=7)
    settings = metagrad.Settings()
    base = metagrad.init(3, settings)
    workers = [learn(metagrad, X * scale, labels, settings)[0] for scale in (1.0, 1024.0)]

    gains = sum_of([metagrad.gains(base, state, settings) for state in workers])
    merged = metagrad.onto(base, gains, settings)

    for j in range(3):
        count = metagrad.used(*merged.sizes[j, :2], settings.radius, 12)
        assert 0 < count < 12
        assert not merged.expert[j, count:].any()
        assert (merged.share[j, count:] == 1.0).all()
    assert merged.seen[0] == 800.0
    _, margins = learn(metagrad, X, labels, settings, merged)
    assert np.isfinite(margins).all()


def test_it_finds_small_and_large_weights_within_its_domain():
    random = np.random.default_rng(6)
    X = random.standard_normal((20000, 5)).astype(np.float32)
    for size in (1.0, 8.0):
        direction = np.array([-1.0, -0.5, 0.25, 0.5, 1.0]) * size
        model = Model("metagrad", loss="absolute", scale_targets=False)
        for block in blocks_from(X, X @ direction):
            last = model.learn(block)
        assert np.abs(last.margins[-1000:] - last.targets[-1000:]).mean() < 0.05 * size
