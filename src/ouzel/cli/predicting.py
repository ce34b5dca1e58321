"""Predictions of a stream as columns, and their way to text, JSON lines or Parquet."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.learners.scoring import is_probabilistic, links_of, probabilities
from ouzel.models import Model
from ouzel.streams.block import Block

Outcome = dict[str, list[Any]]  # columns of equal length


def outcomes(model: Model, stream: Iterable[Block], kind: str) -> Iterator[Outcome]:
    """Columns of predictions, a block at a time."""
    if kind == "probabilities" and not (model.task == "classification" and is_probabilistic(model.loss)):
        raise OuzelError("probabilities need a model with the logistic loss; ask for margins or labels")
    for block in stream:
        yield _outcome(model, model.margins(block), kind)


def _outcome(model: Model, margins: np.ndarray, kind: str) -> Outcome:
    if model.task == "regression":
        linked = np.empty(len(margins))
        links_of(model.loss, margins, linked)
        return {"prediction" if kind == "labels" else "margin": (linked if kind == "labels" else margins).tolist()}
    known = model.classes.known
    order = model.classes.order()
    if margins.ndim == 1:
        sign = -1.0 if model.classes.reversed_pair() else 1.0
        if kind == "margins":
            return {"margin": (sign * margins).tolist()}
        if kind == "probabilities":
            table = probabilities(model.loss, margins) if len(known) > 1 else np.ones((len(margins), 1))
            return {str(known[k]): table[:, k].tolist() for k in order}
        return {"label": [known[min(int(margin > 0.0), len(known) - 1)] for margin in margins]}
    if kind == "labels":
        return {"label": [known[k] for k in margins.argmax(axis=1)]}
    table = margins if kind == "margins" else probabilities(model.loss, margins)
    return {str(known[k]): table[:, k].tolist() for k in order}


def write_lines(found: Iterator[Outcome], path: Path | None, as_json: bool) -> None:
    """A line for each example: its values between tabs, or a JSON object."""
    file = sys.stdout if path is None else path.open("w")
    try:
        for columns in found:
            rows = zip(*columns.values(), strict=True)
            if as_json:
                file.writelines(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
            else:
                file.writelines("\t".join(_text(value) for value in row) + "\n" for row in rows)
            file.flush()
    finally:
        if path is not None:
            file.close()


def _text(value: Any) -> str:
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def write_parquet(found: Iterator[Outcome], path: Path) -> None:
    """A Parquet file with the same columns."""
    import pyarrow
    import pyarrow.parquet

    writer = None
    try:
        for columns in found:
            if "label" in columns and any(isinstance(label, str) for label in columns["label"]):
                columns["label"] = list(map(str, columns["label"]))
            table = pyarrow.table(columns)
            writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema)
            writer.write_table(table.cast(writer.schema))
    finally:
        if writer is not None:
            writer.close()
