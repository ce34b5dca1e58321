"""The second-order perceptron against its definition."""

import numpy as np
import pytest

from tests.learners.classes import learn, stream
from tests.learners.streams import merged_states


def whitened(X, classes, K, diagonal, damping=1.0):
    """Scores of Figure 3.1 with a row of v for each class, the matrix inverted afresh in every round."""
    d = X.shape[1]
    A, V, found = damping * np.eye(d), np.zeros((K, d)), []
    for x, c in zip(X, classes, strict=True):
        with_x = A + np.outer(x, x)
        s = V @ np.linalg.solve(np.diag(np.diag(with_x)) if diagonal else with_x, x)
        found.append(s)
        wrong = max((k for k in range(K) if k != c), key=lambda k: (s[k], -k))
        if s[c] <= s[wrong]:
            V[c], V[wrong], A = V[c] + x, V[wrong] - x, with_x
    return np.array(found)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", ["sop", "sop-full"])
def test_scores_are_those_of_the_inverse_taken_afresh(name, classes):
    X, y = stream(60, 4, classes, seed=1)

    _, _, found, _ = learn(name, X, y, classes)

    np.testing.assert_allclose(found, whitened(X, y, classes, name == "sop"), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["sop", "sop-full"])
def test_merging_shards_adds_up_what_was_summed(name):
    X, y = stream(60, 4, 3, seed=2)
    module, one, _, settings = learn(name, X[:30], y[:30], 3)
    _, other, _, _ = learn(name, X[30:], y[30:], 3)

    merged = merged_states(module, [one, other], settings, 4, 3)

    np.testing.assert_allclose(merged.table, one.table + other.table, rtol=1e-6)
    if name == "sop":
        np.testing.assert_allclose(merged.energy, one.energy + other.energy - 1.0, rtol=1e-6)
    else:
        added = np.linalg.inv(one.inverse) + np.linalg.inv(other.inverse) - np.eye(4)
        np.testing.assert_allclose(np.linalg.inv(merged.inverse), added, rtol=1e-6, atol=1e-6)
