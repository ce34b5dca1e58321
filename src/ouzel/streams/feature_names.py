"""Names of hashed features: the first name seen for each id, within a bound of memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ouzel.kernels.jit import kernel
from ouzel.streams.block import Names

FILTER_BITS = 24  # of ids, by which new ones are found
BYTES_AN_ENTRY = 120  # of a dictionary entry besides its text, roughly
FEW = 64  # lookups among pending names, before all of them become text


@kernel
def find_new(ids, seen):
    """The positions of ids that are new; they are marked in `seen` (2^k,) uint8."""
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


@kernel
def gather(starts, ends, text, gathered):
    """Write the spans `text[starts[k]:ends[k]]` to `gathered`, one behind the other."""
    filled = np.uint64(0)
    for k in range(len(starts)):
        for j in range(starts[k], ends[k]):
            gathered[filled] = text[j]
            filled += np.uint64(1)


class FeatureNames:
    """Names by feature id. When `limit_bytes` is reached no more are added until `restrict` has made room.

    Names of blocks are kept as bytes, and become text when more than a few are looked up.

    >>> names = FeatureNames()
    >>> names.remember(5, "price")
    >>> names.name(5), names.name(6)
    ('price', None)
    """

    def __init__(self, limit_bytes: int = 64 << 20) -> None:
        self.limit_bytes = limit_bytes
        self._used = self._bytes_pending = 0
        self._pending: list[Names] = []  # as bytes, within the limit, none of them known
        self._lookups = 0  # among those
        self._known: dict[int, str] = {}
        self._seen = np.zeros(1 << 10, np.uint8)

    def __getstate__(self) -> dict[str, Any]:
        """The state of a copy, or in another process: without the filter, which follows from the names."""
        self._settle()
        return {**self.__dict__, "_seen": np.zeros(1, np.uint8)}

    @property
    def _names(self) -> dict[int, str]:
        """All names."""
        self._settle()
        return self._known

    def _settle(self) -> None:
        """Decode the pending names."""
        pending, self._pending, self._bytes_pending = self._pending, [], 0
        for names in pending:
            self._take(names)
        self._lookups = 0

    @property
    def bytes_used(self) -> int:
        """Bytes that the names take, roughly."""
        return self._used + self._bytes_pending

    def __len__(self) -> int:
        return len(self._known) + sum(len(names.ids) for names in self._pending)

    @property
    def full(self) -> bool:
        """Whether the bound is reached."""
        return self._used >= self.limit_bytes

    def name(self, feature: int) -> str | None:
        """The name of an id, if it is known."""
        if feature in self._known or not self._pending or self._lookups == FEW:
            return self._names.get(int(feature))
        self._lookups += 1
        pending = ((names, place) for names in self._pending for place in np.flatnonzero(names.ids == feature))
        found = next((names.text[names.starts[place] : names.ends[place]] for names, place in pending), None)
        return None if found is None else found.tobytes().decode("utf-8", "replace")

    def remember(self, feature: int, name: str) -> None:
        """Add a name, unless the id has one."""
        if feature not in self._names and not self.full:
            self._names[int(feature)] = name
            self._used += BYTES_AN_ENTRY + len(name)
            if feature < len(self._seen) or len(self._seen) == 1 << FILTER_BITS:  # else it makes more room first
                self._seen[feature & (len(self._seen) - 1)] = 1

    def update(self, entries: Iterable[tuple[int, str]]) -> None:
        """Add several names."""
        for feature, name in entries:
            self.remember(feature, name)

    def add(self, names: Names) -> None:
        """Add the names of a block; those seen before cost no Python work."""
        if not len(names.ids) or self.full:
            return
        width = min(1 << int(names.ids.max()).bit_length(), 1 << FILTER_BITS)
        if width > len(self._seen):
            self._seen = np.zeros(width, np.uint8)
            self._seen[np.fromiter(self._names, np.int64, len(self._names)) & (width - 1)] = 1
        new = find_new(names.ids, self._seen)
        if not len(new):
            return
        starts, ends = names.starts[new], names.ends[new]
        stops = np.cumsum(ends - starts)
        text = np.empty(int(stops[-1]), np.uint8)
        gather(starts, ends, names.text, text)
        found = Names(names.ids[new], stops - (ends - starts), stops, text)
        size = int(np.count_nonzero(text & 0xC0 != 0x80)) + BYTES_AN_ENTRY * len(new)  # letters, not bytes
        if self._used + self._bytes_pending + size < self.limit_bytes:
            self._pending.append(found)
            self._bytes_pending += size
        else:
            self._settle()
            self._take(found)

    def _take(self, names: Names) -> None:
        """Decode and add names that are new."""
        text, known, used = names.text.tobytes(), self._known, self._used
        for feature, start, end in zip(names.ids.tolist(), names.starts.tolist(), names.ends.tolist(), strict=True):
            if used >= self.limit_bytes:
                break
            if feature not in known:
                name = known[feature] = text[start:end].decode("utf-8", "replace")
                used += BYTES_AN_ENTRY + len(name)
        self._used = used

    def restrict(self, features: np.ndarray) -> None:
        """Forget all names but those of the given ids."""
        kept = set(features.tolist())
        self._known = {feature: name for feature, name in self._names.items() if feature in kept}
        self._used = sum(BYTES_AN_ENTRY + len(name) for name in self._names.values())
        self._seen[:] = 0
        self._seen[np.fromiter(self._names, np.int64, len(self._names)) & (len(self._seen) - 1)] = 1

    def to_json(self) -> list[Any]:
        """Pairs of id and name, by id: their order of arrival may depend on the blocks of the stream."""
        return [[feature, name] for feature, name in sorted(self._names.items())]

    @classmethod
    def from_json(cls, pairs: list[Any]) -> FeatureNames:
        """The names that `to_json` returned."""
        names = cls()
        names.update((int(feature), str(name)) for feature, name in pairs)
        return names
