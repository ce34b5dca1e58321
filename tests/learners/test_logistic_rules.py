"""PA-I and AROW with the logistic loss (Duchi, Hazan & Singer 2011, section 6) solve the problems that define them."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import ouzel
from ouzel.learners import catalogue
from ouzel.model.model import Model
from ouzel.terms.implicit_steps import implicit_step
from ouzel.terms.losses import Hinge, Logistic, value
from tests.checks.laws import LAWS
from tests.checks.merging_laws import MERGING_LAWS
from tests.learners.classes import learn, stream
from tests.oracles.margin_rules import margins, scores


def logistic_step(m, spread, price):
    """The minimiser, found numerically."""
    cost = lambda a: price * np.logaddexp(0.0, -(m + a * spread)) + 0.5 * a * a * spread  # noqa: E731
    return minimize_scalar(cost, bounds=(0.0, price), method="bounded", options={"xatol": 1e-12}).x


def passive_aggressive_1(w, S, x, y, t, C=0.3):
    return w + logistic_step(y * (w @ x), x @ x, C) * y * x, S


def arow(w, S, x, y, t, r=1.0):
    v = x @ S @ x
    return w + logistic_step(y * (w @ x), v, 1 / r) * y * S @ x, S - np.outer(S @ x, S @ x) / (v + r)


@pytest.mark.parametrize("loss", [Hinge(), Logistic()])
@pytest.mark.parametrize("margin", [-1e6, -30.0, -1.0, 0.0, 0.9, 3.0, 700.0])
@pytest.mark.parametrize("spread", [1e-9, 0.3, 50.0, 1e9])
@pytest.mark.parametrize("price", [1e-9, 0.5, 20.0, 1e9])
def test_no_other_step_costs_less(loss, margin, spread, price):
    best = implicit_step(loss, margin, spread, price)

    def slope(a):
        """Of the cost, from the right."""
        moved = margin + a * spread
        steep = -1.0 * (moved < 1.0) if isinstance(loss, Hinge) else -np.exp(-np.logaddexp(0.0, moved))
        return price * steep + a

    assert 0.0 <= best <= price
    assert slope(best * (1 - 1e-6)) <= 1e-12 * price
    assert slope(best * (1 + 1e-6) + 1e-300) >= -1e-12 * price
    assert np.isfinite(value(loss, margin + best * spread, 1.0))


@pytest.mark.parametrize(
    ("name", "rule", "diagonal"),
    [("pa1", passive_aggressive_1, True), ("arow", arow, True), ("arow-full", arow, False)],
)
def test_with_two_classes_the_rule_is_the_binary_one(name, rule, diagonal):
    X, y = stream(60, 4, 2, seed=1)
    given = {"aggressiveness": 0.3} if name == "pa1" else {}

    _, _, found, _ = learn(name, X, y, 2, loss="logistic", **given)

    np.testing.assert_allclose(found[:, 1] - found[:, 0], margins(rule, X, 2 * y - 1, diagonal), rtol=1e-3, atol=1e-4)


def test_with_more_classes_it_is_the_binary_rule_of_the_pair():
    X, y = stream(60, 4, 4, seed=2)

    _, _, found, _ = learn("pa1", X, y, 4, loss="logistic", aggressiveness=0.3)

    np.testing.assert_allclose(found, scores(passive_aggressive_1, X, y, 4, False), rtol=1e-3, atol=1e-4)


@pytest.mark.interpreted
@pytest.mark.parametrize("law", [*LAWS, *MERGING_LAWS], ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", ["pa1", "arow", "arow-full"])
def test_law(monkeypatch, name, law):
    entry = catalogue.find(name)
    preset = (*entry.preset, ("loss", "logistic"))
    monkeypatch.setitem(catalogue.LEARNERS, "by-logistic", entry._replace(name="by-logistic", preset=preset))

    law("by-logistic")


@pytest.mark.parametrize("name", ["pa1", "arow"])
def test_another_loss_is_refused(name):
    with pytest.raises(ouzel.OuzelError, match=f"{name} takes the losses 'hinge', 'logistic'; got SmoothedHinge"):
        Model(name, loss="smoothed-hinge")


def test_probabilities_come_with_the_logistic_loss():
    model = ouzel.OnlineClassifier("arow", loss="logistic").fit([[0.0, 1.0], [1.0, 0.0]] * 20, ["wet", "dry"] * 20)

    assert model.predict_proba([[1.0, 0.0]]).sum() == pytest.approx(1.0)
