"""Arrays and sparse matrices given to estimators: hostile types, shapes, ids, values and weights."""

from __future__ import annotations

import json
import traceback
from random import Random
from typing import Any

import numpy as np
import scipy.sparse as sparse

from torture.targets.base import Target, check_finite

ESTIMATORS = (
    "OnlineGradientClassifier", "OnlineGradientRegressor", "AutoRateClassifier", "AdaGradClassifier",
    "FeatureHashingClassifier",
    "AWMSketchClassifier", "PerceptronClassifier", "AROWClassifier", "SketchedNewtonClassifier", "AdaGradRanker",
)  # fmt: skip
TYPES = (
    "f2",
    "f4",
    "f8",
    "g",
    "i1",
    "i8",
    "u1",
    "u4",
    "u8",
    "?",
    "c8",
    "O",
    "U3",
    "S2",
    "M8[s]",
    "m8[s]",
    ">f8",
    ">i4",
    "V4",
)
IDS = (0, 1, 5, 2**16, 2**32, 2**32 + 1, 2**40, 2**62, 2**63 - 1, -1)
LARGE_IDS = (
    *IDS,
    2**31 - 1,
    2**31,
    2**32 - 2,
    2**32 - 1,
)  # for learners of a budget: others may take the memory they need
VALUES = (0.0, 1.0, -2.5, 1e-45, 3.4e38, 3.5e38, 1e39, 1e308, np.inf, -np.inf, np.nan)
ANSWERED = (f"sklearn{'/'}", "scipy/sparse")  # whose own checks of arrays speak for themselves


class Arrays(Target):
    name = "arrays"
    weight = 2
    about = "estimators on hostile arrays and sparse matrices"
    breeding = 0.0

    def make(self, random: Random) -> bytes:
        return json.dumps({"seed": random.getrandbits(48)}).encode()

    def mutate(self, data: bytes, random: Random) -> bytes:
        return self.make(random)

    def run(self, data: bytes, random: Random) -> str:
        import ouzel

        random = Random(json.loads(data)["seed"])
        kind = getattr(ouzel, random.choice(ESTIMATORS))
        given = {"budget": "4KB"} if "budget" in kind().get_params() else {}
        estimator = kind(**given)
        outcomes = []
        for _ in range(random.choice((1, 1, 2, 3))):
            rows = random.choice((0, 1, 2, 7, 20))
            X, y = _examples(random, rows, LARGE_IDS if given else IDS), _labels(random, rows)
            outcomes.append(_call(estimator, X, y, random))
        return " ".join(sorted(set(outcomes)))


def _call(estimator: Any, X: Any, y: Any, random: Random) -> str:
    """Learn and predict; what scikit-learn's own checks refuse is refused."""
    extra = {}
    if random.random() < 0.2 and not hasattr(estimator, "pairs"):
        extra["sample_weight"] = _weights(random, np.shape(y)[0] if np.ndim(y) else 1)
    method = random.choice(("fit", "fit", "partial_fit", "predict", "decision_function", "score"))
    try:
        if method == "fit":
            estimator.fit(X, y, **extra)
        elif method == "partial_fit":
            estimator.partial_fit(X, y, **extra)
        elif method == "score":
            score = estimator.score(X, y)
            regression = hasattr(estimator, "scale_targets")  # R^2 is not defined of one example
            if not hasattr(estimator, "pairs") and not (regression and np.shape(y)[0] < 2):  # nor a score of groups
                check_finite("a score", score)
        if hasattr(estimator, "model_"):
            for ask in ("predict", "decision_function", "predict_proba"):
                if hasattr(estimator, ask) and getattr(estimator.model_, "examples", 0):
                    check_finite(f"{ask} of {type(estimator).__name__}", getattr(estimator, ask)(X))
    except (ValueError, TypeError, AttributeError) as error:
        frames = [
            frame.filename for frame in traceback.extract_tb(error.__traceback__) if "numpy" not in frame.filename
        ]
        if type(error).__name__ in ("NotFittedError",) or any(part in frames[-1] for part in ANSWERED):
            return "refused"
        raise
    return method


