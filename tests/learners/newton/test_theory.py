"""What `from_theory` sets is what the theorems assume, and regret stays below their bounds.

Of Oja's sketch no theorem says how good its metric is; what the metric explains bounds its regret all the same.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

import ouzel
from ouzel.learners.catalogue import find
from ouzel.learners.newton import online_newton, sketched_fd, sketched_oja
from ouzel.learners.newton.theory import curvature_of, lipschitz_of
from ouzel.learners.rows import Rows
from ouzel.model.settings import resolve_settings
from ouzel.sketches.spectral import oja
from ouzel.terms.losses import (
    REGRESSION,
    Hinge,
    Logistic,
    Poisson,
    SmoothedHinge,
    Squared,
    SquaredHinge,
    derivative,
    value,
)

DIMENSION = 8
TIMES = (5, 20, 80, 300)


@pytest.mark.parametrize("loss", [Logistic(), Squared(), Hinge(), SquaredHinge()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("largest", [0.3, 1.0, 4.0, 12.0])
def test_a_loss_has_the_curvature_and_the_slope_found(loss, largest):
    sigma, steepest = curvature_of(loss, largest), lipschitz_of(loss, largest)
    rng = np.random.default_rng(0)
    for u, z, y in zip(*rng.uniform(-largest, largest, (2, 2000)), rng.choice([-1.0, 1.0], 2000), strict=True):
        y = largest * y if isinstance(loss, Squared) else y
        slope = derivative(loss, u, y)

        assert abs(slope) <= steepest + 1e-12
        least = value(loss, u, y) + slope * (z - u) + sigma / 2 * (slope * (z - u)) ** 2
        assert value(loss, z, y) >= least - 1e-9


def ratios(places):
    """What sigma is at most, for every u and z of the places (n,): of the logistic loss and the label 1."""
    u, z = np.meshgrid(places, places, indexing="ij")
    slope, gap = -1.0 / (1.0 + np.exp(u)), z - u
    with np.errstate(invalid="ignore", divide="ignore"):
        found = 2.0 * (np.log1p(-slope * np.expm1(-gap)) - slope * gap) / (slope * gap) ** 2
    return np.where(np.abs(gap) > 1e-2, found, np.exp(u))  # the limit, where digits would cancel


@pytest.mark.parametrize("largest", [0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0, 12.0])
def test_the_logistic_loss_has_the_largest_curvature_that_assumption_2_allows(largest):
    sigma = curvature_of(Logistic(), largest)
    ends = np.geomspace(1e-9, 1.0, 300)
    places = np.unique(np.concatenate([np.linspace(-largest, largest, 900), -largest + ends, largest - ends]))
    places = places[np.abs(places) <= largest]

    found = ratios(places)

    assert found.min() >= sigma * (1.0 - 1e-9)
    assert found.min() == pytest.approx(sigma, rel=1e-9)


@pytest.mark.parametrize("largest", [0.5, 1.0, 3.0, 10.0])
@pytest.mark.parametrize(
    "loss", [Poisson(), SquaredHinge(), SmoothedHinge(), Squared()], ids=lambda loss: type(loss).__name__
)
def test_no_nearer_place_has_less_curvature_than_was_found(loss, largest):
    sigma = curvature_of(loss, largest)
    places = np.concatenate([np.linspace(-largest, largest, 90), largest - np.geomspace(1e-4, 0.5, 10) * largest])
    targets = [-largest, 0.3 * largest] if isinstance(loss, REGRESSION) else [1.0]
    for u, z, y in itertools.product(places, places, targets):
        rise = derivative(loss, u, y) * (z - u)
        if abs(z - u) > 1e-3 * largest and rise != 0.0:
            least = 2.0 * (value(loss, z, y) - value(loss, u, y) - rise) / rise**2
            assert least >= sigma * (1.0 - 1e-5) - 1e-9


def test_the_squared_loss_has_the_papers_curvature():
    assert curvature_of(Squared(), 3.0) == pytest.approx(1 / (4 * 9))  # 1 / (8 C^2) for twice the loss


def test_settings_follow_the_theorem():
    hinge = resolve_settings(find("ons"), {"from_theory": True, "loss": "hinge", "largest": 2.0, "features": 9.0})
    square = resolve_settings(find("son-fd"), {"from_theory": True, "loss": "squared", "largest": 2.0})

    assert (hinge.curvature, hinge.eta) == (0.0, 3.0 / 2.0)
    assert square.curvature == pytest.approx(1 / 16)
    assert square.eta == 0.0
    assert resolve_settings(find("son-fd"), square._asdict()) == square
    with pytest.raises(ouzel.OuzelError, match="from_theory needs `largest`"):
        resolve_settings(find("son-oja"), {"from_theory": True})


def stream(noise, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(TIMES[-1], DIMENSION)) * np.geomspace(1.0, 5.0, DIMENSION)
    labels = np.sign(X @ rng.normal(size=DIMENSION) + noise * rng.normal(size=len(X)))
    return X.astype(np.float32), labels


def played(module, settings, X, y):
    """Margins (T,) before each round."""
    state = module.init(DIMENSION, settings)
    rows = Rows(
        np.arange(0, X.size + 1, DIMENSION).astype(np.uint64),
        np.tile(np.arange(DIMENSION, dtype=np.uint32), len(X)),
        X.ravel(),
    )
    margins = np.empty(len(X))
    module.learn_rows(state, rows, y, np.ones(len(X), np.float32), settings, margins)
    return margins


def best_fixed(X, y, loss, largest):
    """A vector of small loss that predicts within [-largest, largest] on all of X: any is a comparator."""

    def total(w):
        margins = X @ w
        slopes = np.array([derivative(loss, p, t) for p, t in zip(margins, y, strict=True)])
        return sum(value(loss, p, t) for p, t in zip(margins, y, strict=True)), X.T @ slopes

    w = minimize(total, np.zeros(DIMENSION), jac=True, options={"maxiter": 60}).x
    return w * min(1.0, largest / abs(X @ w).max())


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", [Logistic(), Squared(), Hinge()], ids=["logistic", "squared", "hinge"])
@pytest.mark.parametrize("noise", [0.3, 30.0], ids=["separable", "random-labels"])
@pytest.mark.parametrize("module", [online_newton, sketched_fd], ids=["theorem-2", "theorem-3"])
def test_regret_is_below_the_bound(module, loss, noise):
    X, y = stream(noise)
    largest, alpha, m = 1.0, 4.0, 4
    given = {"loss": loss, "largest": largest, "learning_rate": 1 / alpha, "bound": "project", "from_theory": True}
    own = {"features": DIMENSION} if module is online_newton else {"sketch_size": m, "diagonal": False}
    settings = resolve_settings(find("ons" if module is online_newton else "son-fd"), {**given, **own})
    margins = played(module, settings, X, y)
    slopes = np.array([derivative(loss, p, t) for p, t in zip(margins, y, strict=True)])
    steepest = lipschitz_of(loss, largest)
    assert abs(margins).max() <= largest
    for T in TIMES:
        w = best_fixed(X[:T].astype(float), y[:T], loss, largest)
        regret = sum(value(loss, p, t) - value(loss, q, t) for p, q, t in zip(margins, X[:T] @ w, y[:T], strict=False))
        etas = settings.eta / np.sqrt(np.arange(1, T + 1))
        weight = settings.curvature + etas
        G = slopes[:T, None] * X[:T]
        bound = alpha / 2 * w @ w + 2 * (largest * steepest) ** 2 * etas.sum()
        if module is online_newton:
            total = weight[-1] * (G**2).sum() / (DIMENSION * alpha)
            bound += DIMENSION / (2 * weight[-1]) * np.log1p(total)
        else:
            spectrum = np.linalg.eigvalsh((weight[:, None] * G).T @ G)[::-1]
            tails = [spectrum[k:].sum() / (m - k) for k in range(m)]
            bound += m / (2 * weight[-1]) * np.log1p(spectrum.sum() / (m * alpha))
            bound += m * min(tails) / (2 * weight[-1] * alpha)

        assert regret <= bound


def metric_of(state, alpha):
    """A (d, d) of a state of son-oja all of whose slots are in use."""
    V = oja.vectors(state.sketch)
    return alpha * np.eye(DIMENSION) + V.T @ np.diag(state.sketch.mass) @ V


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", [Logistic(), Squared(), Hinge()], ids=["logistic", "squared", "hinge"])
@pytest.mark.parametrize("noise", [0.3, 30.0], ids=["separable", "random-labels"])
def test_ojas_regret_is_at_most_what_its_metric_explains(loss, noise):
    """Proposition 1, with the A_t that the sketch has: alpha |w|^2 / 2 + R_G + R_D."""
    X, y = stream(noise)
    largest, alpha = 1.0, 4.0
    given = {"loss": loss, "largest": largest, "learning_rate": 1 / alpha, "bound": "project", "from_theory": True}
    own = {"sketch_size": 4, "diagonal": False, "start": "first-seen"}
    settings = resolve_settings(find("son-oja"), {**given, **own})
    state = sketched_oja.init(DIMENSION, settings)
    A, u, w, gradients, regret = alpha * np.eye(DIMENSION), np.zeros(DIMENSION), [], [], 0.0
    metrics = [A]
    best = best_fixed(X.astype(float), y, loss, largest)
    for x, label in zip(X, y, strict=True):
        rows = Rows(np.array([0, DIMENSION], np.uint64), np.arange(DIMENSION, dtype=np.uint32), x)
        towards = np.linalg.solve(A, x)
        margin = np.clip(u @ x, -largest, largest)
        w.append(u - (u @ x - margin) / (x @ towards) * towards)
        slope = derivative(loss, margin, label)
        sketched_oja.learn_rows(state, rows, np.array([label]), np.ones(1, np.float32), settings, np.empty(1))
        u, A = sketched_oja.weights(state, settings), metric_of(state, alpha)
        metrics.append(A)
        gradients.append(slope * x.astype(float))

        np.testing.assert_allclose(u, w[-1] - np.linalg.solve(A, gradients[-1]), atol=1e-8)
        regret += value(loss, margin, label) - value(loss, best @ x, label)
    found = alpha / 2 * best @ best
    for t, (v, g) in enumerate(zip(w, gradients, strict=True)):
        gap = v - best
        found += g @ np.linalg.solve(metrics[t + 1], g) / 2
        found += (gap @ (metrics[t + 1] - metrics[t]) @ gap - settings.curvature * (g @ gap) ** 2) / 2

    assert regret <= found + 1e-9
