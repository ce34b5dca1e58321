"""Slots and values of single examples, which are dictionaries of features."""

from __future__ import annotations

import struct
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ouzel.errors import DataError
from ouzel.kernels.jit import kernel, specialise
from ouzel.learners.feature_scaling import LIMIT, beyond
from ouzel.model.model import Model
from ouzel.streams.block import LARGEST, Block
from ouzel.streams.dates import PARTS
from ouzel.streams.dictionaries import ObjectReader, check_column, declared_kinds, not_finite, other_kinds
from ouzel.streams.feature_names import is_named
from ouzel.streams.feature_space import DATE, NOTHING_KNOWN, NUMBER, FeatureSpace, numeric_id, reconcile
from ouzel.streams.feature_specs import DerivedFeatures
from ouzel.streams.interaction_inputs import SourceField, inputs_of_rows
from ouzel.streams.interactions.deriver import Deriver
from ouzel.streams.kernels.row_buffer import ONES, tidy_row
from ouzel.streams.options import Options

MOST_CACHED = 1 << 20  # names whose slots are remembered
MOST_PLACES, MOST_KEPT = 256, 4096  # places of a thread for rows, and features of such a row
LEFT_OUT = "left out"
FAR = 1 << 40
TRUTHS = frozenset((bool, np.bool_))
NUMBERS, NO_NUMBERS = (float, int, np.integer, np.floating), (bool, np.timedelta64)
NOT_BY_VALUE = -1  # the slot of a value that is no number of a feature: of a category, or of an unknown column


@kernel
def tidy_and_look(ids: Any, values: Any) -> Any:
    """Do what `tidy_row` does; add FAR to what it returns if a value is beyond the limit of `feature_scaling`."""
    end = tidy_row(ids, values)
    return end + FAR if end >= 0 and beyond(values, LIMIT) else end


