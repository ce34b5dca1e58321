"""Slots of features of a learner that keeps a number for every pair of slots: assigned as ids first appear.

Names are hashed to many more ids than such a learner has room for, and few of them are used. So feature ids get the
slots 1, 2, … in the order in which they first appear in what is learnt, ascending within an example: the same slots
whatever the block size. Slot 0 stays the constant feature's. Other learners have id + 1 as the slot of every feature.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.learners.rows import Rows, any_unknown, to_mapped_rows
from ouzel.ranges import memory
from ouzel.streams.block import Block

MOST = 1 << 16  # features of a map: a state with a number for every pair of more would be larger than any machine
UNKNOWN = -1


class SlotMap:
    """The feature ids that have slots: slot k + 1 is that of `ids[k]`. Maps do not change; `with_ids` returns another.

    >>> known = SlotMap([7, 3])
    >>> known.slots_of(np.array([3, 5, 7])), known.new_ids(np.array([9, 3, 4, 9]))
    (array([ 2, -1,  1]), array([9, 4]))
    >>> known.with_ids([9]).ids
    array([7, 3, 9])
    """

    def __init__(self, ids: Iterable[int] | np.ndarray = ()) -> None:
        self.ids = np.array(ids if isinstance(ids, np.ndarray) else [*ids], np.int64)
        self._order = np.argsort(self.ids, kind="stable")
        self._sorted = self.ids[self._order]
        self._last: tuple[bytes, np.ndarray] = (b"", np.empty(0, np.uint32))

    def __len__(self) -> int:
        return len(self.ids)

    def slots_of(self, features: np.ndarray) -> np.ndarray:
        """The slots (n,) int64 of feature ids (n,), -1 of those that have none."""
        if not len(self.ids):
            return np.full(len(features), UNKNOWN)
        features = features.astype(np.int64)
        places = np.minimum(np.searchsorted(self._sorted, features), len(self.ids) - 1)
        return np.where(self._sorted[places] == features, self._order[places] + 1, UNKNOWN)

    def new_ids(self, features: np.ndarray) -> np.ndarray:
        """The ids among `features` (n,) that have no slot, each once, in order of first appearance."""
        unknown = features[self.slots_of(features) == UNKNOWN].astype(np.int64)
        ids, first = np.unique(unknown, return_index=True)
        return ids[np.argsort(first)]

    def new_in(self, block: Block) -> np.ndarray:
        """The same of a block, of its examples whose importance is above 0."""
        if not any_unknown(self._sorted, *block[:2], block.weights):
            return self.ids[:0]
        counts: Any = np.diff(block.offsets.astype(np.int64))
        here = block.indices[int(block.offsets[0]) : int(block.offsets[-1])]
        return self.new_ids(here[np.repeat(block.weights > 0.0, counts)])

    def with_ids(self, new: Iterable[int] | np.ndarray) -> SlotMap:
        """A map in which further ids, none of them known, have the next slots."""
        return SlotMap(np.concatenate([self.ids, np.array([*new], np.int64)]))

    def rows(self, offsets: np.ndarray, indices: np.ndarray, values: np.ndarray, constant: bool, room: int) -> Rows:
        """Rows of a block's arrays over the slots below `room`, slot 0 = 1 put first if `constant`.

        Ids that have no slot are given, in each row, those that learning it would give them.
        """
        return to_mapped_rows(self._sorted, self._order, offsets, indices, values, constant, np.int64(room))

    def one(self, numbers: np.ndarray, values: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
        """The same of one example given as ids + 1 (n,), 0 for the constant: its slots and values."""
        known = self.known(numbers)
        if known is not None:
            return known, values
        found, last = [], len(self.ids)
        for number in numbers.tolist():
            slot = self._by_number.get(number)
            if slot is None:
                slot = last = last + 1
            found.append(slot)
        slots = np.array(found, np.uint32)
        return slots[slots < room], values[slots < room]

    def known(self, numbers: np.ndarray) -> np.ndarray | None:
        """The slots (n,) of an example given as ids + 1 (n,), if all have one."""
        key = numbers.tobytes()
        if self._last[0] == key:  # of dense examples, each has the features of the one before
            return self._last[1]
        try:
            slots = np.array([*map(self._by_number.__getitem__, numbers.tolist())], np.uint32)
        except KeyError:
            return None
        self._last = key, slots
        return slots

    @cached_property
    def _by_number(self) -> dict[int, int]:
        """The slot of each id + 1, and of 0."""
        return {0: 0, **{feature + 1: slot for slot, feature in enumerate(self.ids.tolist(), 1)}}

    def spread(self, table: np.ndarray, dimension: int) -> np.ndarray:
        """A table (columns, slots) with id + 1 as the column of each feature, (columns, dimension); 0 elsewhere."""
        if len(table) * dimension * table.itemsize > memory():
            raise OuzelError(
                f"ids go up to {dimension - 2}: a table of all their weights is more than this machine's memory; "
                "ask for the heaviest weights instead"
            )
        found = np.zeros((len(table), dimension), table.dtype)
        found[:, self.numbers] = table
        return found

    @property
    def numbers(self) -> np.ndarray:
        """Id + 1 of each slot (slots,), 0 of the constant's."""
        return np.append(0, self.ids + 1)

    def places_in(self, ids: Iterable[int], capacity: int) -> np.ndarray:
        """Where each of so many slots goes, (capacity,), if the ids, which are these in another order, have slots."""
        moved = SlotMap(ids).slots_of(self.ids)
        return np.concatenate([[0], moved, np.arange(len(self.ids) + 1, capacity)])


def common_ids(maps: Iterable[tuple[int, ...] | None]) -> tuple[int, ...] | None:
    """The ids of several maps, in the order of the first, then of the second, …; None where there are no maps.

    >>> common_ids([(7, 3), (3, 9)])
    (7, 3, 9)
    """
    given: list[Any] = [ids for ids in maps if ids is not None]
    return tuple(dict.fromkeys(feature for ids in given for feature in ids)) if given else None
