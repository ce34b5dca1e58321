"""Robust Frequent Directions in sketched online Newton (Luo, Chen, Zhang, Li & Zhang 2019)."""

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.learners.newton import sketched_fd as fd
from ouzel.learners.newton import sketched_fd_robust as robust
from ouzel.model.model import Model
from ouzel.sketches.spectral import sparse_frequent_directions as sketch
from ouzel.terms.bounds import Clip, Project, projects
from ouzel.terms.losses import Squared
from tests.checks.laws import LAWS
from tests.checks.merging_laws import MERGING_LAWS
from tests.learners.newton.test_sketched import dense_margins, learn, sparse_stream
from tests.oracles.sketched_newton import DenseRobustDirections


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "view", [{"diagonal": False}, {"normalised": False}, {}], ids=["raw", "diagonal", "normalised"]
)
@pytest.mark.parametrize("bound", [Clip(), Project()])
@pytest.mark.parametrize("m", [0, 1, 5])
def test_sparse_and_dense_agree_round_by_round(view, bound, m):
    rows, labels = sparse_stream(400, 30, 6, seed=m)
    common = {"diagonal": True, "normalised": True, "first_square": 0.3} | view
    settings = fd.Settings(Squared(), float(m), 0.125, 0.125, bound=bound, largest=1.0, robust=True, **common)
    dense = DenseRobustDirections(30, m, 8.0, 0.125, 1.0, projects(bound), **common)

    state, margins = learn(robust, rows, labels, 30, settings)

    np.testing.assert_allclose(margins, dense_margins(dense, rows, labels, 30), atol=1e-8)
    assert 8.0 + state.sketch.gained[0] == pytest.approx(dense.alpha)
    assert m == 0 or dense.alpha > 8.0


@pytest.mark.interpreted
@pytest.mark.parametrize("kappa", [1.0, 10.0, 100.0])
def test_the_error_of_the_metric_is_within_half_the_bound_of_frequent_directions(kappa):
    """The published bound: |G'G - S'S - (alpha - alpha_0) I| <= |G - G_k|^2 / (2 (m - k)), for every k < m."""
    m, d = 6, 20
    rows, labels = sparse_stream(600, d, d, seed=2, scale=np.geomspace(kappa, 1.0, d) ** 0.5)
    settings = fd.Settings(Squared(), float(m), 1e-9, 1.0, diagonal=False, robust=True)  # w stays 0: g = -y x
    state, _ = learn(robust, rows, labels, d, settings)
    X = np.zeros((600, d))
    np.put_along_axis(X, rows.indices.reshape(600, d).astype(int), rows.values.reshape(600, d), axis=1)
    S = sketch.matrix(state.sketch)
    squares = np.linalg.svd(X, compute_uv=False) ** 2
    bounds = [squares[k:].sum() / (m - k) for k in range(m)]

    plain = np.linalg.norm(X.T @ X - S.T @ S, 2)
    error = np.linalg.norm(X.T @ X - S.T @ S - state.sketch.gained[0] * np.eye(d), 2)

    assert error <= min(bounds) / 2 * (1 + 1e-6)
    assert error < 0.8 * plain


@pytest.mark.interpreted
@pytest.mark.parametrize("law", [*LAWS, *MERGING_LAWS], ids=lambda law: law.__name__)
def test_law(monkeypatch, law):
    entry = catalogue.find("son-fd")._replace(name="son-fd-robust", preset=(("robust", True), ("learning_rate", 6.0)))
    monkeypatch.setitem(catalogue.LEARNERS, "son-fd-robust", entry)

    law("son-fd-robust")


def test_another_module_learns_robustly():
    modules = [Model("son-fd", robust=robust_too).module.__name__ for robust_too in (False, True)]

    assert modules == [fd.__name__, robust.__name__]


def test_half_life_decays_what_alpha_has_gained():
    rows, labels = sparse_stream(200, 20, 5, seed=8)
    settings = fd.Settings(sketch_size=4.0, robust=True)
    state, _ = learn(robust, rows, labels, 20, settings)  # 50 epochs, the last one at its end
    before = state.sketch.gained[0]

    robust.fade(state, 0.5, settings)

    assert state.sketch.gained[0] == 0.5 * before > 0.0
