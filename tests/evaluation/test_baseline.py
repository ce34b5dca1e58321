"""The baseline is what a constant would have scored; a run far beyond it is told."""

import json
from functools import partial

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, mean_poisson_deviance

import ouzel
from ouzel.comparison.grid import Candidate
from ouzel.comparison.one_pass import compare
from ouzel.errors import OuzelError
from ouzel.evaluation.baseline import Baseline
from ouzel.evaluation.progressive import progressive_validation
from ouzel.model.model import Model
from ouzel.model.tasks.classification import OneAgainstRest
from ouzel.model.tasks.regression import Regression
from ouzel.model.tasks.task import Outcome
from ouzel.sketches.running_quantile import BINS
from ouzel.streams.memory import blocks_from
from ouzel.terms.losses import Absolute, Logistic, Poisson, Quantile, Squared


def learnt(targets, weights, width=None):
    n = len(targets)
    return Outcome(np.zeros(n if width is None else (n, width)), targets, weights, np.zeros(n))


def cut(whole, at):
    ends = zip([0, *at], [*at, None], strict=True)
    return [Outcome(*(part[start:stop] for part in whole[:4])) for start, stop in ends]


CLASSES, NUMBERS = OneAgainstRest(Logistic()), Regression(Squared())


def scored(task, parts):
    baseline = Baseline(task)
    for part in parts:
        baseline.add(part)
    return baseline


@pytest.mark.parametrize("classes", [2, 5])
def test_the_class_most_frequent_so_far_is_what_the_baseline_says(classes):
    random = np.random.default_rng(classes)
    targets, weights = random.integers(0, classes, 300), random.integers(0, 3, 300).astype(np.float32)
    counts, leader, mistakes = np.zeros(classes), -1, 0.0
    for target, weight in zip(targets, weights, strict=True):
        mistakes += weight * (target != leader)
        counts[target] += weight
        if leader < 0 < weight or (leader >= 0 and counts[target] > counts[leader]):
            leader = target

    whole = learnt(targets, weights, None if classes == 2 else classes)

    assert scored(CLASSES, [whole]).score == pytest.approx(mistakes / weights.sum())
    assert scored(CLASSES, cut(whole, [1, 77, 78])).score == scored(CLASSES, [whole]).score


def test_the_mean_so_far_is_what_the_baseline_of_numbers_says():
    random = np.random.default_rng(0)
    targets, weights = 40 + random.standard_normal(200), random.integers(1, 3, 200).astype(np.float32)
    means = [np.average(targets[:k], weights=weights[:k]) if k else 0.0 for k in range(200)]
    rmse = np.sqrt(np.average((targets - means) ** 2, weights=weights))

    whole = learnt(targets, weights)

    assert scored(NUMBERS, [whole]).score == pytest.approx(rmse)
    assert scored(NUMBERS, cut(whole, [3, 150])).score == scored(NUMBERS, [whole]).score


def test_a_baseline_goes_on_from_what_was_stored_and_refuses_what_is_no_baseline():
    random = np.random.default_rng(1)
    whole = learnt(random.integers(0, 4, 100), np.ones(100, np.float32), 4)
    first, second = cut(whole, [60])
    begun, resumed = scored(CLASSES, [first]), Baseline(CLASSES)

    resumed.restore(begun.to_json())
    resumed.add(second)

    assert resumed.score == scored(CLASSES, [whole]).score
    for bad in ({"sums": [0.0], "counts": [0.0, 0.0]}, {"sums": [0.0, 0.0, 0.0, 9.0], "counts": [0.0, 0.0]}):
        with pytest.raises(OuzelError, match="damaged"):
            resumed.restore(bad)


def numbers(scale):
    random = np.random.default_rng(2)
    return [({"a": scale * x, "b": scale * y}, 40.0 + x) for x, y in random.random((400, 2))]


def test_a_run_that_diverged_says_so_and_what_to_try():
    report = progressive_validation(
        ouzel.OnlineGradientRegressor(learning_rate=2.0, standardize=False), blocks_from(numbers(30.0))
    )

    (warning,) = report.warnings
    assert report.baseline < 3.0
    assert "is far above that of always predicting the mean" in warning
    assert warning.endswith("try a smaller learning rate, or the learner auto")
    assert report.to_json()["warnings"] == [warning]


def test_a_run_that_did_not_diverge_says_nothing():
    report = progressive_validation(ouzel.AutoRateRegressor(), blocks_from(numbers(30.0)))

    assert report.warnings == []


def test_labels_that_do_not_vary_are_no_divergence():
    stream = blocks_from([({"a": 1.0}, 5.0)] * 2000)

    assert progressive_validation(ouzel.OnlineGradientRegressor(learning_rate=0.01), stream).warnings == []


