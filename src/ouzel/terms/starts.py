"""Where the directions of a sketch begin: any matrix with orthonormal rows will do (Luo et al. 2016, Algorithm 3)."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from ouzel.kernels.jit import dispatch
from ouzel.ranges import Range

FIRST_SEEN, RANDOM, GIVEN = range(3)


@dispatch
def code_of(start: Any) -> tuple[int, float]:
    """What a sketch keeps of a start: FIRST_SEEN, RANDOM or GIVEN, and its number."""


class Random(NamedTuple):
    """Orthonormal rows drawn at random over so many slots, of which those in use are some.

    What is drawn for a slot depends on when it comes and with which value, and not on its number.
    """

    slots: Annotated[float, Range(1.0, 2.0**48, whole=True), "that directions are drawn over"] = 2.0**18


@code_of.register(Random)
def _(start):
    return RANDOM, start.slots


class FirstSeen(NamedTuple):
    """Direction k is the k-th slot seen: by number within an example, the constant last."""


@code_of.register(FirstSeen)
def _(start):
    return FIRST_SEEN, 0.0


class Ids(NamedTuple):
    """Direction k is the feature with the id `first` + k; -1 is the constant's."""

    first: Annotated[float, Range(-1.0, 2.0**32, whole=True), "id of the feature that is the first direction"] = 0.0


@code_of.register(Ids)
def _(start):
    return GIVEN, start.first + 1.0


STARTS: dict[str, Any] = {"random": Random(), "first-seen": FirstSeen(), "ids": Ids()}
"""Every start by the name users give it."""
