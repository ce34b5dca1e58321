"""From what a user says (names, numbers, sizes) to a learner's `Settings`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError, suggest
from ouzel.learners.catalogue import Learner
from ouzel.learners.protocol import Settings
from ouzel.model.answers import is_probabilistic
from ouzel.model.label_encoder import reading_of
from ouzel.numerals import size_in_words
from ouzel.ranges import STRENGTH, Choice, Range, check, checked, declared
from ouzel.streams.labels import Label, check_label
from ouzel.terms.losses import OF_ANY_UNIT, REGRESSION
from ouzel.terms.names import DOMAINS, FAMILIES, NORMS, RESOLVERS, l1_and_l2, name_of, resolve_penalty

BALANCED = "balanced"
CLASS_WEIGHTS = Range(0.0, 1e9)
LEVELS, MOST_LEVELS = Range(0.01, 0.999), 16  # of intervals: shares of examples that they hold
CALLED = {
    **dict.fromkeys(("eta0", "lr", "step_size"), "learning_rate"),
    **dict.fromkeys(("max_iter", "n_iter", "epochs", "n_epochs", "num_epochs"), "passes"),
    **dict.fromkeys(("random_state", "random_seed"), "seed"),
}
"""Settings of other libraries that have another name here."""
OTHER_NAMES = {
    **{name: f"which is called {here} here" for name, here in CALLED.items()},
    **dict.fromkeys(("alpha", "reg_lambda", "weight_decay"), "a strength of which is called l2, or l1, here"),
    **dict.fromkeys(("tol", "early_stopping", "n_iter_no_change"), "which one pass over a stream does without"),
    **dict.fromkeys(("half_life", "fading_factor"), "which is called forget in Python, --half-life in commands"),
    "optimizer": 'for learners are what River calls optimizers: OnlineClassifier("adagrad")',
    "C": "whose counterpart is l2, for regularised losses, or aggressiveness, of pa and scw",
    "l1_ratio": "for l1 and l2 are strengths of their own",
    "power_t": "which is called power here, where there is one",
    "n_features": "of which there are 2^bits here",
    "shuffle": "for examples are learnt in the order in which they come",
    "warm_start": "for partial_fit goes on learning",
    "n_jobs": "for one core learns; `ouzel train --workers` shares a stream among several",
    "verbose": "for progress is shown at a terminal and in notebooks",
}
"""Settings of other libraries, and what to say of them."""

ClassWeight = str | dict[Label, float]  # for all classes, as a user gives it


def resolve_settings(learner: Learner, given: dict[str, Any]) -> Any:
    """The learner's `Settings` with the given values in place; an unknown or unusable one is an error.

    Terms may be names; `l1` and `l2` are the strengths of the penalty. The range of every number is checked.
    """
    kind = learner.settings
    values = {**dict(learner.preset), **{name: value for name, value in given.items() if value is not None}}
    check_names(learner, values)
    strengths = {name: values.pop(name) for name in ("l1", "l2") if name in values and name not in kind._fields}
    if strengths:
        values["penalty"] = resolve_penalty(values.get("penalty"), **strengths)
    terms = [name for name in values if isinstance(kind._field_defaults.get(name), tuple)]
    values |= {name: RESOLVERS[name](values[name]) for name in terms}
    loss = values.get("loss")
    if "largest" in kind._fields and isinstance(loss, REGRESSION) and not isinstance(loss, OF_ANY_UNIT):
        values = {"largest": inf} | values  # how large is not known
    if hasattr(kind, "defaults_of"):
        values = kind.defaults_of(loss) | values
    settings = kind(**checked(kind, values, f"of {learner.name}"))
    return settings.completed() if hasattr(settings, "completed") else settings  # what some settings make of others


def names_of(learner: Learner) -> tuple[str, ...]:
    """Names of the settings that a learner takes, those of a penalty's strengths included."""
    fields = learner.settings._fields
    return (*fields, *(name for name in ("l1", "l2") if "penalty" in fields and name not in fields))


def check_names(learner: Learner, given: Iterable[str]) -> None:
    """Refuse a setting that a learner does not have."""
    known = names_of(learner)
    for name in given:
        if name not in known:
            raise unknown_setting(f"learner {learner.name!r} has no setting", name, known)


def unknown_setting(what: str, name: str, known: Iterable[str]) -> OuzelError:
    """The error of one line about a name that is none of those known; of other libraries' names it says ours.

    >>> str(unknown_setting("ogd has no setting", "random_state", ["loss"]))
    "ogd has no setting 'random_state', which is called seed here. It has: loss"
    """
    known = list(known)
    hint = f", {OTHER_NAMES[name]}. " if name in OTHER_NAMES else suggest(name, known)
    return OuzelError(f"{what} {name!r}{hint}It has: {', '.join(known)}")


