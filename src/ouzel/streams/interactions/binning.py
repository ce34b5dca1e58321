"""Bins and hinges: numbers replaced by the bin they are in, or supplemented by how far they are above edges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import ClassVar, NamedTuple

import numpy as np

from ouzel.kernels.jit import force_inline, kernel
from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import Block, Names
from ouzel.streams.feature_specs import bin_names, hinge_names, spec_for
from ouzel.streams.interaction_inputs import InteractionInputs
from ouzel.streams.interactions.append import fitting, merge_row, put_feature
from ouzel.streams.interactions.bin_edges import Edges
from ouzel.streams.interactions.transform import RowsIn, RowsOut, Transform
from ouzel.streams.options import Options

NEITHER, BINS, HINGES = 0, 1, 2
ZERO = np.uint64(0)


class Table(NamedTuple):
    """The edges of each field, and the hashes of its bins or hinges."""

    order: np.ndarray  # (fields,) int64, in the order of their names
    kinds: np.ndarray  # (fields,) int64: NEITHER, BINS, HINGES
    own: np.ndarray  # (fields,) uint64, hashes of the features whose values the numbers are
    edges: np.ndarray  # (k,) float64
    bounds: np.ndarray  # (fields + 1,) int64, where the edges of each field lie
    hashes: np.ndarray  # (l,) uint64, of all bits
    starts: np.ndarray  # (fields,) int64, where the hashes of each field begin


@force_inline
def _above(table, field, number):
    """The number of a field's edges that are not above a number."""
    low, high = table.bounds[field], table.bounds[field + 1]
    first = low
    while low < high:
        middle = (low + high) // 2
        if number < table.edges[middle]:
            high = middle
        else:
            low = middle + 1
    return low - first


@kernel
def count_binned(inputs, table, counts):
    """Write to `counts` (n,) how many bins and hinges each row gets at most."""
    for row in range(len(counts)):
        total = 0.0
        for k in range(inputs.bounds[row, 0], inputs.bounds[row, 1]):
            field = inputs.fields[k]
            if table.kinds[field] == BINS:
                total += 1.0
            elif table.kinds[field] == HINGES:
                total += table.bounds[field + 1] - table.bounds[field]
        counts[row] = total


@kernel
def bin_entries(table, fields, hashes, values, bins):
    """Replace inputs that are binned numbers by their bins, and write these to `bins` (k,) int64, -1 for others."""
    for k in range(len(fields)):
        field = fields[k]
        bins[k] = -1
        if table.kinds[field] == BINS and np.uint64(hashes[k]) == table.own[field]:
            place = table.starts[field] + _above(table, field, np.float64(values[k]))
            bins[k] = place
            hashes[k], values[k] = table.hashes[place], 1.0


@kernel
def bin_rows(rows, table, mask, out):
    """Write rows to `out`, with bins in place of binned numbers, and hinges after the other features."""
    inputs = rows.inputs
    count = ZERO
    out.offsets[0] = 0
    for row in range(rows.start, rows.stop):
        begun = count
        low, high = inputs.bounds[row, 0], inputs.bounds[row, 1]
        for k in range(rows.offsets[row], rows.offsets[row + 1]):
            identity, value = np.uint64(rows.ids[k]), np.float64(rows.values[k])
            for j in range(low, high):
                field = inputs.fields[j]
                own = table.own[field]
                if table.kinds[field] == BINS and own & mask == identity and np.uint64(inputs.hashes[j]) == own:
                    value -= np.float64(inputs.values[j])
                    if value == 0.0:
                        identity = mask + np.uint64(1)
            if identity <= mask:
                count = put_feature(identity, value, count, out)
        own = count
        for field in table.order:
            if table.kinds[field] == NEITHER:
                continue
            for j in range(low, high):
                if inputs.fields[j] != field or np.uint64(inputs.hashes[j]) != table.own[field]:
                    continue
                number, start = np.float64(inputs.values[j]), table.starts[field]
                above = _above(table, field, number)
                if table.kinds[field] == BINS:
                    identity = table.hashes[start + above] & mask
                    count = put_feature(identity, 1.0, count, out)
                    continue
                for k in range(above):
                    over = fitting(number - table.edges[table.bounds[field] + k])
                    if over > 0.0:
                        identity = table.hashes[start + k] & mask
                        count = put_feature(identity, over, count, out)
        count = merge_row(begun, own, count, out)
        out.offsets[row + 1 - rows.start] = count


