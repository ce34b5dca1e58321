"""Types of what `ouzel compare` prints with --json."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from ouzel.schemas import (
    Count,
    Figure,
    Intervals,
    Learner,
    Result,
    Settings,
    Warnings,
    about,
    with_figures,
)


class Candidate(Result):
    """A learner with some settings."""

    learner: Learner
    step: Annotated[float | None, about("of --step-sizes")]
    l1: Annotated[float | None, about("of --l1")]
    budget: Annotated[float | None, about("bytes, of --budget")]
    settings: Annotated[Settings, about("all that were given")]
    varied: Annotated[Settings, about("those of --grid")]
    examples: Annotated[Count, about("learnt")]


class RegretPoint(Result):
    """The regret after some examples, against the best fixed weights of these."""

    examples: Annotated[Count, about("learnt")]
    regret: Annotated[Figure, about("after them")]
    bound: Annotated[Figure | None, about("of a theorem, where its assumptions hold")]


@with_figures()
class Entry(Candidate):
    """The results of a candidate; figures that do not apply are absent."""

    intervals: Intervals
    nonzeros: Annotated[Count | None, about("weights that are not zero")]
    updates: Annotated[Count, about("examples that changed the model")]
    bytes_used: Annotated[Count | None, about("of the model")]
    seconds: Annotated[float, about("learning")]
    warnings: Warnings
    above_best: (
        Annotated[
            list[float],
            about("how much larger the error rate is than the lowest, a confidence interval of 95 % at all times"),
        ]
        | UnsetType
    ) = UNSET
    recovery_error: Annotated[float | None, about("of the heaviest weights, with --top")] | UnsetType = UNSET
    top: Annotated[Count, about("how many of them")] | UnsetType = UNSET
    regret: Annotated[Figure, about("total loss above best_fixed_loss, with --regret")] | UnsetType = UNSET
    regret_bound: Annotated[Figure | None, about("of a theorem, where its assumptions hold")] | UnsetType = UNSET
    regret_theorem: Annotated[str | None, about("whose bound it is")] | UnsetType = UNSET
    best_fixed_loss: Annotated[Figure, about("total, of the best fixed weights in hindsight")] | UnsetType = UNSET
    best_fixed_within: (
        Annotated[Figure, about("no weights with a norm up to 10 times theirs are better by more")] | UnsetType
    ) = UNSET
    best_fixed_ridge: Annotated[float, about("ridge of these weights, where none are best without")] | UnsetType = UNSET
    regret_curve: Annotated[list[RegretPoint], about("after 64, 128, 256, … examples")] | UnsetType = UNSET


class OverOrders(Result):
    """A figure over random orders."""

    mean: float
    sd: Annotated[float, about("by n - 1")]
    values: Annotated[list[float], about("of each order")]


class Orders(Candidate):
    """The results of a candidate over random orders."""

    orders: Annotated[Count, about("random orders")]
    error: Annotated[OverOrders, about("share of mistakes, or root mean squared error")]
    updates: OverOrders
    seconds: OverOrders


class OfFile(Result):
    """The results of a file by itself."""

    file: Annotated[str, about("with --per-file")]
    results: Annotated[list[Entry], about("of that file by itself")]


class OrdersOfFile(Result):
    """The results over random orders of a file by itself."""

    file: Annotated[str, about("with --per-file")]
    results: Annotated[list[Orders], about("of that file by itself, with --shuffles")]
