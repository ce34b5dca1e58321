"""Arrays as the tensors of a file: rows that changed since the beginning, packed where that pays.

What an array held at first is known from its layout (`ouzel.layout`). Of an array in which few rows are otherwise,
these are stored, and which they are: arrays that changed in like places share a list of them. If most rows have become
like another one, that is stored too. Everything is compressed that becomes smaller by it (`packed_bytes`), unless that
takes longer than writing all that the array has: whole arrays of more than a megabyte never are, many rows only if a
sample says so. What is not compressed stands in the file as it is in memory, so that processes may map it.
`tensor_reader` makes states of tensors again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ouzel.layout import flat
from ouzel.learners.protocol import State
from ouzel.model.changed_rows import changed_rows, common_row, first_row
from ouzel.model.packed_bytes import is_square, pack, pieces_of, rows_at_once
from ouzel.model.tensor_reader import COMMON, LISTS

TINY, TRIED = 256, 1 << 20  # bytes of a tensor that is not packed, and up to which packing is tried on all of it
WORTHWHILE, WORTHWHILE_MANY = 0.95, 0.5  # packed size, of what a tensor takes as it is
FEW_ROWS = 16  # of an array that is stored whole unless they are like the first
MANY, SAMPLE = 4, 1 << 16  # the part of an array up to which many rows are packed; bytes of rows to try it on
FEW, PART = 64, 8  # rows, and the part of a list, by which another one may be longer and still be shared
PADDED = 4096  # rows that are stored of an array though they have not changed, or as many as have


class Tensor(NamedTuple):
    """What stands in a file under one name."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    pieces: Callable[[], Iterator[np.ndarray]]  # the array, part by part
    square: bool = False  # whether it is packed by triangles
    packed: bool = False
    data: bytes | None = None  # of a small one that is packed

    @property
    def size(self) -> int:
        """Bytes as it is in memory."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def alignment(self) -> int:
        """Bytes of a number in the file."""
        return 1 if self.packed else self.dtype.itemsize

    def parts(self) -> Iterator[Any]:
        """What is written, part by part."""
        if self.data is not None:
            yield self.data
        elif self.packed:
            yield from pack(self.pieces(), self.size, self.square)
        else:
            for piece in self.pieces():
                if piece.size:
                    yield np.ascontiguousarray(piece).data.cast("B")


@dataclass
class Rows:
    """Rows (n, …) at places (n,) uint32, rising, below `limit`."""

    places: np.ndarray
    limit: int
    take: Callable[[np.ndarray], np.ndarray]  # rows at places, first ones among them
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass
class TensorWriter:
    """Arrays on their way into a file."""

    whole: bool = False  # whether they are to be stored whole, so that they can be mapped
    tensors: list[Tensor] = field(default_factory=list)
    _rows: dict[str, Rows] = field(default_factory=dict)
    _common: dict[str, np.ndarray] = field(default_factory=dict)  # rows that others are like, if not the first ones

    def add_state(self, layout: State, state: State, prefix: str) -> None:
        """Take the arrays of a state."""
        for (name, part), (_, array) in zip(flat(layout, prefix), flat(state, prefix), strict=True):
            first = None if self.whole else first_row(part)
            row = None if first is None else common_row(array, first)
            if row is not None and row is not first and FEW_ROWS * row.nbytes > array.nbytes:
                row = None  # which would be stored as it is
            places = None if row is None else changed_rows(array, row)
            if places is None:
                self.add_array(name, array)
            else:
                if row is not None and row is not first:
                    self._common[name] = row
                self._rows[name] = Rows(places, len(array), partial(_rows_at, array), array.shape[1:], array.dtype)

    def add_rows(self, name: str, places: np.ndarray, rows: np.ndarray) -> None:
        """Take rows (n,) of an array that is 0 elsewhere, at places (n,) uint32 that rise."""

        def take(wanted: np.ndarray) -> np.ndarray:
            found = np.zeros(len(wanted), rows.dtype)
            start, end = np.searchsorted(places, wanted[0]), np.searchsorted(places, wanted[-1], side="right")
            found[np.searchsorted(wanted, places[start:end])] = rows[start:end]  # all of them are wanted
            return found

        self._rows[name] = Rows(places, 1 << 32, take, (), rows.dtype)

    def add_array(self, name: str, array: np.ndarray) -> None:
        """Take an array as a whole."""
        square = is_square(array.shape, array.dtype)
        tensor = Tensor(name, array.dtype, array.shape, partial(pieces_of, array), square)
        self.tensors.append(tensor if self.whole or tensor.size > TRIED else _packed(tensor))

    def add_text(self, name: str, text: bytes, most: int) -> None:
        """Take a text in UTF-8, which is packed if it has no more bytes than that."""
        data = np.frombuffer(text, np.uint8)
        tensor = Tensor(name, data.dtype, data.shape, partial(pieces_of, data))
        self.tensors.append(_packed(tensor) if len(data) <= most else tensor)

    def finish(self) -> tuple[dict[str, Any], list[Tensor]]:
        """How tensors are stored, and the tensors, in the order of the file."""
        lists, chosen = _shared_lists(self._rows)
        how: dict[str, dict[str, Any]] = {}
        for number, places in enumerate(lists):
            name = f"{LISTS}{number}"
            steps = np.diff(places, prepend=np.uint32(0)).astype(np.uint32)
            self.tensors.append(_packed(Tensor(name, steps.dtype, steps.shape, partial(pieces_of, steps))))
        for name, rows in self._rows.items():
            how[name] = {"rows": chosen[name]}
            if name in self._common:
                how[name]["common"] = True
                row = self._common[name][None]
                self.tensors.append(Tensor(COMMON + name, row.dtype, row.shape, partial(pieces_of, row)))
            places = lists[chosen[name]]
            shape = (len(places), *rows.shape)
            tensor = Tensor(name, rows.dtype, shape, partial(_gathered, rows, places, shape))
            self.tensors.append(_packed(tensor) if _is_worthwhile(tensor, rows, places) else tensor)
        for tensor in self.tensors:
            if tensor.packed:
                how.setdefault(tensor.name, {})["packed"] = True
        self.tensors.sort(key=lambda tensor: (-tensor.alignment, tensor.name))  # numbers are aligned
        return {"lists": list(map(len, lists)), "tensors": dict(sorted(how.items()))}, self.tensors


def _packed(tensor: Tensor) -> Tensor:
    """The same packed; a small one only if that makes it smaller."""
    if tensor.size > TRIED:
        return tensor._replace(packed=True)
    if tensor.size < TINY:
        return tensor
    data = b"".join(pack(tensor.pieces(), tensor.size, tensor.square))
    return tensor._replace(packed=True, data=data) if len(data) < WORTHWHILE * tensor.size else tensor


def _is_worthwhile(tensor: Tensor, rows: Rows, places: np.ndarray) -> bool:
    """Whether rows should be packed: many only if they are a small part of the array, and a sample of them shrinks."""
    if tensor.size <= TRIED:
        return True
    if MANY * len(places) > rows.limit:
        return False
    some = rows.take(places[:: max(1, tensor.size // SAMPLE)])
    return sum(map(len, pack([some], some.nbytes, False))) < WORTHWHILE_MANY * some.nbytes


def _rows_at(array: np.ndarray, places: np.ndarray) -> np.ndarray:
    return array.take(places, axis=0, mode="clip")  # ten times as fast as by index, where rows are short


def _gathered(rows: Rows, places: np.ndarray, shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    """Rows at places, some at a time."""
    step = rows_at_once(shape, rows.dtype)
    for start in range(0, len(places), step):
        yield rows.take(places[start : start + step])


def _shared_lists(rows: Mapping[str, Rows]) -> tuple[list[np.ndarray], dict[str, int]]:
    """Lists of places, and the number of that of each array: little longer than its own, or the same as others'."""
    lists: list[np.ndarray] = []
    limits, lengths = list[int](), list[int]()
    chosen: dict[str, int] = {}
    for name in sorted(rows, key=lambda name: (-len(rows[name].places), name)):
        places, limit = rows[name].places, rows[name].limit
        for number, known in enumerate(lists):
            both = _both(known, places)
            most = min(limit, limits[number])
            alike = len(both) - len(known) <= max(FEW, len(known) // PART)
            padded = (
                max(PADDED, len(places)) if limit == lengths[number] else len(places)
            )  # more only among equally long arrays
            if alike and len(both) - len(places) <= padded and not (len(both) and both[-1] >= most):
                lists[number], limits[number], chosen[name] = both, most, number
                break
        else:
            chosen[name] = len(lists)
            lists.append(places)
            limits.append(limit)
            lengths.append(limit)
    return lists, chosen


def _both(known: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The places of two lists, in order."""
    if not len(places) or np.array_equal(known, places):
        return known
    if not len(known):
        return places
    where = np.minimum(np.searchsorted(known, places), len(known) - 1)
    others = places[known[where] != places]
    return np.insert(known, np.searchsorted(known, others), others) if len(others) else known
