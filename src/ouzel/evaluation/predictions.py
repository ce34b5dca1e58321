"""What a model says of a block, as columns a person or a file can take."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.files import write_atomically
from ouzel.model.losses import is_probabilistic, links_of, probabilities
from ouzel.model.model import Model
from ouzel.streams.block import Block


class Predictions(NamedTuple):
    """Predictions of a block, classes in the order shown."""

    labels: np.ndarray | None  # (n,) labels of classes, or predicted numbers; None of a ranking, which has scores
    margins: np.ndarray  # (n, columns)
    probabilities: np.ndarray | None  # (n, classes)
    names: list[str]  # of the classes

    def columns(self, only: str | None) -> dict[str, np.ndarray]:
        """The columns of a table: all of them, or only "labels", "margins" or "probabilities"."""
        if self.labels is None:
            return {"score": self.margins[:, 0]}
        found = {"label": self.labels} if only in (None, "labels") else {}
        if only in (None, "margins"):
            found |= _spread("margin", self.margins, self.names)
        if only in (None, "probabilities"):
            if self.probabilities is not None:
                shown = self.probabilities if len(self.names) > 2 else self.probabilities[:, 1:]
                found |= _spread("probability", shown, self.names)
            elif only is not None:
                raise OuzelError("this model's loss gives no probabilities; train with", loss="logistic")
        return found


def predictions_of(model: Model, block: Block) -> Predictions:
    """Predictions of a block by a model that has learnt something."""
    margins = model.margins(block)
    if model.task == "ranking":
        return Predictions(None, margins[:, None], None, [])
    if model.task == "regression":
        numbers = np.empty(len(margins))
        links_of(model.loss, margins, numbers)
        return Predictions(numbers, margins[:, None], None, [])
    known, order = model.classes.known, model.classes.order()
    if not known:
        raise OuzelError("the model has learnt no class yet; train it first")
    if margins.ndim == 1:
        margins = -margins if model.classes.reversed_pair() else margins
        chosen = np.minimum(margins > 0.0, len(known) - 1).astype(np.intp)
    else:
        margins = margins[:, order]
        chosen = margins.argmax(axis=1)
    shares = None
    if is_probabilistic(model.loss) and len(known) > 1:
        shares = probabilities(model.loss, margins, model.joint)
    labels = np.array([known[k] for k in order])[chosen]
    return Predictions(
        labels, margins[:, None] if margins.ndim == 1 else margins, shares, [str(known[k]) for k in order]
    )


def write_parquet(parts: Iterator[Predictions], path: str | Path) -> int:
    """Write predictions, one part or more, to a Parquet file, in one step at the end; return how many."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    tables = (pyarrow.table(part.columns(None)) for part in parts)
    first = next(tables)
    rows = 0
    with write_atomically(path) as file, ParquetWriter(file, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)
            rows += table.num_rows
    return rows


def _spread(name: str, values: np.ndarray, classes: list[str]) -> dict[str, np.ndarray]:
    """One column, or one a class."""
    if values.shape[1] == 1:
        return {name: values[:, 0]}
    return {f"{name}:{label}": values[:, k] for k, label in enumerate(classes)}
