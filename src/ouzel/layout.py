"""What the arrays of a state are: shapes, types, first values and ranges, declared once for each learner and sketch.

A layout is a state whose fields are `Array`s, descriptions in place of arrays. From it follow the state that has seen
nothing, a larger state with the same content, the bytes that either takes, known before they are taken, and whether
the arrays of a file are a state at all.

>>> class State(NamedTuple):
...     weight: np.ndarray  # (d,) float32
...     seen: np.ndarray  # (1,) float64
>>> def layout(dimension, settings):
...     return State(weight=float32(dimension), seen=float64(1, least=0.0))
>>> init, grow = made_from(layout)
>>> grow(init(2, None), 3, None)
State(weight=array([0., 0., 0.], dtype=float32), seen=array([0.]))
>>> restored(layout(2, None), {"weight": np.zeros(2, np.float32), "seen": np.array([-1.0])})
Traceback (most recent call last):
ouzel.errors.OuzelError: seen lies outside of 0 to 1e+130
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.ranges import memory, ranged

Bound = float | tuple[float, ...]  # of all numbers, or of each place along the last axis

ALIGNED = 64  # bytes of a cache line
FOLDED = 256  # rows that are read as one where a table is narrow
MOST_COUNT = 2**53  # up to which floats count by ones, too
MOST_NUMBER = 1e130  # of which two are multiplied, and by a value of single precision


class Array(NamedTuple):
    """One array of a state. What it may hold is checked where a state comes from a file; kernels trust it."""

    shape: tuple[int, ...]
    dtype: Any
    fill: Bound = 0.0  # what it holds at first
    diagonal: float | None = None  # what a square one holds on its diagonal at first, `fill` elsewhere
    least: Bound = -math.inf
    most: Bound = math.inf
    finite: bool = True  # whether infinity is refused; what is not a number always is
    scratch: bool = False  # work space: it is written before it is read, and may hold anything
    aligned: bool = False  # whether rows begin on cache lines

    @property
    def nbytes(self) -> int:
        """Bytes of such an array."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def float32(*shape: int, **rest: Any) -> Any:
    """An array of single precision; `rest` are fields of `Array`, as below."""
    return Array(shape, np.float32, **rest)


def float64(*shape: int, **rest: Any) -> Any:
    """An array of double precision: of numbers whose products with others are numbers, unless `rest` says otherwise.

    An infinite bound is that of such numbers, unless they need not be finite.
    """
    rest = {"least": -MOST_NUMBER, "most": MOST_NUMBER, **rest}
    if rest.get("finite", True):
        rest |= {name: _of_numbers(rest[name]) for name in ("least", "most")}
    return Array(shape, np.float64, **rest)


def _of_numbers(bound: Bound) -> Bound:
    """A bound, or those of each place, infinity cut to the largest number."""
    if isinstance(bound, tuple):
        return tuple(_of_numbers(part) for part in bound)  # type: ignore[misc]
    return math.copysign(MOST_NUMBER, bound) if math.isinf(bound) else bound


def int64(*shape: int, **rest: Any) -> Any:
    """An array of counts or positions: 0 or more, and no more than anything counts to, unless `rest` says otherwise."""
    return Array(shape, np.int64, **{"least": 0, "most": MOST_COUNT, **rest})


def uint64(*shape: int, **rest: Any) -> Any:
    """An array of random words, or of counts."""
    return Array(shape, np.uint64, **{"least": 0, **rest})


def uint8(*shape: int, **rest: Any) -> Any:
    """An array of small counters."""
    return Array(shape, np.uint8, **{"least": 0, **rest})


def uint16(*shape: int, **rest: Any) -> Any:
    """An array of positions below 2^16."""
    return Array(shape, np.uint16, **{"least": 0, **rest})


def uint32(*shape: int, **rest: Any) -> Any:
    """An array of slots, or of random words."""
    return Array(shape, np.uint32, **{"least": 0, **rest})


def made_from(layout: Callable[..., Any], begin: Callable[..., None] | None = None) -> tuple[Any, Any]:
    """`init(*sizes, settings)` and `grow(state, *sizes, settings)` of a layout.

    `begin(state, settings)` writes what fresh arrays hold at first, where no `fill` can say it: tables of a hash
    function, say. Growing copies the old arrays to the beginnings of such fresh ones along every axis.
    """

    @ranged
    @functools.wraps(layout, assigned=("__module__", "__annotations__"))
    def init(*arguments: Any, **named: Any) -> Any:
        """A state that has seen nothing, of so many slots (and classes)."""
        state = allocate(layout(*arguments, **named))
        if begin is not None:
            begin(state, arguments[-1])
        return state

    def grow(state: Any, *arguments: Any) -> Any:
        """The same state with room for so many slots (and classes); arrays that need not grow are shared."""
        wanted = layout(*arguments)
        if all(old.shape == new.shape for (_, old), (_, new) in zip(flat(state), flat(wanted), strict=True)):
            return state
        return _enlarged(state, init(*arguments))

    return init, grow


def allocate(layout: Any) -> Any:
    """A state of this layout; more than the machine's memory is refused before it is taken."""
    needed = bytes_of(layout)
    if needed > memory():
        raise OuzelError(
            f"this learner's state would take {needed / 2**30:,.0f} GiB, more than this machine has; "
            "give it a smaller budget or size"
        )
    return type(layout)(*(_fresh(part) if isinstance(part, Array) else allocate(part) for part in layout))


def bytes_of(layout: Any) -> int:
    """Bytes of all arrays of a state of this layout."""
    return sum(part.nbytes for _, part in flat(layout))