class Slots(dict[Any, int]):
    """The slots of features of single examples, each looked up once; -1 if a model of an array's columns has none."""

    def __init__(self, model: Model, options: Options) -> None:
        super().__init__()
        self.model = model
        self.options = options  # of features
        self.plain = False  # whether all features are names and numbers
        self.given: Mapping[Any, Any] = {}  # the example whose slots are looked up
        self.largest = 0  # feature id
        self.learning = False
        self._room = Room()
        self._space: FeatureSpace | None = None  # which tells whether features are derived
        self._derives = False
        self._deriver: Deriver | None = None
        self._reader: ObjectReader | None = None
        self.constant: tuple[int, ...] = (0,) if model.intercept else ()
        self.constant_value: tuple[float, ...] = (1.0,) if model.intercept else ()

    def __reduce__(self) -> Any:
        return Slots, (self.model, self.options)  # names are looked up again

    def row(self, x: Mapping[Any, Any], plain: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Slots (uint32, ascending as in blocks) and values (float32) of one example, the constant feature included.

        They lie where those of the thread's next example of as many features will.
        An example that is not `plain`, which has other values than numbers of named features, is made so.
        """
        self.plain = plain
        if not isinstance(x, dict):
            x = as_dictionary(x)
        if not plain:
            self.given = x
            if self.model.space is not self._space:
                self._derives, self._space = bool(self.derived), self.model.space
            if self._derives:
                return self._row_with_derived(x)
        room, own = self._room, self.constant_value
        count = len(x) + len(own)
        place = room.places.get(count) or room.make(count)
        try:
            first = next(iter(x), None)
            if first == place.first and place.keys == (keys := tuple(x)):
                place.packed[: 4 * count] = place.slots_of_keys
                place.pack_values(place.packed, 4 * count, *own, *x.values())
            else:
                room.unknown = False
                place.pack(place.packed, 0, *self.constant, *map(self.__getitem__, x), *own, *x.values())
                if first == place.first:  # the next may have the same keys
                    place.keys, place.slots_of_keys = None if room.unknown else keys, place.packed[: 4 * count]
                place.first = first
            slots, values = place.slots, place.values
            end = place.tidy(slots, values)
        except (struct.error, TypeError, OverflowError):
            end = -1
        if end == count:
            return slots, values
        if end >= FAR:
            self.model.preparation.looks = True
            end -= FAR
            if end == count:
                return slots, values
        ones, end = divmod(end, ONES) if end >= 0 else (0, end)
        if (ones or end < count) and not plain and not TRUTHS.isdisjoint(map(type, x.values())):
            end = -1
        if end < 0:
            if plain:
                raise not_finite(*next(item for item in x.items() if not abs(item[1]) <= LARGEST))
            return self.row(self._by_value(x), plain=True)
        return slots[:end], values[:end]

    @property
    def derived(self) -> DerivedFeatures:
        """The derived features of examples."""
        return self.model.space.derived if self.model.space.known else self.options.derived

    def _row_with_derived(self, x: Mapping[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Slots and values of an example with its derived features."""
        model = self.model
        model.preparation.looks = True  # derived values may be as large as any
        sources: list[SourceField] = []
        slots, values = self.row(self._read(x, sources), plain=True)
        edges = model.space.edges
        if self._deriver is None or (edges and self._deriver.edges != edges):
            options = {**self.derived._asdict(), "bits": model.bits, "seed": model.seed}
            self._deriver = Deriver(replace(self.options, space=NOTHING_KNOWN._replace(edges=edges), **options))
        own = len(self.constant)
        block = Block(
            np.array([0, len(slots) - own], np.uint64),
            slots[own:] - np.uint32(1),
            values[own:],
            np.full(1, np.nan),
            np.ones(1, np.float32),
            space=FeatureSpace(named=True, open_vocabulary=True),
            interaction_inputs=inputs_of_rows([sources], self._deriver.options),
        )
        if self.learning:
            self._deriver.observe(block)
        (block,) = self._deriver.parts(block, whole=True)
        if self.learning and not edges:
            model.space = model.space._replace(edges=self._deriver.edges)
        if block.names is not None and self.learning:
            model.names.add(block.names)
        self.largest = max(self.largest, int(block.indices.max(initial=0)))
        return np.append(slots[:own], block.indices + np.uint32(1)), np.append(values[:own], block.values)

    def __missing__(self, name: Any) -> int:
        if len(self) >= MOST_CACHED:
            self.clear()
        model, space = self.model, self.model.space
        if not self.plain:
            check_column(name)
            if not is_named(name):
                return NOT_BY_VALUE
        kind = self._kind(name)
        by_value = name in self.given and not _is_number(self.given[name])
        if not self.plain and (kind not in (None, NUMBER) or by_value):
            return NOT_BY_VALUE
        feature = space.id_of(name, model.seed, model.bits)
        if feature is None and space.kinds:
            return NOT_BY_VALUE
        given = self._given(name, feature)._replace(derived=self.derived)
        known = reconcile(space, given, self.learning)
        if self.learning:
            model.space = known
        assert feature is not None
        if (isinstance(name, str) or space.width is None) and not isinstance(numeric_id(name), int):
            model.names.remember(feature, str(name))  # a tuple, say, is known by its text
        self.largest = max(self.largest, feature)
        known_feature = self.learning or (space.named if isinstance(name, str) else feature <= (space.highest or -1))
        if known_feature and kind in (None, NUMBER) and not by_value:
            self[name] = feature + 1
        else:
            self._room.unknown = True
        return feature + 1

    def _kind(self, name: Any) -> str | None:
        """The kind of the column of this name, by the model or else the options; LEFT_OUT if it is left out."""
        if not self.options.has_column_options or not isinstance(name, str):
            return self.model.space.kinds.get(name) or None
        if not self.plain and not self.options.wants(name):
            return LEFT_OUT
        return self.model.space.kinds.get(name) or self.options.kind_of(name)

    def _given(self, name: Any, feature: int | None) -> FeatureSpace:
        """The space of one feature; the name of a known column, or a word in it, adds nothing to the model's."""
        space = self.model.space
        if feature is not None and (space.width is not None or isinstance(numeric_id(name), int)):
            named = isinstance(name, str) and space.width is None  # written in digits it is a name as well
            highest = feature % space.width if isinstance(name, str) and space.width else feature  # of what is missing
            return FeatureSpace(named, 0, highest, open_vocabulary=True, indicator=self._indicator)
        column = name if name in space.kinds else str(name).partition("=")[0]
        date, _, part = column.rpartition(".")
        if part in PARTS and space.kinds.get(date) == DATE:
            column = date
        open_vocabulary = not space.fixed_columns or column not in space.kinds
        return FeatureSpace(named=True, open_vocabulary=open_vocabulary, indicator=self._indicator)

    @property
    def _indicator(self) -> bool:
        """Whether a missing value is a feature of its own: to the model, or else by the options."""
        known = self.model.space.indicator
        return self.options.indicator if known is None else known

    def _by_value(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Features by name and number of an example with words, missing values or unknown columns."""
        space = self.model.space
        if self.learning and self.options.has_column_options and not space.fixed_columns and space.width is None:
            declared = {name: kind for name, kind in declared_kinds(x, self.options).items() if name not in space.kinds}
            if declared:
                kinds, mixed = {**declared, **space.kinds}, {**space.mixed, **other_kinds([x], declared)}
                mixed = dict(sorted(mixed.items()))
                self.model.space = space = space._replace(named=True, kinds=kinds, mixed=mixed, open_vocabulary=True)
        found = self._read(x)
        if space.width is None:
            return found
        return {
            name: value
            for name, value in found.items()
            if not isinstance(name, str) or space.id_of(name, self.model.seed, self.model.bits) is not None
        }

    def _read(self, x: Mapping[Any, Any], sources: list[SourceField] | None = None) -> dict[Any, float]:
        """Features by name and number, and the `sources` of each."""
        if self._reader is None or not self._reader.fits(self.model.space):
            self._reader = ObjectReader(self.options, self.model.space)
        return self._reader.read(x, sources)


def _is_number(value: Any) -> bool:
    """Whether a value is a number by its type, in Python or NumPy."""
    return isinstance(value, NUMBERS) and not isinstance(value, NO_NUMBERS)


def as_dictionary(x: Any) -> dict[Any, Any]:
    """An object with keys, such as a row of a pandas frame, as a dictionary."""
    if len(getattr(x, "shape", ())) > 1:
        raise DataError(f"an example is a dictionary of features; got a table of shape {x.shape}, give table.iloc[0]")
    if not hasattr(x, "keys"):
        raise DataError(f"an example is a dictionary of features; got {x!r}")
    return dict(x)


class Place:
    """Memory for the slots and values of an example with `count` features, used for one after the other.

    The slots of the last keys are kept: a stream whose examples have the same ones needs to look up none.
    """

    __slots__ = ("first", "keys", "pack", "pack_values", "packed", "slots", "slots_of_keys", "tidy", "values")

    def __init__(self, count: int) -> None:
        self.packed = bytearray(8 * count)  # slots (uint32), and then as many values (float32)
        self.pack, self.pack_values = (struct.Struct(f"{kind}{count}f").pack_into for kind in (f"{count}I", ""))
        self.slots = np.frombuffer(self.packed, np.uint32, count)
        self.values = np.frombuffer(self.packed, np.float32, count, 4 * count)
        self.tidy = specialise(tidy_and_look, self.slots, self.values)
        self.first: Any = None  # of the last keys
        self.keys: tuple[Any, ...] | None = None
        self.slots_of_keys = bytearray()


class Room(threading.local):
    """The places of a thread by the number of features."""

    def __init__(self) -> None:
        self.places: dict[int, Place] = {}
        self.unknown = False  # whether a name was met whose slot is not to be remembered

    def make(self, count: int) -> Place:
        """Add a place for examples with `count` features."""
        place = Place(count)
        if len(self.places) >= MOST_PLACES:
            self.places.clear()
        if count <= MOST_KEPT:
            self.places[count] = place
        return place
