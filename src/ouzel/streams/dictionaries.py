"""Examples as dictionaries of features by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ouzel.errors import DataError
from ouzel.streams.block import LARGEST, ROWS, Block, Names
from ouzel.streams.feature_space import CATEGORY, NUMBER, TEXT, FeatureSpace, own_id
from ouzel.streams.kernels.row_order import canonical_rows
from ouzel.streams.label_values import as_weights, encode_labels
from ouzel.streams.options import Options
from ouzel.streams.provenance import Member, factors_of
from ouzel.streams.values import (
    BadValueError,
    OtherKindError,
    add_to,
    features_of,
    is_of_other_kind,
    members_in,
    plain_value,
)

MOST_IDS = 1 << 18  # names whose ids are kept from block to block
USUAL = Options()
ADVICE = "; give that, or train a model on this data"


def blocks_of_dictionaries(
    data: Iterable[Any], options: Options, block_rows: int = ROWS, plain: bool = False, ids: Ids | None = None
) -> Iterator[Block]:
    """Blocks of pairs (features, label[, weight]); `plain` says that features are names and finite numbers.

    `ids` are those that earlier blocks of the same options have met.
    """
    rows = iter(data)
    while chosen := list(islice(rows, block_rows)):
        if not (isinstance(chosen[0], (tuple, list)) and hasattr(chosen[0][0], "items")):
            raise DataError("examples are arrays, tables, or pairs of a dictionary of features and a label")
        yield _of_dictionaries(chosen, options, plain, Ids(options) if ids is None else ids.within_bounds())


def plain_features(
    features: Mapping[Any, Any], space: FeatureSpace, options: Options = USUAL, kinds: Mapping[Any, str] | None = None
) -> dict[Any, float]:
    """Names and numbers of a dictionary's features, as a table of the same columns has them: `values.features_of`.

    What the model knows of columns, by its space, counts, and then what the options say: a number may be a category, a
    word a number, a date, or a text of many words; `kinds` are both together. A number that is 0 is there with its
    name, and is left out of rows. Values of one feature add up.

    >>> plain_features({"price": 2.5, "city": "Rome", "age": None}, FeatureSpace())
    {'price': 2.5, 'city=Rome': 1.0}
    """
    found: dict[Any, float] = {}
    if options.choosy:
        features = {name: value for name, value in features.items() if options.wants(str(name))}
    if kinds is None:
        kinds = kinds_known(features, space, options)
    indicator = space.indicator or options.indicator
    for name, value in features.items():
        kind = kinds.get(name)
        if ((of := type(value)) is float or of is int) and value == value and kind in (None, NUMBER):
            if name in found:
                add_to(found, name, value)
            else:
                found[name] = value
            continue
        strict = kind is not None and space.is_strict(name, options.kind_of(name) if options.choosy else None)
        try:
            made = features_of(name, value, kind, _prefix(name, kind, kinds), indicator, strict)
        except BadValueError as error:
            advice = ADVICE if isinstance(error, OtherKindError) else ""
            raise DataError(f"feature {name!r} is {value!r}; {error.expected}{advice}") from None
        for feature, number in made.items():
            add_to(found, feature, number)
    return found


def plain_members(
    features: Mapping[Any, Any], space: FeatureSpace, options: Options = USUAL
) -> tuple[dict[Any, float], list[Member]]:
    """`plain_features`, and which member each is made of, for what is made of them in turn.

    >>> [member.field for member in plain_members({"price": 2.5, "city": "Rome"}, FeatureSpace())[1]]
    ['price', 'city']
    """
    kinds = kinds_known(features, space, options)
    found: dict[Any, float] = {}
    members: list[Member] = []
    for name, value in features.items():
        made = plain_features({name: value}, space, options, kinds)
        for feature, number in made.items():
            add_to(found, feature, number)
        if made:
            kind = kinds.get(name)
            members += members_in(name, value, kind, _prefix(name, kind, kinds), made)
    return found, members


def _prefix(name: Any, kind: str | None, kinds: Mapping[Any, str]) -> str:
    """What stands before the words of a text: nothing, unless there are other texts."""
    return f"{name}=" if kind == TEXT and list(kinds.values()).count(TEXT) > 1 else ""


def kinds_said(names: Iterable[Any], options: Options) -> dict[Any, str]:
    """What the options say that some features hold, of those of which they say it."""
    said = {name: options.kind_of(name) for name in names if isinstance(name, str)}
    return {name: kind for name, kind in said.items() if kind is not None}


def kinds_known(names: Iterable[Any], space: FeatureSpace, options: Options) -> Mapping[Any, str]:
    """What some features hold, as the model knows or else as the options say."""
    return {**kinds_said(names, options), **space.kinds} if options.choosy else space.kinds


def other_kinds(rows: Sequence[Mapping[Any, Any]], kinds: Mapping[Any, str]) -> dict[str, str]:
    """The other kind of value in each column whose kind was given: numbers among categories, words among numbers."""
    found = {name: NUMBER for name, kind in kinds.items() if kind == CATEGORY}
    for name in [name for name, kind in kinds.items() if kind == NUMBER]:
        texts = [row[name] for row in rows if isinstance(row.get(name), (str, bytes))]
        if any(is_of_other_kind(plain_value(text), NUMBER) for text in texts):
            found[name] = CATEGORY
    return dict(sorted(found.items()))


class Ids(dict[Any, Any]):
    """The ids of features, each found when it is first met; None of what an array's columns do not have.

    Kept from block to block they save the hashing of names that come again.
    """

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.texts: dict[Any, bytes] = {}  # names, which ids do not tell
        self._options = options

    def __missing__(self, name: Any) -> int | None:
        found = self[name] = self._options.space.id_of(name, self._options.seed, self._options.bits)
        if found is not None and isinstance(name, str) and not isinstance(own_id(name), int):
            self.texts[name] = name.encode()
        return found

    def within_bounds(self) -> Ids:
        """These, emptied if they have become very many."""
        if len(self) > MOST_IDS:
            self.clear()
            self.texts.clear()
        return self


def _of_dictionaries(rows: list[Any], options: Options, plain: bool, known: Ids) -> Block:
    ids: list[int] = []
    values: list[float] = []
    offsets = [0]
    met: dict[Any, Any] = {}  # the names of this block, in order
    members: list[list[Member]] = []
    for number, (features, *_) in enumerate(rows):
        if plain and options.space.width is None:
            met |= features
            ids += map(known.__getitem__, features)
            values += features.values()
            offsets.append(len(ids))
            continue
        if options.derived and not plain:
            made, of_row = plain_members(features, options.space, options)
            members.append(of_row)
        else:
            made = features if plain else plain_features(features, options.space, options)
        met |= made
        for name, value in made.items():
            if not abs(value) <= LARGEST:
                raise DataError(f"example {number}: feature {name!r} is {value}; expected a finite number below 3.4e38")
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
    texts = {known[name]: known.texts[name] for name in reversed(met) if name in known.texts}  # the first of an id
    lengths = np.array([len(text) for text in texts.values()], np.uint64)
    ends = np.cumsum(lengths, dtype=np.uint64)
    text = np.frombuffer(b"".join(texts.values()), np.uint8)
    names = Names(np.array([*texts], np.uint32), ends - lengths, ends, text)
    space = _space_of([name for name in met if name not in known.texts], bool(texts), options)
    if options.choosy and not plain and space.width is None:
        kinds = kinds_said({name: None for features, *_ in rows for name in features}, options)
        space = space._replace(kinds=kinds, also=other_kinds([features for features, *_ in rows], kinds))
    block = Block(
        starts, indices[:end], numbers[:end], codes, weights, label_names=label_names, names=names, space=space
    )
    return block._replace(factors=factors_of(members, options)) if members else block


def _space_of(others: list[Any], named: bool, options: Options) -> FeatureSpace:
    """What the features of dictionaries are known by: names, and others, of which whole numbers are ids from 0 on."""
    if options.space.width is not None and options.space.kinds:
        return options.space
    numbers = [number for name in others if isinstance(number := own_id(name), int)]
    named = named or any(isinstance(name, str) for name in others) or len(numbers) < len(others)
    space = FeatureSpace(named=named, loose=True, indicator=options.indicator)
    return space._replace(lowest=0, highest=max(numbers)) if numbers else space