def check_class_weight(given: Any) -> ClassWeight | None:
    """Class weights as given, or an OuzelError of one line.

    >>> check_class_weight({"yes": 5}), check_class_weight("balanced")
    ({'yes': 5.0}, 'balanced')
    >>> check_class_weight({"yes": float("nan")})
    Traceback (most recent call last):
    ouzel.errors.OuzelError: class_weight of 'yes' must be a number from 0 to 1e9; got nan
    """
    if given is None or (isinstance(given, str) and given == BALANCED):
        return given
    if not isinstance(given, Mapping):
        raise OuzelError(f'must be "{BALANCED}" or a weight for each class; got {given!r}', subject="class_weight")
    weights: dict[Label, float] = {}
    for label, weight in given.items():
        label = label.item() if isinstance(label, np.generic) else label
        check_label(label)
        weights[label] = check("class_weight", CLASS_WEIGHTS, weight, f"of {label!r}")
    return weights


def check_interval(given: Any) -> tuple[float, ...]:
    """The levels of intervals as given, one or several, smallest first; or an OuzelError of one line.

    >>> check_interval(None), check_interval(0.9), check_interval((0.95, 0.8))
    ((), (0.9,), (0.8, 0.95))
    >>> check_interval(90)
    Traceback (most recent call last):
    ouzel.errors.OuzelError: interval must be a number from 0.01 to 0.999; got 90
    """
    several = list(given) if isinstance(given, (list, tuple, np.ndarray)) else [] if given is None else [given]
    if len(several) > MOST_LEVELS:
        raise OuzelError(f"takes up to {MOST_LEVELS} levels; got {len(several)}", subject="interval")
    return tuple(sorted({float(check("interval", LEVELS, level)) for level in several}))


def check_by(column: Any) -> str | None:
    """The column whose values have intervals of their own, None for none; an OuzelError if it is no name."""
    if column is not None and (not isinstance(column, str) or not column):
        raise OuzelError(f"is the name of a column; got {column!r}", subject="interval_by")
    return column


def check_calibrate(given: Any, task: Any) -> bool:
    """Whether probabilities are to be recalibrated; an OuzelError if a task gives none."""
    if given and (task.numbers or task.groups or not is_probabilistic(task.loss)):
        raise OuzelError("the loss gives no probabilities, which alone are recalibrated; leave out", calibrate=True)
    return bool(given)


def normalized(given: ClassWeight | None) -> Any:
    """Class weights to compare: labels are what they read as, in no order.

    >>> normalized({"1": 2.0, "yes": 1.0}) == normalized({"yes": 1.0, 1: 2.0})
    True
    """
    if not isinstance(given, dict):
        return given
    return {reading_of(label) or label: weight for label, weight in given.items()}


class Described(NamedTuple):
    """A setting of a learner, for people."""

    default: float | str
    takes: str
    about: str


def described(learner: Learner) -> dict[str, Described]:
    """Every setting of a learner by name: its default, what it takes, and what it is.

    >>> from ouzel.learners.catalogue import find
    >>> described(find("ogd"))["power"]
    Described(default=0.5, takes='a number from 0 to 10', about='how fast steps fall: as 1 / t^power')
    """
    chosen = resolve_settings(learner, {})
    defaults = in_words(chosen)
    found = {}
    for name, (takes, _, about, _) in declared(learner.settings).items():
        if name == "penalty":
            for strength, what in (("l1", "of the l1 penalty: weights become exactly zero"), ("l2", "of the ridge")):
                found[strength] = Described(0.0, STRENGTH.text(), f"strength {what}")
            found[name] = Described("none", f"{', '.join([*NORMS, *DOMAINS])}; not all learners take all", about)
        else:
            text = takes.text() if takes else f"one of {', '.join(FAMILIES[name].terms)}" if name in FAMILIES else ""
            is_size = isinstance(takes, Range) and takes.size
            found[name] = Described(size_in_words(float(defaults[name])) if is_size else defaults[name], text, about)
    return found


def in_words(settings: Settings) -> dict[str, float | str]:
    """Settings as a user may give them again: choices and terms by name, a penalty by its strengths.

    >>> from ouzel.learners.newton.sketched import Settings
    >>> words = in_words(Settings())
    >>> words["loss"], words["bound"], words["diagonal"], words["sketch_size"]
    ('logistic', 'clip', 'yes', 10.0)
    """
    kind: Any = type(settings)
    known = declared(kind)
    found: dict[str, float | str] = {}
    for name, value in settings._asdict().items():
        takes = known[name].takes
        if name == "penalty":
            found |= _penalty(value)
        elif isinstance(value, tuple):
            found[name] = name_of(value)
        else:
            found[name] = takes.words[int(value)] if isinstance(takes, Choice) else value
    return found


def chosen_by_name(settings: Settings) -> dict[str, Any]:
    """Settings as they are, but for choices among several words, which are words."""
    kind: Any = type(settings)
    known = declared(kind)

    def worded(name: str, value: Any) -> Any:
        takes = known[name].takes
        return takes.words[int(value)] if isinstance(takes, Choice) and not isinstance(value, bool) else value

    return {name: worded(name, value) for name, value in settings._asdict().items()}


def _penalty(penalty: Any) -> dict[str, float | str]:
    plain = isinstance(penalty, (l1_and_l2.NoPenalty, l1_and_l2.L1, l1_and_l2.SquaredL2, l1_and_l2.ElasticNet))
    return dict(penalty._asdict()) if plain else {"penalty": name_of(penalty)}