def flat(state: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """The arrays of a state, or of its layout, by name; a state within a state is a dotted name."""
    found: list[tuple[str, Any]] = []
    for name, part in state._asdict().items():
        nested = isinstance(part, tuple) and not isinstance(part, Array)
        found += flat(part, f"{prefix}{name}.") if nested else [(prefix + name, part)]
    return found


def restored(layout: Any, arrays: Mapping[str, np.ndarray], prefix: str = "") -> Any:
    """The state that named arrays are, which are checked first."""
    check_arrays(layout, arrays, prefix)
    return _taken(layout, arrays, prefix)


def check_arrays(layout: Any, arrays: Mapping[str, np.ndarray], prefix: str = "") -> None:
    """Refuse named arrays that are not a state of a layout: first shapes and types, then what they hold."""
    expected = flat(layout, prefix)
    for name, part in expected:
        if name not in arrays:
            raise OuzelError(f"{name} is missing")
        stored = arrays[name]
        if stored.shape != part.shape or stored.dtype != part.dtype:
            wanted = f"{np.dtype(part.dtype)} {part.shape}"
            raise OuzelError(f"{name} is {stored.dtype} {stored.shape}, but the settings ask for {wanted}")
    for name, part in expected:
        _check_numbers(name, part, arrays[name])


def copied(state: Any) -> Any:
    """A state of copies of the arrays of another one."""
    return type(state)(*(part.copy() if isinstance(part, np.ndarray) else copied(part) for part in state))


def stored_like(old: Any, new: Any) -> Any:
    """A copy of the state `new`, or of an array of it, whose arrays have the types and the order of those of `old`."""
    if not isinstance(old, np.ndarray):
        return type(old)(*(stored_like(*pair) for pair in zip(old, new, strict=True)))
    found = np.empty_like(old)
    found[...] = new
    return found


def require(holds: Any, what: str) -> None:
    """Refuse a state unless something holds of it: for the `check` of a learner or sketch."""
    if not holds:
        raise OuzelError(what)


def check_places(places: np.ndarray, count: int, what: str) -> None:
    """Refuse places that do not hold each of 1 to `count` once, and 0 elsewhere."""
    require(np.array_equal(np.sort(places[places != 0]), np.arange(1, count + 1)), f"{what} are not those of {count}")


def check_list(slots: np.ndarray, listed: np.ndarray, what: str) -> None:
    """Refuse a list of slots (n,) that does not name each slot marked in `listed` (d,) once, and no other."""
    sound = len(slots) == np.count_nonzero(listed) and (not len(slots) or int(slots.max()) < len(listed))
    require(sound and listed[slots].all() and len(np.unique(slots)) == len(slots), f"{what} do not fit the table")


def _fresh(part: Array) -> np.ndarray:
    """A new array; zeros take no memory before they are written."""
    array = _aligned(part) if part.aligned else np.zeros(part.shape, part.dtype)
    if part.fill != 0.0:
        array[...] = part.fill
    if part.diagonal is not None:
        np.fill_diagonal(array, part.diagonal)
    return array


def _aligned(part: Array) -> np.ndarray:
    spare = np.zeros(part.nbytes + ALIGNED, np.uint8)
    start = -spare.ctypes.data % ALIGNED
    return spare[start : start + part.nbytes].view(part.dtype).reshape(part.shape)


def _enlarged(state: Any, larger: Any) -> Any:
    """`larger` with the content of `state`."""
    parts = []
    for old, new in zip(state, larger, strict=True):
        if isinstance(old, tuple):
            parts.append(_enlarged(old, new))
        elif old.shape == new.shape:
            parts.append(old)
        else:
            new[tuple(slice(length) for length in old.shape)] = old
            parts.append(new)
    return type(state)(*parts)


def _check_numbers(name: str, part: Array, array: np.ndarray) -> None:
    if part.scratch or not array.size:
        return
    each = isinstance(part.least, tuple) or isinstance(part.most, tuple)
    low, high = (
        _of_columns(array, best) if each else best.reduce(array, axis=None) for best in (np.minimum, np.maximum)
    )
    if np.isnan(low).any():
        raise OuzelError(f"{name} holds what is not a number")
    if part.finite and not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise OuzelError(f"{name} holds infinity")
    if not ((low >= part.least).all() and (high <= part.most).all()):
        raise OuzelError(f"{name} lies outside of {_words(part.least)} to {_words(part.most)}")


def _of_columns(array: np.ndarray, best: np.ufunc) -> np.ndarray:
    """Least or largest number of each column (..., k), not a number if any is not.

    NumPy is a hundred times slower on rows of two numbers than on rows of hundreds, so 256 rows are reduced as one.
    """
    rows = array.reshape(-1, array.shape[-1])
    whole = len(rows) // FOLDED * FOLDED
    folded = best.reduce(rows[:whole].reshape(-1, FOLDED * rows.shape[1]), axis=0) if whole else rows[:0]
    return np.asarray(best.reduce(np.concatenate([folded.reshape(-1, rows.shape[1]), rows[whole:]]), axis=0))


def _words(bound: Bound) -> str:
    return f"({', '.join(f'{number:g}' for number in bound)})" if isinstance(bound, tuple) else f"{bound:g}"


def _taken(layout: Any, arrays: Mapping[str, np.ndarray], prefix: str) -> Any:
    parts = []
    for name, part in layout._asdict().items():
        if not isinstance(part, Array):
            parts.append(_taken(part, arrays, f"{prefix}{name}."))
        elif part.aligned:
            parts.append(_fresh(part))
            parts[-1][...] = arrays[prefix + name]
        else:
            parts.append(arrays[prefix + name])
    return type(layout)(*parts)
