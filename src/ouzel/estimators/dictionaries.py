"""Lists of dictionaries as input of estimators: examples that have features by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ouzel.errors import DataError, OuzelError
from ouzel.streams.block import ROWS, Block
from ouzel.streams.dictionaries import blocks_of_dictionaries
from ouzel.streams.interactions.deriver import Deriver
from ouzel.streams.options import Options

NO_ARRAY = "X is an array of numbers, a data frame, or a list of dictionaries of features"


class DictionaryRows:
    """Checked dictionaries, a row each, that become blocks whenever they are gone through."""

    def __init__(self, rows: Sequence[Mapping[Any, Any]]) -> None:
        self.rows, self.shape = rows, (len(rows),)

    def blocks(
        self, options: Options, labels: np.ndarray | None = None, label_names: Any = None, weights: Any = None
    ) -> Iterator[Block]:
        """Yield blocks with labels (n,), numbers or positions in `label_names`, and weights (n,)."""
        options, start = replace(options, unlabelled=False), 0
        for block in Deriver(options).derive(blocks_of_dictionaries(((row, 0.0) for row in self.rows), options, ROWS)):
            here = slice(start, start + block.rows)
            start += block.rows
            if labels is not None:
                block = block._replace(labels=labels[here], label_names=label_names)
            yield block if weights is None else block._replace(weights=weights[here])


def rows_of_dictionaries(X: Any) -> DictionaryRows | None:
    """The rows of a list (or a column, or an array) of dictionaries; None if X is something else.

    Raises an error of one line for one dictionary alone, a generator, and what is among dictionaries and is none.

    >>> rows_of_dictionaries([{"sun": 1.0}, {"cloud": 1.0}]).shape
    (2,)
    >>> rows_of_dictionaries({"sun": 1.0})
    Traceback (most recent call last):
    ouzel.errors.OuzelError: X is one dictionary; give a list of them, or one example to learn_one and predict_one
    """
    if isinstance(X, Mapping) and not hasattr(X, "dtype"):  # as a sparse matrix by keys has, which is a mapping too
        raise OuzelError("X is one dictionary; give a list of them, or one example to learn_one and predict_one")
    if isinstance(X, Iterator):
        raise OuzelError("X can be gone through only once; give list(X), or examples one by one to learn_one")
    objects = getattr(getattr(X, "dtype", None), "kind", "") == "O" and len(np.shape(X)) == 1
    if not (objects or isinstance(X, (list, tuple))):
        return None
    rows = list(X)
    if not any(isinstance(row, Mapping) for row in rows):
        return None
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise DataError.at("X", repr(row), "an example is a dictionary of features", row=number)
    return DictionaryRows(rows)
