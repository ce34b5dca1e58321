"""Who takes part in the comparison of defaults: each a function of a task and examples to its progressive figure.

River's linear models learn behind its `StandardScaler`, scikit-learn's SGD behind its own, ten examples at a time;
Vowpal Wabbit by the logistic and the squared loss, and by coin betting; River's adaptive random forest (ARF),
aggregated Mondrian forest (AMF) and Hoeffding adaptive tree (HAT) as they are. Our own single learners stand there at
several step sizes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.model.model import Model
from ouzel.streams.block import Block

WIDE = 300  # features, above which dense peers are left out: their scalers take examples with all columns
FORESTS = ("ARF", "AMF", "HAT")
TREES, SEED = 10, 1  # of forests
PIECE = 10  # examples that scikit-learn predicts, and then learns, at a time
Figure = Callable[[str, Block], float]


def figure(task: str, predicted: np.ndarray, labels: np.ndarray) -> float:
    """The error rate, or the root mean square error of numbers."""
    if task == "numbers":
        return float(np.sqrt(np.mean((predicted - labels) ** 2)))
    return float(np.mean(predicted != labels))


def classes_of(block: Block) -> int:
    """Classes of a block; two where a sorted file begins with one alone."""
    return max(int(block.labels.max()) + 1, 2)


def ours(learner: str, **settings: Any) -> Figure:
    """A learner of ours."""

    def found(task: str, block: Block) -> float:
        how: dict[str, Any] = {"loss": "squared"} if task == "numbers" else {"classes": range(classes_of(block))}
        try:
            model = Model(learner, **how, **settings)
        except OuzelError:
            return float("nan")
        margins = model.learn(block).margins
        if task != "numbers":
            margins = margins > 0 if margins.ndim == 1 else margins.argmax(axis=1)
        return figure(task, margins, block.labels)

    return found


def rows_of(block: Block) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Ids and values of each example."""
    for i in range(block.rows):
        here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
        yield block.indices[here], block.values[here]


def river(softmax: bool) -> Figure:
    """River's linear model behind its scaler; every example has all columns, as the scaler wants it.

    Several classes are learnt by its softmax regression, or else one against the rest by logistic ones.
    """

    def found(task: str, block: Block) -> float:
        from river import linear_model, multiclass, preprocessing

        dimension = int(block.indices.max()) + 1
        if dimension > WIDE or (softmax and task == "numbers"):
            return float("nan")
        kinds: dict[str, Any] = {
            "two": linear_model.LogisticRegression,
            "several": lambda: multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
            "numbers": linear_model.LinearRegression,
        }
        model: Any = preprocessing.StandardScaler() | (linear_model.SoftmaxRegression if softmax else kinds[task])()
        return figure(task, one_by_one(model, task, block, dimension), block.labels)

    return found


def forest(kind: str) -> Figure:
    """River's forests of `TREES` trees, or its adaptive tree; trees of numbers learn behind its scaler."""

    def found(task: str, block: Block) -> float:
        from river import forest, preprocessing, tree

        dimension = int(block.indices.max()) + 1
        if dimension > WIDE:
            return float("nan")
        end = "Regressor" if task == "numbers" else "Classifier"
        model: Any = {
            "ARF": lambda: getattr(forest, f"ARF{end}")(n_models=TREES, seed=SEED),
            "AMF": lambda: getattr(forest, f"AMF{end}")(n_estimators=TREES, seed=SEED),
            "HAT": lambda: getattr(tree, f"HoeffdingAdaptiveTree{end}")(seed=SEED),
        }[kind]()
        if task == "numbers" and kind != "AMF":  # whose leaves are linear models
            model = preprocessing.StandardScaler() | model
        return figure(task, one_by_one(model, task, block, dimension), block.labels)

    return found


def one_by_one(model: Any, task: str, block: Block, dimension: int) -> np.ndarray:
    """Return the predictions (n,) of a model of River, each made before the example is learnt."""
    kind: Callable[[float], Any] = {"two": bool, "several": int, "numbers": float}[task]
    nothing = dict.fromkeys(range(dimension), 0.0)
    predicted = np.zeros(block.rows)
    for i, (ids, values) in enumerate(rows_of(block)):
        x = nothing | dict(zip(ids.tolist(), values.tolist(), strict=True))
        predicted[i] = model.predict_one(x) or 0.0
        model.learn_one(x, kind(block.labels[i]))
    return predicted


