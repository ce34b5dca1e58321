"""What a byte budget is spent on for mutual information, and the arrays that follow. See `streaming_pmi`."""

from __future__ import annotations

from typing import Any, NamedTuple

from ouzel.analytics.pmi.token_pairs import Entries
from ouzel.errors import OuzelError
from ouzel.layout import float32, int64, uint32
from ouzel.sketches import count_min, reservoir

ENTRY = 24  # bytes of a pair in the active set: id, weight, information, ids of its members, count
DEPTH = 2  # rows of counters of tokens
COUNTED = 6  # part of the budget for counters of tokens
LONGEST_NAME = 32  # bytes of a token's name that are kept
LONGEST_EVENT = 128


class Beside(NamedTuple):
    """What is kept beside the sketch."""

    sample: reservoir.State
    often: count_min.State  # of tokens
    entries: Entries


def token_counters(budget: int) -> int:
    """Counters in each row of those that count tokens."""
    return max(budget // (4 * DEPTH * COUNTED), 1)


def sizes(parameters: dict[str, Any]) -> dict[str, Any]:
    """The sizes of the sketch: what the other parts leave of the budget."""
    sample_size, heap_size, width = (parameters[name] for name in ("sample_size", "heap_size", "width"))
    window, size = parameters["window"], parameters["budget"]
    if window < 2 or parameters["negatives"] < 1 or sample_size < 1 or heap_size < 1:
        raise OuzelError("window is 2 tokens or more; negatives, sample_size and heap_size are 1 or more")
    longest = LONGEST_EVENT if parameters["events"] else LONGEST_NAME
    pair = ENTRY + 2 * longest
    fixed = 4 * DEPTH * token_counters(size) + (4 + longest) * (sample_size + window)
    heap_size = min(heap_size, max((size - fixed) // (2 * pair), 1))
    fixed += pair * heap_size
    counters = width or (size - fixed) // 4
    if counters < 1 or (width and fixed + 4 * width > size):
        raise OuzelError(
            f"a budget of {size:,} bytes is too small; {sample_size} tokens of a sample, {heap_size} pairs and "
            f"their names need {fixed + 4 * max(width, 1):,} bytes: give more, or less sample_size or heap_size"
        )
    return {"heap_size": heap_size, "width": counters}


def layout(parameters: dict[str, Any]) -> Beside:
    """What the arrays beside the sketch are made of."""
    pairs = sizes(parameters)["heap_size"]
    entries = Entries(
        information=float32(pairs, least=0.0),
        members=uint32(pairs, 2),
        counts=uint32(pairs),
        window=uint32(parameters["window"] - 1),
        position=int64(3),
        word=uint32(1, scratch=True),
    )
    often = count_min.layout(token_counters(parameters["budget"]), DEPTH)
    return Beside(sample=reservoir.layout(parameters["sample_size"]), often=often, entries=entries)
