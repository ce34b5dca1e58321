"""One model of several that learnt parts of a stream."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from ouzel.errors import OuzelError
from ouzel.learners import protocol
from ouzel.model.model import Model
from ouzel.model.room import order_slots
from ouzel.model.slot_map import common_ids
from ouzel.streams.feature_space import FeatureSpace, reconcile
from ouzel.terms.names import to_json

ALIKE: dict[str, Callable[[Model], Any]] = {
    "learner": lambda model: model.learner.name,
    "settings": lambda model: to_json(model.settings),  # terms without parameters are all equal: ()
    "intercept": lambda model: model.intercept,
    "task": lambda model: model.task.name,
    "scale_targets": lambda model: model.scale_targets,
    "standardize": lambda model: model.standardize,
    "forget": lambda model: model.forget,
    "bits": lambda model: model.bits,
    "seed": lambda model: model.seed,
}
"""What models that merge have in common, by what it is called."""


def merge(models: Sequence[Any]) -> Any:
    """One model, or estimator, of several of a kind that learnt parts of a stream: shards, devices, days.

    Learners whose states are sums of gradients (`adagrad-rda`, `rda`, …) add them up; others, `hashing` among them,
    average their weights by the examples each has seen, and add up what are sums: their cards in docs/learners.md say
    which. One model alone stays what it is, to the bit; models that have learnt nothing change nothing; the order of
    models changes no prediction by more than rounding. None of the models is changed.

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
    if not models:
        raise OuzelError("there is nothing to merge: give at least one model")
    if isinstance(models[0], Model):
        return _merge_models(models)
    if any(type(other) is not type(models[0]) or not hasattr(other, "model_") for other in models):
        raise OuzelError("only models of one kind that have learnt something merge")
    merged = copy.copy(models[0])
    merged.model_ = _merge_models([model.model_ for model in models])
    return merged


def _merge_models(models: Sequence[Model]) -> Model:
    first = models[0]
    for other in models[1:]:
        for name, of in ALIKE.items():
            if of(first) != of(other):
                one, two = (model.settings if name == "settings" else of(model) for model in (first, other))
                raise OuzelError(f"models merge only with the same {name}; these have {one} and {two}")
    labels = list(dict.fromkeys(label for model in models for label in model.classes.known))
    dimension = max(model.dimension for model in models)
    closed = all(model.classes.closed and len(model.classes) == len(labels) for model in models)
    ids = common_ids(map(slot_ids, models))
    merged = prepared(first, labels, dimension, closed, ids)
    merged.space = reduce(partial(reconcile, learning=True), of_one_width([model.space for model in models]))
    learnt = [model for model in models if model.examples] or [first]  # one that has learnt nothing says nothing
    parts = [prepared(model, labels, dimension, closed, ids) for model in learnt]
    merged.preparation.merge([model.preparation for model in parts])
    states = [in_order(model, labels) for model in parts]
    alike = zip(*states, strict=True)
    merged.states = states[0] if len(states) == 1 else [first.module.merge(list(a), first.settings) for a in alike]
    merged.classes.rename(labels)
    merged.examples = sum(model.examples for model in models)
    merged.unlabelled = sum(model.unlabelled for model in models)
    for model in models[1:]:
        merged.names.update((feature, name) for feature, name in model.names.to_json())
    return merged


def of_one_width(spaces: list[FeatureSpace]) -> list[FeatureSpace]:
    """What workers know their features by; of arrays without names a narrow one has the first columns of a wide one."""
    plain = [space.width for space in spaces if space.width is not None and not space.kinds]
    widest = max(plain, default=0)
    return [space._replace(width=widest) if space.width in plain and not space.kinds else space for space in spaces]


def slot_ids(model: Model) -> tuple[int, ...] | None:
    """The feature ids of a model's slots, in order, where ids get slots as they come."""
    return None if model.slot_map is None else tuple(model.slot_map.ids.tolist())


def prepared(model: Model, labels: list[Any], dimension: int, closed: bool, ids: tuple[int, ...] | None) -> Model:
    """A copy that knows all classes, and takes others too if not `closed`, and has room for all features.

    The `ids` are those of slots, where ids get slots as they come.
    """
    model = copy.deepcopy(model)
    model.make_room(dimension - 2)
    if ids is not None:
        order_slots(model, ids)
    if not closed:
        model.task.open(model)
    for label in labels:
        if model.classes.find(label) < 0:
            model.classes.position(label)
            model.task.make_states(model, len(model.classes))
    return model


def in_order(model: Model, labels: list[Any]) -> list[Any]:
    """The states of a prepared model, for classes in the order of `labels`."""
    known = model.classes.known
    if known == labels:
        return model.states
    if isinstance(model.module, protocol.Reordered):
        return [model.module.reorder(model.states[0], [known.index(label) for label in labels])]
    if isinstance(model.module, protocol.Multiclass):
        raise OuzelError(
            f"{model.learner.name} merges only models that met the classes in one order; declare `classes`"
        )
    if len(labels) == 2:
        return [model.module.swap_classes(model.states[0])]
    return [model.states[known.index(label)] for label in labels] + model.states[len(labels) :]
