"""Census income as 0/1 features: columns in bins, and products of columns.

Duchi, Hazan & Singer (2011), section 6.4: continuous columns in five bins each, products of features, 4,001 features in
all. Which products they took is not said; here they are the most frequent ones among the first training rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from ouzel.comparison.shuffles import join
from ouzel.kernels.jit import kernel
from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import Block
from ouzel.streams.read import read
from reproduce.provenance import DataFolder

COLUMNS = tuple(f"c{k}" for k in range(42))  # the files have no header
WEIGHT, INCOME = "c24", "c41"
CONTINUOUS = ("c0", "c5", "c16", "c17", "c18", "c30", "c39")  # age, wage, gains, losses, dividends, employer, weeks
CODED = ("c2", "c3", "c36", "c38", "c40")  # numbers that are names: industry, occupation, …
BITS = 24
FEATURES = 4000  # and the constant
COUNTED_ON = 10_000


class Tokens(NamedTuple):
    """Rows of which each lists the values its columns have, as numbers."""

    values: np.ndarray  # (n, columns) int32, -1 where a column has none
    labels: np.ndarray  # (n,) float64

    def take(self, chosen: np.ndarray) -> Tokens:
        """The rows at these positions."""
        return Tokens(self.values[chosen], self.labels[chosen])


def tokens_of(data: DataFolder) -> tuple[Tokens, Tokens]:
    """The training and the test part; +1 is an income above 50,000 dollars."""
    names = ("census-income.data.csv.xz", "census-income.test.csv.xz")
    options: dict[str, Any] = {
        "columns": COLUMNS,
        "label": INCOME,
        "label_positive": "50000+.",
        "ignore": (WEIGHT,),
        "bits": BITS,
    }
    parts = [join(read(data / name, **options)) for name in names]
    coded = [_coded(part) for part in parts]
    width = max(codes.shape[1] for codes in coded)
    keys = [np.pad(codes, ((0, 0), (0, width - codes.shape[1])), constant_values=-1) for codes in coded]
    binned = _bins([_numbers(part, CONTINUOUS) for part in parts])
    both = [np.column_stack([key, bins]) for key, bins in zip(keys, binned, strict=True)]
    known = np.unique(both[0])
    known = known[known >= 0]
    tokens = []
    for part, values in zip(parts, both, strict=True):
        place = np.minimum(np.searchsorted(known, values), len(known) - 1)
        tokens.append(Tokens(np.where(known[place] == values, place, -1).astype(np.int32), part.labels))
    return tokens[0], tokens[1]


def _numbers(block: Block, columns: tuple[str, ...]) -> np.ndarray:
    """Values (n, columns) of numeric columns."""
    ids = [feature_id(column, 0, BITS) for column in columns]
    matrix = sparse.csr_array(
        (block.values, block.indices.astype(np.int64), block.offsets.astype(np.int64)), (block.rows, 1 << BITS)
    )
    return matrix.tocsc()[:, ids].toarray()


def _coded(block: Block) -> np.ndarray:
    """The names in each row as numbers (n, columns), -1 after the last; a coded column's value is such a name."""
    numeric = [feature_id(column, 0, BITS) for column in (*CONTINUOUS, *CODED)]
    named = ~np.isin(block.indices, numeric)
    row = np.repeat(np.arange(block.rows), (block.offsets[1:] - block.offsets[:-1]).astype(np.int64))[named]
    counts = np.bincount(row, minlength=block.rows)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    codes = np.full((block.rows, counts.max()), -1, np.int64)
    codes[row, place] = block.indices[named]
    beyond = (1 << BITS) * (1 + np.arange(len(CODED)))
    return np.column_stack([codes, beyond + _numbers(block, CODED).astype(np.int64)])


def _bins(parts: list[np.ndarray]) -> list[np.ndarray]:
    """Five bins a column by the training part's quantiles; where most values are 0, a bin for 0 and four for others."""
    found = [np.empty(part.shape, np.int64) for part in parts]
    for k, column in enumerate(parts[0].T):
        edges = np.unique(np.quantile(column, [0.2, 0.4, 0.6, 0.8]))
        if len(edges) < 4:
            edges = np.unique([0.0, *np.quantile(column[column > 0], [0.25, 0.5, 0.75])])
        for part, bins in zip(parts, found, strict=True):
            bins[:, k] = (1 << BITS) * (1 + len(CODED) + k) + np.searchsorted(edges, part[:, k])
    return found


def product_table(tokens: Tokens) -> np.ndarray:
    """Feature ids (tokens, tokens) of pairs a <= b, -1 where a pair has none: all single values, then products."""
    first = tokens.values[:COUNTED_ON]
    count = int(tokens.values.max()) + 1
    row, column = np.nonzero(first >= 0)
    present = sparse.csr_array((np.ones(len(row)), (row, first[row, column])), (len(first), count))
    together = sparse.triu(present.T @ present, k=1).tocoo()
    order = np.lexsort((together.col, together.row, -together.data))[: FEATURES - count]
    table = np.full((count, count), -1, np.int32)
    table[np.arange(count), np.arange(count)] = np.arange(count)
    table[together.row[order], together.col[order]] = count + np.arange(len(order))
    return table


@kernel
def _products(values, table, offsets, indices):
    """Fill CSR arrays with the features of each row; return their number."""
    filled = 0
    for i in range(len(values)):
        for a in values[i]:
            for b in values[i]:
                if a >= 0 and b >= a and table[a, b] >= 0:
                    indices[filled] = table[a, b]
                    filled += 1
        offsets[i + 1] = filled
    return filled


def block_of(tokens: Tokens, table: np.ndarray) -> Block:
    """The rows as a block of 0/1 features."""
    n, width = tokens.values.shape
    offsets, indices = np.zeros(n + 1, np.uint64), np.empty(n * width * (width + 1) // 2, np.uint32)
    filled = _products(tokens.values, table, offsets, indices)
    return Block(offsets, indices[:filled].copy(), np.ones(filled, np.float32), tokens.labels, np.ones(n, np.float32))
