"""Coverage by group: intervals and sets with the coverage requested for each value of a column.

A group is the examples that share a value of one column, as in group-conditional conformal prediction (Vovk, 2012,
"Conditional Validity of Inductive Conformal Predictors", ACML: Mondrian predictors). Each group has a state of
`ouzel.model.coverage` of its own, which judges and learns its examples alone. So the promise of that module holds for
the examples of each group: misses <= α T + 2 DEBT of any T successive examples of it.

The first MOST values that a stream shows have a state each. All other examples share the model's own state: those of
later values, and those without a value. A value is known by a feature: a category by the id of `column=value`, a number
by the id of `column` and its value. So groups need nothing of a stream but its features and their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import kernel
from ouzel.layout import allocate, float64, int64, require
from ouzel.learners.gains.parts import Rows
from ouzel.model import coverage, coverage_gains
from ouzel.streams.feature_space import CATEGORY, NUMBER, UNDECIDED, FeatureSpace

if TYPE_CHECKING:
    from ouzel.streams.block import Names
    from ouzel.streams.feature_names import FeatureNames

MOST = 64  # groups with a state of their own
OTHERS = -1  # key of the examples that share a state: ids are below 2^32 - 1, or their values are finite
MULTIPLIER = 2654435761  # Knuth's, of ids


class State(NamedTuple):
    keys: np.ndarray  # (MOST,) int64  id of a feature << 32 | bits of its value, 0 of a category; OTHERS: no group yet
    places: np.ndarray  # (MOST, levels, 2, experts) float64  these and the rest: of `coverage.State`, one a group
    shares: np.ndarray  # (MOST, levels, 2, experts) float64
    debts: np.ndarray  # (MOST, levels) float64
    settled: np.ndarray  # (MOST, levels, 2) float64
    size: np.ndarray  # (MOST, 2) float64


def layout(levels: int) -> State:
    """A `State` of descriptions in place of arrays."""
    far, rising = 10.0 * coverage.LARGEST, np.iinfo(np.int64)
    return State(
        keys=int64(MOST, fill=OTHERS, least=int(rising.min), most=int(rising.max)),
        places=float64(MOST, levels, 2, coverage.EXPERTS, least=-far, most=far),
        shares=float64(MOST, levels, 2, coverage.EXPERTS, fill=1.0 / coverage.EXPERTS, least=0.0, most=1.0 + 1e-9),
        debts=float64(MOST, levels, least=-coverage.DEBT, most=coverage.DEBT),
        settled=float64(MOST, levels, 2, least=-far, most=far),
        size=float64(MOST, 2, least=0.0),
    )


def init(levels: int) -> State:
    """A state without groups."""
    found: State = allocate(layout(levels))
    return found


def check(state: State) -> None:
    """Refuse groups that stand twice or behind an empty place, and what no state of coverage can be."""
    known = state.keys[state.keys != OTHERS]
    require(len(np.unique(known)) == len(known), "a group stands twice")
    require((state.keys[: len(known)] != OTHERS).all(), "a group stands behind none")
    for place in range(MOST):
        coverage.check(of_group(state, place))


def of_group(state: State, place: int) -> coverage.State:
    """The coverage of one group, as views."""
    return coverage.State(*(getattr(state, name)[place] for name in coverage.State._fields))


def check_column(space: FeatureSpace, column: str) -> None:
    """Refuse a column that a stream's table does not have, or that holds neither categories nor numbers.

    >>> check_column(FeatureSpace(kinds={"price": NUMBER, "city": CATEGORY}), "ctiy")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: no column that is a feature is called so; there are price, city; got interval_by='ctiy'
    """
    kind = space.kinds.get(column)
    if kind in (NUMBER, CATEGORY, UNDECIDED) or not space.kinds or (kind is None and space.open_vocabulary):
        return
    if kind is not None:
        raise OuzelError(f"groups are of a column of categories or numbers; of {kind} is", interval_by=column)
    known = ", ".join(list(space.kinds)[:20])
    raise OuzelError(f"no column that is a feature is called so; there are {known}; got", interval_by=column)


def new_features(state: State, column: str, names: Names) -> list[int]:
    """The ids of all features `column=value` among names; none if there is no room for a new group."""
    start = f"{column}=".encode()
    begins = names.starts.astype(np.int64)
    long_enough = np.flatnonzero(names.ends.astype(np.int64) - begins >= len(start))
    if not len(long_enough) or state.keys[-1] != OTHERS:
        return []
    at = begins[long_enough]
    same = np.ones(len(at), np.bool_)
    for place, letter in enumerate(start):
        same &= names.text[at + place] == letter
    found: list[int] = names.ids[long_enough[same]].tolist()
    return found


def key_of(feature: int, value: float | None = None) -> int:
    """The key of a category's feature, or of a number's with its value.

    >>> key_of(5), key_of(5) < key_of(5, 1.0) < key_of(6)
    (21474836480, True)
    """
    bits = 0 if value is None else int(np.float32(value).view(np.uint32))
    return int(np.uint64(feature << 32 | bits).astype(np.int64))


def name_of(key: int, names: FeatureNames, column: str) -> str:
    """What a group is called: `column=value`; "(others)" are those without a state of their own."""
    if key == OTHERS:
        return "(others)"
    bits = np.uint32(key & 0xFFFFFFFF)
    feature = (key & 0xFFFFFFFFFFFFFFFF) >> 32
    return f"{column}={bits.view(np.float32):g}" if bits else names.name(feature) or f"{column}=(id {feature})"


def ids_of(state: State) -> list[int]:
    """The features that groups are known by."""
    return [(key & 0xFFFFFFFFFFFFFFFF) >> 32 for key in state.keys[state.keys != OTHERS].tolist()]


def keys_of(
    state: State,
    column: int | None,
    offsets: np.ndarray,
    ids: np.ndarray,
    values: np.ndarray,
    new: Sequence[int] = (),
) -> np.ndarray:
    """The keys (n,) of the groups of rows: of the first feature that has one, OTHERS of rows without.

    `column` is the id of the column's feature where it holds numbers; None if there is none. `new` features are those
    of categories that have no group yet.
    """
    features = [*ids_of(state), *new]
    table = np.full(1 << max(8, (4 * len(features)).bit_length()), -1, np.int64)
    for feature in features:
        if feature != column:
            place = feature * MULTIPLIER >> 8 & len(table) - 1
            while table[place] >= 0 and table[place] != feature:
                place = place + 1 & len(table) - 1
            table[place] = feature
    keys = np.empty(len(offsets) - 1, np.int64)
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    find_keys(table, -1 if column is None else column, offsets, ids, bits, keys)
    return keys


@kernel
def find_keys(table, column, offsets, ids, bits, keys):
    """Write the key of each row."""
    last = len(table) - 1
    for i in range(len(keys)):
        keys[i] = OTHERS
        for k in range(np.int64(offsets[i]), np.int64(offsets[i + 1])):
            feature = np.int64(ids[k])
            if feature == column:
                keys[i] = (feature << 32) | np.int64(bits[k])
                break
            place = ((feature * MULTIPLIER) >> 8) & last
            while table[place] >= 0 and table[place] != feature:
                place = (place + 1) & last
            if table[place] == feature:
                keys[i] = feature << 32
                break


def add_keys(state: State, keys: np.ndarray, new: Sequence[int] = ()) -> None:
    """Begin a group for each new key, in the order of rows, and then for `new` features, while there is room."""
    if state.keys[-1] == OTHERS:
        found, first = np.unique(keys[~np.isin(keys, state.keys)], return_index=True)
        for key in [*found[np.argsort(first)].tolist(), *map(key_of, new)]:
            _claim(state, key)


def parts(shared: coverage.State, state: State, keys: np.ndarray) -> list[tuple[int, coverage.State, np.ndarray]]:
    """For each group of rows: its key, its coverage, and which rows (k,) are its own; others are the `shared` one's."""
    known = {key: place for place, key in enumerate(state.keys.tolist()) if key != OTHERS}
    present = np.unique(keys).tolist()
    own = [key for key in present if key in known]
    found = [(key, of_group(state, known[key]), np.flatnonzero(keys == key)) for key in own]
    others = np.flatnonzero(~np.isin(keys, np.array(own, np.int64)))
    return [*found, (OTHERS, shared, others)] if len(others) else found


