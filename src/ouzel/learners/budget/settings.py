"""Settings that the learners of this folder share, each declared once: a learner says which it has, and its own."""

from __future__ import annotations

from collections import namedtuple
from typing import Annotated, Any

from ouzel.learners.shared_settings import L2, Depth, HeapSize, Loss, Rate, Schedule, SketchSeed, Width
from ouzel.ranges import Range
from ouzel.terms.losses import Logistic
from ouzel.terms.schedules import InverseTime

SHARED: dict[str, tuple[Any, Any]] = {
    "loss": (Loss, Logistic()),
    "budget": (Annotated[float, "bytes to keep"], 8192.0),
    "heap_size": (HeapSize, 0.0),
    "width": (Width, 0.0),
    "depth": (Depth, 0.0),
    "learning_rate": (Rate, 0.1),
    "l2": (L2, 1e-6),
    "schedule": (Schedule, InverseTime()),
    "sketch_seed": (SketchSeed, 0.0),
}
"""What each setting takes and is, and its default, in the order of all learners."""


def fields(*without: str, **own: Any) -> Any:
    """Return a NamedTuple of the shared settings but for some, and of a learner's own, to be the base of `Settings`.

    A learner's own setting is a pair, of what it takes and is, and its default; for a shared one what it takes will do.

    >>> fields("budget", "width", "depth", heap_size=(float, 128.0))._fields
    ('loss', 'heap_size', 'learning_rate', 'l2', 'schedule', 'sketch_seed')
    """
    known = {name: setting for name, setting in SHARED.items() if name not in without}
    known |= {name: _in_place(*SHARED[name], kind) if isinstance(kind, Range) else kind for name, kind in own.items()}
    make: Any = namedtuple
    made = make("made", known, defaults=[default for _, default in known.values()])
    made.__annotations__ = {name: kind for name, (kind, _) in known.items()}
    return made


def _in_place(kind: Any, default: Any, takes: Range) -> tuple[Any, Any]:
    """Return a shared setting that takes something else."""
    return Annotated[kind.__origin__, takes, kind.__metadata__[-1]], default
