"""The default by losses of numbers other than the squared one: quantiles, absolute errors and counts."""

import numpy as np
import pytest

import ouzel
from ouzel.layout import flat
from ouzel.learners.auto import constants, regrets
from ouzel.learners.auto.number_gains import RECORD
from ouzel.learners.auto.standardisation import SINCE
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.streams.memory import blocks_from
from ouzel.terms.losses import Absolute, Poisson, Quantile, derivative, probability_of, value
from tests.oracles import auto as oracle

KINDS = {"absolute": Absolute(), "quantile(tau=0.9)": Quantile(0.9), "poisson": Poisson()}
every_loss = pytest.mark.parametrize("loss", KINDS)


def stream(count, seed=0, noise="normal"):
    """Columns in units of their own, one of them rare, and numbers of 0 or more that depend on them."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(count, 4))
    rare = (rng.random(count) < 0.2) * rng.normal(size=count)
    X = np.column_stack([Z * [1.0, 100.0, 0.01, 1.0] + [0.0, 300.0, 0.0, 5.0], rare]).astype(np.float32)
    rate = np.exp(0.5 * Z[:, 0] - 0.3 * Z[:, 1] + 0.4 * rare)
    errors = {"normal": rng.normal(size=count), "heavy": rng.standard_cauchy(count)}
    return X, rng.poisson(3.0 * rate) if noise == "counts" else 10.0 + 3.0 * Z[:, 0] - Z[:, 2] + errors[noise]


def margins_of(model, X, y):
    return np.concatenate([model.learn(block).margins for block in blocks_from(X, y)])


def learnt(loss, X, y, **options):
    model = Model("auto", forms="raw", loss=loss, **options)
    margins_of(model, X, y)
    return model


def block_of(X, y=None):
    return next(blocks_from(X, np.zeros(len(X)) if y is None else y))


def pinball(predicted, y, tau):
    return float(np.mean(np.maximum(tau * (y - predicted), (tau - 1.0) * (y - predicted))))


def running(statistic, y):
    """What a constant that knows the past would have said, 0 at first."""
    return np.array([0.0, *(statistic(y[:i]) for i in range(1, len(y)))])


@every_loss
def test_margins_are_those_of_a_slow_transcription(loss):
    X, y = stream(250, seed=1, noise="counts" if loss == "poisson" else "heavy")
    term = KINDS[loss]
    slow = oracle.OtherNumbers(
        X.shape[1] + 1,
        lambda margin, target: value(term, margin, target),
        lambda margin, target: derivative(term, margin, target),
        logarithms=loss == "poisson",
        probability=probability_of(term),
    )

    with_constant = np.column_stack([np.ones(len(X)), X.astype(float)])
    expected = [slow.learn(x, number) for x, number in zip(with_constant, y.astype(float), strict=True)]

    np.testing.assert_allclose(margins_of(Model("auto", forms="raw", loss=loss), X, y), expected, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("noise", ["normal", "heavy", "counts"])
def test_quantiles_beat_the_squared_loss_and_a_running_quantile(tau, noise):
    X, y = stream(3000, seed=2, noise=noise)

    predicted = margins_of(Model("auto", loss=f"quantile(tau={tau})"), X, y)
    squared = margins_of(Model("auto", loss="squared"), X, y)
    constant = running(lambda past: np.quantile(past, tau), y)

    assert pinball(predicted, y, tau) < 1.001 * min(pinball(squared, y, tau), pinball(constant, y, tau))
    share = [np.mean(predicted[500:] > y[500:]), np.mean(predicted[500:] >= y[500:])]
    close = 0.05 if noise == "counts" else 0.02
    assert share[0] - close < tau < share[1] + close


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", ["absolute", "quantile(tau=0.1)"])
def test_where_most_numbers_are_alike_nothing_is_lost_to_that_constant(loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (1000, 12)).astype(np.float32)
    y = rng.poisson(0.2 * np.exp(0.5 * X[:, 0])) * rng.integers(1, 4, 1000)
    tau = probability_of(KINDS.get(loss, Quantile(0.1)))

    predicted = margins_of(Model("auto", forms="raw", loss=loss), X, y)
    constant = running(lambda past: np.quantile(past, tau), y)

    assert pinball(predicted, y, tau) < 1.012 * pinball(constant, y, tau)


def test_medians_are_not_moved_by_stray_numbers():
    X, y = stream(3000, seed=3)
    stray = np.random.default_rng(0).random(3000) < 0.02
    dirty = np.where(stray, 300.0, y)

    both = (Model("auto", forms="raw", loss=loss) for loss in ("absolute", "squared"))
    absolute, squared = (margins_of(model, X, dirty) for model in both)

    clean = np.flatnonzero(~stray)[1000:]
    error, other = (np.mean(np.abs(each - y)[clean]) for each in (absolute, squared))
    assert error < 1.0
    assert error < 0.3 * other


def test_absolute_errors_are_twice_the_loss_of_medians():
    X, y = stream(1000, seed=4, noise="heavy")

    absolute, median = (margins_of(Model("auto", forms="raw", loss=loss), X, y) for loss in ("absolute", "quantile"))

    np.testing.assert_allclose(absolute, median, rtol=1e-9, atol=1e-9)


def test_counts_beat_the_squared_loss_and_their_mean():
    X, y = stream(3000, seed=5, noise="counts")
    mean = np.maximum(running(np.mean, y), 0.05)

    rates = np.exp(margins_of(Model("auto", loss="poisson"), X, y))
    squared = np.maximum(margins_of(Model("auto", loss="squared"), X, y), 0.2 * mean)

    def deviance(rate):
        return float(np.mean(rate - y * np.log(rate)))

    assert deviance(rates) < deviance(squared) - 0.05 < deviance(mean)
    assert np.sqrt(np.mean((rates - y) ** 2)) < np.sqrt(np.mean((squared - y) ** 2))


@pytest.mark.parametrize("largest", [1e3, 1e9, 1e15])
def test_counts_do_not_explode_whatever_comes(largest):
    X, y = stream(600, seed=6, noise="counts")
    X[::50] *= 1e6
    y = np.where(np.arange(600) % 97 == 5, largest, y)

    rates = np.exp(margins_of(Model("auto", loss="poisson"), X, y))

    seen = np.maximum.accumulate(np.concatenate([[1.0], y[:-1]]))
    assert np.isfinite(rates).all()
    assert (rates <= seen * (1.0 + 1e-9)).all()


@pytest.mark.parametrize("loss", ["absolute", "quantile(tau=0.9)"])
def test_neither_the_unit_nor_the_zero_of_labels_matters(loss):
    X, y = stream(600, seed=7)

    plain, moved = (margins_of(Model("auto", forms="raw", loss=loss), X, each) for each in (y, 1024.0 * y + 4096.0))

    np.testing.assert_allclose((moved[2:] - 4096.0) / 1024.0, plain[2:], rtol=1e-5, atol=1e-4)


@every_loss
def test_blocks_of_any_size_and_single_examples_teach_the_same(loss):
    X, y = stream(120, seed=8, noise="counts")
    whole, parts, singles = (Model("auto", forms="raw", loss=loss) for _ in range(3))
    weighted = block_of(X, y.astype(float))._replace(weights=np.resize([1.0, 0.0, 2.0], 120).astype(np.float32))

    whole.learn(weighted)
    for start in range(0, 120, 7):
        parts.learn(weighted.slice(start, min(start + 7, 120)))
    for i in range(120):
        slots = np.concatenate([[0], weighted.indices[weighted.offsets[i] : weighted.offsets[i + 1]] + 1])
        values = np.concatenate([[1.0], weighted.values[weighted.offsets[i] : weighted.offsets[i + 1]]])
        singles.learn_one(slots.astype(np.uint32), values.astype(np.float32), y[i], weighted.weights[i])

    for one, other, third in zip(*(flat(each.states[0]) for each in (whole, parts, singles)), strict=True):
        np.testing.assert_array_equal(one[1], other[1])
        np.testing.assert_array_equal(one[1], third[1])


@every_loss
def test_what_is_saved_is_loaded_to_the_bit_and_goes_on(loss, tmp_path):
    X, y = stream(200, seed=9, noise="counts")
    model = learnt(loss, X[:100], y[:100])

    persistence.save(model, tmp_path / "m.ouzel")
    loaded = persistence.load_model(tmp_path / "m.ouzel")

    np.testing.assert_array_equal(margins_of(loaded, X[100:], y[100:]), margins_of(model, X[100:], y[100:]))


@every_loss
def test_workers_merge_to_a_model_as_good(loss):
    X, y = stream(4000, seed=10, noise="counts")
    fresh, truth = X[3000:], y[3000:].astype(float)
    whole = learnt(loss, X[:3000], y[:3000])
    workers = [learnt(loss, X[k:3000:3], y[k:3000:3]) for k in range(3)]

    merged, backwards = ouzel.merge(workers), ouzel.merge(workers[::-1])

    def measure(model):
        block = block_of(fresh, truth)
        return float(np.mean(model.evaluate(block).losses))

    alone = min(map(measure, workers))
    assert measure(merged) < max(alone, measure(whole)) + 0.02 * abs(alone)
    np.testing.assert_allclose(merged.margins(block_of(fresh)), backwards.margins(block_of(fresh)), rtol=1e-6)


@every_loss
def test_one_worker_merged_onto_its_base_is_that_worker_and_an_idle_one_changes_nothing(loss):
    X, y = stream(300, seed=11, noise="counts")
    base = learnt(loss, X[:100], y[:100])
    worker = learnt(loss, X[:100], y[:100])
    margins_of(worker, X[100:], y[100:])
    module, settings = base.module, base.settings

    own = module.onto(base.states[0], module.gains(base.states[0], worker.states[0], settings), settings)
    idle = module.onto(base.states[0], module.gains(base.states[0], base.states[0], settings), settings)

    for (name, one), (_, other) in zip(flat(own), flat(worker.states[0]), strict=True):
        if name not in ("features.totals", "features.window", "labels"):  # they begin new windows
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(own.features.totals[:SINCE], worker.states[0].features.totals[:SINCE], rtol=1e-6)
    np.testing.assert_allclose(own.labels[:RECORD], worker.states[0].labels[:RECORD], rtol=1e-6)
    for (_, one), (_, other) in zip(flat(idle), flat(base.states[0]), strict=True):
        np.testing.assert_array_equal(one, other)


@every_loss
def test_what_was_learnt_long_ago_counts_for_less(loss):
    X, y = stream(4000, seed=12, noise="counts")
    turned = np.where(np.arange(4000)[:, None] < 3000, X, 2.0 * X.mean(axis=0) - X).astype(np.float32)
    steady, forgetful = (Model("auto", forms="raw", loss=loss, forget=forget) for forget in (0, 250))

    before, after = (
        np.concatenate([model.learn(block).losses for block in blocks_from(turned, y)])[3000:].mean()
        for model in (steady, forgetful)
    )

    assert after < before - 0.01
    assert forgetful.states[0].constants.numbers[constants.COUNTED] < 400.0


@every_loss
def test_weights_of_raw_features_predict_what_the_model_predicts(loss):
    X, y = stream(3000, seed=13, noise="counts" if loss == "poisson" else "normal")
    y = y + 20.0 * (loss == "poisson")  # far from where logarithms of a squared loss's predictions bend
    model = learnt(loss, X, y)
    mild = X[np.abs((X - X.mean(axis=0)) / X.std(axis=0)).max(axis=1) < 1.5]

    weighed = np.column_stack([np.ones(len(mild)), mild.astype(float)]) @ model.weights()[0]

    margins = model.margins(block_of(mild))
    assert np.median(np.abs(weighed - margins)) < 0.15 * np.std(margins)


def test_without_the_constant_feature_nothing_is_centred():
    X, y = stream(2000, seed=14)
    y = y - 10.0

    model = Model("auto", loss="absolute", intercept=False)
    predicted = margins_of(model, X, y)

    assert np.mean(np.abs(predicted - y)[500:]) < np.mean(np.abs(y)[500:])
    assert model.states[0].constants.numbers[constants.LEVEL] == 0.0


@every_loss
def test_no_finite_label_makes_what_is_not_a_number(loss):
    X, y = stream(200, seed=15)
    y = np.where(np.arange(200) % 3 == 0, 3e38, np.where(np.arange(200) % 3 == 1, -3e38, 0.0))
    y = np.abs(y) if loss == "poisson" else y

    model = Model("auto", loss=loss)
    predicted = margins_of(model, X, y)

    assert np.isfinite(predicted).all()
    assert all(np.isfinite(array).all() for name, array in flat(model.states[0]) if name != "effects.edges")
    assert np.isfinite(model.weights()).all()


def test_every_loss_of_numbers_has_its_module():
    found = {name: Model("auto", loss=name).module.__name__.rpartition(".")[2] for name in ("squared", *KINDS)}

    assert found == {"squared": "regression", **dict.fromkeys(KINDS, "other_numbers")}


def test_weights_follow_regrets_and_the_first_expert_is_ahead():
    fresh = regrets.Regrets(np.zeros(3), np.zeros(3), np.zeros(1))
    even = regrets.Regrets(np.array([0.0, 2.0, 1.0]), np.array([1.0, 3.0, 1.0]), np.ones(1))
    known = even._replace(sums=np.array([-1.0, 2.0, 1.0]))

    np.testing.assert_array_equal(regrets.weights_of(fresh, 5.0), [1.0, 0.0, 0.0])
    np.testing.assert_allclose(regrets.weights_of(even, 5.0), [5 / 7, 1 / 7, 1 / 7])
    np.testing.assert_allclose(regrets.weights_of(known, 5.0), [2 / 3, 1 / 6, 1 / 6])
