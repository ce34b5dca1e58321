"""Learning in rounds: workers go on from one model, and what they have learnt beyond it is merged onto it.

A round's merge has three steps, so that it can be spread: `shape_of` says of every worker's model what all must have
room for; `gains_of` is what one has learnt beyond the base; gains add up in any grouping (`learners.gains.parts.add`);
`model_of` is the base with the sum of them. What the base has learnt counts once, however many rounds there are.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from ouzel.errors import OuzelError
from ouzel.layout import stored_like
from ouzel.learners import protocol
from ouzel.learners.gains.parts import Gains, sum_of
from ouzel.model.label_encoder import Classes
from ouzel.model.model import Model
from ouzel.model.room import make_room, order_columns, order_slots
from ouzel.model.slot_map import common_ids
from ouzel.streams.feature_space import FeatureSpace, reconcile
from ouzel.streams.labels import Label


class Shape(NamedTuple):
    """What models need room for."""

    labels: list[Label]
    closed: bool  # whether no other class is taken
    dimension: int
    spaces: list[FeatureSpace]  # one
    ids: tuple[int, ...] | None  # of the slots, in order, where ids get slots as they come
    columns: tuple[int, ...] | None  # slots with scales of their own within a budget; None where there are none

    @property
    def slots(self) -> int:
        """Slots in use."""
        return self.dimension if self.ids is None else len(self.ids) + 1


def require_gains(model: Model) -> None:
    """Refuse a learner that does not merge."""
    if not isinstance(model.module, protocol.MergesOntoBase):
        raise OuzelError(
            f"{model.learner.name} does not merge, which learning in rounds needs, too: "
            "its module has no `gains` and `onto`; docs/developer/add_a_learner.md says what they are"
        )


def shape_of(model: Model) -> Shape:
    """What a model has room for."""
    return Shape(list(model.classes.known), model.classes.closed, model.dimension, [model.space], *ids_of(model))


def common(shapes: Sequence[Shape]) -> Shape:
    """What the base of a round, the first, and its workers need room for together."""
    classes = Classes()
    for shape in shapes:
        for label in shape.labels:
            classes.position(label)  # of one worker a word, of another a truth value, it is one class
    labels = classes.known
    closed = all(shape.closed and len(shape.labels) == len(labels) for shape in shapes)
    spaces = of_one_width([space for shape in shapes for space in shape.spaces])
    space = reduce(partial(reconcile, learning=True), spaces)
    ids = common_ids(shape.ids for shape in shapes)
    scaled = [shape.columns for shape in shapes if shape.columns is not None]
    columns = tuple(dict.fromkeys(slot for slots in scaled for slot in slots)) if scaled else None
    return Shape(labels, closed, max(shape.dimension for shape in shapes), [space], ids, columns)


def shaped(model: Model, shape: Shape) -> Model:
    """A copy of a model that has room for all of a shape, classes in its order."""
    found = prepared(model, shape.labels, shape.dimension, shape.closed, shape.ids)
    if shape.columns is not None:
        order_columns(found, shape.columns)
    found.states = in_order(found, shape.labels)
    found.preparation.reorder([found.classes.find(label) for label in shape.labels])
    found.classes.rename(shape.labels)
    found.space = shape.spaces[0]
    return found


def begins_shaped(model: Model) -> bool:
    """Whether a worker must know the order of all classes before it learns, as it cannot change it afterwards."""
    return isinstance(model.module, protocol.Multiclass) and not isinstance(model.module, protocol.Reordered)


def _of_shape(model: Model, shape: Shape) -> Model:
    """A model that has room for all of a shape; itself if it has."""
    same = model.classes.known == shape.labels and model.classes.closed == shape.closed
    same = same and model.dimension == shape.dimension
    same = same and ids_of(model) == (shape.ids, shape.columns)
    return model if same else shaped(model, shape)


def untrained(model: Model) -> Model:
    """A model of the same learner, settings and classes that has learnt nothing."""
    new = copy.copy(model)
    new.task, new.classes = copy.copy(model.task), copy.deepcopy(model.classes)
    if not new.classes.closed:
        new.classes.rename(())
    new.empty()
    return new


def gains_of(base: Model, model: Model, shape: Shape) -> Gains:
    """What a worker's model has learnt beyond its base."""
    worker, base = _of_shape(model, shape), _of_shape(base, shape)
    if base.preparation.every:
        base = shaped(base, shape)
        _forget_alike(base, model.examples)
    pairs = zip(base.states, worker.states, strict=True)
    found: Gains = {
        str(k): base.module.gains(*pair, base.preparation.sized(base.settings)) for k, pair in enumerate(pairs)
    }
    found |= worker.preparation.gains(base.preparation)
    counted = worker.examples - base.examples, worker.unlabelled - base.unlabelled
    return {**found, "counted": np.array(counted, np.int64)}


