"""Probabilities that are recalibrated: what they gain, what they never lose, whatever the blocks, saved or merged."""

import numpy as np
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import progressive_validation
from ouzel.model import persistence
from ouzel.model.merge import merge
from ouzel.model.model import Model
from ouzel.model.recalibration import TRUST, init, recalibrate_two
from ouzel.streams.memory import blocks_from

ROWS = 4_000


def stream(classes=2, rows=ROWS, seed=0):
    """Labels whose log-odds a learner of few examples overstates."""
    rng = np.random.default_rng(seed)
    X, rule = rng.normal(size=(rows, 6)), rng.normal(size=(6, classes))
    return X.astype(np.float32), np.argmax(X @ rule + 2.0 * rng.normal(size=(rows, classes)), axis=1)


def block_of(X, y):
    return next(iter(blocks_from(X, y.astype(float))))


def learnt(X, y, size=ROWS, learner="adagrad", **options):
    model = Model(learner, **{"calibrate": True, **options})
    block = block_of(X, y)
    return model, [model.learn(block.slice(start, start + size)) for start in range(0, len(y), size)]


def state_of(model):
    return [array.tolist() for array in model.preparation.recalibration]


def told(margins, targets, importances=None):
    """The probabilities told of margins, and the state."""
    state, n = init(), len(margins)
    found, losses, promised = np.empty(n), np.empty(n), np.empty((n, 3))
    weights = np.ones(n, np.float32) if importances is None else importances.astype(np.float32)
    recalibrate_two(state, margins, targets, weights, True, found, losses, promised)
    return found, losses, promised, state


def log_losses(margins, targets):
    return np.logaddexp(0.0, np.where(targets == 1, -margins, margins))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("by", [0.0, 0.3, 3.0])
def test_log_loss_is_never_worse_by_more_than_the_trust_and_the_floor(seed, by):
    """Margins that are right at first and misled later, so that every map is wrong at some time."""
    rng = np.random.default_rng(seed)
    margins = rng.normal(size=3_000) * 3.0
    came = rng.random(3_000) < 1.0 / (1.0 + np.exp(-margins * np.where(np.arange(3_000) < 1_500, 1.0, by)))
    targets = came.astype(np.int64)
    losses = told(margins, targets)[1]

    worse = np.cumsum(losses - log_losses(margins, targets))
    assert worse.max() <= -np.log(TRUST) + 3_000 * 4e-6


def test_a_mixture_that_trusts_its_last_map_would_be_worse():
    """The claim above fails of Platt's map alone."""
    rng = np.random.default_rng(0)
    margins = rng.normal(size=200) * 3.0
    targets = (rng.random(200) < 1.0 / (1.0 + np.exp(-margins))).astype(np.int64)
    state, losses = init(), []
    for z, target in zip(margins, targets, strict=True):
        state.shares[:] = 0.0, 1.0, 0.0, 0.0
        part = np.empty(1), np.empty(1), np.empty((1, 3))
        state.seen[1] = 2.0 if not losses else 1.0
        recalibrate_two(state, np.array([z]), np.array([target]), np.ones(1, np.float32), True, *part)
        losses.append(part[1][0])

    assert np.cumsum(losses[1:] - log_losses(margins, targets)[1:]).max() > -np.log(TRUST) + 200 * 4e-6


def test_overstated_and_shifted_odds_are_mapped_back():
    rng = np.random.default_rng(0)
    margins = rng.normal(size=20_000) * 4.0
    targets = (rng.random(20_000) < 1.0 / (1.0 + np.exp(-0.3 * margins - 1.0))).astype(np.int64)
    found = told(margins, targets)[0]

    assert np.polyfit(margins[10_000:], found[10_000:], 1) == pytest.approx([0.3, 1.0], abs=0.15)


@pytest.mark.parametrize("classes", [2, 5])
def test_calibration_error_is_halved_and_reports_show_both(classes):
    X, y = stream(classes, 12_000)
    X *= 3.0
    found = [
        progressive_validation(
            Model("ogd", learning_rate=3.0, calibrate=on, standardize=False), list(blocks_from(X, y.astype(float)))
        )
        for on in (False, True)
    ]

    assert found[1].calibration_error_before == pytest.approx(found[0].calibration_error, abs=1e-3)
    assert found[0].calibration_error > 0.03
    assert found[1].calibration_error <= found[0].calibration_error / 2.0
    assert found[1].log_loss <= found[0].log_loss
    assert (found[0].calibration_before, found[0].calibration_error_before) == ([], None)
    assert len(found[1].calibration_before) == len(found[0].calibration)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("learner", ["adagrad", "adagrad-multiclass"])
