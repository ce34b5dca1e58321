"""Which learners the attack goes for, and settings that keep them small."""

from __future__ import annotations

import os

CHOSEN = "TORTURE_LEARNERS"  # the environment variable that names some of them: ogd,awm


def chosen() -> list[str]:
    """Names of the catalogue, all unless some are chosen."""
    from ouzel.learners.catalogue import LEARNERS

    wanted = os.environ.get(CHOSEN)
    return list(LEARNERS) if not wanted else [name for name in wanted.split(",") if name in LEARNERS]


def settings_of(learner: str) -> dict[str, str]:
    """Settings for small states: a budget where there is one."""
    from ouzel.learners.catalogue import LEARNERS

    fields = LEARNERS[learner].settings._fields
    return {"budget": "2KB"} if "budget" in fields else {}


def switches_of(learner: str) -> list[str]:
    """Settings that are on or off, such as `by_mass` of `son-oja`."""
    from ouzel.learners.catalogue import LEARNERS

    defaults = LEARNERS[learner].settings._field_defaults
    return [name for name, default in defaults.items() if isinstance(default, bool) and name != "from_theory"]