def model_of(base: Model, gains: Gains, shape: Shape) -> Model:
    """The model of a base and of what all workers have learnt beyond it; names of features are not in the gains."""
    merged = shaped(base, shape)
    before = base.examples
    _forget_alike(merged, before + int(gains["counted"][0]))
    settings = merged.preparation.sized(merged.settings)
    states = [merged.module.onto(state, gains[str(k)], settings) for k, state in enumerate(merged.states)]
    merged.states = [stored_like(state, new) for state, new in zip(merged.states, states, strict=True)]
    merged.preparation.onto(gains)
    merged.examples, merged.unlabelled = (
        int(count + more) for count, more in zip((before, base.unlabelled), gains["counted"], strict=True)
    )
    return merged


def merge_onto(base: Model, models: Sequence[Model]) -> Model:
    """The model of a base and of what workers that went on from it have learnt beyond it.

    >>> import copy
    >>> from ouzel.streams.memory import blocks_from
    >>> base, days = Model("adagrad"), [[({"sun": 1.0}, "go")], [({"rain": 1.0}, "stay")]]
    >>> workers = [copy.deepcopy(base) for _ in days]
    >>> for worker, day in zip(workers, days):
    ...     learnt = [worker.learn(block) for block in blocks_from(day)]
    >>> merge_onto(base, workers).examples
    2
    """
    require_gains(base)
    shape = common([shape_of(base), *map(shape_of, models)])
    merged = model_of(base, sum_of([gains_of(base, model, shape) for model in models]), shape)
    for model in models:
        merged.names.update((feature, name) for feature, name in model.names.to_json())
    return merged


def _forget_alike(base: Model, examples: int) -> None:
    """Let a base forget what a model that went on from it has forgotten of it, when it has learnt so many examples."""
    every = base.preparation.every
    for _ in range(examples // every - base.examples // every if every else 0):
        base.used_slots.fade(base)
        if base.preparation.class_weights is not None:
            base.preparation.class_weights.fade(base.preparation.kept)


def of_one_width(spaces: list[FeatureSpace]) -> list[FeatureSpace]:
    """What workers know their features by; of arrays without names a narrow one has the first columns of a wide one."""
    plain = [space.width for space in spaces if space.width is not None and not space.kinds]
    widest = max(plain, default=0)
    return [space._replace(width=widest) if space.width in plain and not space.kinds else space for space in spaces]


def slot_ids(model: Model) -> tuple[int, ...] | None:
    """The feature ids of a model's slots, in order, where ids get slots as they come."""
    return None if model.slot_map is None else tuple(model.slot_map.ids.tolist())


def ids_of(model: Model) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """The feature ids of a model's slots, and the slots of its scaled columns; None of either where there are none."""
    columns = model.preparation.columns
    return slot_ids(model), None if columns is None else tuple(columns.ids[columns.ids > 0].tolist())


def prepared(model: Model, labels: list[Any], dimension: int, closed: bool, ids: tuple[int, ...] | None) -> Model:
    """A copy that knows all classes, and takes others too if not `closed`, and has room for all features.

    The `ids` are those of slots, where ids get slots as they come.
    """
    model = copy.deepcopy(model)
    make_room(model, dimension - 2)
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
    places = [model.classes.find(label) for label in labels]
    if places == list(range(len(labels))):
        return model.states
    if isinstance(model.module, protocol.Reordered):
        return [model.module.reorder(model.states[0], places)]
    if isinstance(model.module, protocol.Multiclass):
        raise OuzelError(
            f"{model.learner.name} merges only models that met the classes in one order; declare `classes`"
        )
    if len(labels) == 2:
        return [model.module.swap_classes(model.states[0])]
    return [model.states[place] for place in places] + model.states[len(labels) :]
