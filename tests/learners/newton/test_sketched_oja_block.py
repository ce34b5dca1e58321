"""Oja's sketch turned once for a block of gradients (section 3 of Luo et al. 2016)."""

import numpy as np
import pytest

from ouzel.learners import catalogue
from ouzel.learners.newton import sketched_oja as oja
from ouzel.learners.newton import sketched_oja_block as block
from ouzel.model.model import Model
from ouzel.sketches.spectral import block_oja
from ouzel.sketches.spectral.protocol import settled
from ouzel.terms.bounds import Clip, Project, projects
from ouzel.terms.losses import Squared
from ouzel.terms.starts import FirstSeen
from tests.checks.laws import LAWS
from tests.checks.merging_laws import MERGING_LAWS
from tests.learners.newton.test_sketched import dense_margins, learn, sparse_stream
from tests.oracles.sketched_newton import DenseBlockOja


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "view", [{"diagonal": False}, {"normalised": False}, {}], ids=["raw", "diagonal", "normalised"]
)
@pytest.mark.parametrize("bound", [Clip(), Project()])
@pytest.mark.parametrize(("m", "every"), [(0, 3), (1, 3), (5, 2), (5, 7), (3, 40)])
@pytest.mark.parametrize("by_mass", [True, False])
def test_sparse_and_dense_agree_round_by_round(view, bound, m, every, by_mass):
    rows, labels = sparse_stream(600, 30, 6, seed=m)
    common = {"diagonal": True, "normalised": True, "first_square": 0.3} | view
    settings = oja.Settings(
        Squared(), float(m), 0.125, 0.125, bound=bound, largest=1.0, start=FirstSeen(), by_mass=by_mass,
        sketch_every=float(every), **common,
    )  # fmt: skip
    dense = DenseBlockOja(30, m, 8.0, 0.125, 1.0, projects(bound), by_mass=by_mass, every=every, **common)

    state, margins = learn(block, rows, labels, 30, settings)

    np.testing.assert_allclose(margins, dense_margins(dense, rows, labels, 30), atol=1e-7)
    np.testing.assert_allclose(state.sketch.mass, dense.mass, rtol=1e-6)


def test_a_block_of_one_is_no_block():
    rows, labels = sparse_stream(500, 30, 6, seed=2)
    settings = oja.Settings(sketch_size=5.0)
    _, expected = learn(oja, rows, labels, 30, settings)

    _, margins = learn(block, rows, labels, 30, settings)

    np.testing.assert_allclose(margins, expected, atol=1e-9)


@pytest.mark.parametrize("kappa", [1.0, 1e4])
def test_directions_stay_orthonormal(kappa):
    rows, labels = sparse_stream(3000, 20, 5, seed=5, scale=np.geomspace(1.0, kappa, 20))
    state, _ = learn(block, rows, labels, 20, oja.Settings(sketch_size=6.0, sketch_every=7.0))
    sketch = settled(block_oja, state.sketch)

    V = np.hstack([block_oja.vectors(sketch), sketch.basis @ sketch.pool.T])

    assert abs(V @ V.T - np.eye(6)).max() < 1e-6


def test_blocks_lose_no_gradient():
    rows, labels = sparse_stream(6000, 20, 5, seed=8, scale=np.geomspace(10.0, 1.0, 20))
    found = []
    for every in (1.0, 3.0, 10.0):
        model = Model("son-oja", learning_rate=1e-6, sketch_every=every, sketch_size=20.0, diagonal=False)
        state, _ = learn(model.module, rows, labels, 20, model.settings)
        found.append(model.module.eigenvalues(state).sum())

    assert found[1:] == pytest.approx([found[0]] * 2, rel=0.02)


@pytest.mark.interpreted
@pytest.mark.parametrize("law", [*LAWS, *MERGING_LAWS], ids=lambda law: law.__name__)
def test_law(monkeypatch, law):
    entry = catalogue.find("son-oja")._replace(name="son-oja-block", preset=(("sketch_every", 3.0),))
    monkeypatch.setitem(catalogue.LEARNERS, "son-oja-block", entry)

    law("son-oja-block")


def test_another_module_learns_by_blocks():
    modules = [Model("son-oja", sketch_every=every).module.__name__ for every in (1, 2)]

    assert modules == [oja.__name__, block.__name__]
