"""Full-matrix AdaGrad from a sketch (Feinberg et al. 2023)."""

import numpy as np
import pytest

from ouzel.learners.gradient import sketched_adagrad
from ouzel.learners.newton.sketched import Settings
from ouzel.learners.rows import Rows
from ouzel.terms.bounds import Clip, Project, projects
from ouzel.terms.losses import Squared
from tests.learners.newton.test_sketched import dense_margins, learn, sparse_stream
from tests.oracles.sketched_newton import DenseSketchedAdaGrad


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "view", [{"diagonal": False}, {"normalised": False}, {}], ids=["raw", "diagonal", "normalised"]
)
@pytest.mark.parametrize("bound", [Clip(), Project()])
@pytest.mark.parametrize("m", [1, 5])
def test_sparse_and_dense_agree_round_by_round(view, bound, m):
    rows, labels = sparse_stream(400, 30, 6, seed=m)
    common = {"diagonal": True, "normalised": True, "first_square": 0.3} | view
    settings = Settings(Squared(), float(m), 0.125, 1.0, bound=bound, largest=1.0, **common)
    dense = DenseSketchedAdaGrad(30, m, 0.3, 0.125, 1.0, 1.0, projects(bound), **common)

    state, margins = learn(sketched_adagrad, rows, labels, 30, settings)

    np.testing.assert_allclose(margins, dense_margins(dense, rows, labels, 30), atol=1e-8)
    assert state.sketch.escaped[0] == pytest.approx(dense.alpha)


def by_equations(rows, labels, d, rate, delta):
    """Full-matrix AdaGrad, w <- w - rate (sum g g' + delta I)^-1/2 g."""
    w, G, margins = np.zeros(d), delta * np.eye(d), []
    for i, y in enumerate(labels):
        here = slice(int(rows.offsets[i]), int(rows.offsets[i + 1]))
        x = np.zeros(d)
        x[rows.indices[here]] = rows.values[here]
        margins.append(w @ x)
        g = (margins[-1] - y) * x
        G += np.outer(g, g)
        squares, V = np.linalg.eigh(G)
        w = w - rate * V @ ((V.T @ g) / np.sqrt(squares))
    return np.array(margins)


@pytest.mark.interpreted
def test_the_loss_is_near_that_of_the_full_matrix_where_little_escapes_the_sketch():
    """Theorem 3: regret beyond that of full-matrix AdaGrad grows with what has escaped; each at its best step."""
    d, count, rng = 20, 1000, np.random.default_rng(4)
    spread = np.geomspace(10.0, 1e-3, d)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    latent = rng.normal(size=(count, d))
    labels = latent[:, :8].sum(axis=1)
    slots = np.tile(np.arange(d, dtype=np.uint32), count)
    rows = Rows(np.arange(0, count * d + 1, d).astype(np.uint64), slots, np.ravel(latent * spread @ turn))
    rates = (0.25, 0.5, 1.0, 2.0, 4.0)

    def loss(margins):
        return np.mean((margins - labels) ** 2)

    full = min(loss(by_equations(rows, labels, d, rate, 0.1)) for rate in rates)
    losses = {}
    for m in (0, 4, 12):
        each = [Settings(Squared(), float(m), rate, 1.0, diagonal=False) for rate in rates]
        losses[m] = min(loss(learn(sketched_adagrad, rows, labels, d, settings)[1]) for settings in each)

    assert losses[12] < 1.1 * full
    assert losses[12] < losses[4] < losses[0]
