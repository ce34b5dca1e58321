"""Regret against the best fixed weights, in the table, the JSON and the plot; and against slow computations."""

import numpy as np
import pytest

import ouzel
from ouzel.comparison.grid import Candidate
from ouzel.comparison.one_pass import Entry
from ouzel.comparison.regret import Recorder
from ouzel.errors import OuzelError
from ouzel.model.model import Model
from ouzel.terms.losses import Hinge, Logistic, Squared, value


def data(n=300, d=3):
    random = np.random.default_rng(3)
    X = (random.standard_normal((n, d)) * (random.random((n, d)) < 0.7)).astype(np.float32)
    numbers = np.tanh(X @ np.array([0.5, -1.0, 0.2][:d])) + 0.3 * random.standard_normal(n)
    return X, np.clip(numbers, -2.0, 2.0)


def stream(numbers=False, rows=100):
    X, targets = data()
    return ouzel.blocks_from(X, targets if numbers else np.where(targets > 0.2, 1, 0), block_rows=rows)


def with_constant(X):
    return np.c_[np.ones(len(X)), X].astype(float)


def test_regret_is_the_total_loss_above_that_of_least_squares():
    X, targets = data()
    found = ouzel.compare("ogd,adagrad", stream(numbers=True), settings={"loss": "squared"}, regret=True)
    exact = np.linalg.lstsq(with_constant(X), targets, rcond=None)[0]

    for entry in found.entries:
        model = Model(entry.candidate.learner, loss="squared")
        margins = np.concatenate([model.learn(block).margins for block in stream(numbers=True)])
        for point in entry.regret.curve:
            first = slice(0, point.examples)
            weights = np.linalg.lstsq(with_constant(X[first]), targets[first], rcond=None)[0]
            best = sum(value(Squared(), *pair) for pair in zip(with_constant(X)[first] @ weights, targets[first]))  # noqa: B905
            total = sum(value(Squared(), *pair) for pair in zip(margins[first], targets[first]))  # noqa: B905
            assert point.regret == pytest.approx(total - best, rel=1e-4, abs=1e-3)
        np.testing.assert_allclose(entry.regret.best.weights, exact, atol=1e-4)
    assert [point.examples for point in found.entries[0].regret.curve] == [64, 128, 256, 300]


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared-hinge", "squared", "absolute"])
def test_no_weights_that_a_learner_ends_with_are_better_than_the_best(loss):
    numbers = loss in ("squared", "absolute")
    found = ouzel.compare("ogd,adagrad,son-oja", stream(numbers), settings={"loss": loss}, regret=True)

    for entry in found.entries:
        outcome = [entry.model.evaluate(block) for block in stream(numbers)]
        last = sum(float(part.losses @ part.importances) for part in outcome)
        assert entry.regret.best.loss <= last + entry.regret.best.within


def test_regret_is_the_same_however_the_stream_is_cut():
    regrets = [
        [entry.regret.total for entry in ouzel.compare("ogd,arow", stream(rows=rows), regret=True).entries]
        for rows in (7, 300)
    ]

    np.testing.assert_allclose(*regrets, rtol=1e-9)


def test_each_loss_has_best_weights_of_its_own():
    settings = [{"loss": Logistic()}, {"loss": Hinge()}]
    recorder = Recorder(None, 0, 0)
    entries = [Entry(Candidate("ogd", None, None, None, given)) for given in settings]
    for block in recorder.record(stream()):
        for entry in entries:
            entry.learn(block)
    seen = []
    recorder.add_regrets(entries, lambda done, rows: seen.append((done, rows)))

    logistic, hinge = (entry.regret for entry in entries)
    assert logistic.best.loss != hinge.best.loss
    assert seen == [(64, 300), (128, 300), (256, 300), (300, 300)] * 2


def test_the_table_and_the_json_have_regrets_where_there_is_a_loss():
    found = ouzel.compare(["adagrad", "river.linear_model:LogisticRegression"], stream(), regret=True)

    assert found.table.titles[3:6] == ["mean loss", "regret", "bound"]
    assert found.table.cells[1][4:6] == ["-", "-"]
    assert "regret: total logistic loss above" in found.table.note
    assert "Duchi" in found.table.note
    one, other = found.to_json()
    assert one["regret"] == pytest.approx(one["mean_loss"] * 300 - one["best_fixed_loss"])
    assert "regret" not in other


def test_regret_is_drawn_with_its_bound():
    figure = ouzel.compare("ogd,adagrad", stream(), regret=True).plot()

    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["ogd", "adagrad", "bound of adagrad"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"shuffles": 2}, "all labels at hand; leave out shuffles=2"),
        ({"delay": 3}, "all labels at hand; leave out delay=3"),
        ({"task": "ranking"}, "a ranking learns pairs"),
    ],
)
def test_comparisons_without_a_regret_are_refused(options, reason):
    with pytest.raises(OuzelError, match=reason):
        ouzel.compare("adagrad", stream(), regret=True, **options)


def test_three_classes_and_learners_without_a_loss_are_refused():
    X, _ = data()
    with pytest.raises(OuzelError, match="two classes; this stream has 3 or more"):
        ouzel.compare("adagrad", ouzel.blocks_from(X, np.arange(300) % 3), regret=True)
    with pytest.raises(OuzelError, match="a convex loss"):
        ouzel.compare(["river.linear_model:LogisticRegression"], stream(), regret=True)


def test_examples_without_a_label_count_for_nothing():
    X, targets = data()
    some = np.where(np.arange(300) % 5 == 0, np.nan, targets)
    settings = {"loss": "squared"}
    (whole,) = ouzel.compare("ogd", ouzel.blocks_from(X, some), settings=settings, regret=True).entries
    kept = ~np.isnan(some)
    (part,) = ouzel.compare("ogd", ouzel.blocks_from(X[kept], some[kept]), settings=settings, regret=True).entries

    assert whole.regret.total == pytest.approx(part.regret.total)
