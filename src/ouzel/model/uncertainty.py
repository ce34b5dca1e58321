"""How good answers are, and what follows: intervals and sets that cover the truth, and recalibrated probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.deferred import deferred
from ouzel.errors import OuzelError
from ouzel.layout import stored_like
from ouzel.model.label_encoder import Classes
from ouzel.model.settings import check_by
from ouzel.streams.block import Block
from ouzel.streams.feature_names import FeatureNames
from ouzel.streams.feature_space import FeatureSpace

if TYPE_CHECKING:
    from ouzel.learners.gains.parts import Gains
    from ouzel.model import coverage, coverage_gains, group_coverage, recalibration, recalibration_gains
else:
    coverage = deferred("ouzel.model.coverage")  # with --interval
    coverage_gains = deferred("ouzel.model.coverage_gains")
    group_coverage = deferred("ouzel.model.group_coverage")  # with --interval-by
    recalibration = deferred("ouzel.model.recalibration")  # with --calibrate
    recalibration_gains = deferred("ouzel.model.recalibration_gains")


class Uncertainty:
    """The coverage of intervals and sets at some levels, in all or by groups of a column, and recalibration."""

    coverage: Any = None
    group_coverage: Any = None
    recalibration: Any = None

    def __init__(self, interval: tuple[float, ...], by: str | None, calibrate: bool, groups: bool) -> None:
        self.levels, self.by = np.array(interval), check_by(by)
        self.calibrates, self.judges = calibrate, calibrate or bool(interval)
        if interval and groups:
            raise OuzelError("a ranking has scores, of which there is no truth; leave out", interval=interval[0])
        if by is not None and not interval:
            raise OuzelError(
                "intervals are kept by groups where there are any; give interval, or leave out", interval_by=by
            )

    def begin_judging(self) -> None:
        """Have seen nothing."""
        for name, (module, *shape) in self._parts().items():
            setattr(self, name, module.init(*shape))

    def layouts_of_judging(self) -> dict[str, Any]:
        """The layouts of its arrays, by the attribute that holds them."""
        return {name: module.layout(*shape) for name, (module, *shape) in self._parts().items()}

    def _parts(self) -> dict[str, Any]:
        """The modules of its arrays, and what these are made for."""
        levels = len(self.levels)
        found: dict[str, Any] = {"coverage": (coverage, levels)} if levels else {}
        found |= {"group_coverage": (group_coverage, levels)} if self.by is not None else {}
        return found | ({"recalibration": (recalibration,)} if self.calibrates else {})

    def check_judging(self) -> None:
        """Refuse arrays that contradict each other."""
        for name, (module, *_) in self._parts().items():
            module.check(getattr(self, name))

    def gains_of_judging(self, base: Uncertainty) -> Gains:
        """What a worker has seen beyond its base."""
        return {name: _merging(name).gains(getattr(base, name), getattr(self, name)) for name in self._parts()}

    def judge_onto(self, gains: Gains) -> None:
        """Have what workers have seen beyond this."""
        for name in self._parts():
            own = getattr(self, name)
            setattr(self, name, stored_like(own, _merging(name).onto(own, gains[name])))

    def check_groups(self, space: FeatureSpace) -> None:
        """Refuse features, to be learnt, that have no column to keep intervals by."""
        if self.by is not None:
            group_coverage.check_column(space, self.by)

    def group_keys(self, model: Any, block: Block, learns: bool = False) -> np.ndarray | None:
        """The groups (n,) of a block's examples, by key; None where intervals are kept for all together.

        New values of a block to learn begin groups.
        """
        if self.by is None:
            return None
        state, column = self.group_coverage, model.space.id_of(self.by, model.seed, model.bits)
        names = block.names if learns else None
        new = [] if names is None else group_coverage.new_features(state, self.by, names)
        keys = group_coverage.keys_of(state, column, block.offsets, block.indices, block.values, new)
        if learns:
            group_coverage.add_keys(state, keys, new)
        return keys

    def group_keys_one(self, model: Any, slots: np.ndarray, values: np.ndarray, learns: bool = False) -> Any:
        """The same (1,) of one example, by ids + 1 (0 of the constant)."""
        if self.by is None:
            return None
        ids = slots[slots > 0] - np.uint32(1)
        column = model.space.id_of(self.by, model.seed, model.bits)
        given = np.array([0, len(ids)], np.uint64), ids, values[slots > 0]
        state = self.group_coverage
        keys = group_coverage.keys_of(state, column, *given)
        if learns and keys[0] == group_coverage.OTHERS and state.keys[-1] == group_coverage.OTHERS:
            new = [feature for feature in ids.tolist() if (model.names.name(feature) or "").startswith(f"{self.by}=")]
            keys = group_coverage.keys_of(state, column, *given, new)
        if learns:
            group_coverage.add_keys(state, keys)
        return keys

    def group_name(self, key: int, names: FeatureNames) -> str:
        """What a group is called, by its key."""
        return group_coverage.name_of(key, names, self.by or "")

    def with_groups(self, members: Iterable[np.ndarray]) -> np.ndarray:
        """The ids + 1 of features whose names are kept: of members of states, and those that groups are called by."""
        ids = [] if self.by is None else group_coverage.ids_of(self.group_coverage)
        return np.concatenate([*members, np.array(ids, np.int64) + 1])

    def judge(self, model: Any, outcome: Any, block: Block, known: int, learns: bool = True) -> Any:
        """An outcome with recalibrated margins, and whether intervals and sets held the truth.

        The model knew `known` classes before the examples of the block; they are learnt unless nothing `learns`.
        """
        task, keys = model.task, self.group_keys(model, block, learns)
        if keys is not None and len(keys) != len(outcome.targets):  # those of classes not known are not evaluated
            keys = keys[model.classes.known_positions(block.labels, block.label_names) >= 0]
        if keys is not None:
            given = keys, self.levels, task, outcome, known, learns
            outcome = outcome._replace(covered=group_coverage.covered(self.coverage, self.group_coverage, *given))
        elif self.coverage is not None:
            found = coverage.covered(self.coverage, self.levels, task, outcome, known, learns)
            outcome = outcome._replace(covered=found)
        if self.recalibration is not None:
            outcome = recalibration.recalibrated(self.recalibration, task, outcome, learns)
        return outcome

    def judge_one(
        self, task: Any, classes: Classes, margins: list[float], label: Any, importance: Any, known: int, keys: Any
    ) -> list[float]:
        """The same of one example to learn, by its margins as the model has them; its recalibrated margins."""
        target = float(label) if task.numbers else classes.find(label)
        if self.coverage is not None:
            state = self.coverage
            if keys is not None:
                state = group_coverage.parts(state, self.group_coverage, keys)[0][1]
            coverage.covered_one(state, self.levels, task, margins, target, importance, known)
        if self.recalibration is not None:
            known_as = int(target), float(importance)
            margins = recalibration.recalibrate_one(self.recalibration, task, margins, *known_as, learns=True)
        return margins

    def recalibrated(self, task: Any, margins: np.ndarray) -> np.ndarray:
        """Recalibrated margins (n,) or (n, classes), of those of the learner."""
        state = self.recalibration
        return margins if state is None else recalibration.recalibrate_margins(state, task, margins)

    def recalibrated_one(self, task: Any, margins: list[float]) -> list[float]:
        """The same of one example."""
        state = self.recalibration
        return margins if state is None else recalibration.recalibrate_one(state, task, margins)


def _merging(part: str) -> Any:
    """The module that merges a part."""
    return {"coverage": coverage_gains, "group_coverage": group_coverage, "recalibration": recalibration_gains}[part]
