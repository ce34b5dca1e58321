"""Conversion of dictionaries of features to the slots and values of a model, one example at a time."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ouzel.errors import DataError
from ouzel.model.model import Model
from ouzel.streams.block import Block
from ouzel.streams.dates import PARTS
from ouzel.streams.dictionaries import kinds_said, other_kinds, plain_features, plain_members
from ouzel.streams.feature_space import DATE, NOTHING_KNOWN, NUMBER, FeatureSpace, meet, own_id
from ouzel.streams.feature_specs import Derived
from ouzel.streams.interactions.deriver import Deriver
from ouzel.streams.kernels.row_order import ONES, tidy_row
from ouzel.streams.options import Options
from ouzel.streams.provenance import factors_of

MOST_CACHED = 1 << 20  # names whose slots are remembered
LEFT_OUT = "left out"
TRUTHS = frozenset((bool, np.bool_))
NUMBERS, NO_NUMBERS = (float, int, np.integer, np.floating), (bool, np.timedelta64)
NOT_BY_VALUE = -1  # the slot of what is not a number of a feature of its own: a category, or a column not known


class Slots(dict[Any, int]):
    """Cache of the slot of each feature seen in single examples; -1 for one that is not a column of the model."""

    def __init__(self, model: Model, options: Options) -> None:
        super().__init__()
        self.model = model
        self.options = options  # what is said of features
        self.plain = False  # whether all are names and numbers
        self.given: Mapping[Any, Any] = {}  # the example whose slots are found
        self.largest = 0  # feature id
        self.learning = False
        self._deriver: Deriver | None = None
        self.constant: tuple[int, ...] = (0,) if model.intercept else ()
        self.constant_value: tuple[float, ...] = (1.0,) if model.intercept else ()

    def __reduce__(self) -> Any:
        return Slots, (self.model, self.options)  # names are found again

    def row(self, x: Mapping[Any, Any], plain: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Slots (uint32, ascending as in blocks) and values (float32) of one example, the constant feature included.

        What is not `plain`, numbers of features that are known by name, is made so.
        """
        self.plain = plain
        if not isinstance(x, dict):
            x = as_dictionary(x)
        if not plain:
            self.given = x
        if self.derived and not plain:
            return self._row_with_derived(x)
        count = len(x) + len(self.constant)
        packed = bytearray(8 * count)
        try:
            pack_for(count)(packed, 0, *self.constant, *map(self.__getitem__, x), *self.constant_value, *x.values())
            slots, values = np.frombuffer(packed, np.uint32, count), np.frombuffer(packed, np.float32, count, 4 * count)
            end = tidy_row(slots, values)
        except (struct.error, TypeError, OverflowError):
            end = -1
        if end == count:
            return slots, values
        ones, end = divmod(end, ONES) if end >= 0 else (0, end)
        if (ones or end < count) and not plain and not TRUTHS.isdisjoint(map(type, x.values())):
            end = -1
        if end < 0:
            if plain:
                raise DataError(f"feature values must be finite numbers below 1e37; got {x}")
            return self.row(self._by_value(x), plain=True)
        return slots[:end], values[:end]

    @property
    def derived(self) -> Derived:
        """The derived features to make of those of examples."""
        return self.model.space.derived if self.model.space.known else self.options.derived

    def _row_with_derived(self, x: Mapping[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return slots and values of an example, with its derived features."""
        model = self.model
        made, members = plain_members(x, model.space, self.options)
        slots, values = self.row(made, plain=True)
        edges = model.space.edges
        if self._deriver is None or (edges and self._deriver.edges != edges):
            given = {**self.derived._asdict(), "bits": model.bits, "seed": model.seed}
            self._deriver = Deriver(replace(self.options, space=NOTHING_KNOWN._replace(edges=edges), **given))
        own = len(self.constant)
        block = Block(
            np.array([0, len(slots) - own], np.uint64),
            slots[own:] - np.uint32(1),
            values[own:],
            np.full(1, np.nan),
            np.ones(1, np.float32),
            space=FeatureSpace(named=True, loose=True),
            factors=factors_of([members], self._deriver.options),
        )
        if self.learning:
            self._deriver.look(block)
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
        kind = self._kind(name)
        by_value = name in self.given and not _is_number(self.given[name])
        if not self.plain and (kind not in (None, NUMBER) or by_value):
            return NOT_BY_VALUE
        feature = space.id_of(name, model.seed, model.bits)
        if feature is None and space.kinds:
            return NOT_BY_VALUE
        given = self._given(name, feature)._replace(derived=self.derived)
        known = meet(space, given, self.learning)
        if self.learning:
            model.space = known
        assert feature is not None
        if isinstance(name, str) and not isinstance(own_id(name), int):
            model.names.remember(feature, name)
        self.largest = max(self.largest, feature)
        is_known = self.learning or (space.named if isinstance(name, str) else feature <= (space.highest or -1))
        if is_known and kind in (None, NUMBER) and not by_value:
            self[name] = feature + 1
        return feature + 1

    def _kind(self, name: Any) -> str | None:
        """Return the kind of a feature, by the model or else by the options; LEFT_OUT if it is not wanted."""
        if not self.options.choosy or not isinstance(name, str):
            return self.model.space.kinds.get(name)
        if not self.plain and not self.options.wants(name):
            return LEFT_OUT
        return self.model.space.kinds.get(name) or self.options.kind_of(name)

    def _given(self, name: Any, feature: int | None) -> FeatureSpace:
        """Return the feature space of a feature given alone; a known column, or a word of it, adds nothing."""
        space = self.model.space
        if feature is not None and (space.width is not None or isinstance(own_id(name), int)):
            named = isinstance(name, str) and space.width is None  # written in digits it is a name as well
            return FeatureSpace(named, 0, feature, loose=True, indicator=self.options.indicator)
        column = name if name in space.kinds else str(name).partition("=")[0]
        date, _, part = column.rpartition(".")
        if part in PARTS and space.kinds.get(date) == DATE:
            column = date
        loose = not space.closed or column not in space.kinds
        return FeatureSpace(named=True, loose=loose, indicator=self.options.indicator)

    def _by_value(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Return the plain features of an example with words, missing values or unknown columns."""
        space = self.model.space
        if self.learning and self.options.choosy and not space.closed and space.width is None:
            said = {name: kind for name, kind in kinds_said(x, self.options).items() if name not in space.kinds}
            if said:
                kinds, also = {**said, **space.kinds}, {**space.also, **other_kinds([x], said)}
                also = dict(sorted(also.items()))
                self.model.space = space = space._replace(named=True, kinds=kinds, also=also, loose=True)
        found = plain_features(x, space, self.options)
        if space.width is None:
            return found
        return {
            name: value
            for name, value in found.items()
            if not isinstance(name, str) or space.id_of(name, self.model.seed, self.model.bits) is not None
        }


def _is_number(value: Any) -> bool:
    """Whether a value is a number of Python or NumPy, whose type says so."""
    return isinstance(value, NUMBERS) and not isinstance(value, NO_NUMBERS)


def as_dictionary(x: Any) -> dict[Any, Any]:
    """Return a mapping, such as a row of a pandas frame, as a dictionary."""
    if not hasattr(x, "keys"):
        raise DataError(f"an example is a dictionary of features; got {x!r}")
    return dict(x)


@lru_cache(1 << 12)
def pack_for(count: int) -> Callable[..., None]:
    """Return a function that writes `count` slots (uint32), then as many values (float32), to a buffer."""
    return struct.Struct(f"{count}I{count}f").pack_into
