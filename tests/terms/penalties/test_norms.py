"""Norms and projections solve their problem: first-order conditions on thousands of instances, cvxpy on hundreds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.terms.names import resolve_penalty
from ouzel.terms.penalties.diagonal_prox import minimise, require_minimiser
from ouzel.terms.penalties.domains import Box, L1Ball, L2Ball
from ouzel.terms.penalties.l1_and_l2 import L1, ElasticNet, NoPenalty, SquaredL2
from ouzel.terms.penalties.norms import L2Norm, MaxNorm
from ouzel.terms.penalties.water_filling import level_of

KINDS = pytest.mark.parametrize("kind", [L2Norm, MaxNorm, L1Ball, L2Ball], ids=lambda kind: kind.__name__)


@kernel
def solve(term, linear, metric, strength, out, work):
    minimise(term, linear, metric, strength, out, work)


def minimiser(term, linear, metric, strength=1.0):
    out = np.full(len(linear), np.nan)
    solve(term, linear, metric, strength, out, np.empty((2, len(linear))))
    return out


def instances(count, seed):
    """(linear, metric, size): zeros, ties, equal and wild scales, unseen coordinates, sizes 0, tiny and huge."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        d = int(rng.integers(1, 9))
        linear = rng.normal(size=d) * 10.0 ** rng.integers(-3, 4)
        metric = np.exp(rng.normal(size=d) * rng.choice([0.1, 1.0, 6.0]))
        shape = rng.integers(6)
        if shape == 0:
            linear[rng.random(d) < 0.5] = 0.0
        elif shape == 1:
            linear = np.round(linear)  # ties
            metric[:] = 1.0
        elif shape == 2:
            linear[:] = linear[0] * rng.choice([-1.0, 1.0], d)
            metric[:] = metric[0]
        elif shape == 3:
            background_state = rng.random(d) < 0.4
            linear[background_state] = metric[background_state] = 0.0
        scale = np.abs(linear).sum() + 1e-3
        yield linear, metric, float(rng.choice([0.0, 1e-6, 1e9, scale * rng.random(), scale * rng.random() ** 4]))


def violation(term, u, h, x):
    """How far x is from the first-order conditions, in units of the largest |u|: 0 at the minimiser."""
    g = -(u + h * x)  # must be a subgradient of the penalty, or lie in the normal cone of the domain
    unit = np.abs(u).max(initial=0.0) + 1e-300
    if isinstance(term, L2Norm):
        size = np.linalg.norm(x)
        gap = g - term.l1 * x / size if size > 0 else max(np.linalg.norm(g) - term.l1, 0.0)
    elif isinstance(term, MaxNorm):
        gap = [
            max(np.abs(g).sum() - term.l1, 0.0),
            max(term.l1 * np.abs(x).max() - g @ x, 0.0) / np.abs(x).max(initial=1),
        ]
    else:
        order = 1 if isinstance(term, L1Ball) else 2
        size = np.linalg.norm(x, order)
        rounding = 1e-14 * np.abs(np.divide(u, h, out=np.zeros_like(u), where=h > 0)).max()
        assert size <= term.radius * (1 + 1e-9) + rounding
        dual = np.abs(g).max() if order == 1 else np.linalg.norm(g)
        inside = size < term.radius * (1 - 1e-9) - rounding
        gap = dual if inside else (term.radius * dual - g @ x) / max(term.radius, 1e-300)
    return np.abs(gap).max() / unit


@KINDS
def test_first_order_conditions_hold_on_thousands_of_instances(kind):
    for u, h, size in instances(4000, seed=1):
        x = minimiser(kind(size), u, h)

        assert violation(kind(size), u, h, x) < 1e-8, (u, h, size, x)


@KINDS
@pytest.mark.filterwarnings("ignore")  # of cvxpy's solvers
def test_a_general_convex_solver_finds_no_better_point(kind):
    cvxpy = pytest.importorskip("cvxpy")
    x = cvxpy.Variable(6)
    linear, root, size = cvxpy.Parameter(6), cvxpy.Parameter(6, nonneg=True), cvxpy.Parameter(nonneg=True)
    norm = {L2Norm: 2, MaxNorm: "inf", L1Ball: 1, L2Ball: 2}[kind]
    smooth = linear @ x + cvxpy.sum_squares(cvxpy.multiply(root, x)) / 2
    is_ball = kind in (L1Ball, L2Ball)
    problem = (
        cvxpy.Problem(cvxpy.Minimize(smooth), [cvxpy.norm(x, norm) <= size])
        if is_ball
        else cvxpy.Problem(cvxpy.Minimize(smooth + size * cvxpy.norm(x, norm)))
    )
    rng = np.random.default_rng(2)
    for number in range(60):
        u, h = rng.normal(size=6), rng.exponential(size=6) + 0.05
        if number % 3 == 0:
            u, h = np.round(u), np.ones(6)
        linear.value, root.value, size.value = u, np.sqrt(h), float(rng.random() * 2)
        problem.solve(solver="CLARABEL")

        np.testing.assert_allclose(minimiser(kind(size.value), u, h), x.value, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize(
    "penalty", [NoPenalty(), L1(0.4), SquaredL2(0.3), ElasticNet(0.4, 0.3), Box(-0.2, 0.5)], ids=str
)
def test_separable_penalties_are_solved_coordinate_by_coordinate(penalty):
    rng = np.random.default_rng(3)
    u, h = rng.normal(size=5), rng.exponential(size=5) + 0.1
    u[0] = h[0] = 0.0
    l1, l2 = getattr(penalty, "l1", 0.0), getattr(penalty, "l2", 0.0)
    grid = np.linspace(-12, 12, 240_001)
    if isinstance(penalty, Box):
        grid = grid[(grid >= penalty.low) & (grid <= penalty.high)]
    expected = [
        grid[np.argmin(a * grid + b * grid**2 / 2 + 2 * l1 * abs(grid) + l2 * grid**2)]
        for a, b in zip(u, h, strict=True)
    ]

    x = minimiser(penalty, u, h, strength=2.0)

    assert x[0] == 0.0
    np.testing.assert_allclose(x[1:], np.clip(expected[1:], -12, 12), atol=2e-4)


@given(
    st.lists(st.tuples(st.floats(0, 5), st.floats(0.01, 5)), min_size=1, max_size=30),
    st.sampled_from([0.0, 0.1, 1.0, 10.0]),
)
def test_what_sticks_out_above_the_level_is_the_total(pairs, total):
    breaks, slopes = (np.array(column) for column in zip(*pairs, strict=True))

    level = level_of(breaks.copy(), slopes.copy(), total)

    above = (slopes * np.maximum(breaks - level, 0.0)).sum()
    assert level == 0.0 or above == pytest.approx(total, abs=1e-9)
    assert level > 0.0 or above <= total + 1e-9


def test_selection_takes_linear_time_where_all_breaks_are_equal():
    assert level_of(np.ones(1_000_000), np.ones(1_000_000), 10.0) == pytest.approx(1.0 - 1e-5)


def test_norms_have_names():
    assert resolve_penalty("l2-norm", l1=0.5) == L2Norm(0.5)
    with pytest.raises(OuzelError, match="Did you mean 'max-norm'"):
        resolve_penalty("max-nrm", l1=0.5)


def test_a_term_without_a_minimiser_is_refused():
    with pytest.raises(OuzelError, match="MaxNorm"):
        require_minimiser("l2", "adagrad-eager")
