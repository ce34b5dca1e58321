"""Python dictionaries as examples, and `ObjectReader`: the rule for objects that fast parsers must match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ouzel.errors import DataError, UnexpectedError
from ouzel.streams.block import LARGEST, ROWS, Block, Names
from ouzel.streams.feature_names import is_named
from ouzel.streams.feature_space import CATEGORY, NUMBER, TEXT, FeatureSpace, column_key, numeric_id
from ouzel.streams.interaction_inputs import SourceField, inputs_of_rows, source_fields
from ouzel.streams.kernels.row_buffer import canonical_rows
from ouzel.streams.labels import encode_labels
from ouzel.streams.options import Options
from ouzel.streams.values import (
    BadValueError,
    OtherKindError,
    add_to,
    features_of,
    is_of_other_kind,
    plain_value,
    sources_of,
)
from ouzel.streams.weights import as_weights

MOST_IDS = 1 << 18  # names that are remembered from row to row
NUMERIC = (None, NUMBER)  # kinds of columns whose numbers are the values of one feature
ADVICE = "; give that, or train a model on this data"


def blocks_of_dictionaries(
    data: Iterable[Any], options: Options, block_rows: int = ROWS, plain: bool = False, ids: Ids | None = None
) -> Iterator[Block]:
    """Blocks of pairs (features, label[, weight]); if they are `plain`, features are names and finite numbers already.

    `ids` are those of earlier blocks with the same options.
    """
    rows = iter(data)
    reader = None if plain else ObjectReader(options, options.space)
    while chosen := list(islice(rows, block_rows)):
        if not (isinstance(chosen[0], (tuple, list)) and hasattr(chosen[0][0], "items")):
            raise DataError("examples are arrays, tables, or pairs of a dictionary of features and a label")
        yield _of_dictionaries(chosen, options, reader, Ids(options) if ids is None else ids.within_bounds())


class ObjectReader:
    """Makes features of objects: the one rule for dictionaries, JSON objects and single examples.

    What the model knows of a column counts, and then what the options say: a number may be a category, a word a number,
    a date, or a text of many words. `values.features_of` says what each value is. Values of one feature add up. A
    number that is 0 is there with its name; rows leave it out.

    >>> ObjectReader(Options(), FeatureSpace()).read({"price": 2.5, "city": "Rome", "age": None})
    {'price': 2.5, 'city=Rome': 1.0, 'age=(missing)': 1.0}
    """

    def __init__(self, options: Options, space: FeatureSpace, kinds: Mapping[str, str] | None = None) -> None:
        self.options, self.space = options, space
        self.kinds = space.kinds if kinds is None else kinds  # of the columns whose kind is known
        self._indicator = options.indicator if space.indicator is None else space.indicator
        self._numeric: dict[Any, Any] = {}  # columns whose numbers are the values of these features
        self._by_kind = not options.has_column_options  # whether a column is one of these by its kind alone

    def read(self, row: Mapping[Any, Any], sources: list[SourceField] | None = None) -> dict[Any, float]:
        """The features of an object by name; `sources` gets the source field of each, to derive others."""
        found: dict[Any, float] = {}
        numeric, by_kind, kinds, has_options = self._numeric, self._by_kind, self.kinds, self.options.has_column_options
        for name, value in row.items():
            if ((of := type(value)) is float or of is int) and -LARGEST <= value <= LARGEST:
                feature = numeric.get(name)
                if feature is None and by_kind and kinds.get(name) in NUMERIC and self.admits(name, value):
                    feature = name
                    self._mark_numeric(name, name)
                if feature is not None:
                    if feature in found:
                        add_to(found, feature, value)
                    else:
                        found[feature] = value
                    if sources is not None:
                        sources += source_fields(name, {feature: value})
                    continue
            if not self.admits(name, value):
                continue
            kind = kinds.get(name) or (self.options.kind_of(name) if has_options and isinstance(name, str) else None)
            prefix = f"{name}=" if kind == TEXT and self.has_several_texts(row) else ""
            strict = name in self.space.kinds and self.is_strict(name)
            try:
                made = features_of(name, value, kind, prefix, self._indicator, strict)
            except BadValueError as error:
                raise self.refusal(name, value, error) from None
            if not by_kind:
                made = self.checked(name, value, kind, made)
            for feature, number in made.items():
                if feature in found:
                    add_to(found, feature, number)
                else:
                    found[feature] = number
            if sources is not None and made:
                sources += sources_of(name, value, kind, prefix, made)
        return found

    def fits(self, space: FeatureSpace) -> bool:
        """Whether another space says the same of columns as the reader's own."""
        own = self.space
        return space is own or (
            space.kinds is own.kinds and space.mixed is own.mixed and space.indicator == own.indicator
        )

    def admits(self, name: Any, value: Any) -> bool:
        """Whether a value is read, and not left out with its column; DataError if the name is refused."""
        check_column(name)
        return is_named(name) and (self._by_kind or self.options.wants(str(name)))

    def checked(self, name: Any, value: Any, kind: str | None, made: dict[Any, float]) -> dict[Any, float]:
        """The features `made` of a value, each under its own name."""
        if name in made and kind in NUMERIC:
            self._mark_numeric(name, name)
        return made

    def is_strict(self, name: str) -> bool:
        """Whether the model knows that a column has values of one kind alone."""
        return self.space.is_strict(name, self.options.kind_of(name) if self.options.has_column_options else None)

    def has_several_texts(self, row: Mapping[Any, Any]) -> bool:
        """Whether there is more than one column of text, so that words say which column they stand in."""
        if len(self.options.text) > 1 or list(self.kinds.values()).count(TEXT) > 1:
            return True
        kinds = [self.kinds.get(name) or self.options.kind_of(name) for name in row if isinstance(name, str)]
        return kinds.count(TEXT) > 1

    def _mark_numeric(self, name: Any, feature: Any) -> None:
        """Have the next numbers of a column read without a look at its kind."""
        if len(self._numeric) >= MOST_IDS:
            self._numeric.clear()
        self._numeric[name] = feature

    def refusal(self, name: Any, value: Any, error: BadValueError) -> Exception:
        """The error of a value that its column cannot have."""
        advice = ADVICE if isinstance(error, OtherKindError) else ""
        return DataError(f"feature {name!r} is {value!r}; {error.expected}{advice}")


