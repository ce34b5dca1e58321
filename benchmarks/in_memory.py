"""Calls on data in memory beside the kernel alone, scikit-learn's SGDClassifier and River, as ratios with their aims.

A busy machine makes all of them slower alike, so ratios are what to compare. The candidates take turns, and the median
of five is taken of each, in seconds of processor and in one thread. The kernel alone has rows that lie ready for it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sparse
from river import linear_model, optim, preprocessing
from sklearn.linear_model import SGDClassifier
from text import zipf_rows
from threadpoolctl import threadpool_limits
from zipf_rows import zipf_block

import ouzel
from ouzel.learners.protocol import Multiclass
from ouzel.streams.memory import to_block

ROUNDS = 5
FEATURES, NONZEROS, COLUMNS = 47_236, 76, 30
NAMES = [f"column {k}" for k in range(COLUMNS)]
OF_KERNEL, OF_SGD, OF_RIVER, OF_SCALED = "kernel", "SGD", "River", "River behind a scaler"

Calls = dict[str, Callable[[], Any]]


def medians(calls: Calls) -> dict[str, float]:
    """The median time of each call in seconds, all of them by turns."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()  # kernels are compiled
    for _ in range(ROUNDS):
        for name, call in calls.items():
            begun = time.thread_time()
            call()
            found[name].append(time.thread_time() - begun)
    return {name: median(seconds) for name, seconds in found.items()}


class Line(NamedTuple):
    """A line of a table."""

    what: str
    seconds: float  # of a call
    ratios: dict[str, tuple[float, float]]  # to the time of others by their names, and what is aimed at


def line(what: str, calls: Calls, aims: dict[str, float]) -> Line:
    """The time of the call "ouzel", and its ratios to others with their aims."""
    found = medians({"ouzel": calls["ouzel"], **{name: calls[name] for name in aims}})
    return Line(what, found["ouzel"], {name: (found["ouzel"] / found[name], aim) for name, aim in aims.items()})


def of_many(
    name: str, X: Any, y: np.ndarray, learner: str, aims: dict[str, float], array: Any = None
) -> Iterator[Line]:
    """Lines of the calls on many rows; of a table, that `array` has the same numbers."""
    model, peer = ouzel.OnlineClassifier(learner).partial_fit(X, y), SGDClassifier(loss="log_loss")
    plain = X if array is None else array
    if OF_SGD in aims:
        peer.partial_fit(plain, y, classes=np.unique(y))
    alone = ouzel.OnlineClassifier(learner).partial_fit(plain, y).model_
    rows, weights = alone.raw_rows(to_block(plain)), np.ones(len(y), np.float32)
    several = isinstance(alone.module, Multiclass)
    targets, margins = (y, np.empty((len(y), 2))) if several else (2.0 * y - 1.0, np.empty(len(y)))
    learn: Calls = {
        OF_KERNEL: lambda: alone.module.learn_rows(alone.states[0], rows, targets, weights, alone.settings, margins),
        OF_SGD: lambda: peer.partial_fit(plain, y),
    }
    predict: Calls = {OF_KERNEL: lambda: alone.module.predict_rows(alone.states[0], rows, alone.settings, margins)}
    yield line(f"{name}, `partial_fit`", {"ouzel": lambda: model.partial_fit(X, y), **learn}, aims)
    if learner == "adagrad":
        fitting: Calls = {"ouzel": lambda: ouzel.OnlineClassifier(learner).fit(X, y), **learn}
        yield line(f"{name}, `fit`", fitting, {OF_KERNEL: aims[OF_KERNEL]})
    for call in ("predict", "predict_proba"):
        theirs: Calls = {"ouzel": lambda call=call: getattr(model, call)(X), **predict}
        theirs[OF_SGD] = lambda call=call: getattr(peer, call)(plain)
        yield line(f"{name}, `{call}`", theirs, aims)


