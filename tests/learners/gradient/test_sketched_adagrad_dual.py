"""Full-matrix AdaGrad from a sketch by dual averaging (Yang et al. 2025)."""

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.learners.gradient import sketched_adagrad
from ouzel.learners.gradient import sketched_adagrad_dual as dual
from ouzel.learners.newton.sketched import Settings
from ouzel.model.model import Model
from ouzel.sketches.spectral import dual_averaging_directions as sketch
from ouzel.terms.bounds import Clip, Project, projects
from ouzel.terms.losses import Squared
from tests.checks.laws import LAWS
from tests.checks.merging_laws import MERGING_LAWS
from tests.learners.newton.test_sketched import dense_margins, learn, sparse_stream
from tests.oracles.sketched_newton import DenseSketchyLeader


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "view", [{"diagonal": False}, {"normalised": False}, {}], ids=["raw", "diagonal", "normalised"]
)
@pytest.mark.parametrize("bound", [Clip(), Project()])
@pytest.mark.parametrize("m", [1, 5])
def test_sparse_and_dense_agree_round_by_round(view, bound, m):
    rows, labels = sparse_stream(250, 30, 6, seed=m)
    common = {"diagonal": True, "normalised": True, "first_square": 0.3} | view
    settings = Settings(Squared(), float(m), 0.125, 1.0, bound=bound, largest=1.0, dual_averaging=True, **common)
    dense = DenseSketchyLeader(30, m, 0.3**0.5, 0.125, 1.0, 1.0, projects(bound), **common)

    state, margins = learn(dual, rows, labels, 30, settings)

    np.testing.assert_allclose(margins, dense_margins(dense, rows, labels, 30), atol=1e-8)
    assert state.sketch.escaped[0] == pytest.approx(dense.alpha)


@pytest.mark.interpreted
@pytest.mark.parametrize("law", [*LAWS, *MERGING_LAWS], ids=lambda law: law.__name__)
def test_law(law, monkeypatch):
    entry = catalogue.find("sketched-adagrad")
    preset = (*entry.preset, ("dual_averaging", True))
    monkeypatch.setitem(
        catalogue.LEARNERS, "sketched-adagrad-rda", entry._replace(name="sketched-adagrad-rda", preset=preset)
    )

    law("sketched-adagrad-rda")


@pytest.mark.interpreted
@pytest.mark.parametrize("m", [0, 4])
def test_forgetting_keeps_the_weights_and_a_part_of_the_sketch(m):
    rows, labels = sparse_stream(203, 20, 5, seed=3)
    settings = Settings(Squared(), float(m), 0.25, 1.0, dual_averaging=True)
    state, _ = learn(dual, rows, labels, 20, settings)
    before = dual.weights(state, settings)

    dual.fade(state, 0.5, settings)

    np.testing.assert_allclose(dual.weights(state, settings), before, atol=1e-9)
    own = state.sketch
    assert m == 0 or not own.pending.any()
    u = own.table @ own.dual
    np.testing.assert_allclose(own.along[0, 2 : 2 + m], own.table[:, 2 : 2 + m].T @ u, atol=1e-9)


@pytest.mark.interpreted
def test_products_with_the_directions_are_kept_as_both_change():
    """After two hundred epochs, six of them with a sweep."""
    rows, labels = sparse_stream(800, 20, 5, seed=5)
    settings = Settings(Squared(), 4.0, 0.25, 1.0, dual_averaging=True)
    state, _ = learn(dual, rows, labels, 20, settings)

    table = sketch.sketch.up_to_date(state.sketch)
    np.testing.assert_allclose(state.sketch.along[0, 2:6], table[:, 2:6].T @ (table @ state.sketch.dual), atol=1e-9)


def test_another_module_averages():
    modules = [Model("sketched-adagrad", dual_averaging=too).module.__name__ for too in (False, True)]

    assert modules == [sketched_adagrad.__name__, dual.__name__]