def check_column(name: Any) -> None:
    """Refuse a column whose name is a number that is too large for an id."""
    try:
        if isinstance(name, str):
            column_key(name)
    except UnexpectedError as error:
        raise DataError.at(None, error.found, error.expected) from None


def not_finite(name: Any, value: Any, where: str = "") -> DataError:
    """The error of a number that single precision cannot hold, or that is none."""
    return DataError(f"{where}feature {name!r} is {value}; expected a finite number below 3.4e38")


def declared_kinds(names: Iterable[Any], options: Options) -> dict[Any, str]:
    """The kinds that the options declare, by column."""
    declared = {name: options.kind_of(name) for name in names if isinstance(name, str)}
    return {name: kind for name, kind in declared.items() if kind is not None}


def other_kinds(rows: Sequence[Mapping[Any, Any]], kinds: Mapping[Any, str]) -> dict[str, str]:
    """The other kind of values in columns whose kinds are given: numbers among categories, words among numbers."""
    found = {name: NUMBER for name, kind in kinds.items() if kind == CATEGORY}
    for name in [name for name, kind in kinds.items() if kind == NUMBER]:
        texts = [row[name] for row in rows if isinstance(row.get(name), (str, bytes))]
        if any(is_of_other_kind(plain_value(text), NUMBER) for text in texts):
            found[name] = CATEGORY
    return dict(sorted(found.items()))


class Ids(dict[Any, Any]):
    """Ids of features by name, computed on first use; None of what an array's columns do not have.

    Kept from block to block, they save the hashing of names that come again.
    """

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.texts: dict[Any, bytes] = {}  # of names that are hashed
        self._options = options

    def __missing__(self, name: Any) -> int | None:
        space = self._options.space
        found = self[name] = space.id_of(name, self._options.seed, self._options.bits)
        has_text = (isinstance(name, str) or space.width is None) and not isinstance(numeric_id(name), int)
        if found is not None and has_text:
            self.texts[name] = str(name).encode()  # also of a tuple, say
        return found

    def within_bounds(self) -> Ids:
        """These ids, emptied if there are too many."""
        if len(self) > MOST_IDS:
            self.clear()
            self.texts.clear()
        return self


def _of_dictionaries(rows: list[Any], options: Options, reader: ObjectReader | None, known: Ids) -> Block:
    """A block of examples, whose features are names and numbers already where there is no `reader`."""
    ids: list[int] = []
    values: list[float] = []
    offsets = [0]
    found: dict[Any, Any] = {}  # the names of this block, in order
    sources: list[list[SourceField]] = []
    for number, (features, *_) in enumerate(rows):
        if reader is None and options.space.width is None:
            found |= features
            ids += map(known.__getitem__, features)
            values += features.values()
            offsets.append(len(ids))
            continue
        if reader is None:
            made = features
        elif options.derived:
            sources.append([])
            made = reader.read(features, sources[-1])
        else:
            made = reader.read(features)
        found |= made
        for name, value in made.items():
            if not abs(value) <= LARGEST:
                raise not_finite(name, value, f"example {number}: ")
            feature = known[name]
            if feature is not None:
                ids.append(feature)
                values.append(value)
        offsets.append(len(ids))
    starts = np.array(offsets, np.uint64)
    indices, numbers = np.array(ids, np.uint32), np.array(values, np.float32)
    end = canonical_rows(starts, indices, numbers)
    codes, label_names = encode_labels([row[1] for row in rows], len(rows))
    weights = as_weights([row[2] if len(row) > 2 else 1.0 for row in rows], len(rows))
    texts = {known[name]: known.texts[name] for name in reversed(found) if name in known.texts}  # the first of an id
    lengths = np.array([len(text) for text in texts.values()], np.uint64)
    ends = np.cumsum(lengths, dtype=np.uint64)
    text = np.frombuffer(b"".join(texts.values()), np.uint8)
    names = Names(np.array([*texts], np.uint32), ends - lengths, ends, text)
    named = bool(texts) and options.space.width is None  # else they are of what is missing of an array
    space = _space_of([name for name in found if name not in known.texts], named, options)
    if options.has_column_options and reader is not None and space.width is None:
        kinds = declared_kinds({name: None for features, *_ in rows for name in features}, options)
        space = space._replace(kinds=kinds, mixed=other_kinds([features for features, *_ in rows], kinds))
    block = Block(
        starts, indices[:end], numbers[:end], codes, weights, label_names=label_names, names=names, space=space
    )
    return block._replace(interaction_inputs=inputs_of_rows(sources, options)) if sources else block


def _space_of(others: list[Any], named: bool, options: Options) -> FeatureSpace:
    """The space of the features of dictionaries: whether any is `named`, and `others`, whose whole numbers are ids."""
    if options.space.width is not None and options.space.kinds:
        return options.space
    numbers = [number for name in others if isinstance(number := numeric_id(name), int)]
    named = named or any(isinstance(name, str) for name in others) or len(numbers) < len(others)
    space = FeatureSpace(named=named, open_vocabulary=True, indicator=options.indicator)
    return space._replace(lowest=0, highest=max(numbers)) if numbers else space
