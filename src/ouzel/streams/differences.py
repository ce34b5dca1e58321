"""What sets a stream's later files apart from its first: they may not have been meant as one stream."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple, Self

from ouzel.errors import listed
from ouzel.streams.block import Block
from ouzel.streams.label_values import labels_in, sort_key

FEW = 20  # different labels of a block that are classes, so that others are other classes


class Sight(NamedTuple):
    """What the first block of a file shows."""

    name: str
    columns: Collection[str]  # of a table; nothing where features come one by one
    labels: set[Any]

    @classmethod
    def of(cls, name: str, block: Block) -> Self:
        """What a block of the file of this name shows."""
        columns = block.space.kinds if block.space.closed else ()
        return cls(name, columns, {label for label in labels_in(block) if label is not None})

    def against(self, first: Sight) -> list[str]:
        """Lines for people on what is not as in the stream's first file."""
        found = []
        more = [name for name in self.columns if name not in first.columns]
        less = [name for name in first.columns if name not in self.columns]
        if self.columns and first.columns and (more or less):
            said = [f"{what} {listed(names, 5)}" for what, names in (("with", more), ("without", less)) if names]
            found.append(f"{self.name}: has other columns than {first.name}, {' and '.join(said)}")
        few = max(len(self.labels), len(first.labels)) <= FEW
        kinds, before = ({isinstance(label, str) for label in labels} for labels in (self.labels, first.labels))
        if self.labels and first.labels and not self.labels & first.labels and (few or kinds != before):
            found.append(f"{self.name}: has other labels, {_shown(self)}, than {first.name}, {_shown(first)}")
        return [f"{line}; they are read as one stream" for line in found]


def _shown(sight: Sight) -> str:
    return listed([str(label) for label in sorted(sight.labels, key=sort_key)], 3)
