"""Base class of analyses: an AWM-Sketch of one-sparse examples, the names of its active set, and its file.

Tai, Sharan, Bailis & Valiant (2018), "Sketching Linear Classifiers over Data Streams", SIGMOD, section 8. An example is
one item with the value 1, and no constant feature, so that the weight of an item tends to the log odds of its examples'
being positive: w_i = log(n+ / n-), with n+ and n- the importances of those with item i.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels.jit import force_inline, kernel
from ouzel.layout import allocate, flat
from ouzel.learners.budget import awm
from ouzel.learners.shared_settings import COUNTERS, ENTRIES, byte_budget
from ouzel.model import persistence
from ouzel.model.description import describe
from ouzel.model.model import Model
from ouzel.model.tensor_reader import TensorReader, check_room
from ouzel.ranges import check_stored
from ouzel.sketches.hashing import MOST_ID, hash_spans
from ouzel.sketches.top_k import find

ONE = np.ones(1, np.float32)
ALL_BITS = np.uint32(0xFFFFFFFF)
FIXED = ("learner", "settings", "task", "intercept", "classes", "closed", "bits", "seed")  # in the file of an analysis

Bytes = Annotated[int, byte_budget(32, each=9), "bytes to keep"]
HeapSize = Annotated[int, ENTRIES, "size of the active set; 0 for what the budget gives"]
Width = Annotated[int, COUNTERS, "counters of the sketch; 0 likewise"]

Part = TypeVar("Part")


@force_inline
def pair_slot(first, second):
    """Return the slot (uint32, not 0) of an ordered pair of slots: MurmurHash3's last steps over both words."""
    word = np.uint32(first) * np.uint32(0x9E3779B1)
    word = np.uint32((word << np.uint32(13)) | (word >> np.uint32(19))) ^ np.uint32(second)
    word = np.uint32(np.uint32(word ^ (word >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    word = np.uint32(np.uint32(word ^ (word >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    word = np.uint32(word ^ (word >> np.uint32(16)))
    return max(word, np.uint32(1))


@kernel
def learn_items(state, slots, targets, importances, value, settings):
    """Learn one-sparse examples: item k is `slots[k]`, its target -1 or +1."""
    for k in range(len(slots)):
        awm.learn_row(state, slots[k : k + 1], value, targets[k], importances[k], settings)


@kernel
def newcomers(state, slots, owners):
    """Return positions of slots that are new in the active set since the last call; update `owners` (k,)."""
    found = np.empty(len(owners), np.int64)
    count = 0
    for k in range(len(slots)):
        entry = find(state, slots[k])
        if entry >= 0 and owners[entry] != slots[k]:
            owners[entry] = slots[k]
            found[count] = k
            count += 1
    return found[:count]


def slots_of_text(data: np.ndarray, starts: np.ndarray, ends: np.ndarray, seed: int) -> np.ndarray:
    """Return slots (n,) uint32 of spans of UTF-8 `data`: their hash plus one; slot 0 is the intercept's."""
    hashes = np.empty(len(starts), np.uint32)
    hash_spans(data, starts, ends, np.uint32(seed), ALL_BITS, hashes)
    return np.minimum(hashes, np.uint32(MOST_ID)) + np.uint32(1)


def slots_of_items(items: Sequence[Any] | np.ndarray, seed: int) -> np.ndarray:
    """Return slots (n,) uint32 of items: a whole number is its own id, anything else is hashed by its text."""
    array = np.asarray(items) if isinstance(items, np.ndarray) else None
    if array is not None and array.dtype.kind in "iu":
        numbers = array
    elif all(isinstance(item, (int, np.integer)) for item in items):
        numbers = np.array(items, np.int64)
    else:
        texts = [str(item).encode() for item in items]
        ends = np.cumsum([len(text) for text in texts], dtype=np.uint64)
        starts = np.concatenate([np.zeros(1, np.uint64), ends[:-1]])
        return slots_of_text(np.frombuffer(b"".join(texts), np.uint8), starts, ends, seed)
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) <= MOST_ID:
        raise OuzelError(f"a whole number that stands for an item lies between 0 and {MOST_ID}")
    return (numbers + 1).astype(np.uint32)


def learn_all(parts: Iterable[Part], learn: Callable[[Part], Any], on_progress: Callable[[], None]) -> bool:
    """Learn the parts of a stream up to its end or an interruption; return whether it reached the end."""
    try:
        for part in parts:
            learn(part)
            on_progress()
    except KeyboardInterrupt:
        return False
    return True


def arguments(local: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a method from its local names."""
    return {name: value for name, value in local.items() if name not in ("self", "__class__")}


class Analysis:
    """Model of one-sparse examples with the names of the items in its active set."""

    kind: ClassVar[str]
    version: ClassVar[int] = 1  # of what a file holds; it grows where an older file can no longer be read as it is

    def __init__(self, parameters: dict[str, Any]) -> None:
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in parameters.items()}
        check_stored(plain, self.kinds())
        self._assemble(plain, self.model_of(plain, begin=True), allocate(self.layout(plain)))

    def _assemble(self, parameters: dict[str, Any], model: Model, side: Any) -> None:
        """Set the parts of the analysis: new ones, or those of a file."""
        self.parameters, self.model, self.side = parameters, model, side
        self.seed = model.seed
        self.owners = np.zeros(len(self.state.keys), np.uint32)

    @classmethod
    def kinds(cls) -> dict[str, Any]:
        """Return the type of each parameter: that of its default."""
        known = (bool, int, float)
        kinds = {
            name: type(parameter.default) if type(parameter.default) in known else str
            for name, parameter in signature(cls).parameters.items()
            if name != "kind"
        }
        return {**kinds, "budget": int, "schedule": Any}

    @classmethod
    def sizes(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Check the parameters and return the sizes of the sketch."""
        raise NotImplementedError

    @classmethod
    def layout(cls, parameters: dict[str, Any]) -> Any:
        """Return the layout of the arrays next to the sketch."""
        raise NotImplementedError

    @classmethod
    def model_of(cls, parameters: dict[str, Any], begin: bool) -> Model:
        """Make the model of the parameters."""
        given = {name: parameters[name] for name in ("learning_rate", "l2", "schedule", "seed")}
        sizes = {**cls.sizes(parameters), "sketch_seed": parameters["seed"]}
        return Model("awm", intercept=False, classes=[-1, 1], begin=begin, standardize=False, **given, **sizes)

    @property
    def state(self) -> Any:
        """State of the sketch."""
        return self.model.states[0]

    @property
    def bytes_used(self) -> int:
        """Memory in bytes by the paper's count: 4 for each id, weight and auxiliary value; names are not counted."""
        return self.model.bytes_used

    def weight(self, item: Any) -> float:
        """Return the weight of an item: exact in the active set, the sketch's estimate elsewhere."""
        return float(self.weights_of(slots_of_items([item], self.seed))[0])

    def weights_of(self, slots: np.ndarray) -> np.ndarray:
        """Return the weights of slots (uint32)."""
        return awm.estimates(self.state, slots, self.model.settings)

    @property
    def entries(self) -> Any:
        """Arrays of the entries of the active set next to their weights."""
        return self.side.entries

    def active(self) -> tuple[np.ndarray, np.ndarray]:
        """Return slots (uint32) and weights of the active set, those with the largest |weight| first."""
        slots, weights = awm.top(self.state, len(self.state.keys), self.model.settings)
        return slots.astype(np.uint32), weights

    def name(self, slot: int) -> str:
        """Return the name of an item in the stream, or its number if it has none."""
        return self.model.names.name(int(slot) - 1) or str(int(slot) - 1)

    def name_members(self, slots: np.ndarray, name_of: Callable[[int], str | None]) -> None:
        """Store the names of the slots in the active set; `name_of` returns the name of a position."""
        for k in newcomers(self.state, slots, self.owners):
            name = name_of(int(k))
            if name is not None:
                self.model.names.remember(int(slots[k]) - 1, name)
        if len(self.model.names) > 2 * len(self.owners):
            self.forget_names()

    def forget_names(self) -> None:
        """Drop all names but those of the active set."""
        self.model.names.restrict(awm.members(self.state) - 1)

    def notes(self) -> dict[str, Any]:
        """Return the metadata of a file next to the model and arrays."""
        return {}

    def restore(self, notes: dict[str, Any]) -> None:
        """Check and restore the metadata that `notes` returned."""

    def save(self, path: str | Path) -> None:
        """Save the analysis to one file, which `load` reads."""
        self.forget_names()
        parameters = {name: value for name, value in self.parameters.items() if name != "schedule"}  # the model has it
        notes = {"analysis": self.kind, "version": self.version, "parameters": parameters, **self.notes()}
        persistence.save(self.model, path, notes, (self.side, self.layout(self.parameters)))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load the analysis that `save` wrote. No code of the file is run."""
        return persistence.load_parts(path, cls.of_parts)

    @classmethod
    def upgraded(cls, version: int, notes: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Upgrade the arrays and `notes` of an older file."""
        raise OuzelError(
            f"holds {cls.kind} of format {version}, this version of Ouzel reads format {cls.version}; learn it again"
        )

    @classmethod
    def of_parts(cls, model: Model, notes: dict[str, Any], reading: TensorReader) -> Self:
        """Check the parts of a file and make the analysis of them."""
        found = notes.pop("analysis", None)
        if found != cls.kind:
            known = [kind.kind for kind in Analysis.__subclasses__()]
            raise OuzelError(f"holds {found if found in known else 'a model'}, not {cls.kind}")
        version = notes.pop("version", 1)  # the first had none
        if version != cls.version:
            reading.tensors = cls.upgraded(version, notes, {**reading.tensors})
        stored = notes.pop("parameters", None)
        kinds = {name: kind for name, kind in cls.kinds().items() if name != "schedule"}
        check_stored(stored, kinds, "the analysis")
        parameters = {**stored, "schedule": model.settings.schedule}
        expected = describe(cls.model_of(parameters, begin=False), {})
        stored_model = describe(model, {})
        if any(expected[name] != stored_model[name] for name in FIXED):
            raise OuzelError(f"holds a sketch that is not the one of {cls.kind}; learn it again")
        layout = cls.layout(parameters)
        extra = {name for name in reading.names if name.startswith(persistence.BESIDE)}
        for name in extra - {name for name, _ in flat(layout, persistence.BESIDE)}:
            raise OuzelError(f"{name!r} is not an array of {cls.kind}")
        analysis = cls.__new__(cls)
        check_room([layout])
        analysis._assemble(parameters, model, reading.state(layout, persistence.BESIDE))
        analysis.restore(notes)
        return analysis
