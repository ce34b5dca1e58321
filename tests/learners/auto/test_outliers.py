"""Values far outside of what has been seen do not spoil a model: neither those of features nor those to predict."""

import numpy as np
import pytest

import ouzel
from ouzel.learners.auto.outliers import BOUND
from ouzel.learners.auto.standardisation import LARGEST, SEEN, SQUARES
from ouzel.model import persistence
from ouzel.model.model import Model
from tests.oracles import auto as oracle

SIZES = pytest.mark.parametrize("size", [1e3, -1e6, 1e30])
TIMES = pytest.mark.parametrize("rows", [[0], [5], [12], [700], range(700, 710)], ids=str)


def stream(rows=1500, seed=0):
    """X (rows, 4), classes by the sign of the first, and numbers that depend on it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4)).astype(np.float32)
    return X, (X[:, 0] > 0.0).astype(float), X @ np.array([3.0, -2.0, 1.0, 0.0]) + 10.0 + rng.normal(size=rows)


def learnt(X, y, learner="auto", block_rows=1000, **how):
    """A model that has learnt, and its margins before each example."""
    model = Model(learner, **how)
    blocks = ouzel.blocks_from(X, y, block_rows=block_rows)
    return model, np.concatenate([model.learn(block).margins for block in blocks])


def mistakes(X, y, left_out, *how, **settings):
    _, margins = learnt(X, y, *how, classes=[0, 1], **settings)
    assert np.isfinite(margins).all()
    wrong = (margins > 0.0) != y
    wrong[left_out] = False
    return int(wrong.sum())


@pytest.mark.parametrize("how", [("auto", False), ("arow", True)])
@TIMES
@SIZES
def test_stray_cells_cost_a_few_mistakes_at_most(how, rows, size):
    X, y, _ = stream()
    rows, learner, standardize = list(rows), how[0], {"standardize": how[1]}
    stray = X.copy()
    stray[rows, 0] = size

    before, after = mistakes(X, y, rows, learner, **standardize), mistakes(stray, y, rows, learner, **standardize)

    assert after <= before + 8 + 2 * len(rows)  # 200 to 700 more where scales follow every value


@TIMES
@SIZES
def test_stray_cells_of_a_rare_column_leave_its_scale(rows, size):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=1500), (rng.random(1500) < 0.2) * rng.uniform(0.5, 1.0, 1500)])
    stray = X.astype(np.float32)
    stray[list(rows), 1] = size

    model, _ = learnt(stray, (X[:, 1] > 0.0).astype(float))

    assert 0.9 < model.states[0].features.moments[2, LARGEST] < 1.1


@pytest.mark.parametrize("how", [("auto", {}), ("adagrad", {}), ("son-oja", {"standardize": True})])
@TIMES
@SIZES
def test_stray_labels_do_not_spoil_predictions_of_numbers(how, rows, size):
    X, _, y = stream()
    stray = y.copy()
    stray[list(rows)] = size

    found = [learnt(X, labels, how[0], loss="squared", **how[1])[1] for labels in (y, stray)]

    errors = [np.sqrt(np.mean((each - y)[np.r_[100:700, 720:1500]] ** 2)) for each in found]
    assert errors[1] < 1.15 * errors[0]


@pytest.mark.parametrize("factor", [1e3, 1e-3])
def test_a_column_and_labels_that_change_their_unit_are_followed(factor):
    X, y, numbers = stream(5000)
    X[2500:, 0] *= np.float32(factor)
    numbers[2500:] *= factor

    _, margins = learnt(X, y, classes=[0, 1])
    _, found = learnt(stream(5000)[0], numbers, loss="squared")

    assert np.mean(((margins > 0.0) != y)[4000:]) < 0.03
    assert np.sqrt(np.mean((found - numbers)[4500:] ** 2)) < 3.0 * factor


def test_a_code_for_unknown_values_in_one_row_of_fifty_never_becomes_the_scale():
    X, y, _ = stream(4000)
    X[np.random.default_rng(2).random(4000) < 0.02, 0] = 999999.0

    model, margins = learnt(X, y, classes=[0, 1])

    moments, seen = model.states[0].features.moments[1], model.states[0].features.totals[SEEN]
    assert 0.9 < np.sqrt(moments[SQUARES] / seen) < 1.2
    assert np.mean(((margins > 0.0) != y)[2000:]) < 0.03


def test_zeros_of_a_column_of_ones_are_not_far_off():
    X = np.ones((4000, 2), np.float32)
    X[np.random.default_rng(3).random(4000) < 0.003, 0] = 0.0

    model, _ = learnt(X, np.arange(4000.0) % 2)
    moments, seen = model.states[0].features.moments[1], model.states[0].features.totals[SEEN]

    assert moments[SQUARES] / seen == pytest.approx(X[:, 0].var())


def planted(task):
    """X (1100, 4): two numbers, one of which changes its unit, two rare columns; strays of all kinds; and labels."""
    rng = np.random.default_rng(4)
    X = np.column_stack(
        [rng.normal(size=(1100, 2)) + 2.0, (rng.random((1100, 2)) < 0.2) * rng.uniform(1, 2, (1100, 2))]
    )
    y = X @ [1.0, -1.0, 1.0, -1.0] + 0.3 * rng.normal(size=1100)
    X[400:, 1] *= 1e3
    for row, column, size in ((2, 0, 1e6), (60, 0, -1e4), (500, 0, 1e5), (7, 2, 1e6), (300, 2, -1e5), (900, 3, 1e4)):
        X[row, column] = size
    if task == "numbers":
        y[[3, 90, 91, 500]] = 1e4, -1e5, -1e5, 1e6
    return X.astype(np.float32), y if task == "numbers" else (y > 0.0).astype(float)


@pytest.mark.parametrize("task", ["two", "numbers"])
def test_margins_among_strays_are_those_of_a_slow_transcription(task):
    X, y = planted(task)
    slow = {"two": oracle.TwoClasses, "numbers": oracle.Regression}[task](5)

    rows = np.column_stack([np.ones(len(X)), X.astype(float)])
    labels = y if task == "numbers" else y.astype(int)
    expected = [slow.learn(x, label) for x, label in zip(rows, labels, strict=True)]
    kind = {"loss": "squared"} if task == "numbers" else {"classes": [0, 1]}
    _, found = learnt(X, y, forms="raw", **kind)

    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("task", ["two", "numbers"])
def test_among_strays_blocks_of_any_size_and_going_on_from_a_file_give_the_same_bits(task, tmp_path):
    X, y = planted(task)
    how = {"loss": "squared"} if task == "numbers" else {"classes": [0, 1]}
    whole, parts = learnt(X, y, **how)[0], learnt(X, y, block_rows=7, **how)[0]
    persistence.save(learnt(X[:430], y[:430], **how)[0], tmp_path / "first")
    resumed = persistence.load_model(tmp_path / "first")
    for block in ouzel.blocks_from(X[430:], y[430:]):
        resumed.learn(block)

    for name, model in (("whole", whole), ("parts", parts), ("resumed", resumed)):
        persistence.save(model, tmp_path / name)

    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()


def test_merged_models_know_as_outliers_what_their_workers_knew():
    X, y, _ = stream(600)
    X[100, 0] = 1e6
    first, second = learnt(X[:300], y[:300])[0], learnt(X[300:], y[300:])[0]

    merged = ouzel.merge([first, second])
    X[400:410, 0] = 1e6
    for block in ouzel.blocks_from(X[300:], y[300:]):
        merged.learn(block)

    features = merged.states[0].features
    assert np.sqrt(features.moments[1, SQUARES] / features.totals[SEEN]) < 1.5
    assert features.window[1, BOUND] == 0.0


def test_scales_that_forget_follow_a_change_of_unit_too():
    X, y, _ = stream(3000)
    X[1500:, 0] *= np.float32(1e4)

    _, margins = learnt(X, y, classes=[0, 1], forget=100.0)

    assert np.mean(((margins > 0.0) != y)[2200:]) < 0.06


def test_a_value_of_1000_times_the_usual_size_is_remarked_on_once_with_its_row():
    X, y, _ = stream(600)
    X[[300, 400], 2] = 999999.0
    frame = {f"x{j}": X[:, j] for j in range(4)} | {"y": y}
    table = [({name: float(frame[name][i]) for name in ("x0", "x1", "x2", "x3")}, int(y[i])) for i in range(600)]

    model = Model("auto")
    remarks = []
    for block in ouzel.blocks_from(table, block_rows=50):
        model.learn(block)
        remarks.append(model.remark)

    assert remarks[:6] == [None] * 6
    assert set(remarks[6:]) == {
        "column 'x2': row 301 has the value 999999, over 1,000 times its usual size; such values hardly move the "
        "scale; leave the cell empty if it stands for an unknown value"
    }
    with pytest.warns(UserWarning, match="row 301 has the value 999999, over 1,000 times its usual size"):
        ouzel.OnlineClassifier("arow", standardize=True).fit(X, y)


@pytest.mark.parametrize("learner", ["auto", "arow"])
def test_a_value_of_more_than_1000_spreads_from_the_mean_is_seen_as_the_mean(learner):
    X, y, _ = stream(600)
    how = {"standardize": True} if learner == "arow" else {"forms": "raw"}
    model, _ = learnt(X, y, learner, classes=[0, 1], **how)
    rows = np.repeat(X[:1], 5, axis=0)
    rows[:, 0] = X[:, 0].mean(), 3.5, 900.0, 1100.0, -1e30
    (block,) = ouzel.blocks_from(rows)

    mean, cut, large, *further = model.margins(block)

    assert further == pytest.approx([mean, mean], abs=0.02)
    assert large == pytest.approx(cut, abs=0.02)
    assert abs(cut - mean) > 0.5


def remark_of(model, X, y):
    """The number of the block, of 50 rows, behind which there is a remark, and the line."""
    rows = [{f"c{j}": value for j, value in enumerate(x)} for x in X.tolist()]
    for number, block in enumerate(ouzel.blocks_from(zip(rows, y.tolist(), strict=True), block_rows=50)):
        model.learn(block)
        if model.remark is not None:
            return number, model.remark
    return None


@pytest.mark.parametrize("row", [20, 300, 5000])
@pytest.mark.parametrize("learner", ["arow", "ons"])
def test_learners_that_do_not_scale_remark_on_such_a_value_as_well(learner, row):
    X, y, _ = stream(5100)
    X[:, 1] = np.random.default_rng(1).random(5100) < 0.01  # a category, whose ones are none
    X[row, 2] = 999999.0

    for standardize, said in (("auto", "this learner cuts it at 6"), (True, "such values hardly move the scale")):
        number, line = remark_of(Model(learner, standardize=standardize), X, y)
        assert number == row // 50
        assert said in line

    number, line = remark_of(Model(learner, standardize=False), X, y)

    assert number == row // 50
    assert line == (
        f"column 'c2': row {row + 1} has the value 999999, over 1,000 times its usual size; this learner takes it as "
        "it is; --standardize auto keeps such values from spoiling a column; leave the cell empty if it stands for an "
        "unknown value"
    )


@pytest.mark.parametrize(("learner", "how"), [("auto", {}), ("auto", {"loss": "absolute"}), ("adagrad", {})])
def test_a_label_of_1000_times_the_usual_spread_is_remarked_on_once_with_its_row(learner, how):
    X, _, y = stream(600)
    y[[300, 400]] = 1e6

    number, line = remark_of(Model(learner, **{"loss": "squared"} | how), X, y)

    assert number == 6
    assert line == (
        "label: row 301 has the value 1000000, over 1,000 times its usual size; it is learnt as one 3 standard "
        "deviations from the mean; leave the cell empty if the label is unknown"
    )


@pytest.mark.parametrize("learner", ["auto", "adagrad"])
def test_nothing_is_said_of_ordinary_data(learner):
    random = np.random.default_rng(5)
    X = np.column_stack([random.lognormal(0.0, 1.5, 5000), random.random(5000) < 0.002, random.normal(1e6, 1.0, 5000)])

    assert remark_of(Model(learner), X.astype(np.float32), np.arange(5000.0) % 2) is None
    assert remark_of(Model(learner, loss="squared"), X.astype(np.float32), random.lognormal(0.0, 1.5, 5000)) is None