def test_what_is_told_does_not_depend_on_the_blocks(classes, learner):
    X, y = stream(classes, 900)
    whole, (once,) = learnt(X, y, learner=learner, loss="logistic")
    for size in (1, 128):
        cut, parts = learnt(X, y, size, learner=learner, loss="logistic")
        assert state_of(cut) == state_of(whole)
        np.testing.assert_array_equal(np.concatenate([part.promised for part in parts]), once.promised)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", ["adagrad", "adagrad-multiclass"])
def test_what_is_told_does_not_depend_on_whether_losses_are_asked_for(classes, learner):
    X, y = stream(classes, 300)
    asked, silent = (Model(learner, loss="logistic", calibrate=True) for _ in range(2))

    with_losses, without = asked.learn(block_of(X, y)), silent.learn(block_of(X, y), losses=False)

    assert (len(with_losses.losses), len(without.losses)) == (300, 0)
    np.testing.assert_array_equal(without.margins, with_losses.margins)
    assert state_of(silent) == state_of(asked)


@pytest.mark.parametrize("classes", [2, 4])
def test_the_class_on_top_stays_there_and_labels_are_those_of_probabilities(classes):
    X, y = stream(classes)
    model = ouzel.OnlineClassifier("adagrad", calibrate=True).fit(X, y)
    shares = model.predict_proba(X)

    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(X)).all()
    if classes > 2:
        raw = model.model_.margins(block_of(X, y))
        assert (np.array(model.model_.classes.known)[raw.argmax(axis=1)] == model.predict(X)).all()
    one = model.predict_proba_one(dict(enumerate(X[0].tolist())))
    assert list(one.values()) == pytest.approx(shares[0].tolist())


@pytest.mark.parametrize("classes", [2, 4])
def test_single_examples_teach_what_blocks_teach(classes):
    X, y = stream(classes, 500)
    alone, together = (ouzel.OnlineClassifier("adagrad", calibrate=True) for _ in range(2))
    pairs = [(dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    for features, label in pairs:
        alone.learn_one(features, label)
    for block in blocks_from(pairs):
        together.begin().learn(block)

    assert state_of(alone.model_) == state_of(together.model_)


@pytest.mark.parametrize("classes", [2, 4])
def test_a_saved_model_goes_on_to_the_bit(classes, tmp_path):
    X, y = stream(classes)
    whole, _ = learnt(X, y)
    half, _ = learnt(X[:1_500], y[:1_500])
    persistence.save(half, tmp_path / "half.ouzel")
    resumed = persistence.load_model(tmp_path / "half.ouzel")
    resumed.learn(block_of(X[1_500:], y[1_500:]))

    assert resumed.calibrate
    assert state_of(resumed) == state_of(whole)


def test_merged_models_know_what_their_parts_know_in_either_order_of_classes():
    X, y = stream()
    first, _ = learnt(X[:2_000], y[:2_000])
    rest = X[2_000:], y[2_000:]
    other = np.argsort(rest[1] == y[0], kind="stable")[:1]  # so that the second part meets the classes the other way
    order = np.concatenate([other, np.setdiff1d(np.arange(2_000), other)])
    second, _ = learnt(rest[0][order], rest[1][order])
    assert first.classes.known == second.classes.known[::-1]
    merged = merge([first, second]).preparation.recalibration

    assert merged.seen.tolist() == [4_000.0, 1.0]
    mine, theirs = (part.preparation.recalibration.platt[:2] for part in (first, second))
    np.testing.assert_allclose(merged.platt[:2], (mine + theirs * [1.0, -1.0]) / 2.0)
    bins = first.preparation.recalibration.bins[:, :, 0] + second.preparation.recalibration.bins[:, ::-1, 0]
    np.testing.assert_allclose(merged.bins[:, :, 0], bins)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_only_probabilities_are_recalibrated(loss):
    with pytest.raises(OuzelError, match="the loss gives no probabilities"):
        Model("adagrad", loss=loss, calibrate=True)


def test_a_file_whose_shares_do_not_add_up_is_refused(tmp_path):
    model, _ = learnt(*stream(rows=50))
    model.preparation.recalibration.shares[:] = 0.1
    with pytest.raises(OuzelError, match="shares of maps do not add up to 1"):
        persistence.save(model, tmp_path / "m.ouzel")
