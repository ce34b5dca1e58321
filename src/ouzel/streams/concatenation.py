"""Concatenation of blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from ouzel.streams.block import Block, Names
from ouzel.streams.feature_space import reconcile
from ouzel.streams.interaction_inputs import concatenate_inputs
from ouzel.streams.labels import Label, encode_labels, labels_in


def concatenate(parts: Sequence[Block]) -> Block:
    """The examples of several blocks of one stream as one block, in their order."""
    if len(parts) == 1:
        return parts[0]
    kept = [slice(int(part.offsets[0]), int(part.offsets[-1])) for part in parts]
    starts = np.cumsum([0, *(part.nonzeros for part in parts)]).astype(np.uint64)
    offsets = [part.offsets[:-1] - part.offsets[0] + start for part, start in zip(parts, starts[:-1], strict=True)]
    grouped = any(part.groups is not None for part in parts)
    groups = [np.zeros(part.rows, np.int64) if part.groups is None else part.groups for part in parts]
    numbers = [part.numbers for part in parts if part.numbers is not None]
    tags = [part.tags for part in parts if isinstance(part.tags, np.ndarray)]
    inputs = [part.interaction_inputs for part in parts if part.interaction_inputs is not None]
    labels, label_names = _labels(parts)
    return Block(
        np.concatenate([*offsets, starts[-1:]]),
        np.concatenate([part.indices[here] for part, here in zip(parts, kept, strict=True)]),
        np.concatenate([part.values[here] for part, here in zip(parts, kept, strict=True)]),
        labels,
        np.concatenate([part.weights for part in parts]),
        groups=np.concatenate(groups) if grouped else None,
        label_names=label_names,
        names=Names.joined(part.names for part in parts),
        space=reduce(lambda known, given: reconcile(known, given, learning=True), [part.space for part in parts]),
        tags=np.concatenate(tags) if len(tags) == len(parts) else None,
        numbers=np.concatenate(numbers) if len(numbers) == len(parts) else None,
        interaction_inputs=concatenate_inputs(inputs) if len(inputs) == len(parts) else None,
    )


def _labels(parts: Sequence[Block]) -> tuple[np.ndarray, Sequence[Label] | None]:
    """The labels of several blocks, encoded as those of one."""
    if all(part.label_names is None for part in parts):
        return np.concatenate([part.labels for part in parts]), None
    if any(part.label_names is None for part in parts):
        every = [label for part in parts for label in labels_in(part)]
        return encode_labels(every, len(every))
    places: dict[Label, float] = {}
    labels = []
    for part in parts:
        here = [places.setdefault(label, len(places)) for label in part.label_names or ()]
        codes = np.where(np.isnan(part.labels), len(here), part.labels).astype(np.int64)
        labels.append(np.array([*here, math.nan])[codes])
    return np.concatenate(labels), list(places)
