"""Whether a model would take a block, and has room for its features; and states that have more of it."""

from __future__ import annotations

from typing import Any

from ouzel.errors import OuzelError, RoomError
from ouzel.layout import bytes_of
from ouzel.learners.rows import largest_id
from ouzel.ranges import memory
from ouzel.streams.block import Block
from ouzel.streams.feature_space import meet


def capacity_for(smallest: int, dimension: int) -> int:
    """Slots that a state has room for where examples may have used so many."""
    return max(smallest, 1 << max(dimension - 2, 0).bit_length()) + 1


def check_block(model: Any, block: Block) -> None:
    """Raise the OuzelError that a model's learning of a labelled block would raise."""
    meet(model.space, block.space, learning=True)
    if block.nonzeros:
        check_room(model, int(largest_id(block.indices, block.offsets[0], block.offsets[-1])))
    model.task.check(model, block)


def check_room(model: Any, largest: int) -> None:
    """Refuse a feature id that a model's states cannot have, or not within this machine's memory: RoomError."""
    capacity = capacity_for(model.smallest, max(model.dimension, largest + 2))
    if model.budgeted or capacity == model.capacity:
        return
    shape = (capacity, *model.task.shape(model)[1:])
    try:
        needed = bytes_of(model.module.layout(*shape, model.settings)) * len(model.states)
    except OuzelError as error:
        raise RoomError(str(error)) from None
    needed += model.preparation.nbytes(capacity)
    if needed > memory():
        raise RoomError(
            f"feature id {largest} needs {needed / 2**30:.0f} GiB of weights, more than this machine has; "
            "renumber the ids, or use a learner with a byte budget (awm), which takes any id"
        )


def grown_states(model: Any, capacity: int) -> list[Any]:
    """A model's states with room for so many slots, and its preparation with it; RoomError if they do not fit."""
    shape = capacity, *model.task.shape(model)[1:]
    try:
        states = [model.module.grow(state, *shape, model.settings) for state in model.states]
        model.preparation.grow(capacity)
    except OuzelError as error:
        raise RoomError(str(error)) from None
    return states
