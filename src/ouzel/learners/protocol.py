"""What a learner is: the functions that its module has, and those that some have besides.

A module of `learners/` is checked against these protocols as it stands (a module's functions are its members). What
each must satisfy, beyond its signature, are the laws in `tests/checks/laws.py`, crossed with every learner.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

if TYPE_CHECKING:  # the catalogue, which imports this, loads nothing
    import numpy as np

    from ouzel.learners.rows import Rows


class Record(Protocol):
    """A NamedTuple of a learner's own; what its fields are is known to that learner alone."""

    @property
    def _fields(self) -> tuple[str, ...]:
        """Their names."""

    def _asdict(self) -> dict[str, Any]:
        """The fields by name."""

    def _replace(self, **fields: Any) -> Self:
        """The same with other values of some fields."""


class State(Record, Protocol):
    """A NamedTuple of arrays."""

    def __iter__(self) -> Iterator[np.ndarray]: ...


class Settings(Record, Protocol):
    """A NamedTuple of numbers, booleans and terms."""


@cache
def offers(module: Any, protocol: type) -> bool:
    """Whether a learner's module has what a protocol asks for: `isinstance`, which is slow, once for each.

    >>> from ouzel.learners.budget import awm
    >>> offers(awm, Spectral)
    False
    """
    return isinstance(module, protocol)


@runtime_checkable
class Learner(Protocol):
    """What every learner has. Targets are -1 and +1, numbers, or, of a `Multiclass` one, positions of classes.

    `layout`, `init` and `grow` of a `Multiclass` learner take the number of classes after that of the slots, and its
    predictions are scores (n, classes) in place of margins (n,).
    """

    def layout(self, *sizes_and_settings: int | Settings) -> State:
        """A `State` of descriptions in place of arrays (see `ouzel.layout`)."""

    def init(self, *sizes_and_settings: int | Settings) -> State:
        """A state that has seen nothing."""

    def grow(self, state: State, *sizes_and_settings: int | Settings) -> State:
        """The same state with room for more; what it predicts does not change."""

    def learn_row(
        self, state: State, indices: np.ndarray, values: np.ndarray, target: float, importance: float, *more: Any
    ) -> Any:
        """Learn one example in place; the prediction made before learning is returned, or written to the last one."""

    def predict_row(
        self, state: State, indices: np.ndarray, values: np.ndarray, settings: Settings, *scores: np.ndarray
    ) -> Any:
        """The prediction for one example, which is what learning it next would tell."""

    def learn_rows(
        self,
        state: State,
        rows: Rows,
        targets: np.ndarray,
        importances: np.ndarray,
        settings: Settings,
        out: np.ndarray,
    ) -> None:
        """Learn a block; `out` takes the predictions made before learning each example."""

    def predict_rows(self, state: State, rows: Rows, settings: Settings, out: np.ndarray) -> None:
        """Write the predictions for a block; nothing is learnt."""


@runtime_checkable
class MergesOntoBase(Protocol):
    """Models merge: what workers have learnt beyond the state they began from, their base, is added to it.

    The base of models that learnt apart is an untrained state; workers that learn in rounds go on from the last one.
    """

    def gains(self, base: State, state: State, settings: Settings) -> Any:
        """What a worker has learnt beyond its base, in parts that add up (see `learners.gains.parts`)."""

    def onto(self, base: State, gains: Any, settings: Settings) -> State:
        """The state of a base and of what all workers have learnt beyond it: of one worker, its own bar rounding."""


@runtime_checkable
class Multiclass(Protocol):
    """One state holds every class."""

    MULTICLASS: bool


@runtime_checkable
class Budgeted(Protocol):
    """The state keeps to a byte budget and takes any slot; it knows its heaviest weights alone."""

    BUDGETED: bool

    def bytes_used(self, state: State) -> int:
        """Bytes as the paper counts them: 4 for each id, weight and auxiliary value."""

    def top(self, state: State, n: int, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
        """Slots (n,) and weights (n,) of the n heaviest, heaviest first."""

    def members(self, state: State) -> np.ndarray:
        """Slots whose weights are known."""


@runtime_checkable
class Weighted(Protocol):
    """The weight of every slot is known."""

    def weights(self, state: State, settings: Settings) -> np.ndarray:
        """Weights (slots,) or (slots, classes), as predictions use them."""


@runtime_checkable
class Checked(Protocol):
    """Arrays of its state must fit each other, beyond what the layout says of each."""

    def check(self, state: State, settings: Settings) -> None:
        """Refuse a state that contradicts itself."""


@runtime_checkable
class Renumbered(Protocol):
    """Its slots can have other numbers: where it keeps a number for every pair, ids get slots as they first appear."""

    def renumber(self, state: State, places: np.ndarray) -> State:
        """The state in which slot k of this one is slot `places[k]`."""


@runtime_checkable
class ChosenByTask(Protocol):
    """Another module learns some tasks, or by some losses or settings."""

    def module_for(self, task: str, loss: object, settings: Settings | None = None) -> Learner:
        """The module for a task, by its name, a loss, and settings if they are known."""


@runtime_checkable
class ChosenByState(Protocol):
    """States are of several kinds, each with kernels of its own for single rows."""

    def rule_of(self, state: State) -> Any:
        """The module whose kernels a state is for."""


@runtime_checkable
class Reordered(Protocol):
    """A learner of several classes whose states can have them in another order."""

    def reorder(self, state: State, places: list[int]) -> State:
        """The state in which class k is class `places[k]` of this one."""


@runtime_checkable
class ScalesTargets(Learner, Protocol):
    """It centres and scales the numbers to predict itself."""

    SCALES_TARGETS: bool


@runtime_checkable
class ScalesLabels(Protocol):
    """It knows where the numbers to predict lie, and how far from there."""

    def label_scale(self, state: State) -> tuple[float, float]:
        """Their mean and standard deviation; 0 of too few or equal numbers."""


@runtime_checkable
class Standardizing(Protocol):
    """It centres and scales the features itself."""

    STANDARDIZES: bool


@runtime_checkable
class CutsValues(Protocol):
    """A value larger than any that a feature had counts as the largest."""

    def largest_sizes(self, state: State) -> np.ndarray:
        """The largest |value| (slots,) of each feature; of none (0,) by settings that cut nothing."""


@runtime_checkable
class Fading(Protocol):
    """What it has accumulated can count for less, so that its steps do not shrink for ever."""

    def fade(self, state: State, kept: float, settings: Settings) -> None:
        """Have what was accumulated until now count for a part of what it did; weights stay."""


@runtime_checkable
class Spectral(Protocol):
    """The metric is a sketch whose directions can be shown."""

    def eigenvalues(self, state: State) -> np.ndarray:
        """Eigenvalues (m,) of what the sketch stands for, largest first."""

    def directions(self, state: State) -> np.ndarray:
        """Their eigenvectors (m, slots)."""


@runtime_checkable
class Conditioned(Protocol):
    """The metric is a matrix whose condition number is known."""

    def condition_number(self, state: State, settings: Settings) -> float:
        """Largest eigenvalue of the metric over the smallest."""


@runtime_checkable
class WithErrors(Protocol):
    """The variance of the weights of two classes is known, if the examples are what the module assumes."""

    def variances(self, state: State, settings: Settings) -> np.ndarray | None:
        """Variance (slots,) of each weight, NaN where it is not known; None with settings for which it is not."""