def of_one(name: str, rows: list[dict[str, float]], labels: list[bool]) -> Iterator[Line]:
    """Lines of the calls with one example each."""
    ours, bare = ouzel.AdaGradClassifier(), linear_model.LogisticRegression(optim.AdaGrad())
    scaled = preprocessing.StandardScaler() | linear_model.LogisticRegression(optim.AdaGrad())
    peers = {"ouzel": ours, OF_RIVER: bare, OF_SCALED: scaled}

    def learning(model: Any) -> Callable[[], None]:
        def learn() -> None:
            for x, y in zip(rows, labels, strict=True):
                model.learn_one(x, y)

        return learn

    def predicting(model: Any, call: str) -> Callable[[], None]:
        def predict() -> None:
            one = getattr(model, call)
            for x in rows:
                one(x)

        return predict

    found = {peer: learning(model) for peer, model in peers.items()}
    yield line(f"{name}, `learn_one`", found, {OF_RIVER: 0.2, OF_SCALED: 0.2})
    for call in ("predict_one", "predict_proba_one"):
        found = {peer: predicting(model, call) for peer, model in peers.items()}
        yield line(f"{name}, `{call}`", found, {OF_RIVER: 2.0, OF_SCALED: 1.0})


def many(n: int) -> Iterator[Line]:
    """Calls with `n` rows at once; seconds are those of the call."""
    block, rng = zipf_block(n, NONZEROS, FEATURES), np.random.default_rng(0)
    arrays = block.values, block.indices.astype(np.int32), block.offsets.astype(np.int32)
    wide, y = sparse.csr_matrix(arrays, shape=(n, FEATURES)), (block.labels > 0).astype(np.int64)
    dense, truth = _dense(n, rng)
    both = {OF_KERNEL: 1.5, OF_SGD: 0.6}
    yield from products({"sparse": wide, "dense": dense, "dense, columns first": np.asfortranarray(dense)})
    yield from of_many("sparse", wide, y, "adagrad", both)
    yield from of_many("dense", dense, truth, "adagrad", both)
    yield from of_many("dense, single precision", dense.astype(np.float32), truth, "adagrad", both)
    yield from of_many("dense, columns first", np.asfortranarray(dense), truth, "adagrad", both)
    frame = pd.DataFrame(dense, columns=NAMES)
    for kind, table in ("pandas", frame), ("polars", pl.from_pandas(frame)), ("Arrow", pa.table(frame)):
        yield from of_many(kind, table, truth, "adagrad", {OF_KERNEL: 1.5}, dense)
    yield from of_many("dense, `auto`", dense, truth, "auto", {OF_KERNEL: 1.5, OF_SGD: 2.0})


def products(arrays: dict[str, Any]) -> Iterator[Line]:
    """Lines of the product of each array with weights, which is the least that a prediction must do: no ratios."""
    for name, X in arrays.items():
        weights = np.ones(X.shape[1], X.dtype)
        found = medians({"product": lambda X=X, weights=weights: X @ weights})
        yield Line(f"{name}, product alone", found["product"], {})


def one_by_one(count: int = 1000) -> Iterator[Line]:
    """Calls with one example each; seconds are those of an example."""
    dense, truth = _dense(count, np.random.default_rng(0))
    columns = [dict(zip(NAMES, row, strict=True)) for row in dense.tolist()]
    found = [*of_one("30 columns", columns, truth.astype(bool).tolist())]
    ids, values, labels = zipf_rows(count)
    pairs = zip(ids.tolist(), values.tolist(), strict=True)
    words = [{f"word={j}": x for j, x in zip(row, numbers, strict=True)} for row, numbers in pairs]
    found += of_one("76 words", words, (labels > 0).tolist())
    yield from (one._replace(seconds=one.seconds / count) for one in found)


def _dense(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    dense = rng.standard_normal((n, COLUMNS))
    return dense, (dense @ rng.standard_normal(COLUMNS) + 3.0 * rng.standard_normal(n) > 0).astype(np.int64)


def table(lines: Iterable[Line], unit: str, scale: float) -> Iterator[str]:
    """The lines of a table in Markdown."""
    yield f"| call | {unit} | ratios |\n| --- | ---: | --- |"
    for what, seconds, ratios in lines:
        shown = [f"{ratio:.2f} of {name} (aim {aim:g})" for name, (ratio, aim) in ratios.items()]
        yield f"| {what} | {seconds * scale:.1f} | {'; '.join(shown)} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    n = parser.parse_args().rows
    warnings.simplefilter("ignore")  # of values of 1,000 times their usual size
    threadpool_limits(1)
    for row in [*table(many(n), "ms", 1e3), "", *table(one_by_one(), "µs", 1e6)]:
        print(row, flush=True)


if __name__ == "__main__":
    main()
