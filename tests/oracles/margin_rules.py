"""The rules that part two classes, as their papers print them: one weight vector, labels -1 and +1, dense, slow.

Each takes (w, S, x, y, t), the state before round t, and gives the state after it; first-order rules hand S through.
"""

import numpy as np
from scipy.stats import norm

PHI = norm.ppf(0.75)


def perceptron(w, S, x, y, t):
    return (w + y * x, S) if y * (w @ x) <= 0 else (w, S)


def gradient_of_hinge(w, S, x, y, t):
    return (w + y * x / np.sqrt(t), S) if y * (w @ x) < 1 else (w, S)


def passive_aggressive(w, S, x, y, t):
    return w + max(0.0, 1 - y * (w @ x)) / (x @ x) * y * x, S


def passive_aggressive_1(w, S, x, y, t, C=0.3):
    return w + min(C, max(0.0, 1 - y * (w @ x)) / (x @ x)) * y * x, S


def passive_aggressive_2(w, S, x, y, t, C=0.3):
    return w + max(0.0, 1 - y * (w @ x)) / (x @ x + 1 / (2 * C)) * y * x, S


def romma(w, S, x, y, t, least=0.0):
    m, n, N = y * (w @ x), x @ x, w @ w
    if not w.any():
        return y * x / n, S
    if m > least or (least and m >= least):
        return w, S
    below = n * N - m**2
    return (n * N - m) / below * w + N * (1 - m) / below * y * x, S


def aggressive_romma(w, S, x, y, t):
    return romma(w, S, x, y, t, least=1.0)


def arow(w, S, x, y, t, r=1.0):
    m, v = y * (w @ x), x @ S @ x
    if m >= 1:
        return w, S
    beta = 1 / (v + r)
    return w + (1 - m) * beta * y * S @ x, S - beta * np.outer(S @ x, S @ x)


def narow(w, S, x, y, t, b=1.0):
    """Orabona's own code of it, DOGMA: theta, whose product with S is w, gains y x whatever r is."""
    m, v = y * (w @ x), x @ S @ x
    r = v / (b * v - 1) if v > 1 / b else np.inf
    if m * (r / (v + r) if r < np.inf else 1.0) >= 1:
        return w, S
    theta, narrower = np.linalg.solve(S, w) + y * x, S - np.outer(S @ x, S @ x) / (v + r)
    return narrower @ theta, narrower


def nherd(w, S, x, y, t, C=1.0):
    """Every weight vector of the Gaussian goes to A (w + C y S x); its mean and covariance follow."""
    if y * (w @ x) >= 1:
        return w, S
    A = np.linalg.inv(np.eye(len(x)) + C * np.outer(S @ x, x))
    return A @ (w + C * y * S @ x), A @ S @ A.T


def ellipsoid(w, S, x, y, t, c=0.1, b=0.3):
    m, g = y * (w @ x), y * x / np.sqrt(x @ S @ x)
    if m > 0:
        return w, S
    alpha, shrink = (1 - m) / np.sqrt(x @ S @ x), c * b**t
    return w + alpha * S @ g, (S - shrink * np.outer(S @ g, S @ g)) / (1 - shrink)


def _confident(w, S, x, y, alpha):
    v = x @ S @ x
    if alpha <= 0:
        return w, S
    u = 0.25 * (-alpha * v * PHI + np.sqrt(alpha**2 * v**2 * PHI**2 + 4 * v)) ** 2
    beta = alpha * PHI / (np.sqrt(u) + v * alpha * PHI)
    return w + alpha * y * S @ x, S - beta * np.outer(S @ x, S @ x)


def _alpha(m, v):
    psi, xi = 1 + PHI**2 / 2, 1 + PHI**2
    return (-m * psi + np.sqrt(m**2 * PHI**4 / 4 + v * PHI**2 * xi)) / (v * xi)


def confidence_weighted(w, S, x, y, t):
    return _confident(w, S, x, y, _alpha(y * (w @ x), x @ S @ x))


def soft_confidence_weighted_1(w, S, x, y, t, C=1.0):
    return _confident(w, S, x, y, min(C, _alpha(y * (w @ x), x @ S @ x)))


def soft_confidence_weighted_2(w, S, x, y, t, C=1.0):
    m, v = y * (w @ x), x @ S @ x
    n = v + 1 / (2 * C)
    root = PHI * np.sqrt(PHI**2 * m**2 * v**2 + 4 * n * v * (n + v * PHI**2))
    return _confident(w, S, x, y, (-(2 * m * n + PHI**2 * m * v) + root) / (2 * (n**2 + n * v * PHI**2)))


def confidence_weighted_by_variance(w, S, x, y, t):
    m, v = y * (w @ x), x @ S @ x
    if m >= PHI * v:
        return w, S
    half = 1 + 2 * PHI * m
    alpha = (-half + np.sqrt(half**2 - 8 * PHI * (m - PHI * v))) / (4 * PHI * v)
    return w + alpha * y * S @ x, np.linalg.inv(np.linalg.inv(S) + 2 * alpha * PHI * np.outer(x, x))


RULES = {
    "perceptron": perceptron,
    "ogd-multiclass": gradient_of_hinge,
    "pa": passive_aggressive,
    "pa1": passive_aggressive_1,
    "pa2": passive_aggressive_2,
    "romma": romma,
    "aromma": aggressive_romma,
    "arow": arow,
    "narow": narow,
    "nherd": nherd,
    "iellip": ellipsoid,
    "cw": confidence_weighted,
    "cw-variance": confidence_weighted_by_variance,
    "scw1": soft_confidence_weighted_1,
    "scw2": soft_confidence_weighted_2,
}


def margins(rule, X, labels, diagonal):
    """w.x before each round, of labels -1 and +1; a diagonal covariance keeps the diagonal after every round."""
    w, S, found = np.zeros(X.shape[1]), np.eye(X.shape[1]), []
    for t, (x, y) in enumerate(zip(X, labels, strict=True), start=1):
        found.append(w @ x)
        w, S = rule(w, S, x, y, t)
        S = np.diag(np.diag(S)) if diagonal else S
    return np.array(found)


def scores(rule, X, classes, K, diagonal):
    """Scores before each round of the rule on z = (x for the true class, -x for the best wrong one, 0 elsewhere).

    The vector of all classes' weights has the covariance S in each class's block. With a whole S what the step makes of
    a block is every class's next S; a diagonal S shrinks twice as far.
    """
    d = X.shape[1]
    W, S, found = np.zeros((K, d)), 0.5 * np.eye(d), []
    for t, (x, c) in enumerate(zip(X, classes, strict=True), start=1):
        s = W @ x
        found.append(s)
        wrong = max((k for k in range(K) if k != c), key=lambda k: (s[k], -k))
        z = np.zeros((K, d))
        z[c], z[wrong] = x, -x
        w, joint = rule(W.ravel(), np.kron(np.eye(K), S), z.ravel(), 1.0, t)
        W, block = w.reshape(K, d), joint[c * d : (c + 1) * d, c * d : (c + 1) * d]
        S = np.diag(np.maximum(2 * np.diag(block) - np.diag(S), 1e-12)) if diagonal else block
    return np.array(found)
