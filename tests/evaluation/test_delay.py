"""Labels that come late: predictions are those of a model that has not met them."""

import numpy as np
import pyarrow as pa
import pytest

import ouzel
from ouzel import OuzelError
from ouzel.evaluation.delay import DelayedLabels, late_labels
from ouzel.streams.memory import blocks_from

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3)).astype(np.float32)
Y = (X[:, 0] + 0.3 * RNG.normal(size=400) > 0).astype(int)


def blocks(rows, X=X, Y=Y):
    return [next(blocks_from(X[at : at + rows], Y[at : at + rows])) for at in range(0, len(X), rows)]


def by_hand(delay, model):
    """Margins of each example by a model that has learnt the examples up to so many before it."""
    found = []
    for i in range(len(X)):
        if i > delay:
            model.learn(next(blocks_from(X[i - delay - 1 : i - delay], Y[i - delay - 1 : i - delay])))
        if model.classes.known and Y[i] in model.classes.known:
            found.append(model.margins(next(blocks_from(X[i : i + 1]))).item())
    return found


@pytest.mark.parametrize("learner", ["adagrad", "auto"])
@pytest.mark.parametrize("delay", [1, 7])
def test_predictions_are_those_of_a_loop_over_examples(learner, delay):
    found = DelayedLabels(ouzel.Model(learner), delay)
    margins = [outcome.margins for block in blocks(64) for outcome in found.learn(block)]

    np.testing.assert_array_equal(np.concatenate(margins), by_hand(delay, ouzel.Model(learner)))


@pytest.mark.parametrize("delay", [3, 30, 200])
def test_figures_do_not_depend_on_the_blocks_and_all_is_learnt_at_the_end(delay):
    reports, models = [], []
    for rows in (1, 37, 400):
        models.append(ouzel.Model("adagrad"))
        reports.append(ouzel.progressive_validation(models[-1], blocks(rows), delay=delay))

    assert len({(report.error_rate, report.mean_loss, report.auc) for report in reports}) == 1
    plain = ouzel.Model("adagrad")
    ouzel.progressive_validation(plain, blocks(400))
    for model in models:
        assert model.examples == 400
        np.testing.assert_array_equal(model.weights(), plain.weights())  # the same examples in the same order


def test_labels_come_after_the_delay_and_an_eighth_of_it_at_most():
    for delay in (1, 8, 20, 100):
        late = DelayedLabels(ouzel.Model("ogd"), delay)
        learnt_at = np.zeros(len(X), int)
        for i, block in enumerate(blocks(1)):
            before = late.model.examples
            list(late.learn(block))
            learnt_at[before : late.model.examples] = i + 1  # before example i + 1 is predicted
        waited = (learnt_at - np.arange(len(X)))[learnt_at > 0]

        assert waited.min() > delay
        assert waited.max() <= delay + max(1, delay // 8)


def test_a_persistent_label_is_worth_nothing_when_it_comes_late():
    labels = np.repeat(RNG.integers(0, 2, 50), 40)  # which persist, and nothing else is known
    noise = RNG.normal(size=(2000, 2)).astype(np.float32)
    stream = blocks(100, noise, labels)

    at_once, late = (ouzel.progressive_validation(ouzel.Model("auto"), stream, delay=delay) for delay in (0, 40))

    assert at_once.error_rate < 0.1
    assert late.error_rate > 0.3


def test_learners_are_compared_with_late_labels():
    plain, late = (ouzel.compare("adagrad,ogd", iter(blocks(50)), delay=delay) for delay in (0, 100))

    for found in late.entries:
        alone = ouzel.progressive_validation(ouzel.Model(found.candidate.learner), blocks(50), delay=100)
        assert found.figure == alone.error_rate
        assert found.model.examples == 400
    assert plain.entries[0].scores.examples > late.entries[0].scores.examples
    assert late.difference("ogd", "adagrad") is not None


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (lambda: ouzel.progressive_validation(ouzel.Model("ogd"), blocks(50), delay=5, holdout_every=10), "delay=5"),
        (lambda: ouzel.progressive_validation(ouzel.Model("ogd"), blocks(50), delay=5, passes=2), "delay=5"),
        (lambda: ouzel.progressive_validation(ouzel.Model("ogd", task="ranking"), [], delay=5), "a ranking"),
        (lambda: ouzel.progressive_validation(ouzel.Model("ogd"), [], delay=-1), "delay must be"),
        (lambda: ouzel.compare("ogd", iter(blocks(50)), delay=5, shuffles=2), "one pass"),
    ],
)
def test_what_does_not_go_with_late_labels_is_refused_in_one_line(refused, said):
    with pytest.raises(OuzelError, match=said):
        refused()


def timed(hours, rows=400):
    """Blocks of a table whose rows are named by their times."""
    start = np.datetime64("2024-01-01T00:00")
    when = [str(start + np.timedelta64(int(hour * 60), "m")) for hour in hours]
    table = pa.table({"when": when, "a": X[:, 0], "b": X[:, 1], "y": Y.astype(str)})
    return blocks_from(table, label="y", id="when", block_rows=rows)


@pytest.mark.parametrize("rows", [1, 37, 400])
def test_labels_late_by_a_time_come_after_it_and_an_eighth_of_it_at_most(rows):
    hours = np.cumsum(np.random.default_rng(1).exponential(1.0, size=400))
    late = late_labels(ouzel.Model("ogd"), "16h")
    for block in timed(hours, rows):
        for outcome in late.learn(block):
            now = hours[late.row - 1]
            assert np.count_nonzero(hours < now - 18.0) <= late.model.examples <= np.count_nonzero(hours <= now - 15.9)
            assert len(outcome.targets) <= late.row
    late.evaluate_pending()
    assert (late.row, late.model.examples) == (400, 400)


def test_figures_of_a_delay_of_time_do_not_depend_on_the_blocks():
    hours = np.cumsum(np.random.default_rng(1).exponential(1.0, size=400))
    reports = [
        ouzel.progressive_validation(ouzel.Model("adagrad"), timed(hours, rows), delay="1d") for rows in (1, 400)
    ]
    assert len({(report.error_rate, report.mean_loss) for report in reports}) == 1
    apart = ouzel.progressive_validation(ouzel.Model("adagrad"), timed(hours), delay="1m")
    assert apart.error_rate < reports[0].error_rate


def test_a_row_earlier_than_the_one_before_counts_as_that_one_and_numbers_are_seconds():
    times = [0, 3_600, 1_800, 7_200]
    table = pa.table({"t": times, "x": [1.0] * 4, "y": [0, 1, 0, 1]})
    late = late_labels(ouzel.Model("ogd"), "1h")
    learnt = [late.model.examples for block in blocks_from(table, label="y", id="t") for _ in late.learn(block)]
    assert learnt == [0, 0, 1]


@pytest.mark.parametrize(
    ("delay", "options", "said"),
    [
        ("2y", {"id": "a"}, "delay is a number of examples, or a time such as 30s, 15m, 2h, 1d or 1w; got '2y'"),
        ("1h", {}, "a delay of time needs the time of each row; name its column with id='COLUMN'"),
        ("1h", {"id": "b"}, "found 'soon'"),
        (-1, {}, "delay must be a whole number from 0 to 1e15; got -1"),
    ],
)
def test_bad_delays_are_one_line(delay, options, said):
    table = pa.table({"a": ["2024-01-01"], "b": ["soon"], "x": [1.0], "y": [1]})
    with pytest.raises(OuzelError) as error:
        ouzel.progressive_validation(ouzel.Model("ogd"), blocks_from(table, label="y", **options), delay=delay)
    assert said in str(error.value)