Plan = tuple[Table, list[str]]  # and the names of all bins and hinges


class BinTransform(Transform):
    """Makes the bins and hinges of a stream's options, once their edges are known."""

    kind: ClassVar[str] = "bins and hinges"

    def __init__(self, options: Options, edges: Edges) -> None:
        super().__init__(options)
        self.edges = edges
        self.seed = options.seed

    def plan(self, names: tuple[str, ...]) -> Plan:
        """The edges of each field, and the names of its bins or hinges."""
        kinds: list[int] = []
        called: list[list[str]] = []
        edges = [self.edges.found.get(name, ()) for name in names]
        for name, known in zip(names, edges, strict=True):
            binned = spec_for(self.edges.bins, name) is not None
            made = bin_names(name, known) if binned else hinge_names(name, known)
            some = name in self.edges.found
            kinds.append((BINS if binned else HINGES) if some else NEITHER)
            called.append(made if some else [])
        hashes = [feature_id(name, self.seed, 32) for some in called for name in some]
        own = [self.edges.own_hash(name) for name in names]
        table = Table(
            np.array(sorted(range(len(names)), key=names.__getitem__), np.int64),
            np.array(kinds, np.int64),
            np.array(own, np.uint64),
            np.array([edge for some in edges for edge in some], np.float64),
            np.array([0, *accumulate(map(len, edges))], np.int64),
            np.array(hashes, np.uint64),
            np.array([0, *accumulate(map(len, called))], np.int64)[:-1],
        )
        return table, [name for some in called for name in some]

    def count(self, plan: Plan, inputs: InteractionInputs, counts: np.ndarray) -> int:
        """Write to `counts` (n,) how many bins and hinges each row gets at most."""
        count_binned(inputs.entries, plan[0], counts)
        return 1

    def make(self, plan: Plan, inputs: InteractionInputs, rows: RowsIn, out: RowsOut) -> int:
        """Write rows with the bins and hinges of their numbers."""
        bin_rows(rows, plan[0], self.mask, out)
        return 0

    def names(self, plan: Plan, inputs: InteractionInputs, out: RowsOut, named: int) -> Names | None:
        """The names of all bins and hinges, once."""
        if self.emitted.count:
            return None
        self.emitted.count = 1
        table, called = plan
        ids = (table.hashes & self.mask).astype(np.uint32)
        return Names.joined(Names.of_one(int(feature), name) for feature, name in zip(ids, called, strict=True))

    def parts(self, block: Block, whole: bool = False) -> Iterator[Block]:
        """A block with bins in place of numbers, and with hinges; its inputs have the bins, too."""
        assert block.interaction_inputs is not None
        if not self.edges.fixed:
            yield block
            return
        binned = self._binned(block.interaction_inputs)
        for part in super().parts(block, whole):
            assert part.interaction_inputs is not None
            bounds = part.interaction_inputs.entries.bounds
            yield part._replace(interaction_inputs=binned._replace(entries=binned.entries._replace(bounds=bounds)))

    def _binned(self, inputs: InteractionInputs) -> InteractionInputs:
        """The inputs, with bins in place of numbers."""
        table, called = self.plan(inputs.names)
        entries = inputs.entries
        hashes, values, bins = entries.hashes.copy(), entries.values.copy(), np.empty(len(entries.fields), np.int64)
        bin_entries(table, entries.fields, hashes, values, bins)
        some = bins >= 0
        text = np.frombuffer("".join(called).encode(), np.uint8)
        ends = np.cumsum([0, *(len(name.encode()) for name in called)]).astype(np.uint64) + np.uint64(len(entries.text))
        starts, stops, whole = entries.starts.copy(), entries.ends.copy(), entries.whole.copy()
        starts[some], stops[some], whole[some] = ends[:-1][bins[some]], ends[1:][bins[some]], True
        moved = entries._replace(
            hashes=hashes,
            values=values,
            starts=starts,
            ends=stops,
            whole=whole,
            text=np.concatenate([entries.text, text]) if some.any() else entries.text,
        )
        return inputs._replace(entries=moved)
