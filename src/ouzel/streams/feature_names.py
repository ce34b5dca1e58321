"""Names of hashed features: the first name seen for each id, within a bound of memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ouzel.streams.block import Names
from ouzel.streams.kernels.new_names import FILTER_BITS, NewNames, copy_names, empty_seen_set, new_ids, size_of

ID = "_id"  # what identifies an example of a service; it is not a feature
INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls an unnamed index
BYTES_AN_ENTRY = 120  # of a dictionary entry beside its text, roughly
FEW = 64  # names that are looked for where they wait, before all become text


def is_named(column: Any) -> bool:
    """Whether a column has a name of its own; one that has none numbers the rows, and is left out.

    >>> is_named("price"), is_named(""), is_named("__index_level_0__")
    (True, False, False)
    """
    return column != "" and (column.__class__ is not str or INDEX.fullmatch(column) is None)


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
        self._seen = empty_seen_set(10)

    def __getstate__(self) -> dict[str, Any]:
        """The state of a copy, or in another process: without the filter, which follows from the names."""
        self._settle()
        return {**self.__dict__, "_seen": np.zeros(0, np.uint64)}

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

    def missing(self, features: Sequence[int]) -> list[int]:
        """The places of ids that have no name.

        >>> names = FeatureNames()
        >>> names.remember(5, "price")
        >>> names.missing([6, 5])
        [0]
        """
        known = self._known
        unsettled = [place for place, feature in enumerate(features) if feature not in known]
        return [place for place in unsettled if self.name(features[place]) is None]

    def remember(self, feature: int, name: str) -> None:
        """Add a name, unless the id has one."""
        if feature not in self._names and not self.full:
            self._names[int(feature)] = name
            self._used += BYTES_AN_ENTRY + len(name)
            if feature < size_of(self._seen) or size_of(self._seen) == 1 << FILTER_BITS:  # else `add` allocates first
                new_ids(self._seen, np.array([feature], np.uint32))

    def update(self, entries: Iterable[tuple[int, str]]) -> None:
        """Add several names."""
        for feature, name in entries:
            self.remember(feature, name)

    def add(self, names: Names) -> None:
        """Add the names of a block; those seen before cost no Python work."""
        if not len(names.ids) or self.full:
            return
        bits = min(int(names.ids.max()).bit_length(), FILTER_BITS)
        if 1 << bits > size_of(self._seen):
            self._renew_seen(bits)
        new = new_ids(self._seen, names.ids)
        if not len(new):
            return
        found = copy_names([NewNames.of(names, new)])
        size = int(np.count_nonzero(found.text & 0xC0 != 0x80)) + BYTES_AN_ENTRY * len(new)  # letters, not bytes
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
        self._renew_seen(max(size_of(self._seen), 1).bit_length() - 1)

    def first(self, count: int) -> list[str]:
        """Some of the names: those that came first, or with the lowest ids in a model that was loaded."""
        return list(islice(self._names.values(), count))

    def later(self, count: int) -> Iterator[str]:
        """The names after those that `first` gives; none of them moves until `restrict`."""
        return islice(self._names.values(), count, None)

    def ids(self) -> np.ndarray:
        """The ids (n,) of uint32 that have a name."""
        return np.fromiter(self._names, np.uint32, len(self._names))

    def _renew_seen(self, bits: int) -> None:
        """Allocate the set of ids seen before, of 2^bits, and add those of all names that it has room for.

        A larger id would mark a smaller one in its place; it is added when the set grows.
        """
        self._seen = empty_seen_set(bits)
        known = self.ids()
        new_ids(self._seen, known if bits == FILTER_BITS else known[known < 1 << bits])

    def to_json(self) -> list[Any]:
        """Pairs of id and name, by id: their order of arrival may depend on the blocks of the stream."""
        return [[feature, name] for feature, name in sorted(self._names.items())]

    @classmethod
    def from_json(cls, pairs: list[Any]) -> FeatureNames:
        """The names that `to_json` returned."""
        names = cls()
        names.update((int(feature), str(name)) for feature, name in pairs)
        return names
