"""Errors of weights: intervals that have the weights of the process that labels come from, where that is justified.

A learner that is `WithErrors` says the expected square of the error of each weight, as its module assumes. This holds
of one state that learns two classes from features as they are: not where the learner sees standardised features (by
default, tables of unlike units), forgets, or weighs classes.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from ouzel.errors import OuzelError
from ouzel.learners.protocol import WithErrors, offers
from ouzel.model.answers import Feature
from ouzel.model.model import Model
from ouzel.ranges import Range, check

LEVELS = Range(0.01, 0.999)
LEVEL = 0.95

Interval = tuple[float, float]


def variances_of(model: Model) -> np.ndarray | None:
    """Expected squares (slots,) of the errors of weights, of two classes, NaN where not known; None for none."""
    two = model.task.name == "classification" and len(model.states) == 1 and len(model.classes) == 2
    plain = not (model.preparation.scales or model.forget or model.class_weight)
    if not (two and plain and offers(model.module, WithErrors)):
        return None
    found: np.ndarray | None = model.module.variances(model.states[0], model.settings)
    return None if found is None else found[: model.slots]


def errors_of_weights(model: Model, level: float = LEVEL) -> np.ndarray | None:
    """Half the width (slots,) of the interval of each weight at a level, NaN where none is justified; None for none."""
    variances = variances_of(model)
    return None if variances is None else NormalDist().inv_cdf(0.5 + 0.5 * level) * np.sqrt(variances)


def weight_intervals(model: Model, features: list[Feature], level: float = LEVEL) -> list[Interval | None]:
    """The interval of the weight of each feature, as shown, at a level; None where none is justified.

    >>> from ouzel.streams.memory import blocks_from
    >>> model = Model("ons")
    >>> for block in blocks_from([({"sun": 1.0}, k % 3 == 0) for k in range(500)]):
    ...     outcome = model.learn(block)
    >>> weight_intervals(Model("adagrad"), [Feature("sun", 1.0)])
    [None]
    >>> len(weight_intervals(model, [Feature("sun", model.weights()[0, 0])]))
    1
    """
    check("level", LEVELS, level)
    errors = errors_of_weights(model, level)
    if errors is None:
        return [None] * len(features)
    slots = np.flatnonzero(np.isfinite(errors))
    numbers = slots if model.slot_map is None else model.slot_map.numbers[slots]
    names = [str(model.feature_name(number - 1)) for number in numbers.tolist()]
    known = dict(zip(names, errors[slots].tolist(), strict=True))
    found: list[Interval | None] = []
    for feature in features:
        error = known.get(str(feature.name))
        found.append(None if error is None else (feature.weight - error, feature.weight + error))
    return found


def require_errors(model: Model) -> None:
    """Refuse a model of whose weights no error is known."""
    if variances_of(model) is None:
        raise OuzelError(
            f"{model.learner.name} knows no error of its weights here: ons does, of two classes with the logistic "
            "loss and a curvature of .1 to .5, from features as they are (standardize=False), without forget and "
            "class_weight"
        )
