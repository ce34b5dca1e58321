"""Inputs of a graph: examples as arrays of ids and values; and examples to test a graph with."""

from __future__ import annotations

import numpy as np

from ouzel.model.model import Model
from ouzel.streams.block import Block

NONE = -1  # the id of no feature
PROBES, LONGEST = 96, 24


def padded(block: Block) -> dict[str, np.ndarray]:
    """The inputs `ids` (n, k) int64 and `values` (n, k) float32 of a graph, for the longest example of a block.

    >>> from ouzel.streams.memory import blocks_from
    >>> (block,) = blocks_from([({0: 1.0, 4: 0.5}, None), ({4: 2.0}, None)])
    >>> {name: array.tolist() for name, array in padded(block).items()}
    {'ids': [[0, 4], [4, -1]], 'values': [[1.0, 0.5], [2.0, 0.0]]}
    """
    offsets = block.offsets.astype(np.int64)
    lengths = np.diff(offsets)
    filled = np.arange(max(1, int(lengths.max(initial=1)))) < lengths[:, None]
    ids, values = np.full(filled.shape, NONE, np.int64), np.zeros(filled.shape, np.float32)
    here = slice(offsets[0], offsets[-1])
    ids[filled], values[filled] = block.indices[here], block.values[here]
    return {"ids": ids, "values": values}


def probes(model: Model) -> Block:
    """Examples of features that a model may have learnt, of all sizes; the first has none."""
    random = np.random.default_rng(0)
    known = np.arange(model.dimension - 1)
    if not model.budgeted:
        known = np.flatnonzero(np.abs(model.weights()[:, 1:]).max(axis=0) > 0.0)
    lengths = np.minimum(np.append(0, random.integers(1, LONGEST, PROBES - 1)), len(known))
    ids = [random.choice(known, length, replace=False) for length in lengths]
    sizes = np.repeat(10.0 ** random.uniform(-2.0, 2.0, PROBES), lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    return Block(
        offsets=offsets,
        indices=np.concatenate(ids).astype(np.uint32),
        values=(random.standard_normal(int(offsets[-1])) * sizes).astype(np.float32),
        labels=np.full(PROBES, np.nan),
        weights=np.ones(PROBES, np.float32),
        space=model.space,
    )
