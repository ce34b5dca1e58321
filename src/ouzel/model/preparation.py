"""What is done beside learning: classes weigh, features are counted and scaled, states forget, answers are judged."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.deferred import deferred
from ouzel.errors import OuzelError
from ouzel.layout import bytes_of, copied, stored_like
from ouzel.learners import feature_moments, protocol
from ouzel.learners.catalogue import LEARNERS, Learner
from ouzel.learners.protocol import Settings, State
from ouzel.model.label_encoder import Classes
from ouzel.model.scaling import Scaling
from ouzel.model.uncertainty import Uncertainty
from ouzel.streams.block import Block

if TYPE_CHECKING:
    from ouzel.learners import feature_scaling
    from ouzel.learners.auto import moments as scaling_moments
    from ouzel.learners.auto import standardisation
    from ouzel.learners.budget import scaled_columns
    from ouzel.learners.gains.parts import Gains
    from ouzel.model import class_weights, recalibration_gains
else:
    feature_scaling = deferred("ouzel.learners.feature_scaling")
    scaled_columns = deferred("ouzel.learners.budget.scaled_columns")
    scaling_moments = deferred("ouzel.learners.auto.moments")
    standardisation = deferred("ouzel.learners.auto.standardisation")
    class_weights = deferred("ouzel.model.class_weights")
    recalibration_gains = deferred("ouzel.model.recalibration_gains")

PARTS = (
    "features",
    "columns",
    "moments",
    "coverage",
    "group_coverage",
    "recalibration",
)  # arrays, by the attributes that hold them
STEPS = 16  # of forgetting, in a half-life
SHORTEST = 1.0  # half-life, in examples


class Preparation(Uncertainty, Scaling):
    """The weights of classes, the moments of features, those that they are standardised by, and when a learner forgets.

    `module` are the learner's functions. `interval` are the levels of intervals and sets that are kept, for each value
    of the column `interval_by` if given.
    """

    def __init__(
        self,
        learner: Learner,
        module: Any,
        standardize: bool | str,
        forget: float,
        groups: bool,
        class_weight: Any = None,
        interval: tuple[float, ...] = (),
        interval_by: str | None = None,
        calibrate: bool = False,
    ) -> None:
        Uncertainty.__init__(self, interval, interval_by, calibrate, groups)
        Scaling.__init__(self, learner, module, standardize, groups)
        self.class_weights = None if class_weight is None else class_weights.ClassWeights(class_weight)
        self.every = max(1, round(forget / STEPS)) if forget else 0
        self.kept = 2.0 ** (-self.every / forget) if forget else 1.0
        if 0.0 < forget < SHORTEST:
            raise OuzelError(
                f"must be {SHORTEST:g} example or more, or 0 for never; got {forget:g}",
                subject="forget",
            )
        if forget and groups:
            raise OuzelError("a ranking learns groups and does not forget between examples; leave out", forget=forget)
        if forget and not isinstance(module, protocol.Fading):
            raise OuzelError(
                f"{learner.name} has nothing that could be forgotten by half: its steps do not shrink with what it has "
                f"seen, or forgetting is not worked out for it; choose {', '.join(_forgetful())}"
            )

    def begin(self, slots: int) -> None:
        """Have seen nothing, with room for so many slots."""
        self.features = feature_scaling.init(slots) if self.scales else None
        self.columns = scaled_columns.init(self.places) if self.places else None
        self.moments = feature_moments.init(slots) if self.counts and not self.scales else None
        self.begin_judging()

    def grow(self, slots: int) -> None:
        """Have room for so many slots."""
        if self.features is not None:
            self.features = feature_scaling.grow(self.features, slots)
        if self.moments is not None:
            self.moments = feature_moments.grow(self.moments, slots)

    def layouts(self, slots: int) -> dict[str, Any]:
        """What its arrays are made of, by the name of the attribute that holds them."""
        found = {"features": feature_scaling.layout(slots)} if self.scales else {}
        found |= {"columns": scaled_columns.layout(self.places)} if self.places else {}
        found |= {"moments": feature_moments.layout(slots)} if self.counts and not self.scales else {}
        return found | self.layouts_of_judging()

    def arrays(self) -> dict[str, Any]:
        """Its arrays, by the names of `layouts`."""
        return {name: part for name in PARTS if (part := getattr(self, name)) is not None}

    def take(self, parts: Mapping[str, Any]) -> None:
        """Have these arrays, by the names of `layouts`."""
        for name, part in parts.items():
            setattr(self, name, part)

    def emptied(self) -> Preparation:
        """The same without arrays."""
        found = copy.copy(self)
        for name in PARTS:
            setattr(found, name, None)
        return found

    def copied(self) -> Preparation:
        """The same with arrays of its own."""
        found = copy.copy(self)
        found.take({name: copied(part) for name, part in self.arrays().items()})
        if self.class_weights is not None:
            found.class_weights = self.class_weights.copied()
        return found

    def gains(self, base: Preparation) -> Gains:
        """What a worker has seen beyond its base."""
        found: Gains = {}
        if self.features is not None:
            before = base.features or feature_scaling.init(len(self.features.moments))
            found["features"] = scaling_moments.gains(before, self.features)
        elif self.columns is not None:
            found["columns"] = scaling_moments.gains(base.columns.features, self.columns.features)
        elif self.moments is not None:
            found["moments"] = feature_moments.gains(base.moments, self.moments)
        if self.surplus is not None:
            found["surplus"] = np.array([self.surplus - (base.surplus or 0)])
        if self.class_weights is not None and base.class_weights is not None:
            found["classes"] = self.class_weights.gains(base.class_weights)
        return found | self.gains_of_judging(base)

    def onto(self, gains: Gains) -> None:
        """Have what workers have seen beyond this."""
        if "features" in gains:
            self.begin_scaling()
            self.features = stored_like(self.features, scaling_moments.onto(self.features, gains["features"]))
        elif "columns" in gains:
            merged = scaling_moments.onto(self.columns.features, gains["columns"])
            self.columns = self.columns._replace(features=stored_like(self.columns.features, merged))
        elif "moments" in gains:
            self.moments = stored_like(self.moments, feature_moments.onto(self.moments, gains["moments"]))
        if "surplus" in gains and not self.scales:
            self.note_surplus((self.surplus or 0) + int(gains["surplus"][0]))
        if self.class_weights is not None:
            self.class_weights.onto(gains["classes"])
        self.judge_onto(gains)

    def renumber(self, places: np.ndarray) -> None:
        """Have what is known of slot k as that of slot `places[k]`."""
        if self.features is not None:
            self.features = standardisation.renumbered(self.features, places, len(places))
        if self.moments is not None:
            self.moments = feature_moments.renumbered(self.moments, places)

    def reorder(self, places: list[int]) -> None:
        """Have as class k what was the class at `places[k]`."""
        if self.class_weights is not None:
            self.class_weights.reorder(places)
        if self.recalibration is not None and places == [1, 0]:
            self.recalibration = recalibration_gains.mirrored(self.recalibration)

    def nbytes(self, slots: int) -> int:
        """Bytes of its arrays for so many slots."""
        return sum(map(bytes_of, self.layouts(slots).values()))

    def weigh(self, classes: Classes, positions: np.ndarray, block: Block, before: int) -> Block:
        """A block to learn, its importances times the weights of its classes; `before` it came so many examples."""
        if self.class_weights is None:
            return block
        weights = np.empty_like(block.weights)
        for here, forget in self.intervals(before, 0, block.rows):
            weights[here] = self.class_weights.weigh(classes, positions[here], block.weights[here])
            if forget:
                self.class_weights.fade(self.kept)
        return block._replace(weights=weights)

    def weigh_one(self, classes: Classes, label: Any, importance: np.float32, before: int) -> np.float32:
        """The importance of one example times the weight of its class."""
        if self.class_weights is None:
            return importance
        weighed = self.class_weights.weigh_one(classes, label, importance)
        if self.every and (before + 1) % self.every == 0:
            self.class_weights.fade(self.kept)
        return weighed

    def intervals(self, before: int, start: int, stop: int) -> Iterator[tuple[slice, bool]]:
        """Cut examples `start` to `stop` of a block, `before` which there were some; whether to forget behind each."""
        if not self.every:
            yield slice(start, stop), False
            return
        while start < stop:
            end = min(start + self.every - (before + start) % self.every, stop)
            yield slice(start, end), (before + end) % self.every == 0
            start = end

    def fade(self, module: Any, states: list[State], settings: Settings) -> None:
        """Forget a part of what was learnt."""
        for state in states:
            module.fade(state, self.kept, settings)
        for features in (self.features, None if self.columns is None else self.columns.features):
            if features is not None:
                standardisation.fade(features, self.kept)


def _forgetful() -> list[str]:
    """Learners that forget."""
    return [name for name, learner in LEARNERS.items() if isinstance(learner.module, protocol.Fading)]
