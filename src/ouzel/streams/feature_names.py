"""Names of hashed features: the first name seen for each id, within a bound of memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.streams.block import Names

FILTER_BITS = 24  # ids are told apart by so many bits when looking for new ones
BYTES_AN_ENTRY = 120  # of a dictionary entry beside its text, roughly


@kernel
def find_new(ids, seen):
    """Positions of ids met for the first time; marks them in `seen` (2^k,) uint8."""
    mask = np.uint32(len(seen) - 1)
    found = np.empty(len(ids), np.int64)
    count = 0
    for k in range(len(ids)):
        place = ids[k] & mask
        if seen[place] == 0:
            seen[place] = 1
            found[count] = k
            count += 1
    return found[:count]


class FeatureNames:
    """Names by feature id. When `limit_bytes` is reached no more are taken until `restrict` has made room.

    >>> names = FeatureNames()
    >>> names.remember(5, "price")
    >>> names.name(5), names.name(6)
    ('price', None)
    """

    def __init__(self, limit_bytes: int = 64 << 20) -> None:
        self.limit_bytes = limit_bytes
        self.bytes_used = 0
        self._names: dict[int, str] = {}
        self._seen = np.zeros(1 << 10, np.uint8)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def full(self) -> bool:
        """Whether the bound is reached."""
        return self.bytes_used >= self.limit_bytes

    def name(self, feature: int) -> str | None:
        """The name of an id, if it is known."""
        return self._names.get(int(feature))

    def remember(self, feature: int, name: str) -> None:
        """Take a name, unless the id has one."""
        if feature not in self._names and not self.full:
            self._names[int(feature)] = name
            self.bytes_used += BYTES_AN_ENTRY + len(name)

    def update(self, entries: Iterable[tuple[int, str]]) -> None:
        """Take several names."""
        for feature, name in entries:
            self.remember(feature, name)

    def add(self, names: Names) -> None:
        """Take the names that a block brought; those seen before cost no Python work."""
        if not len(names.ids) or self.full:
            return
        width = min(1 << int(names.ids.max()).bit_length(), 1 << FILTER_BITS)
        if width > len(self._seen):
            self._seen = np.zeros(width, np.uint8)
            self._seen[np.fromiter(self._names, np.int64, len(self._names)) & (width - 1)] = 1
        for k in find_new(names.ids, self._seen):
            text = names.text[int(names.starts[k]) : int(names.ends[k])]
            self.remember(int(names.ids[k]), text.tobytes().decode("utf-8", "replace"))

    def restrict(self, features: np.ndarray) -> None:
        """Forget all names but those of the given ids."""
        kept = set(features.tolist())
        self._names = {feature: name for feature, name in self._names.items() if feature in kept}
        self.bytes_used = sum(BYTES_AN_ENTRY + len(name) for name in self._names.values())
        self._seen[:] = 0
        self._seen[np.fromiter(self._names, np.int64, len(self._names)) & (len(self._seen) - 1)] = 1

    def to_json(self) -> list[Any]:
        """Pairs of id and name, by id: the order in which they came may depend on where a stream was cut."""
        return [[feature, name] for feature, name in sorted(self._names.items())]

    @classmethod
    def from_json(cls, pairs: list[Any]) -> FeatureNames:
        """The names that `to_json` gave."""
        names = cls()
        names.update((int(feature), str(name)) for feature, name in pairs)
        return names
