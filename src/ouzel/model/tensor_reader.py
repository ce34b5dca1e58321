"""The tensors of a file as states: what `tensor_writer` stored is checked, unpacked and put into its rows.

A table says how each tensor is stored: `rows`, the number of its list of rows; `common`, whether there is a row that
all others are like, which else are as at first; `packed`, whether it is compressed. Tensors that it does not name are
whole. A file may have been made up: what a tensor unpacks to is known from the layout and compared before memory is
taken, and numbers are checked before they are put into larger arrays. Arrays that files of earlier versions lack
(`NEWER`) are as at first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.layout import Array, allocate, bytes_of, flat, restored
from ouzel.model.changed_rows import first_row
from ouzel.model.packed_bytes import is_square, size_of, unpack
from ouzel.ranges import Range, Table, check_stored, memory

LISTS, COMMON = "slots.", "common."  # before the numbers of lists of rows, and the names of arrays with common rows
NEWER = {  # arrays that begin anew where a file has none of those that came last
    "effects.": "effects.pairs.",
    "discriminant.": "discriminant.",
    "counts": "counts",
    "moved": "moved",
    "scale.": "scale.",
}
OF_MODELS = {  # arrays with a place for each model, and where that of the discriminant stands
    **dict.fromkeys(("mixture.weights", "mixture.curvature", "shares.scales", "shares.curvatures"), -1),
    "shares.weights": -2,
}
KNOTS_BEFORE = 31  # of a column at a level, of versions without steps between knots
TABLE = {"lists": list[Annotated[int, Range(0, 1 << 32, whole=True)]], "tensors": Table}


class TensorReader:
    """The tensors of a file, and how they are stored; what is made of them is checked before memory is taken."""

    def __init__(self, tensors: Mapping[str, np.ndarray], how: Any) -> None:
        check_stored(how, TABLE, "the table of tensors")
        self.tensors = tensors
        self.how: dict[str, dict[str, Any]] = how["tensors"]
        for name, entry in self.how.items():
            sound = isinstance(entry, dict) and set(entry) <= {"rows", "packed", "common"}
            if not sound or not all(isinstance(entry.get(key, False), bool) for key in ("packed", "common")):
                raise OuzelError(f"the table of tensors says of {name!r} what cannot be")
        self.counts: list[int] = how["lists"]
        self._lists: dict[int, np.ndarray] = {}

    @property
    def names(self) -> set[str]:
        """Names of arrays."""
        return {name for name in self.tensors if not name.startswith((LISTS, COMMON))}

    @property
    def arrays(self) -> set[str]:
        """Names of arrays that do not stand in the file as in memory."""
        return {name for name in self.how if not name.startswith(LISTS)}

    def count(self, name: str) -> int | None:
        """Rows that are stored of an array; None if it is whole."""
        number: int = self.how.get(name, {}).get("rows", -1)
        return self.counts[number] if self._is_list(number) else None

    def state(self, layout: Any, prefix: str) -> Any:
        """The state of a layout. What is stored of its arrays is checked first; then they are made."""
        parts = dict(flat(layout, prefix))
        lacking = {
            name
            for newer, latest in NEWER.items()
            if any(name.startswith(prefix + latest) for name in parts)
            and not any(tensor.startswith(prefix + latest) for tensor in self.tensors)
            for name in parts
            if name.startswith(prefix + newer)
        }
        for name in parts:
            if name not in self.tensors and name not in lacking:
                raise OuzelError(f"{name} is missing")
        grown = {name: place for name, place in OF_MODELS.items() if f"{prefix}discriminant.counts" in lacking}
        narrow = {name: self._narrow(name, part) for name, part in parts.items() if name not in lacking}
        narrow |= {prefix + name: _of_one_less(parts[prefix + name]) for name in grown}
        stepless = {
            name for name in narrow if name == f"{prefix}effects.edges" and self._is_stepless(name, narrow[name])
        }
        narrow |= {name: narrow[name]._replace(shape=(*narrow[name].shape[:-1], KNOTS_BEFORE)) for name in stepless}
        stored = {name: self.array(name, part.shape, part.dtype) for name, part in narrow.items()}
        fresh = {name: allocate(_Alone(parts[name])).array for name in lacking}
        found = restored(_replaced(layout, (parts | narrow).__getitem__, prefix), stored | fresh, prefix)
        values = dict(flat(found, prefix))
        values |= {
            prefix + name: _of_one_more(values[prefix + name], parts[prefix + name], grown[name]) for name in grown
        }
        found = _replaced(layout, lambda name: self._widened(name, parts[name], values[name]), prefix)
        return found._replace(effects=_with_steps(found.effects, layout.effects)) if stepless else found

    def array(self, name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """What is stored under a name, unpacked."""
        tensor, dtype = self.tensors[name], np.dtype(dtype)
        if not self.how.get(name, {}).get("packed"):
            return tensor
        square = "rows" not in self.how[name] and is_square(shape, dtype)
        return unpack(tensor, shape, dtype, name, square)

    def rows(self, name: str, dtype: Any, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Places and rows (n,) of an array that is 0 elsewhere, at most so many."""
        places = self._places(name, 1 << 32, most)
        found = self.array(name, (len(places),), dtype)
        if found.shape != places.shape or found.dtype != np.dtype(dtype):
            raise OuzelError(f"{name} is {found.dtype} {found.shape}, but there are {len(places)} places")
        return places, found

    def text(self, name: str, most: int) -> str:
        """A text; one that is packed has no more bytes than that."""
        tensor = self.tensors.get(name)
        if tensor is None or tensor.dtype != np.uint8 or tensor.ndim != 1:
            raise OuzelError(f"{name} is not a text")
        size = size_of(tensor, name) if self.how.get(name, {}).get("packed") else len(tensor)
        if size > most and size > len(tensor):
            raise OuzelError(f"{name} unpacks to {size} bytes, more than there can be")
        return self.array(name, (size,), np.uint8).tobytes().decode()

    def _narrow(self, name: str, part: Array) -> Array:
        """What is stored of an array."""
        if "rows" not in self.how.get(name, {}):
            return part
        if first_row(part) is None:
            raise OuzelError(f"{name} is stored as rows, which it has not")
        return part._replace(shape=(len(self._places(name, part.shape[0])), *part.shape[1:]), aligned=False)

    def _is_stepless(self, name: str, part: Array) -> bool:
        """Whether edges are of a version that had no steps between knots."""
        tensor = self.tensors[name]
        if not self.how.get(name, {}).get("packed"):
            return tensor.shape[-1:] == (KNOTS_BEFORE,)
        return 0 < size_of(tensor, name) == 4 * np.prod(part.shape[:-1], dtype=int) * KNOTS_BEFORE

    def _widened(self, name: str, part: Array, stored: np.ndarray) -> np.ndarray:
        """An array of what is stored of it."""
        if "rows" not in self.how.get(name, {}):
            return stored
        array: np.ndarray = allocate(_Alone(part)).array
        if self.how[name].get("common"):
            array[...] = self._common(name, part)
        array[self._places(name, part.shape[0])] = stored
        return array

    def _common(self, name: str, part: Array) -> np.ndarray:
        """The row (1, …) that rows are like that are not stored."""
        alone = _Alone(part._replace(shape=(1, *part.shape[1:]), aligned=False))
        if COMMON + name not in self.tensors:
            raise OuzelError(f"{COMMON + name} is missing")
        found: np.ndarray = restored(
            alone, {f"{COMMON}{name}.array": self.tensors[COMMON + name]}, f"{COMMON}{name}."
        ).array
        return found

    def _is_list(self, number: Any) -> bool:
        return type(number) is int and 0 <= number < len(self.counts)

    def _places(self, name: str, limit: int, most: int | None = None) -> np.ndarray:
        """The places (n,) int64 of stored rows, which rise, below a limit; at most so many."""
        number: int = self.how.get(name, {}).get("rows", -1)
        if not self._is_list(number) or f"{LISTS}{number}" not in self.tensors:
            raise OuzelError(f"{name} has no list of rows")
        if self.counts[number] > (limit if most is None else most):
            raise OuzelError(f"{name} has {self.counts[number]} rows, more than there can be")
        if number not in self._lists:
            self._lists[number] = self._list(number)
        places = self._lists[number]
        if len(places) and places[-1] >= limit:
            raise OuzelError(f"{name} has rows beyond {limit}")
        return places

    def _list(self, number: int) -> np.ndarray:
        name = f"{LISTS}{number}"
        steps = self.array(name, (self.counts[number],), np.uint32)
        if steps.dtype != np.uint32 or steps.shape != (self.counts[number],):
            raise OuzelError(f"{name} is {steps.dtype} {steps.shape}, but there are {self.counts[number]} rows")
        places = np.cumsum(steps, dtype=np.int64)
        if len(steps) and not (steps[1:] > 0).all():
            raise OuzelError(f"{name} does not rise")
        return places


