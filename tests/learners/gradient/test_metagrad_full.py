"""Full MetaGrad against a slow transcription, its domain, how it merges, and the laws of learning."""

import numpy as np
import pytest

from ouzel.errors import OuzelError
from ouzel.exporting.expressions import expression_of
from ouzel.learners import catalogue
from ouzel.learners.gains.parts import sum_of
from ouzel.learners.gradient import metagrad
from ouzel.learners.gradient import metagrad_full as full
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from ouzel.terms.losses import Absolute, Hinge, Logistic, Squared, derivative
from tests.checks.laws import LAWS
from tests.checks.merging_laws import MERGING_LAWS
from tests.learners.gradient.test_coin_betting import targets_of
from tests.learners.gradient.test_metagrad import growing
from tests.learners.newton.test_online_newton import learn, stream
from tests.oracles.metagrad import FullMetaGrad


@pytest.mark.interpreted
@pytest.mark.parametrize("largest", [1.1, 20.0])
@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Squared(), Absolute()])
def test_it_is_the_slow_transcription(loss, largest):
    X, labels = growing(250, 5, seed=1)
    targets = targets_of(loss, X, labels)
    slow = FullMetaGrad(5, 6.0, largest)
    slopes = [lambda z, y=y: derivative(loss, z, y) for y in targets]
    margins = [slow.learn(x.astype(float), slope) for x, slope in zip(X, slopes, strict=True)]

    settings = metagrad.Settings(loss, radius=6.0, experts=40.0, full=True, largest=largest)
    state, found = learn(full, X, targets, settings)

    np.testing.assert_allclose(found, margins, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(full.weights(state, settings), slow.weights(), rtol=1e-5, atol=1e-6)
    assert full.experts_of(state) == len(slow.experts)
    assert len(slow.experts) > 1 or loss == Squared()
    assert np.abs(margins).max() == pytest.approx(1.1) or largest > 1.1


@pytest.mark.interpreted
@pytest.mark.parametrize("law", [*LAWS, *MERGING_LAWS], ids=lambda law: law.__name__)
def test_law(law, monkeypatch):
    entry = catalogue.find("metagrad")._replace(name="metagrad-full", preset=(("full", True),))
    monkeypatch.setitem(catalogue.LEARNERS, "metagrad-full", entry)

    law("metagrad-full")


@pytest.mark.interpreted
def test_predictions_keep_to_the_largest_and_correlated_features_cost_less_than_one_by_one():
    X, labels = stream(800, 4, seed=4)
    X = X @ np.array([[1.0, 0.9, 0.0, 0.0], [0.9, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    margins = {
        module: learn(module, X, labels, metagrad.Settings(radius=100.0, full=module is full, largest=8.0))[1]
        for module in (metagrad, full)
    }

    assert np.abs(margins[full]).max() <= 8.0
    losses = {module: np.log1p(np.exp(-labels * margin)).sum() for module, margin in margins.items()}
    assert losses[full] < 0.8 * losses[metagrad]


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", [Logistic(), Absolute()])
def test_regret_is_within_what_the_experts_promise(loss):
    """Of order C sqrt(sum of squared slopes times d log T), against any u that predicts within [-C, C]."""
    X, labels = stream(500, 4, seed=3)
    C = 3.0
    _, margins = learn(full, X, labels, metagrad.Settings(loss, radius=3.0, full=True, largest=C))
    slopes = np.array([derivative(loss, z, y) for z, y in zip(margins, labels, strict=True)])
    best = -(slopes @ X) / np.linalg.norm(slopes @ X)
    best *= C / np.abs(X @ best).max()
    assert slopes @ (margins - X @ best) <= C * np.sqrt(4 * np.log(500) * (slopes**2).sum())


@pytest.mark.interpreted
def test_workers_of_very_different_gradients_merge_by_learning_rate():
    X, labels = stream(400, 3, seed=7)
    settings = metagrad.Settings(full=True)
    base = full.init(3, settings)
    workers = [full.init(3, settings), full.init(3, settings)]
    indices = np.arange(3, dtype=np.uint32)
    for state, importance in zip(workers, (1.0, 64.0), strict=True):
        for x, y in zip(X, labels, strict=True):
            full.learn_row(state, indices, x, y, importance, settings)

    merged = full.onto(base, sum_of([full.gains(base, state, settings) for state in workers]), settings)

    count = full.experts_of(merged)
    assert 0 < count <= 12
    assert merged.sizes[0, metagrad.LARGEST] == workers[1].sizes[0, metagrad.LARGEST]
    assert merged.counts[0] == 800
    for m in range(count):  # each of the large worker's, and of the small one's six places further
        own = [np.linalg.inv(workers[1].inverse[m]) - np.eye(3)]
        own += [np.linalg.inv(workers[0].inverse[m + 6]) - np.eye(3)] if m + 6 < full.experts_of(workers[0]) else []
        np.testing.assert_allclose(np.linalg.inv(merged.inverse[m]) - np.eye(3), sum(own), rtol=1e-6, atol=1e-9)


@pytest.mark.interpreted
@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_exported_cuts_each_expert(classes):
    X, _ = stream(300, 4, seed=8)
    (block,) = blocks_from(X.astype(np.float32), np.digitize(X[:, 0] + X[:, 1], np.linspace(-1, 1, classes - 1)))
    model = Model("metagrad", full=True, largest=1.5, radius=20.0)
    model.learn(block)

    form = expression_of(model)

    sums = np.column_stack([np.ones(300), X.astype(np.float32)]) @ form.weights[:5]
    cut = np.clip(sums, -1.5, 1.5).reshape(300, len(form.combine.weights), -1)
    margins = (cut * form.combine.weights).sum(axis=2)
    np.testing.assert_allclose(margins, model.margins(block).reshape(300, -1), rtol=1e-6, atol=1e-9)
    assert (np.abs(sums) > 1.5).any()


def test_what_it_cannot_keep_is_refused_in_one_line():
    settings = metagrad.Settings(full=True)
    with pytest.raises(OuzelError, match="up to 512 of them"):
        full.layout(1025, settings)
    with pytest.raises(OuzelError, match="set largest"):
        full.layout(9, settings._replace(largest=np.inf))
    assert Model("metagrad").settings.largest == np.inf
    assert Model("metagrad", full=True).module is full
