"""What blocks hold, as texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

import ouzel
from records import adapter
from records.contents import Content


def blocks_content(read: Callable[[], Iterable[Any]], source: Path | None = None) -> Content:
    """All that blocks hold, row by row, whatever the cuts between them; or the line that refuses them."""
    found: Content = {part: [] for part in ("ids", "values", "labels", "weights", "groups", "tags", "numbers")}
    emitted: list[str] = []
    space: list[str] = []
    said: list[str] = []
    for block in _until_refused(read, said):
        _add(found, block)
        emitted += [f"{feature} {name}" for feature, name in adapter.names_of(block)]
        space = adapter.space_of(block)
    found |= {"names": sorted(set(emitted)), "emitted": emitted, "space": space}
    place = str(source or "nowhere")
    return {**found, "said": [text.replace(place, "SOURCE") for text in said]}


def _until_refused(read: Callable[[], Iterable[Any]], said: list[str]) -> Iterator[Any]:
    """The blocks, then remarks and counts, or the error that ended them."""
    try:
        stream = read()
        blocks = iter(stream)
        while (block := next(blocks, None)) is not None:
            yield block
        said += [*getattr(stream, "remarks", ()), f"skipped {getattr(stream, 'skipped', 0)}"]
    except ouzel.OuzelError as error:
        said.append(f"refused: {error}")
    except Exception as error:  # a mistake of the program is recorded like any other answer
        said.append(f"{type(error).__name__}: {error}")


def _add(found: Content, block: Any) -> None:
    """Add the rows of a block to the parts."""
    starts = block.offsets.astype(np.int64)
    for row in range(block.rows):
        here = slice(starts[row], starts[row + 1])
        found["ids"].append(" ".join(map(str, block.indices[here].tolist())))
        found["values"].append(" ".join(map(repr, block.values[here].tolist())))
        label = block.labels[row].item()
        named = block.label_names is not None and label == label
        found["labels"].append(repr(block.label_names[int(label)] if named else label))
        found["weights"].append(repr(block.weights[row].item()))
    for part in ("groups", "numbers"):
        column = getattr(block, part)
        found[part] += [] if column is None else map(str, column.tolist())
    tags = block.tags
    if tags is not None:
        arrow = isinstance(tags, (pyarrow.Array, pyarrow.ChunkedArray))
        found["tags"] += map(repr, tags.to_pylist() if arrow else np.asarray(tags).tolist())
