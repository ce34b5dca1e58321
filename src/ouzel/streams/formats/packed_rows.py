"""Parsed rows as bytes, and back: ids, values, labels, weights, names of features and the inputs of interactions.

The bytes depend on nothing but the rows: a row has the same bytes in any block. Layout, little-endian: a header, JSON
(the names of labels, and the fields of interactions), then the arrays in the order of `_arrays`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from struct import Struct
from typing import Any

import numpy as np

from ouzel.ranges import Label, check_stored
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.block import LARGEST, Block, Names
from ouzel.streams.feature_space import NOTHING_KNOWN, FeatureSpace
from ouzel.streams.interaction_inputs import InputEntries, InteractionInputs
from ouzel.streams.labels import encode_labels, labels_in

HEADER = Struct("<IIIIIIIQB")
"""Rows, features, names, bytes of names, inputs, bytes of their names, bytes of JSON, seed and bits of the hash."""
DESCRIPTION: dict[str, Any] = {"labels": list[Label] | None, "fields": list[tuple[str, str]] | None}
NO_NAMES = Names(np.empty(0, np.uint32), np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.uint8))
DAMAGED = "the packed rows are not those of examples"


def canonical(block: Block) -> Block:
    """Return rows with what is true of these rows alone: the names of their features, their labels, and their space.

    Features may be numbers and names, more of which may come at any time; groups and tags are left out.
    """
    here = slice(int(block.offsets[0]), int(block.offsets[-1]))
    indices = block.indices[here]
    names = _names_of(indices, block.names)
    labels, label_names = block.labels, block.label_names
    if label_names is not None:
        labels, label_names = encode_labels(labels_in(block), block.rows)
    return Block(
        block.offsets - block.offsets[0],
        indices,
        block.values[here],
        labels,
        block.weights,
        label_names=label_names,
        names=names,
        space=_space_of(indices, names),
        interaction_inputs=block.interaction_inputs,
    )


def take_rows(block: Block, places: Sequence[int]) -> Block:
    """Return some rows of a block as a canonical block."""
    return canonical(block.select(np.asarray(places, np.int64)))


def pack_rows(block: Block, seed: int, bits: int) -> bytes:
    """Return a canonical block as bytes; its names were hashed with a seed to a number of bits.

    >>> from ouzel.streams.memory import blocks_from
    >>> block = canonical(next(blocks_from([({"price": 2.5, "7": 1.0}, "late"), ({"price": 1.0}, "in time")])))
    >>> rows = unpack_rows(pack_rows(block, 0, 18))
    >>> labels_in(rows), rows.values.tolist(), rows.space.named, rows.space.highest
    (['late', 'in time'], [1.0, 2.5, 1.0], True, 7)
    """
    names, inputs = block.names or NO_NAMES, block.interaction_inputs
    entries = b"" if inputs is None else _pack_inputs(inputs)
    fields = (
        None if inputs is None else [list(pair) for pair in zip(inputs.names, _texts(inputs.prefixes), strict=True)]
    )
    labels = None if block.label_names is None else list(block.label_names)
    known = {name: value for name, value in (("labels", labels), ("fields", fields)) if value is not None}
    described = json.dumps(known, ensure_ascii=False, separators=(",", ":")).encode() if known else b""
    count, size = (0, 0) if inputs is None else _size_of(inputs)
    header = HEADER.pack(
        block.rows, block.nonzeros, len(names.ids), len(names.text), count, size, len(described), seed, bits
    )
    arrays = [
        (np.diff(block.offsets), "<u4"),
        (block.indices, "<u4"),
        (block.values, "<f4"),
        (block.labels, "<f8"),
        (block.weights, "<f4"),
        (names.ids, "<u4"),
        (names.ends - names.starts, "<u4"),
        (names.text, "u1"),
    ]
    return b"".join([header, described, *(array.astype(kind).tobytes() for array, kind in arrays), entries])


def count_rows(packed: bytes | memoryview) -> int:
    """Return the number of rows in packed ones."""
    return int(HEADER.unpack_from(packed)[0])


def hash_of(packed: bytes | memoryview) -> tuple[int, int]:
    """Return the seed of the hash of names, and its bits."""
    seed, bits = HEADER.unpack_from(packed)[-2:]
    return int(seed), int(bits)


def unpack_rows(packed: bytes | memoryview) -> Block:
    """Return packed rows as a canonical block; ValueError unless they are sound."""
    if len(packed) < HEADER.size:
        raise ValueError(DAMAGED)
    rows, nonzeros, count, text_size, inputs, inputs_size, described, _, _ = HEADER.unpack_from(packed)
    arrays = _Arrays(packed, HEADER.size)
    known = json.loads(arrays.bytes(described)) if described else {}
    check_stored({"labels": None, "fields": None, **known} if isinstance(known, dict) else known, DESCRIPTION, DAMAGED)
    offsets = _ends(arrays.take(rows, "<u4"), nonzeros)
    ids, values = arrays.take(nonzeros, "<u4"), arrays.take(nonzeros, "<f4")
    labels, weights = arrays.take(rows, "<f8"), arrays.take(rows, "<f4")
    names = _names(arrays.take(count, "<u4"), arrays.take(count, "<u4"), arrays.bytes(text_size))
    factors = _unpack_inputs(arrays, rows, inputs, inputs_size, known["fields"]) if known.get("fields") else None
    if not arrays.at_end or not _are_sound(offsets, ids, values, labels, weights, names, known.get("labels")):
        raise ValueError(DAMAGED)
    return Block(
        offsets,
        ids,
        values,
        labels,
        weights,
        label_names=known.get("labels"),
        names=names,
        space=_space_of(ids, names),
        interaction_inputs=factors,
    )


def same_rows(first: Block, second: Block) -> bool:
    """Return whether two canonical blocks have the same examples, whatever their names are."""
    pairs = zip(first[:5], second[:5], strict=True)
    return labels_in(first) == labels_in(second) and all(
        np.array_equal(one, other) for place, (one, other) in enumerate(pairs) if place != 3
    )


def _space_of(ids: np.ndarray, names: Names | None) -> FeatureSpace:
    """Return the space of features of which some have names."""
    numbers = ids if names is None else ids[~np.isin(ids, names.ids)]
    if names is None and not len(numbers):
        return NOTHING_KNOWN
    space = FeatureSpace(named=names is not None, open_vocabulary=True)
    return space._replace(lowest=0, highest=int(numbers.max())) if len(numbers) else space


def _names_of(ids: np.ndarray, names: Names | None) -> Names | None:
    """Return the names of some ids, sorted by id and name, each once, in a text of their own."""
    used = np.flatnonzero(np.isin(names.ids, ids)) if names is not None else ()
    if names is None or not len(used):
        return None
    text = names.text.tobytes()
    spans = zip(names.ids[used].tolist(), names.starts[used].tolist(), names.ends[used].tolist(), strict=True)
    pairs = sorted({(feature, text[start:end]) for feature, start, end in spans})
    ends = np.cumsum([len(word) for _, word in pairs], dtype=np.uint64)
    starts = np.concatenate([np.zeros(1, np.uint64), ends[:-1]])
    words = np.frombuffer(b"".join(word for _, word in pairs), np.uint8)
    return Names(np.array([feature for feature, _ in pairs], np.uint32), starts, ends, words)


def _texts(words: Sequence[bytes]) -> list[str]:
    return [word.decode() for word in words]


def _size_of(inputs: InteractionInputs) -> tuple[int, int]:
    """Return the number of entries of the rows, and the bytes of their names."""
    places = _places(inputs.entries)
    return len(places), int((inputs.entries.ends[places] - inputs.entries.starts[places]).sum())


def _places(entries: InputEntries) -> np.ndarray:
    """Return the places of the entries of all rows, in order."""
    return np.concatenate([np.empty(0, np.int64), *(np.arange(*bound) for bound in entries.bounds.tolist())])


def _pack_inputs(inputs: InteractionInputs) -> bytes:
    entries = inputs.entries
    places = _places(entries)
    text = entries.text.tobytes()
    spans = zip(entries.starts[places].tolist(), entries.ends[places].tolist(), strict=True)
    words = [text[start:end] for start, end in spans]
    arrays = [
        (np.diff(entries.bounds, axis=1)[:, 0], "<u4"),
        (entries.fields[places], "<u2"),
        (entries.hashes[places], "<u4"),
        (entries.values[places], "<f4"),
        (np.array([len(word) for word in words], np.uint32), "<u4"),
        (entries.whole[places], "<u1"),
    ]
    return b"".join([*(array.astype(kind).tobytes() for array, kind in arrays), *words])


class _Arrays:
    """Reads arrays of packed rows one after the other; ValueError where they end too early."""

    def __init__(self, packed: bytes | memoryview, start: int) -> None:
        self._packed, self._at = packed, start

    @property
    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self._at == len(self._packed)

    def bytes(self, size: int) -> bytes:
        """Return the next bytes."""
        self._at += size
        if self._at > len(self._packed):
            raise ValueError(DAMAGED)
        return bytes(self._packed[self._at - size : self._at])

    def take(self, count: int, kind: str) -> np.ndarray:
        """Return the next numbers, writable like those of any reader."""
        found = np.frombuffer(self.bytes(count * np.dtype(kind).itemsize), kind)
        return found.astype(found.dtype.newbyteorder("="))


def _ends(sizes: np.ndarray, total: int) -> np.ndarray:
    """Return offsets of parts of these sizes; ValueError unless they make up the total."""
    offsets = np.concatenate([np.zeros(1, np.uint64), np.cumsum(sizes, dtype=np.uint64)])
    if offsets[-1] != total:
        raise ValueError(DAMAGED)
    return offsets


def _names(ids: np.ndarray, sizes: np.ndarray, words: bytes) -> Names | None:
    offsets = _ends(sizes, len(words))
    _check_text(words, offsets)
    if not len(ids):
        return None
    return Names(ids, offsets[:-1], offsets[1:], np.frombuffer(words, np.uint8))


def _check_text(words: bytes, offsets: np.ndarray) -> None:
    """Refuse words that are not UTF-8 each."""
    words.decode()
    starts = np.frombuffer(words, np.uint8)[offsets[offsets < len(words)].astype(np.int64)]
    if ((starts & 0xC0) == 0x80).any():  # within a character
        raise ValueError(DAMAGED)


def _unpack_inputs(
    arrays: _Arrays, rows: int, count: int, size: int, fields: Sequence[tuple[str, str]]
) -> InteractionInputs:
    ends = _ends(arrays.take(rows, "<u4"), count).astype(np.int64)
    places, hashes, values = arrays.take(count, "<u2"), arrays.take(count, "<u4"), arrays.take(count, "<f4")
    sizes, whole = arrays.take(count, "<u4"), arrays.take(count, "<u1")
    words = arrays.bytes(size)
    offsets = _ends(sizes, len(words))
    _check_text(words, offsets)
    if (places >= len(fields)).any() or (whole > 1).any() or not np.isfinite(values).all():
        raise ValueError(DAMAGED)
    bounds = np.stack([ends[:-1], ends[1:]], axis=1)
    text = np.frombuffer(words, np.uint8)
    entries = InputEntries(bounds, places, hashes, values, offsets[:-1], offsets[1:], whole.astype(np.bool_), text)
    return InteractionInputs(entries, tuple(name for name, _ in fields), tuple(word.encode() for _, word in fields))


def _are_sound(
    offsets: np.ndarray,
    ids: np.ndarray,
    values: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    names: Names | None,
    classes: Sequence[Any] | None,
) -> bool:
    """Return whether arrays are those of examples: ids rise within rows, and labels are numbers or places of names."""
    rising = ids[1:] > ids[:-1]
    rising[(offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(ids))] - np.uint64(1)).astype(np.int64)] = True
    known = labels[~np.isnan(labels)]
    places = classes is None or bool(((known >= 0) & (known < len(classes)) & (known == np.floor(known))).all())
    return bool(
        rising.all()
        and (ids <= MOST_ID).all()
        and (np.abs(values) <= LARGEST).all()
        and (values != 0.0).all()
        and np.isfinite(known).all()
        and places
        and ((weights >= 0.0) & (weights <= LARGEST)).all()
        and (names is None or np.isin(names.ids, ids).all())
    )
