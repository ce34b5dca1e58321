"""What a sketch is that online Newton can be taken with: the functions that its module has.

The metric is A = alpha I + S'S, S (m, d) what the sketch stands for. The state of a sketch, a NamedTuple, has among its
arrays the `table`, `coefficients` and `touched` of `low_rank_table`, by which w = table @ coefficients, and `counts`,
which begin with the number of examples and of slots seen: a sketch keeps w as it changes S. To plug another one in,
write a module of these functions (`random_projection` is the shortest), the learner's ten lines
(`learners/newton/sketched_rp.py`) and its line in the catalogue.

An example is worked on in this order: `look_up`, perhaps `reduction` and `apply` (the projection to predictions within
bounds), perhaps `look_up` again, perhaps `absorb`, and `apply`. A sketch that adds to alpha as it learns has one more
kernel, `rate_of(state, rate)`: 1 / alpha, where alpha was 1 / `rate` at first (`newton_robust_directions`). One whose
w follows from what else it keeps has `hold(state, weights)`, which lets a settled state have weights (d,).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ouzel.layout import copied

if TYPE_CHECKING:
    import numpy as np

State = Any
Work = Any  # a NamedTuple of arrays to work in, `projected` (width,) among them
Vector = Any  # its slots (uint32, none twice), and beside them its values


class Sketch(Protocol):
    """Functions on x, a sparse vector, are kernels that allocate nothing."""

    def layout(self, dimension: int, size: int) -> State:
        """Descriptions in place of arrays (see `ouzel.layout`), for so many slots and `size` directions."""

    def begin(self, state: State, settings: Any) -> None:
        """Write what a state holds at first, where no `fill` can say it."""

    def check(self, state: State) -> None:
        """Refuse a state that contradicts itself."""

    def make_room(self, state: State) -> Work:
        """Arrays to work in."""

    def welcome(self, state: State, slots: Any, values: Any, first: float) -> None:
        """List the slots of an example that are new, with `first` for their scale."""

    def margin_of(self, state: State, slots: Any, values: Any, work: Work) -> float:
        """w'x; the state does not change."""

    def look_up(self, state: State, slots: Any, values: Any, work: Work) -> None:
        """Write table' x to `work.projected`, with the rows of x up to date: what follows is about this x."""

    def reduction(self, state: State, rate: float, work: Work) -> float:
        """x'x - alpha x'A^-1 x, with `rate` 1 / alpha."""

    def absorb(
        self, state: State, slots: Any, values: Any, size: float, square: float, rate: float, settings: Any, work: Work
    ) -> None:
        """Take g = `size` x into S, `square` being x'x; w stays. What is left to do may wait for `apply`."""

    def apply(self, state: State, slots: Any, values: Any, length: float, rate: float, work: Work) -> None:
        """w <- w - `length` alpha A^-1 x."""

    def eigenvalues(self, state: State) -> np.ndarray:
        """Eigenvalues (m,) of S'S over the number of examples."""

    def directions(self, state: State) -> np.ndarray:
        """Their eigenvectors (m, d)."""

    def settle(self, state: State) -> None:
        """Do all that waits: w = table @ coefficients in every slot then."""

    def extrapolate(self, state: State, factor: float) -> None:
        """Let S'S be so many times as large: how sketches merge whose vectors are not at hand."""

    def swap_sign(self, state: State) -> None:
        """Let w be -w."""


def settled(sketch: Any, state: Any) -> Any:
    """A copy of the state of a sketch, settled."""
    copy = copied(state)
    sketch.settle(copy)
    return copy
