"""Progressive error with no setting at all, beside the defaults of others, on the same examples in the same order.

Sets are scikit-learn's own and those of a folder of files, shuffled so many times and cut to so many examples. Peers
are River's logistic, softmax and linear regression behind its `StandardScaler`, scikit-learn's `SGDClassifier` and
`SGDRegressor` behind its scaler, ten examples at a time, Vowpal Wabbit by the logistic and the squared loss, and single
learners of ours, the best of which is chosen after the fact. A set counts in the means where a peer makes 50 mistakes.
"""

from __future__ import annotations

import argparse
import json
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
from ouzel.streams.memory import blocks_from
from ouzel.streams.read import read

NO_HEADER = {"adult.data.csv.xz": 15, "census-income.data.csv.xz": 42, "kddcup99_10_percent.csv.xz": 42}
SVMLIGHT = (
    "a9a australian breast-cancer_scale covtype_sample diabetes heart ijcnn1 mushrooms pendigits phishing "
    "satimage.scale segment.scale usps vehicle_sensit_sample vowel w1a rcv1_binary_sample 20news url_sample"
)
FILES: dict[str, dict[str, Any]] = {
    **{f"{name}.svm.xz": {} for name in SVMLIGHT.split()},
    **{name: {"label": f"c{n - 1}", "columns": tuple(f"c{i}" for i in range(n))} for name, n in NO_HEADER.items()},
    "magic04.csv.xz": {"label": "c10", "columns": tuple(f"c{i}" for i in range(11))},
    "electricity.csv.xz": {"label": "class"},
    "connect-4.tsv.xz": {"label": "target"},
    "dna.tsv.xz": {"label": "target"},
    "shuttle.tsv.xz": {"label": "target"},
    "netflow_ctu.csv.xz": {"label": "capture"},
    "mnist.t10k-images-idx3-ubyte.gz": {},
}
NUMBERS = ("nswdemand", "nswprice")  # columns of electricity.csv.xz that are predicted from the others
BUNDLED = {"wine": "several", "breast_cancer": "two", "iris": "several", "digits": "several", "diabetes": "numbers"}
OURS = ("adagrad", "ogd", "arow", "scw1", "son-oja")
WIDE = 300  # features, above which River is left out: its scaler takes an example as a dictionary of all columns
ENOUGH = 50  # mistakes of a peer


def collected(blocks: Iterator[Block]) -> Block:
    """All examples of a stream as one block, features numbered through, classes 0, 1, …"""
    offsets, indices, values, labels = [np.zeros(1, np.int64)], [], [], []
    for block in blocks:
        here = slice(int(block.offsets[0]), int(block.offsets[-1]))
        offsets.append(block.offsets[1:].astype(np.int64) - here.start + offsets[-1][-1])
        indices.append(block.indices[here])
        values.append(block.values[here])
        names = block.label_names
        labels.append(block.labels if names is None else np.array(names)[block.labels.astype(int)])
    numbered = np.unique(np.concatenate(indices), return_inverse=True)[1].astype(np.uint32)
    classes = np.unique(np.concatenate(labels), return_inverse=True)[1].astype(float)
    ones = np.ones(len(classes), np.float32)
    return Block(np.concatenate(offsets).astype(np.uint64), numbered, np.concatenate(values), classes, ones)


def shuffled(block: Block, seed: int, most: int) -> Block:
    """At most so many examples in random order."""
    order = np.random.default_rng(seed).permutation(block.rows)[:most]
    return block.select(order)


def sets(folder: Path, chosen: list[str]) -> Iterator[tuple[str, str, Block]]:
    """Name, task and examples of every set that is there, of those chosen if any are."""
    from sklearn import datasets

    def wanted(name: str) -> bool:
        return not chosen or name in chosen

    for name, task in filter(lambda item: wanted(item[0]), BUNDLED.items()):
        found = getattr(datasets, f"load_{name}")(**({"scaled": False} if name == "diabetes" else {}))
        labels = found.target.astype(float)
        yield f"{name} *", task, collected(blocks_from(found.data.astype(np.float32), labels))._replace(labels=labels)
    for file, options in FILES.items():
        if wanted(file.split(".")[0]) and (folder / file).exists():
            block = collected(read(folder / file, **options))
            yield file.split(".")[0], "two" if block.labels.max() == 1.0 else "several", block
    for column in filter(wanted, NUMBERS) if (folder / "electricity.csv.xz").exists() else ():
        parts = list(read(folder / "electricity.csv.xz", label=column))
        block = collected(iter(parts))
        yield column, "numbers", block._replace(labels=np.concatenate([part.labels for part in parts]))


def figure(task: str, predicted: np.ndarray, labels: np.ndarray) -> float:
    """The error rate, or the root mean square error of numbers."""
    if task == "numbers":
        return float(np.sqrt(np.mean((predicted - labels) ** 2)))
    return float(np.mean(predicted != labels))


def ours(learner: str, task: str, block: Block) -> float:
    """Progressive error of a learner of ours at its defaults."""
    try:
        model = Model(learner, **({"loss": "squared"} if task == "numbers" else {"classes": range(_classes(block))}))
    except OuzelError:
        return float("inf")
    margins = model.learn(block).margins
    if task != "numbers":
        margins = margins > 0 if margins.ndim == 1 else margins.argmax(axis=1)
    return figure(task, margins, block.labels)


def _classes(block: Block) -> int:
    return int(block.labels.max()) + 1