def _examples(random: Random, rows: int, ids: tuple[int, ...]) -> Any:
    """Examples: dense, sparse, or nothing of the kind."""
    some = random.random()
    if some < 0.45:
        return _dense(random, rows)
    if some < 0.9:
        try:
            return _sparse(random, rows, ids)
        except ValueError:  # SciPy itself sees the contradiction
            return sparse.csr_matrix(np.eye(max(rows, 1)))
    return random.choice(
        (None, [], [[]], [[1, 2], [3]], "text", 3.5, [{"a": 1}], np.zeros((2, 3, 4)), np.float64(1), [[None]])
    )


def _dense(random: Random, rows: int) -> Any:
    columns = random.choice((0, 1, 3, 8))
    with np.errstate(all="ignore"):
        cells = [random.choice(VALUES) if random.random() < 0.1 else random.gauss(0, 1) for _ in range(rows * columns)]
        X = np.array(cells).reshape(rows, columns)
        if random.random() < 0.6:
            try:
                X = X.astype(random.choice(TYPES))
            except (ValueError, TypeError):
                return X
    shape = random.choice(("as it is", "as it is", "fortran", "reversed", "strided", "read only", "one row", "masked"))
    if shape == "fortran":
        return np.asfortranarray(X)
    if shape == "reversed":
        return X[::-1, ::-1]
    if shape == "strided":
        return np.repeat(X, 2, axis=1)[:, ::2]
    if shape == "read only":
        X.flags.writeable = False
    if shape == "one row":
        return X[:1].ravel()
    if shape == "masked" and X.dtype.kind == "f":
        return np.ma.masked_invalid(X)
    return X


def _sparse(random: Random, rows: int, extreme: tuple[int, ...]) -> Any:
    """A matrix of any layout, with ids, offsets and values that may contradict each other."""
    size = random.choice((0, 1, 5, 30)) if rows else 0
    offsets = np.sort(np.array([0, *(random.randrange(size + 1) for _ in range(max(rows - 1, 0))), size])[: rows + 1])
    wide = random.random() < 0.4
    ids = np.array([random.choice(extreme) if wide else random.randrange(8) for _ in range(size)], np.int64)
    values = np.array([random.choice(VALUES) if random.random() < 0.05 else random.gauss(0, 1) for _ in range(size)])
    width = int(max(ids.max() + 1, 8)) if size and ids.max() < 2**63 - 1 else 8
    kind = random.choice((sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix))
    X = kind((rows, width) if kind is not sparse.csc_matrix else (width, rows), dtype=np.float64)
    X.data, X.indices, X.indptr = values, ids, offsets
    contradicts = wide
    if random.random() < 0.15 and len(offsets):
        contradicts = True
        X.indptr = offsets.copy()
        X.indptr[random.randrange(len(offsets))] = random.choice((-1, size + 1, 2**31, 2**40))
    if random.random() < 0.1:
        contradicts = True
        X.indices = X.indices[: size // 2]
    if random.random() < 0.1:
        X.data = values.astype(random.choice(("f4", "i8", "c16", "g", "?")))
    if kind is sparse.csc_matrix:
        return X.T
    if random.random() < 0.1 and not contradicts:  # SciPy itself would read foreign memory
        try:
            return random.choice((X.tocoo, X.tolil, X.todok, X.tobsr))()
        except Exception:
            return X
    return X


def _labels(random: Random, rows: int) -> Any:
    some = random.random()
    if some < 0.6:
        return np.array([random.choice((0, 1)) for _ in range(rows)])
    cells: list[Any] = [random.choice((0, 1, 2, -1, "a", None, np.nan, 1.5, True, 1e300, np.inf)) for _ in range(rows)]
    if some < 0.7:
        return cells
    if some < 0.8:
        return np.array(cells, object)
    if some < 0.9:
        return np.array([random.gauss(0, 1) for _ in range(rows)])
    return random.choice(
        (None, 3, np.zeros((rows, 2)), np.zeros(rows + 1), np.array(["a"] * rows), np.zeros(rows, "M8[s]"))
    )


def _weights(random: Random, rows: int) -> Any:
    return np.array([random.choice((1.0, 0.0, 1e9, 1e-45, -1.0, np.nan, np.inf, 1e39)) for _ in range(rows)])
