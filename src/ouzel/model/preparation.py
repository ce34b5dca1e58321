"""What is done with examples before they are learnt: features in the units that the learner sees, and forgetting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.layout import bytes_of
from ouzel.learners import feature_scaling, protocol
from ouzel.learners.auto import standardisation
from ouzel.learners.catalogue import LEARNERS, Learner
from ouzel.learners.rows import Rows

STEPS = 16  # of forgetting, in a half-life
SHORTEST = 1.0  # half-life, in examples


class Preparation:
    """The features' moments where they are standardised, and when a learner forgets.

    `module` are the learner's functions. Where it standardises by itself `features` stay None.
    """

    def __init__(self, learner: Learner, module: Any, standardize: bool, forget: float, groups: bool) -> None:
        self.standardizes = standardize and not isinstance(module, protocol.Standardizing)
        self.features: Any = None
        self.every = max(1, round(forget / STEPS)) if forget else 0
        self.kept = 2.0 ** (-self.every / forget) if forget else 1.0
        if self.standardizes and learner.budgeted:
            raise OuzelError(
                f"{learner.name} keeps to a byte budget, and moments of all features to standardize by do not; "
                "choose a learner without a budget, or scale the features beforehand"
            )
        if 0.0 < forget < SHORTEST:
            raise OuzelError(f"forget is a half-life of at least {SHORTEST:g} example, or 0 for never; got {forget:g}")
        if forget and groups:
            raise OuzelError("a ranking learns groups and does not forget between examples; leave out forget")
        if forget and not isinstance(module, protocol.Fading):
            raise OuzelError(
                f"{learner.name} has nothing that could be forgotten by half: its steps do not shrink with what it has "
                f"seen, or forgetting is not worked out for it; choose {', '.join(_forgetful())}"
            )

    def begin(self, slots: int) -> None:
        """Have seen nothing, with room for so many slots."""
        self.features = feature_scaling.init(slots) if self.standardizes else None

    def grow(self, slots: int) -> None:
        """Have room for so many slots."""
        if self.features is not None:
            self.features = feature_scaling.grow(self.features, slots)

    def renumber(self, places: np.ndarray) -> None:
        """Have what is known of slot k as that of slot `places[k]`."""
        if self.features is not None:
            self.features = standardisation.renumbered(self.features, places, len(places))

    def layout(self, slots: int) -> Any:
        """What the moments are made of; None if there are none."""
        return feature_scaling.layout(slots) if self.standardizes else None

    def nbytes(self, slots: int) -> int:
        """Bytes of the moments of so many slots."""
        return bytes_of(self.layout(slots)) if self.standardizes else 0

    def rows(self, rows: Rows) -> Rows:
        """Rows to predict, as the learner sees them."""
        return rows if self.features is None else feature_scaling.scaled_rows(self.features, rows)

    def rows_to_learn(self, rows: Rows, importances: np.ndarray) -> Rows:
        """Rows to learn, as the learner sees them; the moments take note of them."""
        return rows if self.features is None else feature_scaling.scaled_rows(self.features, rows, importances)

    def one(
        self, slots: np.ndarray, values: np.ndarray, importance: np.float32 | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Slots and values of one example, to be learnt or, without importance, predicted."""
        if self.features is None:
            return slots, values
        rows = Rows(np.array([0, len(slots)], np.uint64), slots, values)
        noted = feature_scaling.UNNOTED if importance is None else np.array([importance], np.float32)
        found = feature_scaling.scaled_rows(self.features, rows, noted)
        end = int(found.offsets[1])
        return found.indices[:end], found.values[:end]

    def intervals(self, before: int, start: int, stop: int) -> Iterator[tuple[slice, bool]]:
        """Cut examples `start` to `stop` of a block, `before` which there were some; whether to forget behind each."""
        if not self.every:
            yield slice(start, stop), False
            return
        while start < stop:
            end = min(start + self.every - (before + start) % self.every, stop)
            yield slice(start, end), (before + end) % self.every == 0
            start = end

    def fade(self, module: Any, states: list[Any], settings: Any) -> None:
        """Forget a part of what was learnt."""
        for state in states:
            module.fade(state, self.kept, settings)
        if self.features is not None:
            standardisation.fade(self.features, self.kept)


def _forgetful() -> list[str]:
    """Learners that forget."""
    return [name for name, learner in LEARNERS.items() if isinstance(learner.module, protocol.Fading)]
