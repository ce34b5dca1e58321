"""Room for a model's features: whether there is, asked beforehand, and states that grow, in one thread at a time."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.deferred import deferred
from ouzel.errors import OuzelError, RoomError
from ouzel.kernels.forks import hold_in_forks
from ouzel.layout import bytes_of, copied, flat
from ouzel.learners.protocol import Multiclass
from ouzel.learners.rows import largest_id
from ouzel.ranges import memory
from ouzel.streams.block import Block, Slots
from ouzel.streams.feature_space import reconcile

if TYPE_CHECKING:
    from ouzel.learners import feature_scaling
    from ouzel.learners.budget import scaled_columns
    from ouzel.model import slot_map
    from ouzel.model.slot_map import SlotMap
else:
    feature_scaling = deferred("ouzel.learners.feature_scaling")
    scaled_columns = deferred("ouzel.learners.budget.scaled_columns")
    slot_map = deferred("ouzel.model.slot_map")

SMALLEST_TABLE = 1024  # slots of a new state
SMALLEST_MATRIX = 32  # the same, of a learner that keeps a number for every pair of them
NO_IDS = np.empty(0, np.int64)
_guard = threading.Lock()
_locks: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # not attributes: objects are pickled
hold_in_forks(_guard)


def changing(thing: Any) -> AbstractContextManager[Any]:
    """The lock of a model or an estimator; who has waited for it looks again whether there is anything left to do."""
    with _guard:
        lock: AbstractContextManager[Any] = _locks.setdefault(thing, threading.RLock())
        return lock


def beginning(estimator: Any) -> AbstractContextManager[Any]:
    """What a call that learns runs in: the lock of an estimator that has no model yet, else nothing."""
    return nullcontext() if hasattr(estimator, "model_") else changing(estimator)


def own_model(given: Any, begin: bool = False) -> Any:
    """The `Model` that is given, or that of an estimator that has learnt something; if it may `begin`, a new one."""
    if hasattr(given, "states"):
        return given
    found = given.begin() if begin and hasattr(given, "begin") else getattr(given, "model_", None)
    if found is None:
        wanted = "an estimator" if begin else "an estimator that has learnt something"
        raise OuzelError(f"a model is {wanted}, or a Model; got {given!r:.80}")
    return found


@contextmanager
def starting_anew(estimator: Any) -> Iterator[None]:
    """Forget what an estimator has learnt; where learning fails, it has it again."""
    before = dict(vars(estimator))
    for name in ("model_", "_file_options"):
        vars(estimator).pop(name, None)
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def begin_slot_map(needed: bool) -> SlotMap | None:
    """The slots of ids, if a learner needs them: one that keeps a number for every pair of slots, however few."""
    return slot_map.SlotMap() if needed else None


def smallest_of(module: Any, settings: Any) -> int:
    """Slots of a new state but for the constant's: few where the learner keeps a number for every pair of them."""
    classes = (2,) if isinstance(module, Multiclass) else ()
    sizes = (SMALLEST_MATRIX + 1, 2 * SMALLEST_MATRIX + 1)
    few, twice = (bytes_of(module.layout(slots, *classes, settings)) for slots in sizes)
    return SMALLEST_MATRIX if twice > 3 * few else SMALLEST_TABLE


def capacity_for(smallest: int, slots: int) -> int:
    """Slots that a state has room for where examples may have used so many."""
    return max(smallest, 1 << max(slots - 2, 0).bit_length()) + 1


def slots_of(model: Any) -> Slots | None:
    """The slots that features of any block have; None where they have them as they come."""
    return Slots(model.intercept, model.reach) if model.slot_map is None else None


def check_block(model: Any, block: Block) -> None:
    """Raise the OuzelError that a model's learning of a labelled block would raise."""
    reconcile(model.space, block.space, learning=True)
    if block.nonzeros:
        largest, new = _features_of(model, block)
        check_room(model, largest, len(new))
    model.task.check(model, block)


def check_room(model: Any, largest: int, new: int = 0) -> None:
    """Refuse feature ids that a model's states cannot have, or not within this machine's memory: RoomError.

    They go up to `largest`; so many of them are `new`, where ids get slots as they come.
    """
    slots = max(model.dimension, largest + 2) if model.slot_map is None else model.slots + new
    capacity = capacity_for(model.smallest, slots)
    if model.budgeted or capacity == model.capacity:
        return
    shape = (capacity, *model.task.shape(model)[1:])
    try:
        needed = bytes_of(model.module.layout(*shape, model.settings)) * len(model.states)
    except OuzelError as error:
        raise RoomError(str(error)) from None
    needed += model.preparation.nbytes(capacity)
    if needed > memory():
        fewer = "hash to fewer --bits" if largest < 1 << model.bits else "renumber the ids"
        raise RoomError(
            f"feature id {largest} needs {needed / 2**30:.0f} GiB of weights, more than this machine has; "
            f"{fewer}, or use a learner with a byte budget (awm), which takes any id"
        )


def make_room_for(model: Any, block: Block) -> None:
    """Have room for the features of a block to learn, and for scales if it begins a stream and needs any."""
    if model.examples == 0 and block.rows:
        begin_columns(model, block.values[int(block.offsets[0]) : int(block.offsets[1])], block.weights[0])
    if block.nonzeros:
        make_room(model, *_features_of(model, block))


