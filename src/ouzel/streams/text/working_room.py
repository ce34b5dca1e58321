"""Room to work in that a thread keeps from chunk to chunk.

What is given back and asked for again comes from the system page by page, which has cost a fifth of the reading.
"""

from __future__ import annotations

import threading

import numpy as np

MOST = 1 << 22  # numbers that are kept; whoever needs more gets it for once

_kept = threading.local()


def working_room(name: str, size: int) -> np.ndarray:
    """Room (size,) uint64 for one use of this name at a time; what was written there before may be in it.

    >>> working_room("ends", 3).shape
    (3,)
    """
    room: np.ndarray | None = getattr(_kept, name, None)
    if room is None or len(room) < size:
        room = np.empty(size, np.uint64)
        if size <= MOST:
            setattr(_kept, name, room)
    return room[:size]
