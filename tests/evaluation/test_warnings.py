"""A stream whose examples come sorted by class is warned of, at every entry point, whatever its blocks and runs."""

import json
import warnings

import numpy as np
import pytest

import ouzel
from ouzel.cli.app import run
from ouzel.evaluation.metrics import Scores
from ouzel.evaluation.warnings import SORTED, warnings_of
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from

LABELS = {2: ["no", "yes"], 3: [0, 1, 2]}


def examples(classes, each=50, seed=0):
    """Rows, each class a third apart from the last, sorted by class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(classes * each, 3)) + np.repeat(np.arange(classes), each)[:, None]
    return X, np.repeat(LABELS[classes], each)


def warned(X, y, sizes, model=None, scores=None):
    """Whether blocks of these sizes are warned of."""
    model = model or Model("ogd")
    scores = scores or Scores(model.task)
    ends = np.cumsum(sizes)
    for stop, size in zip(ends, sizes, strict=True):
        for block in blocks_from(X[stop - size : stop], y[stop - size : stop], model=model):
            scores.add(model.learn(block))
    return SORTED in warnings_of(model, scores)


@pytest.mark.parametrize("classes", [2, 3])
def test_sorted_examples_are_warned_of_wherever_blocks_end(classes):
    X, y = examples(classes)
    for sizes in ([len(y)], [50] * classes, [1] * len(y), [7] * (len(y) // 7) + [len(y) % 7]):
        assert warned(X, y, sizes), sizes


@pytest.mark.parametrize(
    "change",
    [
        lambda y: y[::-1][np.argsort(np.arange(len(y)) % 2, kind="stable")],  # two runs of each class
        lambda y: np.roll(y, 1),  # one example of the last class stands first
        lambda y: np.full(len(y), y[0]),  # one class
        lambda y: np.append(np.full(len(y) - 5, y[0]), [y[-1]] * 5),  # too few of the second to say so
    ],
)
def test_other_orders_are_not(change):
    X, y = examples(2)

    assert not warned(X, change(y), [len(y)])


def test_what_an_earlier_run_has_seen_counts():
    X, y = examples(2)
    model, first = Model("ogd"), Scores(Model("ogd").task)
    assert not warned(X[:50], y[:50], [50], model, first)

    again = Scores(model.task)
    again.restore(json.loads(json.dumps(first.to_json())))
    assert warned(X[50:], y[50:], [50], model, again)

    older = Scores(model.task)
    stored = first.to_json()
    del stored["baseline"]["order"]
    older.restore(stored)
    assert not warned(X[50:], y[50:], [50], model, older)


def test_fit_warns_of_rows_that_are_sorted_by_label_and_shuffled_ones_are_learnt():
    X, y = examples(3)
    with pytest.warns(UserWarning, match="examples come sorted by class, and one pass predicts best what came last"):
        ouzel.OnlineClassifier("ogd").fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ouzel.OnlineClassifier("ogd").fit(X[order], y[order])


def test_the_command_line_says_so_too(tmp_path, capsys):
    X, y = examples(2)
    path = tmp_path / "t.csv"
    path.write_text(
        "a,b,c,y\n" + "".join(f"{a:.3f},{b:.3f},{c:.3f},{label}\n" for (a, b, c), label in zip(X, y, strict=True))
    )

    assert run(["train", str(path), "--label", "y", "--learner", "ogd", "--json"]) == 0
    assert SORTED in json.loads(capsys.readouterr().out)["warnings"]
