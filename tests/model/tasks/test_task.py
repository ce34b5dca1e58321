"""What a task tells of a block: before learning, without learning, and in the words of the labels."""

import numpy as np
import pytest

import ouzel


def block_of(count=60, classes=3, seed=0, y=None):
    X = np.random.default_rng(seed).normal(size=(count, 4))
    return next(ouzel.blocks_from(X, X[:, :classes].argmax(axis=1) if y is None else y))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("learner", "options"),
    [("adagrad", {}), ("auto", {}), ("arow", {}), ("adagrad", {"loss": "squared", "task": "classification"})],
)
def test_evaluating_tells_what_learning_would_have_told(learner, options, classes):
    model = ouzel.Model(learner, classes=range(classes), **options)
    model.learn(block_of(classes=classes))
    one = block_of(count=1, classes=classes, seed=1)

    evaluated, learnt = model.evaluate(one), model.learn(one)

    for told, expected in zip(evaluated, learnt, strict=True):
        np.testing.assert_array_equal(told, expected)


def test_evaluating_a_ranking_tells_of_all_pairs_of_each_group():
    model = ouzel.Model("adagrad", task="ranking", intercept=False)
    block = block_of(count=6, y=[2, 1, 0, 0, 1, 0])._replace(groups=np.array([0, 0, 0, 1, 1, 1]))
    model.learn(block)

    outcome, scores = model.evaluate(block), model.margins(block)

    expected = [scores[i] - scores[j] for i, j in ((0, 1), (0, 2), (1, 2), (4, 3), (4, 5))]
    np.testing.assert_allclose(np.sort(outcome.margins), np.sort(expected), atol=1e-6)
    assert model.examples == 6


def test_evaluating_leaves_out_what_has_no_label_or_one_that_is_not_known():
    model = ouzel.Model("adagrad")
    model.learn(block_of(classes=2))

    outcome = model.evaluate(block_of(y=[0, 1, np.nan, 7] * 15))

    assert [model.classes.known[k] for k in outcome.targets] == [0, 1] * 15
    assert model.unlabelled == 0


def test_scores_learnt_together_give_the_probabilities_and_the_loss_that_were_learnt():
    block = block_of()
    model = ouzel.Model("adagrad-multiclass", loss="logistic", classes=[0, 1, 2])
    model.learn(block)

    answers, outcome = model.answers(block), model.evaluate(block)

    shares = np.exp(answers.margins) / np.exp(answers.margins).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(answers.probabilities, shares, rtol=1e-12)
    np.testing.assert_allclose(outcome.losses, -np.log(shares[np.arange(60), outcome.targets]), rtol=1e-9)


def test_numbers_want_a_loss_of_numbers_and_have_one_by_default():
    assert ouzel.Model("adagrad", task="regression").loss == ouzel.Model("adagrad", loss="squared").loss
    with pytest.raises(
        ouzel.OuzelError, match=r"numbers are predicted by the loss squared, absolute, .*; got logistic"
    ):
        ouzel.Model("adagrad", task="regression", loss="logistic")
    with pytest.raises(ouzel.OuzelError, match=r"task must be one of 'classification', .*; got 'sorting'"):
        ouzel.Model("adagrad", task="sorting")


@pytest.mark.parametrize("settings", [{"loss": "squared"}, {"task": "regression"}, {"task": "ranking"}])
def test_numbers_and_grades_have_no_classes(settings):
    with pytest.raises(ouzel.OuzelError, match=r"^a (regression|ranking) by the loss .* has no classes; leave out .*$"):
        ouzel.Model("adagrad", classes=[0, 1], **settings)

    assert ouzel.Model("adagrad", loss="squared", task="classification", classes=[0, 1]).task.name == "classification"