def test_margins_of_classes_that_run_away_are_told_where_a_loss_is_minimised():
    random = np.random.default_rng(3)
    examples = [({"a": 1e5 * x, "b": 1e5 * y}, int(x + 0.1 * y > 0.4)) for x, y in random.standard_normal((300, 2))]
    reports = {
        name: progressive_validation(Model(name, standardize=False), blocks_from(examples))
        for name in ("ogd", "auto", "perceptron")
    }

    assert "is far above that of margins of 0 (0.693)" in reports["ogd"].warnings[0]
    assert reports["auto"].warnings == reports["perceptron"].warnings == []


def test_weights_of_classes_are_named_where_they_move_probabilities():
    random = np.random.default_rng(4)
    examples = [({"x": float(x)}, int(x + random.normal() > 3.0)) for x in random.standard_normal(3000)]

    warned = {
        weight: progressive_validation(Model("auto", class_weight=weight), blocks_from(examples)).warnings
        for weight in (None, "balanced")
    }

    assert warned[None] == []
    assert "weights of classes move probabilities" in warned["balanced"][0]


def test_a_comparison_tells_which_entries_diverged():
    entries = [Candidate("ogd", None, None, None, {"loss": "squared", "learning_rate": rate}) for rate in (1e-4, 2.0)]

    found = compare(entries, blocks_from(numbers(30.0)))

    assert [bool(entry.to_json()["warnings"]) for entry in found] == [False, True]


MEASURES = {
    "absolute": (mean_absolute_error, 0.5),
    "quantile(tau=0.9)": (partial(mean_pinball_loss, alpha=0.9), 0.9),
    "poisson": (mean_poisson_deviance, None),
}
"""By loss: scikit-learn's measure, and the probability whose quantile is the constant; of counts it is the mean."""


@pytest.mark.parametrize("loss", MEASURES)
def test_numbers_are_compared_with_the_constant_that_their_loss_wants_on_its_own_measure(loss):
    random = np.random.default_rng(0)
    y = random.poisson(4.0, 300).astype(float)
    measure, probability = MEASURES[loss]
    before = np.cumsum(y) - y
    if probability is None:
        constants = np.maximum(before, 0.5) / np.maximum(np.arange(300), 0.5)
    else:
        constants = [np.quantile(y[:k], probability, method="averaged_inverted_cdf") if k else 0.0 for k in range(300)]

    report = progressive_validation(Model("adagrad", loss=loss), blocks_from(random.random((300, 2)), y))

    assert report.baseline == pytest.approx(measure(y, constants), rel=1e-9)
    (line,) = [text for name, text in report.facts if name == "baseline"]
    assert line.endswith(report.baseline_of)
    assert report.to_json()["baseline_of"] == report.baseline_of


@pytest.mark.parametrize("loss", MEASURES)
def test_a_model_and_its_baseline_are_scored_alike(loss):
    random = np.random.default_rng(1)
    X = random.random((600, 2))
    y = random.poisson(np.exp(2.0 * X[:, 0])).astype(float)
    model = Model("auto", loss=loss)
    margins = np.concatenate([Model("auto", loss=loss).learn(block).margins for block in blocks_from(X, y)])

    report = progressive_validation(model, blocks_from(X, y))

    own = {"absolute": report.mae, "poisson": report.deviance}.get(loss, report.mean_loss)
    measure, _ = MEASURES[loss]
    assert own == pytest.approx(measure(y, np.exp(margins) if loss == "poisson" else margins), rel=1e-9)
    assert own < report.baseline


@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.9), Poisson()])
def test_the_baselines_of_numbers_do_not_depend_on_blocks_and_go_on_from_what_was_stored(loss):
    random = np.random.default_rng(4)
    task, n = Regression(loss), 3 * BINS
    whole = learnt(np.round(random.gamma(2.0, 10.0, n), 2), random.integers(0, 3, n).astype(np.float32))
    first, second = cut(whole, [500])

    begun, resumed, anew = scored(task, [first]), Baseline(task), Baseline(task)
    resumed.restore(json.loads(json.dumps(begun.to_json())))
    resumed.add(second)
    anew.restore({"sums": [9.0, 9.0, 9.0, -1.0], "counts": [0.0, 0.0]})  # of a version that scored by the RMSE

    assert scored(task, cut(whole, [1, 77, 78])).score == scored(task, [whole]).score == resumed.score
    assert anew.score is None
    with pytest.raises(OuzelError, match="damaged"):
        resumed.restore({**begun.to_json(), "sums": [0.0]})