def rows_of(block: Block) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Ids and values of each example."""
    for i in range(block.rows):
        here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
        yield block.indices[here], block.values[here]


def river(task: str, block: Block) -> float:
    """River's linear model behind its scaler; every example has all columns, as its scaler wants it."""
    from river import linear_model, preprocessing

    dimension = int(block.indices.max()) + 1
    if dimension > WIDE:
        return float("nan")
    kinds: dict[str, Any] = {
        "two": linear_model.LogisticRegression,
        "several": linear_model.SoftmaxRegression,
        "numbers": linear_model.LinearRegression,
    }
    model: Any = preprocessing.StandardScaler() | kinds[task]()
    kind: Callable[[float], Any] = {"two": bool, "several": int, "numbers": float}[task]
    nothing = dict.fromkeys(range(dimension), 0.0)
    predicted = np.zeros(block.rows)
    for i, (ids, values) in enumerate(rows_of(block)):
        x = nothing | dict(zip(ids.tolist(), values.tolist(), strict=True))
        predicted[i] = model.predict_one(x) or 0.0
        model.learn_one(x, kind(block.labels[i]))
    return figure(task, predicted, block.labels)


def scikit_learn(task: str, block: Block) -> float:
    """scikit-learn's SGD behind its scaler, pieces of 10 examples predicted and then learnt."""
    from sklearn.linear_model import SGDClassifier, SGDRegressor
    from sklearn.preprocessing import StandardScaler

    dimension, piece = int(block.indices.max()) + 1, 10
    if dimension > WIDE:
        return float("nan")
    dense = np.zeros((block.rows, dimension))
    for row, (ids, values) in zip(dense, rows_of(block), strict=True):
        row[ids] = values
    model: Any = SGDRegressor() if task == "numbers" else SGDClassifier(loss="log_loss")
    known = {} if task == "numbers" else {"classes": np.arange(_classes(block))}
    scaler, predicted = StandardScaler(), np.zeros(block.rows)
    for start in range(0, block.rows, piece):
        here = slice(start, start + piece)
        x = scaler.partial_fit(dense[here]).transform(dense[here])
        if start:
            predicted[here] = np.clip(model.predict(x), -1e12, 1e12)
        model.partial_fit(x, block.labels[here], **known)
    return figure(task, predicted, block.labels)


def vowpal_wabbit(loss: str, task: str, block: Block) -> float:
    """Vowpal Wabbit's own progressive figure at its defaults."""
    if task == "numbers" and loss != "squared":
        return float("nan")
    labels = {"two": 2 * block.labels - 1, "several": block.labels + 1, "numbers": block.labels}[task]
    kind = {"two": "--binary", "several": f"--oaa {_classes(block)}", "numbers": ""}[task]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "examples.vw")
        with path.open("w") as file:
            for label, (ids, values) in zip(labels, rows_of(block), strict=True):
                pairs = zip(ids.tolist(), values.tolist(), strict=True)
                file.write(f"{label:.10g} |" + "".join(f" {j}:{x:.8g}" for j, x in pairs) + "\n")
        command = f"{sys.executable} -m vowpalwabbit --data {path} --loss_function {loss} {kind}"
        done = subprocess.run(command.split(), capture_output=True, text=True, check=True)
    loss_found = float(re.findall(r"average loss = ([\d.e+-]+)", done.stdout + done.stderr)[-1])
    return loss_found**0.5 if task == "numbers" else loss_found


PEERS: dict[str, Callable[[str, Block], float]] = {
    "River": river,
    "scikit-learn": scikit_learn,
    "VW logistic": lambda task, block: vowpal_wabbit("logistic", task, block),
    "VW squared": lambda task, block: vowpal_wabbit("squared", task, block),
    "best of ours": lambda task, block: min(ours(learner, task, block) for learner in OURS),
}


def summary(results: dict[str, dict[str, float]]) -> Iterator[str]:
    """For each peer: sets, geometric mean of the ratios to it, sets won, the worst ratio."""
    for peer in PEERS:
        ratios = {
            name: row["auto"] / row[peer]
            for name, row in results.items()
            if np.isfinite(row.get(peer, np.nan)) and row[peer] > 0.0 and row["counts"]
        }
        if ratios:
            mean = np.exp(np.mean(np.log(list(ratios.values()))))
            worst = max(ratios, key=lambda name: ratios[name])
            won = sum(ratio < 1.0 for ratio in ratios.values())
            yield f"{peer}: {mean:.3f}, {won} of {len(ratios)} won, worst {ratios[worst]:.2f} ({worst})"


def main() -> None:
    """Print the table, a line a set, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--rows", type=int, default=20_000, help="at most so many examples of each set")
    parser.add_argument("--only", default="", help="names of sets, comma-separated")
    parser.add_argument("--json", type=Path, help="where to keep the figures")
    given = parser.parse_args()
    chosen = given.only.split(",") if given.only else []
    print("| set | `auto` | " + " | ".join(PEERS) + " |\n| --- |" + " ---: |" * (1 + len(PEERS)), flush=True)
    results: dict[str, dict[str, dict[str, float]]] = {"classes": {}, "numbers": {}}
    for name, task, block in sets(given.data, chosen):
        orders = [shuffled(block, seed, given.rows) for seed in range(given.shuffles)]
        row = {"auto": float(np.mean([ours("auto", task, order) for order in orders]))}
        row |= {peer: float(np.mean([run(task, order) for order in orders])) for peer, run in PEERS.items()}
        shown = [f"{row[who]:.4g}" if np.isfinite(row[who]) else "–" for who in row]
        mistakes = max((row[peer] for peer in PEERS if np.isfinite(row[peer])), default=0.0) * orders[0].rows
        row["counts"] = float(task == "numbers" or mistakes >= ENOUGH)
        results["numbers" if task == "numbers" else "classes"][name] = row
        print(f"| {name} | {' | '.join(shown)} |", flush=True)
        if given.json:
            given.json.write_text(json.dumps(results))
    for kind, rows in results.items():
        print(f"\n{kind}:", *summary(rows), sep="\n")


if __name__ == "__main__":
    main()
