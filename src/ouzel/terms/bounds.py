"""What becomes of predictions beyond the largest that labels call for; online Newton's analyses assume none."""

from __future__ import annotations

from typing import Any, NamedTuple

from ouzel.kernels.jit import dispatch


@dispatch
def projects(bound: Any) -> bool:
    """Whether the weights themselves are moved, and not only the prediction cut."""


class Clip(NamedTuple):
    """Predictions are cut to [-largest, largest]."""


@projects.register(Clip)
def _(bound):
    return False


class Project(NamedTuple):
    """Weights are projected, in the metric of the learner, on those that predict within [-largest, largest]."""


@projects.register(Project)
def _(bound):
    return True


BOUNDS: dict[str, Any] = {"clip": Clip(), "project": Project()}
"""Every bound by the name users give it."""