class _Alone(NamedTuple):
    array: Any


def _of_one_less(part: Array) -> Array:
    """An array of models as a file has it whose version knew one model less."""
    return part._replace(shape=tuple(size - 1 for size in part.shape))


def _of_one_more(stored: np.ndarray, part: Array, place: int) -> np.ndarray:
    """The same with a model more at a place, that is as at first, but has the least weight: predictions stay."""
    array: np.ndarray = allocate(_Alone(part)).array
    others = np.delete(np.arange(len(array)), place)
    if part.diagonal is None and part.fill != 1.0:
        array[place] = max(float(np.max(part.least)), 0.0)
    array[np.ix_(*(others,) * array.ndim)] = stored
    return array


def _with_steps(effects: Any, layout: Any) -> Any:
    """Effects of a version whose columns stepped from one weight to the next: no number lies between two knots."""
    from ouzel.learners.auto.effects import KNOTS, STEPS

    edges: np.ndarray = allocate(_Alone(layout.edges)).array
    for level, (knots, steps) in enumerate(zip(KNOTS, STEPS, strict=True)):
        edges[level, :, : (knots - 1) * steps] = np.repeat(effects.edges[level, :, : knots - 1], steps, axis=1)
    for part in effects.pairs[2:]:  # sums about columns, which were measured among other knots
        part[...] = 0
    return effects._replace(edges=edges)


def check_room(layouts: Iterable[Any]) -> None:
    """Refuse states that this machine has no memory for."""
    needed = sum(map(bytes_of, layouts))
    if needed > memory():
        raise OuzelError(f"its state would take {needed / 2**30:,.0f} GiB, more than this machine has")


def _replaced(layout: Any, make: Callable[[str], Any], prefix: str) -> Any:
    """A layout or state in which each array is what `make` gives for its name."""
    parts = layout._asdict().items()
    made: Sequence[Any] = [
        make(prefix + name) if isinstance(part, Array) else _replaced(part, make, f"{prefix}{name}.")
        for name, part in parts
    ]
    return type(layout)(*made)