def slots_of_one(model: Any, numbers: np.ndarray, values: np.ndarray, importance: Any) -> tuple[np.ndarray, np.ndarray]:
    """Slots and values of one example to learn, given as ids + 1, 0 for the constant: new ids get slots."""
    known = model.slot_map.known(numbers)
    if known is not None:
        return known, values
    if importance > 0.0:
        features = numbers[numbers > 0].astype(np.int64) - 1
        make_room(model, int(features.max()), model.slot_map.new_ids(features))
    found: tuple[np.ndarray, np.ndarray] = model.slot_map.one(numbers, values, model.capacity)
    return found


def make_room(model: Any, largest: int, new: np.ndarray = NO_IDS) -> None:
    """Have room for feature id `largest` and all below it; where ids get slots as they come, for `new` ones."""
    if largest + 2 <= model.dimension and not len(new):
        return
    with changing(model):
        dimension, slot_map = max(model.dimension, largest + 2), model.slot_map
        new = NO_IDS if slot_map is None else slot_map.new_ids(new)
        check_room(model, largest, len(new))
        if len(new):
            slot_map = slot_map.with_ids(new)
        capacity = capacity_for(model.smallest, dimension if slot_map is None else len(slot_map) + 1)
        if not model.budgeted and capacity != model.capacity:
            states = grown_states(model, capacity)
            model.compiled.clear()  # it holds the states that are replaced
            model.states = states
        model.dimension, model.slot_map = dimension, slot_map  # last, for other threads go by it


def order_slots(model: Any, ids: tuple[int, ...]) -> None:
    """Have the slots of feature ids, all that the model knows among them, in this order."""
    make_room(model, model.dimension - 2, model.slot_map.new_ids(np.array(ids, np.int64)))
    if model.slot_map.ids.tolist() == [*ids]:
        return
    places = model.slot_map.places_in(ids, model.capacity)
    model.compiled.clear()
    model.states = [model.module.renumber(state, places) for state in model.states]
    model.preparation.renumber(places)
    model.slot_map = type(model.slot_map)(ids)


def begin_columns(model: Any, values: np.ndarray, importance: Any = 1.0) -> None:
    """Set room for scales aside within a byte budget, if the values of the first example need any.

    Its states have learnt nothing yet; they are made anew within the rest.
    """
    preparation = model.preparation
    if not preparation.within or not importance > 0.0 or not feature_scaling.needs_scales(values):
        return
    before, states, most = model.bytes_used, model.states, model.settings.budget * len(model.states)
    preparation.places = scaled_columns.places_for(model.settings.budget)
    try:
        fresh = model.module.init(*model.task.shape(model), model.preparation.sized(model.settings))
        model.states = [copied(fresh) for _ in states]
        preparation.columns, preparation.looks = scaled_columns.init(preparation.places), True
        model.compiled.clear()
        fits = preparation.places > 0 and model.bytes_used <= max(most, before)
    except OuzelError:  # the budget is too small for both
        fits = False
    if not fits:
        preparation.places, preparation.columns, model.states = 0, None, states


def order_columns(model: Any, slots: tuple[int, ...]) -> None:
    """Have scales of these columns, as many as there are places, the first ones in this order."""
    preparation = model.preparation
    if preparation.columns is None and model.examples == 0:
        begin_columns(model, np.full(1, np.inf, np.float32))
    if preparation.columns is None:
        raise OuzelError(
            f"models of {model.learner.name} merge where all of them scale columns, or none: the first example of one "
            "has large values, and that of another has none; train with",
            standardize="no",
        )
    preparation.columns = scaled_columns.ordered(preparation.columns, slots)


def _features_of(model: Any, block: Block) -> tuple[int, np.ndarray]:
    """The largest feature id of a block, and the ids that are to get slots: of examples that change something."""
    largest = int(largest_id(block.indices, block.offsets[0], block.offsets[-1]))
    return largest, NO_IDS if model.slot_map is None else model.slot_map.new_in(block)


def bytes_used(model: Any) -> int:
    """Bytes of a model's states; a budgeted learner counts as its paper does."""
    if model.budgeted:
        beside = scaled_columns.bytes_used(model.preparation.columns)
        return beside + sum(int(model.module.bytes_used(state)) for state in model.states)
    held = sum(array.nbytes for state in model.states for _, array in flat(state))
    return int(held + model.preparation.nbytes(model.capacity))


def forget_names(model: Any) -> None:
    """Have a budgeted learner keep the names of its members only."""
    if model.budgeted:
        model.names.restrict(model.preparation.with_groups(map(model.module.members, model.states)) - 1)


def grown_states(model: Any, capacity: int) -> list[Any]:
    """A model's states with room for so many slots, and its preparation with it; RoomError if they do not fit."""
    shape = capacity, *model.task.shape(model)[1:]
    try:
        states = [model.module.grow(state, *shape, model.settings) for state in model.states]
        model.preparation.grow(capacity)
    except OuzelError as error:
        raise RoomError(str(error)) from None
    return states
