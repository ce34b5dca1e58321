"""Division of a byte budget for mutual information, and the layout of its arrays. See `streaming_pmi`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.analytics.pmi import rare_pairs
from ouzel.analytics.pmi.token_pairs import Entries
from ouzel.errors import OuzelError
from ouzel.layout import allocate, flat, float32, int64, uint32
from ouzel.model.persistence import BESIDE
from ouzel.sketches import count_min, reservoir

ENTRY = 24  # bytes of a pair in the active set: id, weight, information, ids of its members, count
ESTIMATED = 4  # and, where rare pairs are counted, how much of the count is an estimate
COUNTED = 6  # part of the budget for counters of tokens
LONGEST_NAME = 32  # bytes of a token's name that are kept
LONGEST_EVENT = 128


class SideArrays(NamedTuple):
    """Arrays next to the sketch."""

    sample: reservoir.State
    often: count_min.State  # of tokens
    rare: rare_pairs.State  # pairs of rare tokens
    entries: Entries


class Parts(NamedTuple):
    """Sizes of the parts of a budget."""

    depth: int  # rows of counters of tokens
    counters: int  # in each of them
    sample: int  # bytes of the reservoir, the window and their names
    rare: int  # pairs in the table of rare ones
    cells: int  # in each row before it
    heap_size: int  # pairs in the active set
    width: int  # counters of the sketch, before a width that is given


def divided(parameters: dict[str, Any]) -> Parts:
    """Divide a budget into parts.

    A sixth goes to counters of tokens, and of what the reservoir leaves two thirds to pairs of rare tokens: a third of
    these to the table and its names. The active set has half of what is left at most.
    """
    size, rare = parameters["budget"], parameters["rare"]
    longest = LONGEST_EVENT if parameters["events"] else LONGEST_NAME
    depth = 4 if rare else 2
    counters = max(size // (4 * depth * COUNTED), 1)
    sample = (4 + longest) * (parameters["sample_size"] + parameters["window"])
    sample += 4 * parameters["window"] if rare else 0
    left = size - 4 * depth * counters - sample
    pairs, cells, most = 1, 1, parameters["heap_size"]
    if rare:
        given = max(2 * left // 3, 0)
        pairs = max(min(given // 3 // (rare_pairs.PAIR + 2 * longest), 3 * most // 5), 1)
        most = max(most - pairs, 1)
        cells = max((given - pairs * (rare_pairs.PAIR + 2 * longest)) // rare_pairs.DEPTH, 1)
        left -= pairs * (rare_pairs.PAIR + 2 * longest) + cells * rare_pairs.DEPTH
    pair = ENTRY + (ESTIMATED if rare else 0) + 2 * longest
    heap_size = min(most, max(left // (2 * pair), 1))
    return Parts(depth, counters, sample, pairs, cells, heap_size, (left - pair * heap_size) // 4)


def sizes(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the sizes of the sketch: the rest of the budget after the other parts."""
    sample_size, width, size = parameters["sample_size"], parameters["width"], parameters["budget"]
    if parameters["window"] < 2 or parameters["negatives"] < 1 or sample_size < 1 or parameters["heap_size"] < 1:
        raise OuzelError("window is 2 tokens or more; negatives, sample_size and heap_size are 1 or more")
    parts = divided(parameters)
    wanted = width or 1
    if parts.width < wanted:
        raise OuzelError(
            f"a budget of {size:,} bytes is too small; {sample_size} tokens of a sample, {parts.heap_size} pairs and "
            f"their names need {size + 4 * (wanted - parts.width):,} bytes: give more, or less sample_size or heap_size"
        )
    return {"heap_size": parts.heap_size, "width": width or parts.width}


def side_bytes(parameters: dict[str, Any]) -> int:
    """Return the bytes of all parts but sketch and names: 4 for each id, count and token, one for each cell."""
    parts = divided(parameters)
    tokens = parameters["sample_size"] + parameters["window"] - 1
    found = 4 * (tokens + parts.depth * parts.counters) + (ENTRY - 8) * parts.heap_size
    if parameters["rare"]:
        found += ESTIMATED * parts.heap_size + rare_pairs.PAIR * parts.rare + rare_pairs.DEPTH * parts.cells
        found += 4 * (parameters["window"] - 1)
    return found


def layout(parameters: dict[str, Any]) -> SideArrays:
    """Return the layout of the arrays next to the sketch."""
    sizes(parameters)
    parts, window = divided(parameters), parameters["window"]
    entries = Entries(
        information=float32(parts.heap_size, least=0.0),
        members=uint32(parts.heap_size, 2),
        counts=uint32(parts.heap_size),
        uncounted=uint32(parts.heap_size),
        window=uint32(window - 1),
        position=int64(3),
        word=uint32(1, scratch=True),
    )
    return SideArrays(
        sample=reservoir.layout(parameters["sample_size"]),
        often=count_min.layout(parts.counters, parts.depth),
        rare=rare_pairs.layout(parts.rare, parts.cells, window),
        entries=entries,
    )


def upgraded(notes: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Upgrade the arrays of a file of format 1: as learnt with `rare=0`, with all counts taken for estimates."""
    parameters, counts = notes.get("parameters"), arrays.get(f"{BESIDE}entries.counts")
    window = parameters.get("window") if isinstance(parameters, dict) else None
    if counts is None or not isinstance(parameters, dict) or not isinstance(window, int):
        raise OuzelError("holds no analysis of format 1; learn it again")
    parameters["rare"] = 0
    rare = allocate(rare_pairs.layout(1, 1, min(max(window, 2), 10_000)))
    rare_pairs.begin(rare, 0)
    return {**arrays, **dict(flat(rare, f"{BESIDE}rare.")), f"{BESIDE}entries.uncounted": np.maximum(counts, 1)}
