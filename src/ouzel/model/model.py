"""A learner at work on a stream: labels become targets, features slots, and the state grows as the stream needs it.

What the estimators and the command line share. What is done with labels is for the task to say (`ouzel.model.tasks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Annotated, Any, cast

import numpy as np

from ouzel.deferred import deferred
from ouzel.layout import copied, flat
from ouzel.learners import catalogue, protocol
from ouzel.learners.rows import Rows, to_rows
from ouzel.model import room
from ouzel.model.answers import Answers
from ouzel.model.label_encoder import Classes
from ouzel.model.preparation import Preparation
from ouzel.model.remarks import Remarks, outlier_of, reconcile_to_predict
from ouzel.model.scaling import AUTO, check_standardize
from ouzel.model.settings import check_calibrate, check_class_weight, check_interval, resolve_settings
from ouzel.model.tasks.choose import choose_task, settings_for
from ouzel.model.tasks.task import Outcome
from ouzel.ranges import Bits, HalfLife, Range, Seed, ranged
from ouzel.streams.block import Block
from ouzel.streams.feature_names import FeatureNames
from ouzel.streams.feature_space import FeatureSpace, reconcile
from ouzel.streams.labels import Label

SLOT_LIMIT, INTERCEPT = 1 << 32, "(intercept)"
MADE = ("module", "compiled", "why", "used_slots")  # of the other attributes
NAMES_EVERY = 4096  # single examples between two looks at which names a budgeted learner still needs


class Model:
    """A learner with its settings, its classes and all it has learnt.

    `learner` is a name of the catalogue; `settings` are fields of that learner's `Settings`, terms by name or instance.
    `classes` declares the classes beforehand; no other is taken then. `task` is "classification", "regression" or
    "ranking", by default which of the first two the loss is for. `bits` and `seed` say how the stream's names were
    hashed. A ranking model learns so many `pairs` of each group, 0 for all, drawn with the seed. Numbers to predict are
    learnt in units of their spread unless `scale_targets` is false. `standardize` scales features, by "auto" where rows
    have large values (see `scaling.py`). `forget` is a half-life in examples, 0 for none.

    Examples
    --------
    >>> from ouzel.streams.memory import blocks_from
    >>> model = Model("ogd", loss="logistic")
    >>> for block in blocks_from([({"sun": 1.0}, "dry"), ({"cloud": 1.0}, "wet")]):
    ...     learnt = model.learn(block)
    >>> model.examples, model.classes.known
    (2, ['dry', 'wet'])
    """

    @ranged
    def __init__(
        self,
        learner: str = "auto",
        *,
        intercept: bool = True,
        classes: Iterable[Label] | None = None,
        task: str | None = None,
        bits: Bits = 18,
        seed: Seed = 0,
        pairs: Annotated[int, Range(0, whole=True, each=64), "pairs drawn of each group to rank; 0 for all"] = 0,
        scale_targets: bool = True,
        standardize: Any = AUTO,
        forget: HalfLife = 0.0,
        class_weight: Any = None,
        interval: Any = None,
        interval_by: str | None = None,
        calibrate: bool = False,
        begin: bool = True,
        **settings: Any,
    ) -> None:
        self.learner = catalogue.find(learner)
        self.settings = resolve_settings(self.learner, settings_for(task, self.learner, settings, scale_targets))
        self.intercept, self.scale_targets = bool(intercept), bool(scale_targets)
        self.class_weight, self.classes = check_class_weight(class_weight), Classes.declared(classes)
        more: Any = {"scale_targets": scale_targets, "intercept": self.intercept, "class_weight": self.class_weight}
        self.task = choose_task(task, self.learner, self.settings, pairs, classes, **more)
        self.interval, self.calibrate = check_interval(interval), check_calibrate(calibrate, self.task)
        self.bits, self.seed, self.pairs, self.forget, self.interval_by = bits, seed, pairs, forget, interval_by
        self.standardize = check_standardize(standardize)
        self.empty(begin)

    def empty(self, begin: bool = True) -> None:
        """Have learnt nothing; without `begin`, have no states either."""
        self.names, self.space = FeatureNames(), FeatureSpace()  # what the ids of features stand for
        self.dimension, self.examples, self.unlabelled = 1, 0, 0  # dimension: largest feature id so far + 2
        self.remark: str | None = None  # on the data learnt: lines to be shown
        self.slot_map = room.begin_slot_map(self.keeps_pairs and isinstance(self.module, protocol.Renumbered))
        self.remarks, self.states = Remarks(), list[protocol.State]()
        said = self.forget, self.task.groups, self.class_weight, self.interval, self.interval_by, self.calibrate
        self.preparation = Preparation(self.learner, self.module, self.standardize, *said)
        if begin:  # else there are no states
            self.preparation.begin(self.capacity)
            self.task.make_states(self, len(self.classes))

    @cached_property
    def module(self) -> Any:
        """The learner's functions, for its task, loss and settings."""
        return self.task.functions(self.learner.functions_for(self.task.name, self.loss, self.settings))

    @property
    def loss(self) -> Any:
        """The loss of one prediction, a term."""
        return self.task.loss

    @cached_property
    def budgeted(self) -> bool:
        """Whether the state keeps to a byte budget and takes any id."""
        return self.learner.budgeted

    @cached_property
    def compiled(self) -> dict[tuple[str, int], tuple[Any, Any]]:
        """For single examples: a state, and a function compiled for it, by its name and the state's place."""
        return {}

    @cached_property
    def used_slots(self) -> Any:
        """The `UsedSlots` of its examples, where it forgets."""
        return deferred("ouzel.model.used_slots").UsedSlots()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in MADE}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """What is unpickled can learn on: arrays that were mapped from a file (`joblib.load`) are copied."""
        self.__dict__.update(attributes)
        if not all(array.flags.writeable for state in self.states for _, array in flat(state)):
            self.states = [copied(state) for state in self.states]
            self.preparation = self.preparation.copied()

    @property
    def columns(self) -> int:
        """Columns of margins and weights: 1 for regression and up to two classes, else the number of classes."""
        return self.task.columns(len(self.classes))

    @property
    def capacity(self) -> int:
        """Slots the state has room for: a function of `slots` alone, however the stream was cut into blocks."""
        return room.capacity_for(self.smallest, self.slots)

    @property
    def slots(self) -> int:
        """Slots that examples may have used so far; slot 0 is the constant feature."""
        return self.dimension if self.slot_map is None else len(self.slot_map) + 1

    @property
    def reach(self) -> int:
        """Examples may have ids + 1 below this: all there are, unless an id's slot is the id + 1."""
        return self.capacity if self.slot_map is None and not self.budgeted else SLOT_LIMIT

    @cached_property
    def smallest(self) -> int:
        """Slots of a new state but for the constant's: few where the learner keeps a number for every pair of them."""
        return room.smallest_of(self.module, self.settings)

    @property
    def keeps_pairs(self) -> bool:
        """Whether the learner keeps a number for every pair of slots, so that there can be few."""
        return self.smallest == room.SMALLEST_MATRIX

    @property
    def bytes_used(self) -> int:
        """Bytes the states hold; a budgeted learner counts as its paper does."""
        return room.bytes_used(self)

    def layouts(self) -> list[Any]:
        """What each state is made of (see `ouzel.layout`)."""
        shape = self.task.shape(self, len(self.classes))
        return [self.module.layout(*shape, self.preparation.sized(self.settings))] * self.task.count(self.classes)

    def take(self, states: list[protocol.State]) -> None:
        """Have these states, which are of `layouts`."""
        self.states = states
        self.task.take(len(self.classes))

    def learn(self, block: Block, unseen: bool = True, losses: bool = True) -> Outcome:
        """Learn a block; return the margins predicted before each example was learnt, beside its target.

        With up to two classes a margin is positive for the second class seen. Examples without a label are left out.
        A ranking model gives an entry a pair of the block's whole groups. Only what is `unseen` judges.
        """
        self.unlabelled, block = self.unlabelled + int(np.count_nonzero(np.isnan(block.labels))), block.labelled()
        space = reconcile(self.space, block.space, learning=True)
        self.preparation.check_groups(space)
        room.make_room_for(self, block)
        self.space = space
        outlier, known, learnt = outlier_of(self), len(self.classes), self.task.learn(self, block, losses)
        learnt = self.preparation.judge(self, learnt, block, known, unseen)
        self.examples += block.rows
        if block.names is not None:
            self.names.add(block.names)
            room.forget_names(self)
        self.remark = self.remarks.of_block(self, block, outlier) or self.remark
        return learnt

    def learn_one(self, slots: np.ndarray, values: np.ndarray, label: Any, importance: np.float32) -> list[float]:
        """Learn one example of ids + 1 (uint32, 0 for the constant) and sound values (float32); its margins before."""
        preparation, known, given = self.preparation, len(self.classes), importance
        if preparation.class_weights is not None:
            importance = preparation.weigh_one(self.classes, label, importance, self.examples)
        keys = preparation.group_keys_one(self, slots, values, learns=True)
        if self.slot_map is not None:
            slots, values = room.slots_of_one(self, slots, values, importance)
        if importance > 0.0 and preparation.moments is not None:
            preparation.count_one(slots, values, self.examples, self.compiled)
        if self.examples == 0:
            room.begin_columns(self, values[int(self.intercept) :], importance)
        if (preparation.looks or preparation.scales) and preparation.scales_one(values, self.compiled):
            slots, values = preparation.one(slots, values, importance, self.examples)
        self.examples += 1
        margins = self.task.learn_one(self, slots, values, label, importance)
        if preparation.judges:
            margins = preparation.judge_one(self.task, self.classes, margins, label, given, known, keys)
        if self.forget:
            self.used_slots.note(self, slots, self.examples % preparation.every == 0)
        if self.examples % NAMES_EVERY == 0:
            room.forget_names(self)
        return margins

    def margins(self, block: Block) -> np.ndarray:
        """Margins (n,) or (n, classes) of a block; nothing is learnt, features never seen count for nothing."""
        reconcile_to_predict(self, block.space)
        return self.task.margins(self, self.rows(block))

    def answers(self, block: Block) -> Answers:
        """What the model says of a block: labels or numbers, margins, probabilities."""
        return self.task.answers(self, self.preparation.recalibrated(self.task, self.margins(block)))

    def evaluate(self, block: Block) -> Outcome:
        """Predict labelled examples without learning them; those of classes not known yet are left out."""
        reconcile_to_predict(self, block.space)
        block = block.labelled()
        return self.preparation.judge(self, self.task.evaluate(self, block), block, len(self.classes), False)

    def margins_one(self, slots: np.ndarray, values: np.ndarray) -> list[float]:
        """The margins of one example given as ids + 1, one a column."""
        if self.slot_map is not None:
            slots, values = self.slot_map.one(slots, values, self.capacity)
        if (self.preparation.looks or self.preparation.scales) and self.preparation.scales_one(values, self.compiled):
            slots, values = self.preparation.one(slots, values, None)
        return self.task.margins_one(self, slots, values)

    def answer_one(self, margins: list[float]) -> Any:
        """What the margins of one example say: a label, or a number; None if no class is known."""
        return self.task.answer_one(self, self.preparation.recalibrated_one(self.task, margins))

    def weights(self) -> np.ndarray:
        """Weights (columns, dimension), the constant's first, then by id; of a learner without a byte budget."""
        found, mapped = self.slot_weights(), self.slot_map
        return found if mapped is None else mapped.spread(found, self.dimension)

    def slot_weights(self) -> np.ndarray:
        """The same by slot, (columns, slots)."""
        return self.preparation.weights_of_raw(self.task.weights(self))

    def top(self, n: int) -> list[list[tuple[int, float]]]:
        """The n heaviest (feature id, weight) of each column, heaviest first; id -1 is the constant feature."""
        found, mapped = self.preparation.top_of_raw(self.task.top(self, n)), self.slot_map
        found = found if mapped is None else [(mapped.numbers[slots], weights) for slots, weights in found]
        columns = [zip(numbers.tolist(), weights.tolist(), strict=True) for numbers, weights in found]
        return [[(number - 1, weight) for number, weight in column] for column in columns]

    @property
    def scales(self) -> Any:
        """The running scales of features, a `Features`, where they are standardised; else None."""
        by_itself = protocol.offers(self.module, protocol.Standardizing) and not self.task.groups
        return cast(Any, self.states[0]).features if by_itself and self.states else self.preparation.features

    def feature_name(self, feature: int) -> str | int:
        """What a person calls a feature: its name, or its id where the stream had no names."""
        return INTERCEPT if feature == -1 else self.names.name(feature) or feature

    def rows(self, block: Block) -> Rows:
        """A block to predict as rows over the slots that the states have room for, as the learner sees them."""
        return self.preparation.rows(self.raw_rows(block))

    def pieces(self, block: Block, start: int = 0, stop: int | None = None) -> Iterator[tuple[slice, Rows]]:
        """Examples `start` to `stop` of a block to learn: where they are, and as rows; between pieces states forget."""
        rows, stop = self.raw_rows(block), block.rows if stop is None else stop
        for here, forget in self.preparation.intervals(self.examples, start, stop):
            part = Rows(rows.offsets[here.start : here.stop + 1], rows.indices, rows.values)
            yield here, self.preparation.rows_to_learn(part, block.weights[here], self.examples + here.start)
            if self.forget:
                self.used_slots.note(self, part.indices[part.offsets[0] : part.offsets[-1]], forget)

    def raw_rows(self, block: Block) -> Rows:
        """A block as rows over slots, all slots taken of a learner of a byte budget."""
        mapped = self.slot_map
        return self.numbered_rows(block) if mapped is None else mapped.rows(*block[:3], self.intercept, self.capacity)

    def numbered_rows(self, block: Block) -> Rows:
        """The same over ids + 1, whatever their slots."""
        return Rows(*block[:3]) if block.in_slots else to_rows(*block[:3], self.intercept, np.uint64(self.reach))
