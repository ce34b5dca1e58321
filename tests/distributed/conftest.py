"""Files to learn in rounds, small enough for every engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

ROWS, FEATURES = 1200, 30


def examples(rows: int = ROWS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Dense-ish rows of a noisy rule, and labels 1 and -1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, FEATURES)).round(3) * (rng.random((rows, FEATURES)) < 0.3)
    rule = np.random.default_rng(7).normal(size=FEATURES)
    return X, np.where(X @ rule + 0.3 * rng.normal(size=rows) > 0, 1, -1)


def svmlight_lines(X: np.ndarray, y: np.ndarray) -> list[str]:
    return [
        f"{label} " + " ".join(f"{j + 1}:{row[j]}" for j in np.flatnonzero(row))
        for row, label in zip(X, y, strict=True)
    ]


@pytest.fixture
def svm(tmp_path: Path) -> Path:
    path = tmp_path / "some.svm"
    path.write_text("\n".join(svmlight_lines(*examples())) + "\n")
    return path
