"""One model of several that learnt parts of a stream: what each has learnt is added to an untrained model."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from ouzel.errors import OuzelError
from ouzel.learners.gains.parts import sum_of
from ouzel.model.model import Model
from ouzel.model.room import own_model
from ouzel.model.rounds import common, gains_of, model_of, require_gains, shape_of, shaped, untrained
from ouzel.model.settings import normalized
from ouzel.terms.names import to_json

ALIKE: dict[str, Callable[[Model], Any]] = {
    "learner": lambda model: model.learner.name,
    "settings": lambda model: to_json(model.settings),  # terms without parameters are all equal: ()
    "intercept": lambda model: model.intercept,
    "task": lambda model: model.task.name,
    "scale_targets": lambda model: model.scale_targets,
    "standardize": lambda model: model.standardize,
    "forget": lambda model: model.forget,
    "class_weight": lambda model: normalized(model.class_weight),
    "interval": lambda model: model.interval,
    "interval_by": lambda model: model.interval_by,
    "calibrate": lambda model: model.calibrate,
    "bits": lambda model: model.bits,
    "seed": lambda model: model.seed,
}
"""What models that merge have in common, by what it is called."""


Mergeable = TypeVar("Mergeable")  # `Model`, or a class of estimators


def merge(models: Iterable[Mergeable]) -> Mergeable:
    """One model, or estimator, of several of a kind that learnt parts of a stream: shards, devices, days.

    What each has learnt is added to an untrained model, as in one round of `ouzel train --workers`. States that are
    sums over examples (`adagrad-rda`, `rda`, `sop`, …) add up exactly; other learners average their weights, and add up
    what are sums: docs/many-machines.md says which. One model alone stays what it is, to the bit; models that have
    learnt nothing change nothing; the order of models changes no prediction by more than rounding. None of the models
    is changed.

    Examples
    --------
    >>> import ouzel
    >>> days = [[({"rain": 1.0}, "stay"), ({"sun": 1.0}, "go")], [({"wind": 1.0}, "go"), ({"rain": 1.0}, "stay")]]
    >>> parts = [ouzel.AdaGradClassifier(update="dual-averaging") for _ in days]
    >>> for part, day in zip(parts, days):
    ...     for features, label in day:
    ...         _ = part.learn_one(features, label)
    >>> merged = ouzel.merge(parts)
    >>> merged.predict_one({"rain": 1.0}), merged.predict_one({"wind": 1.0})
    ('stay', 'go')
    """
    if not isinstance(models, Iterable):
        raise OuzelError(f"give the models that merge as a list; got {models!r:.80}")
    given: list[Any] = list(models)
    if not given:
        raise OuzelError("there is nothing to merge: give at least one model")
    if any(type(other) is not type(given[0]) for other in given):
        raise OuzelError(f"only models of one kind merge; got {', '.join(type(other).__name__ for other in given)}")
    own = _merge_models([own_model(model) for model in given])
    if isinstance(given[0], Model):
        return own  # type: ignore[return-value]
    merged = copy.copy(given[0])
    merged.model_ = own
    return merged


def _merge_models(models: Sequence[Model]) -> Model:
    first = models[0]
    for other in models[1:]:
        for name, of in ALIKE.items():
            if of(first) != of(other):
                plain = name if name in ("settings", "class_weight") else None
                one, two = (getattr(model, plain) if plain else of(model) for model in (first, other))
                raise OuzelError(f"models merge only with the same {name}; these have {one} and {two}")
    shape = common([shape_of(model) for model in models])
    learnt = [model for model in models if model.examples] or [first]  # one that has learnt nothing says nothing
    if len(learnt) == 1:
        merged = shaped(learnt[0], shape)
    else:
        require_gains(first)
        base = untrained(first)
        merged = model_of(base, sum_of([gains_of(base, model, shape) for model in learnt]), shape)
    merged.unlabelled = sum(model.unlabelled for model in models)
    for model in models:
        merged.names.update((feature, name) for feature, name in model.names.to_json())
    return merged
