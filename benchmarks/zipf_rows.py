"""A stream of the size and shape of RCV1's, made up: so many non-zeros a row, features drawn by Zipf's law."""

from __future__ import annotations

import numpy as np

from ouzel.streams.block import Block

DRAWS = 2  # features drawn a non-zero wanted: repeats within a row are dropped
ROWS_AT_ONCE = 10_000


def zipf_block(rows: int, nonzeros: int, features: int, seed: int = 0) -> Block:
    """Rows of norm 1; labels by a hidden weight vector, one in ten of them wrong."""
    rng = np.random.default_rng(seed)
    reach = np.cumsum(1.0 / np.arange(1, features + 1))
    names = rng.permutation(features).astype(np.uint32)
    chosen = [_rows(rng, min(ROWS_AT_ONCE, rows - k), nonzeros, reach) for k in range(0, rows, ROWS_AT_ONCE)]
    indices = np.sort(names[np.concatenate(chosen)], axis=1)
    values = np.abs(rng.standard_normal(indices.shape, np.float32)) + np.float32(0.1)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    hidden = rng.standard_normal(features, np.float32)
    right = rng.random(rows) > 0.1
    labels = np.where(((values * hidden[indices]).sum(axis=1) > 0) == right, 1.0, -1.0)
    offsets = np.arange(0, rows * nonzeros + 1, nonzeros).astype(np.uint64)
    return Block(offsets, indices.ravel(), values.ravel(), labels, np.ones(rows, np.float32))


def _rows(rng: np.random.Generator, rows: int, nonzeros: int, reach: np.ndarray) -> np.ndarray:
    """Ranks (rows, nonzeros), none twice in a row."""
    drawn = np.searchsorted(reach, rng.random((rows, DRAWS * nonzeros)) * reach[-1]).astype(np.int64)
    drawn.sort(axis=1)
    order = rng.random(drawn.shape)
    order[:, 1:][drawn[:, 1:] == drawn[:, :-1]] = 2.0
    kept = np.argpartition(order, nonzeros, axis=1)[:, :nonzeros]
    return np.take_along_axis(drawn, kept, axis=1)
