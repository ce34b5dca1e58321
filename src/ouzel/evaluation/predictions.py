"""What a model says of a block, as columns a person or a file can take."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from ouzel.errors import OuzelError
from ouzel.files import write_atomically
from ouzel.model.answers import Answers
from ouzel.model.model import Model
from ouzel.streams.block import Block


class Predictions(Answers):
    """Answers as columns of a table, the names of classes in their headings."""

    def columns(self, only: str | None) -> dict[str, np.ndarray]:
        """The columns of a table: all of them, or only "labels", "margins" or "probabilities"."""
        if self.labels is None:
            return {"score": self.margins[:, 0]}
        found = {"label": self.labels} if only in (None, "labels") else {}
        if only in (None, "margins"):
            found |= self._spread("margin", self.margins)
        if only in (None, "probabilities"):
            if self.probabilities is not None:
                columns = self.probabilities if len(self.classes) > 2 else self.probabilities[:, 1:]
                found |= self._spread("probability", columns)
            elif only is not None:
                raise OuzelError("this model's loss gives no probabilities; train with", loss="logistic")
        return found

    def _spread(self, name: str, values: np.ndarray) -> dict[str, np.ndarray]:
        """One column, or one a class."""
        if values.shape[1] == 1:
            return {name: values[:, 0]}
        return {f"{name}:{label}": values[:, k] for k, label in enumerate(self.classes)}


def predictions_of(model: Model, block: Block) -> Predictions:
    """Predictions of a block by a model that has learnt something."""
    return Predictions(*model.answers(block))


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