def covered(
    shared: coverage.State,
    state: State,
    keys: np.ndarray,
    levels: np.ndarray,
    task: Any,
    outcome: Any,
    known: int,
    learns: bool = True,
) -> coverage.Covered:
    """`coverage.covered`, of each group by its own state; `keys` (n,) are those of the outcome's examples."""
    rows = len(outcome.targets)
    groups = np.full(rows, OTHERS, np.int64)
    found = coverage.Covered(np.zeros((rows, len(levels)), np.bool_), np.empty((rows, len(levels))), groups)
    importances = outcome.importances
    if not task.numbers and rows:  # a class counts once it was known, whichever group had it
        before = np.maximum.accumulate(np.append(known, outcome.targets[:-1] + 1))
        importances = np.where(outcome.targets < before, importances, np.float32(0.0))
        known = int(outcome.targets.max()) + 1
    for key, own, here in parts(shared, state, keys):
        part = outcome._replace(
            margins=outcome.margins[here],
            targets=outcome.targets[here],
            importances=importances[here],
            losses=outcome.losses[here] if len(outcome.losses) == rows else outcome.losses,
        )
        judged = coverage.covered(own, levels, task, part, known, learns)
        groups[here], found.hits[here], found.sizes[here] = key, judged.hits, judged.sizes
    return found


def gains(base: State, state: State) -> dict[str, Rows]:
    """What a worker has learnt beyond its base: the gains of coverage of each group, by its key."""
    known = {key: place for place, key in enumerate(base.keys.tolist()) if key != OTHERS}
    empty = of_group(init(state.debts.shape[1]), 0)
    found = {}
    for place, key in enumerate(state.keys.tolist()):
        if key != OTHERS:
            before = of_group(base, known[key]) if key in known else empty
            more = coverage_gains.gains(before, of_group(state, place))
            if more["size"][coverage.COUNT] > 0.0:
                found[key] = np.concatenate([more[name].ravel() for name in coverage.State._fields])
    keys = sorted(found)
    length = sum(getattr(empty, name).size for name in coverage.State._fields)
    return {"groups": Rows(np.array(keys, np.int64), np.array([found[key] for key in keys]).reshape(-1, length))}


def onto(base: State, more: dict[str, Rows]) -> State:
    """A base with what workers have learnt of each group; groups beyond the MOST first are forgotten."""
    merged = State(*(array.copy() for array in base))
    for key, values in zip(more["groups"].places.tolist(), more["groups"].values, strict=True):
        place = _claim(merged, key)
        if place >= 0:
            own, start, learnt = of_group(merged, place), 0, {}
            for name in coverage.State._fields:
                array = getattr(own, name)
                learnt[name] = values[start : start + array.size].reshape(array.shape)
                start += array.size
            for array, new in zip(own, coverage_gains.onto(own, learnt), strict=True):
                array[...] = new
    return merged


def _claim(state: State, key: int) -> int:
    """The place of a group, a new one if it has none; -1 if there is no room."""
    place = int(np.argmax((state.keys == key) | (state.keys == OTHERS)))
    if state.keys[place] not in (key, OTHERS):
        return -1
    state.keys[place] = key
    return place