def scikit_learn(task: str, block: Block) -> float:
    """scikit-learn's SGD behind its scaler."""
    from sklearn.linear_model import SGDClassifier, SGDRegressor
    from sklearn.preprocessing import StandardScaler

    dimension = int(block.indices.max()) + 1
    if dimension > WIDE:
        return float("nan")
    dense = np.zeros((block.rows, dimension))
    for row, (ids, values) in zip(dense, rows_of(block), strict=True):
        row[ids] = values
    model: Any = SGDRegressor() if task == "numbers" else SGDClassifier(loss="log_loss")
    known = {} if task == "numbers" else {"classes": np.arange(classes_of(block))}
    scaler, predicted = StandardScaler(), np.zeros(block.rows)
    for start in range(0, block.rows, PIECE):
        here = slice(start, start + PIECE)
        x = scaler.partial_fit(dense[here]).transform(dense[here])
        if start:
            predicted[here] = np.clip(model.predict(x), -1e12, 1e12)
        model.partial_fit(x, block.labels[here], **known)
    return figure(task, predicted, block.labels)


def write_vw(block: Block, labels: np.ndarray, path: Path) -> None:
    """Write examples with these labels (n,) as Vowpal Wabbit text."""
    with path.open("w") as file:
        for label, (ids, values) in zip(labels, rows_of(block), strict=True):
            pairs = zip(ids.tolist(), values.tolist(), strict=True)
            file.write(f"{label:.10g} |" + "".join(f" {j}:{x:.8g}" for j, x in pairs) + "\n")


def vowpal_wabbit(flags: str, of_numbers: bool = True) -> Figure:
    """Vowpal Wabbit's own progressive figure."""

    def found(task: str, block: Block) -> float:
        if task == "numbers" and not of_numbers:
            return float("nan")
        labels = {"two": 2 * block.labels - 1, "several": block.labels + 1, "numbers": block.labels}[task]
        loss = (
            "" if "--loss_function" in flags else "--loss_function " + ("squared" if task == "numbers" else "logistic")
        )
        kind = {"two": "--binary", "several": f"--oaa {classes_of(block)}", "numbers": ""}[task]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "examples.vw")
            write_vw(block, labels, path)
            command = f"{sys.executable} -m vowpalwabbit --data {path} {flags} {loss} {kind}"
            done = subprocess.run(command.split(), capture_output=True, text=True, check=True)
        told = re.findall(r"average loss = (\S+)", done.stdout + done.stderr)[-1]
        return float(told) ** 0.5 if task == "numbers" else float(told)

    return found


PEERS: dict[str, Figure] = {
    "River": river(softmax=False),
    "River softmax": river(softmax=True),
    "scikit-learn": scikit_learn,
    "VW logistic": vowpal_wabbit("--loss_function logistic", of_numbers=False),
    "VW squared": vowpal_wabbit("--loss_function squared"),
    "VW coin": vowpal_wabbit("--coin"),
    **{kind: forest(kind) for kind in FORESTS},
}
"""Others, at their defaults: forests last, which take as long as all others together."""

STEPS = {"adagrad": (0.03, 0.1, 0.25, 1.0, 4.0), "ogd": (0.003, 0.03, 0.1, 0.5, 2.0), "son-oja": (0.1, 1.0, 10.0)}
TUNED: dict[str, Figure] = {
    **{f"{name} {step:g}": ours(name, learning_rate=step) for name, steps in STEPS.items() for step in steps},
    **{f"arow {r:g}": ours("arow", regularization=r) for r in (0.01, 0.1, 1.0, 10.0, 100.0)},
    **{f"scw1 {price:g}": ours("scw1", aggressiveness=price) for price in (0.01, 0.1, 1.0, 10.0)},
}
"""Single learners of ours at several settings; the best of them is known only afterwards."""

DEFAULT, FORGETS, LINES = "auto", "`auto`, half-life 1000", "`forms=raw`"
OURS: dict[str, Figure] = {
    DEFAULT: ours("auto"),
    FORGETS: ours("auto", forget=1000.0),
    LINES: ours("auto", forms="raw"),
}
ENTRANTS: dict[str, Figure] = {**OURS, **PEERS, **TUNED}
