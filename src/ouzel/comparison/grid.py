"""Grid of a comparison: learners, and ranges of their settings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ouzel.comparison.contestant import enter, entered, is_contestant
from ouzel.errors import OuzelError
from ouzel.learners import catalogue
from ouzel.learners.plugins import import_module, learner_named
from ouzel.ranges import parse_bytes

MOST_VALUES = 1000


class Candidate(NamedTuple):
    """One learner with one choice of settings; `step`, `l1` and `budget` are None where it was given none."""

    learner: str
    step: float | None
    l1: float | None
    budget: float | None
    settings: dict[str, Any]
    varied: Mapping[str, Any] = {}  # those of them that a grid has values of

    @property
    def row(self) -> tuple[Any, ...]:
        """Key of a row of the table: candidates that differ in the step size alone share it."""
        return self.learner, self.l1, self.budget, *self.varied.items()

    @property
    def words(self) -> tuple[str, ...]:
        """Values of settings that are words: kernels are compiled for each."""
        return tuple(value for value in self.varied.values() if isinstance(value, str))


def parse_range(text: str) -> list[float]:
    """Numbers of `2^-3:2^6` (powers of two), `1e-8:1e-1` (powers of ten), or a list `0.1,0.5`.

    >>> parse_range("2^-1:2^2"), parse_range("1e-3:1e-1"), parse_range("0.5,1")
    ([0.5, 1.0, 2.0, 4.0], [0.001, 0.01, 0.1], [0.5, 1.0])
    """
    try:
        values = [value for part in text.split(",") for value in _part(part.strip())]
    except (ValueError, OverflowError):
        raise OuzelError(f"a range is 2^-3:2^6, 1e-8:1e-1 or a list 0.1,0.5; got {text!r}") from None
    if not values or not all(0.0 < value < math.inf for value in values):
        raise OuzelError(f"a range has positive numbers, the smaller end first; got {text!r}")
    return values


def parse_grid(text: str) -> tuple[str, list[Any]]:
    """A setting and its values, of `NAME=RANGE`; values may be words.

    >>> parse_grid("sketch-size=5,10"), parse_grid("loss=hinge,logistic")
    (('sketch_size', [5.0, 10.0]), ('loss', ['hinge', 'logistic']))
    """
    name, _, values = text.partition("=")
    if not name.strip() or not values.strip():
        raise OuzelError(f"--grid takes NAME=RANGE, such as sketch_size=5,10,20 or damping=1e-6:1; got {text!r}")
    name = name.strip().replace("-", "_")
    if ":" in values:
        return name, list(parse_range(values))
    parts = [part.strip() for part in values.split(",") if part.strip()]
    try:
        return name, [float(part) for part in parts]
    except ValueError:
        return name, list(parts)


def learner_names(text: str) -> list[str]:
    """The learners of `ogd,adagrad`; `all`, `all-multiclass` and `all-budgeted` stand for several.

    `module:name` is a learner that the module registers, or one of another library (see `contestant`).

    >>> learner_names("ogd, adagrad")
    ['ogd', 'adagrad']
    """
    groups = {
        "all": lambda learner: True,
        "all-multiclass": lambda learner: learner.multiclass,
        "all-budgeted": lambda learner: learner.budgeted,
    }
    names: list[str] = []
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name in groups:
            names += [learner.name for learner in catalogue.LEARNERS.values() if groups[name](learner)]
        else:
            names.append(_named(name, names))
    if not names:
        raise OuzelError(f"name at least one learner; got {text!r}. Known: {', '.join(catalogue.LEARNERS)}")
    return list(dict.fromkeys(names))


def _named(text: str, taken: Sequence[str]) -> str:
    """A learner of the catalogue, or one of another library, by the module that has it."""
    module, colon, name = text.rpartition(":")
    if colon and name not in catalogue.LEARNERS:
        found = getattr(import_module(module), name, None)
        if name not in catalogue.LEARNERS and (is_contestant(found) or callable(found)):
            return enter(found, name, taken)
    return learner_named(text)


def candidates(
    learners: Sequence[str],
    *,
    steps: str | Sequence[float] = (),
    l1: str | Sequence[float] = (),
    budgets: str | Sequence[str | float] = (),
    settings: dict[str, Any] | None = None,
    grid: Mapping[str, Sequence[Any]] = {},
) -> list[Candidate]:
    """Every learner with every choice that it has a setting for; `grid` has values of any settings by their names.

    Text is a range, or a list of budgets, as on the command line.

    >>> [candidate.step for candidate in candidates(["ogd"], steps="2^-1:2^1")]
    [0.5, 1.0, 2.0]
    """
    steps, l1 = (parse_range(values) if isinstance(values, str) else values for values in (steps, l1))
    budgets = budgets.split(",") if isinstance(budgets, str) else budgets
    found = []
    given = settings or {}
    fields = {name: () if entered(name) else catalogue.find(name).settings._fields for name in learners}
    for name in (*given, *grid):
        if not any(_takes(kind, name) for kind in fields.values()):
            raise OuzelError(f"none of {', '.join(learners)} has a setting {name!r}")
    sizes = [parse_bytes(budget) for budget in budgets]
    for name, kind in fields.items():
        fixed = {key: value for key, value in given.items() if _takes(kind, key)}
        choices = itertools.product(
            steps if steps and _step_setting(kind) else (None,),
            l1 if l1 and "penalty" in kind else (None,),
            sizes if sizes and "budget" in kind else (None,),
            *([(key, value) for value in values] for key, values in grid.items() if _takes(kind, key)),
        )
        for step, strength, budget, *more in choices:
            varied = dict(more)
            chosen = {**fixed, **varied}
            if step is not None:
                chosen |= step_size(kind, step)
            if strength is not None:
                chosen["l1"] = strength
            if budget is not None:
                chosen["budget"] = budget
            found.append(Candidate(name, step, strength, budget, chosen, varied))
    return found


def step_size(fields: Sequence[str], step: float) -> dict[str, float]:
    """The setting that makes a learner's step this size: a learning rate, or the inverse of Newton's alpha."""
    name = _step_setting(fields)
    return {name: 1.0 / step if name == "alpha" else step} if name else {}


def _takes(fields: Sequence[str], setting: str) -> bool:
    return setting in fields or (setting in ("l1", "l2") and "penalty" in fields)


def _step_setting(fields: Sequence[str]) -> str | None:
    return next((name for name in ("learning_rate", "alpha") if name in fields), None)


def _part(text: str) -> list[float]:
    low, colon, high = text.partition(":")
    if not colon:
        return [_number(low)]
    base = 2.0 if "^" in low else 10.0
    first, last = (round(math.log(_number(end), base)) for end in (low, high))
    if not 0 <= last - first <= MOST_VALUES:
        raise ValueError(text)
    return [base**k if base == 2.0 else float(f"1e{k}") for k in range(first, last + 1)]


def _number(text: str) -> float:
    base, caret, power = text.partition("^")
    return float(base) ** float(power) if caret else float(text)
