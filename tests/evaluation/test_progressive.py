"""Progressive validation predicts before it learns, stops where it is told, and does not see how the stream was cut."""

import numpy as np
import pytest

import ouzel
from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import Run, progressive_validation
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from


def stream(n=3000, classes=2, rows=4096):
    random = np.random.default_rng(1)
    X = random.standard_normal((n, 5)).astype(np.float32)
    y = (X[:, :classes] + 0.5 * random.standard_normal((n, classes))).argmax(axis=1)
    return blocks_from(X, y, block_rows=rows)


def without_time(report):
    return {name: value for name, value in report.to_json().items() if not name.startswith("seconds")}


def test_predictions_are_made_before_learning():
    examples = [({"a": 1.0}, "x"), ({"b": 1.0}, "y")]
    report = progressive_validation(Model("ogd"), blocks_from(examples * 10))

    assert report.error_rate == 2 / 20  # the first, of margin 0, and the second, which the constant feature misleads
    assert report.confusion == [[9, 1], [1, 9]]


@pytest.mark.parametrize("classes", [2, 3])
def test_the_report_does_not_depend_on_the_blocks(classes):
    reports = [
        without_time(progressive_validation(Model("ogd"), stream(1500, classes, rows), holdout_every=7))
        for rows in (4096, 333)
    ]

    assert reports[0] == reports[1]


@pytest.mark.parametrize("learner", ["ogd", "auto"])
def test_what_is_counted_of_classes_that_come_late_does_not_depend_on_the_blocks(learner):
    rng = np.random.default_rng(0)
    examples = [({"x": rng.normal(), "y": rng.normal()}, rng.choice(list("abcd"[: 2 + k // 150]))) for k in range(450)]
    counted = []
    for rows in (1, 100, 450):
        run = Run(Model(learner))
        for start in range(0, 450, rows):
            for block in blocks_from(examples[start : start + rows]):
                run.learn(block)
        counted.append(run.to_json())

    assert counted[0] == counted[1] == counted[2]
    assert sum(counted[0]["by_pass"][0]["histogram"][1]) >= 150


def test_the_curve_has_powers_of_two_and_regular_points():
    report = progressive_validation(Model("ogd"), stream(3000))
    examples = [point.examples for point in report.curve]

    assert {2**k for k in range(12)} <= set(examples)
    assert set(range(64, 3000, 64)) <= set(examples)
    assert examples[-1] == 3000
    assert report.curve[-1].error_rate == report.error_rate


def test_held_out_examples_are_not_learnt():
    model = Model("ogd")
    report = progressive_validation(model, stream(3000), holdout_every=4)

    assert report.examples == model.examples == 2250
    assert report.holdout[0]["examples"] == 750
    assert abs(report.holdout[0]["error_rate"] - report.error_rate) < 0.05


def test_later_passes_are_reported_apart():
    blocks = list(stream(500))
    report = progressive_validation(Model("ogd"), blocks, passes=3, holdout_every=5)

    assert report.examples == 400
    assert [part["examples"] for part in report.passes] == [400] * 3
    assert len(report.holdout) == 3
    with pytest.raises(OuzelError, match="can be read once only"):
        progressive_validation(Model("ogd"), stream(500), passes=2)


@pytest.mark.parametrize(("passes", "holdout"), [(0, 0), (1, 1), (1, -2)])
def test_meaningless_numbers_are_refused(passes, holdout):
    with pytest.raises(OuzelError, match=r"(passes|holdout_every) must be .*; got -?\d"):
        progressive_validation(Model("ogd"), [], passes=passes, holdout_every=holdout)


@pytest.mark.parametrize("holdout", [0, 3])
def test_a_run_goes_on_from_a_checkpoint(holdout):
    blocks = list(stream(5000, rows=700))
    whole = Run(Model("ogd"), passes=2, holdout_every=holdout)
    stored = []
    whole.over(blocks, checkpoint_every=1300, on_checkpoint=lambda: stored.append(whole.to_json()))
    for k in (0, 2, len(stored) - 1):
        again = Run(Model("ogd"), passes=2, holdout_every=holdout)
        reached = []

        def stop(run=again, k=k, reached=reached):
            reached.append(run.to_json())
            if len(reached) == k + 1:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            again.over(blocks, checkpoint_every=1300, on_checkpoint=stop)
        resumed = Run(again.model, passes=2, holdout_every=holdout)
        resumed.restore(reached[-1])
        resumed.over(blocks, checkpoint_every=1300, on_checkpoint=lambda: None)

        assert without_time(resumed.report()) == without_time(whole.report())
        assert (resumed.model.states[0].weight == whole.model.states[0].weight).all()


def test_an_estimator_learns_in_place():
    estimator = ouzel.OnlineGradientClassifier()
    report = ouzel.progressive_validation(estimator, stream(500))

    assert report.examples == 500
    assert estimator.predict(np.eye(5, dtype=np.float32)).shape == (5,)


def test_progress_is_told_after_every_block():
    seen = []
    progressive_validation(Model("ogd"), stream(1000, rows=250), on_progress=lambda run: seen.append(run.row))

    assert seen == [250, 500, 750, 1000]


def test_a_report_is_printed_in_a_screen_drawn_and_made_a_data_frame(tmp_path):
    report = progressive_validation(Model("ogd"), stream())

    lines = repr(report).splitlines()
    assert lines[0].startswith("ogd  loss=logistic")
    assert any(line.startswith("error rate ") for line in lines)
    assert len(lines) < 20
    assert max(map(len, lines)) <= 80
    assert "<th>error rate</th>" in report._repr_html_()
    assert report.to_pandas()["error_rate"].iloc[-1] == report.error_rate
    report.plot(str(tmp_path / "curve.svg"))
    assert (tmp_path / "curve.svg").stat().st_size > 1000
