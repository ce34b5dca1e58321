"""Blocks as Arrow tables, and back: examples that were parsed once, as ids and values.

A row has the lists `indices` and `values`, a `label` (a number, or a position among the block's labels), a `weight`,
and where there are any a `group` and a `tag`. The first row of a block also has the new `names` of features, of the ids
`named`, and in `block` a JSON object with the names of labels and the feature space. The metadata of the schema say
how names were hashed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from math import isfinite, isnan
from typing import Annotated, Any

import numpy as np
import pyarrow
from pyarrow.types import is_integer

from ouzel.errors import DataError
from ouzel.kernels.jit import kernel
from ouzel.ranges import Label, Range, Table, check_stored
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.block import LARGEST, Block, Names
from ouzel.streams.feature_space import NOTHING_KNOWN, FeatureSpace
from ouzel.streams.kernels.new_names import FILTER_BITS, empty_seen_set, new_ids
from ouzel.streams.kernels.row_buffer import without_zeros
from ouzel.streams.options import Options, check_format
from ouzel.streams.sources.error_context import reason_of
from ouzel.streams.stored_space import described, space_of
from ouzel.streams.tables.arrow_types import BLOCKS_KEY, filled, is_there, tags_of
from ouzel.streams.tables.cells import check_offsets, words_of

VERSION = 2  # 1: there were no n-grams
IDS, VALUES = pyarrow.large_list(pyarrow.uint32()), pyarrow.large_list(pyarrow.float32())
TEXT, TEXTS = pyarrow.large_string(), pyarrow.large_list(pyarrow.large_string())
GROUP = pyarrow.int64()
OF_ALL = {"indices": IDS, "values": VALUES, "label": pyarrow.float64(), "weight": pyarrow.float32()}
OF_THE_FIRST = {"named": IDS, "names": TEXTS, "block": TEXT}
"""Columns of every row, and of the first of a block."""
OF_A_FILE: dict[str, Any] = {
    "version": Annotated[int, Range(VERSION, VERSION, whole=True)],
    "bits": Annotated[int, Range(1, 32, whole=True)],
    "seed": int,
}
OF_A_BLOCK: dict[str, Any] = {"space": Table, "labels": list[Label] | None}


class BlockTables:
    """Converts the blocks of one stream, read with these options, to record batches."""

    def __init__(self, options: Options, first: Block) -> None:
        kinds = {**OF_ALL}
        if first.groups is not None:
            kinds["group"] = GROUP
        if first.tags is not None:
            kinds["tag"] = _tags(first).type
        kinds |= OF_THE_FIRST
        metadata = {"version": VERSION, "bits": options.bits, "seed": options.seed}
        self.schema = pyarrow.schema(list(kinds.items()), {BLOCKS_KEY: json.dumps(metadata).encode()})
        self._seen = empty_seen_set(FILTER_BITS)

    def batch(self, block: Block) -> pyarrow.RecordBatch:
        """Return a block as a record batch."""
        start, stop = int(block.offsets[0]), int(block.offsets[-1])
        offsets = pyarrow.array((block.offsets - block.offsets[0]).astype(np.int64))
        ids, names = self._new_names(block.names)
        labels = None if block.label_names is None else list(block.label_names)
        headers = json.dumps({"space": described(block.space), "labels": labels})
        later = [None] * (block.rows - 1)
        columns = {
            "indices": pyarrow.LargeListArray.from_arrays(offsets, pyarrow.array(block.indices[start:stop])),
            "values": pyarrow.LargeListArray.from_arrays(offsets, pyarrow.array(block.values[start:stop])),
            "label": block.labels,
            "weight": block.weights,
            "group": block.groups,
            "tag": None if block.tags is None else _tags(block),
            "named": [ids, *later],
            "names": [names, *later],
            "block": [headers, *later],
        }
        arrays = [pyarrow.array(columns[field.name], field.type) for field in self.schema]
        return pyarrow.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _new_names(self, names: Names | None) -> tuple[list[int], list[str]]:
        """Return the ids and names that no block before had."""
        if names is None:
            return [], []
        new = new_ids(self._seen, names.ids)
        text = names.text.tobytes()
        spans = zip(names.starts[new].tolist(), names.ends[new].tolist(), strict=True)
        return names.ids[new].tolist(), [text[start:end].decode("utf-8", "replace") for start, end in spans]


def _tags(block: Block) -> pyarrow.Array:
    """Return the tags of the rows of a block as an Arrow array."""
    return tags_of(block.tags if isinstance(block.tags, pyarrow.Array) else pyarrow.array(block.tags))


class BlockReader:
    """Converts record batches of such a table to blocks, however they are cut; refuses options that come too late."""

    def __init__(self, schema: pyarrow.Schema, options: Options, name: str) -> None:
        check_format(options, name, None)
        self.name = name
        self._header: dict[str, Any] | None = None
        self._known_space: tuple[str, FeatureSpace] = "", NOTHING_KNOWN  # of the last header: its text, and its space
        stored = self._checked(schema.metadata[BLOCKS_KEY], OF_A_FILE, "what it says of itself")
        for option in ("bits", "seed"):
            given, expected = stored[option], getattr(options, option)
            if given != expected:
                raise DataError.at(
                    name, f"its names were hashed with {option} {given}, not {expected}; give", **{option: given}
                )
        self._tagged, self._grouped = "tag" in schema.names, "group" in schema.names
        expected = {**OF_ALL, **OF_THE_FIRST, **({"group": GROUP} if self._grouped else {})}
        for column, kind in expected.items():
            if self._kind(schema, column) != kind:
                raise self._damaged(f"{column} is not a column of {kind}")
        if self._tagged and not (self._kind(schema, "tag") == TEXT or is_integer(self._kind(schema, "tag"))):
            raise self._damaged("tag is not a column of text or whole numbers")

    def blocks(self, batch: pyarrow.RecordBatch) -> Iterator[Block]:
        """Yield the blocks in a record batch; their arrays are not copied."""
        for column in (*OF_ALL, "group") if self._grouped else OF_ALL:
            if batch.column(column).null_count:
                raise self._damaged(f"{column} has rows of nothing")
        headers = batch.column("block")
        alone = headers.null_count == len(headers) - 1 and headers[0].is_valid
        begun = [] if alone else np.flatnonzero(is_there(headers)).tolist()
        for start, stop in pairwise(sorted({0, *begun, batch.num_rows})):
            yield self._block(batch.slice(start, stop - start))

    def _checked(self, text: bytes | str, kinds: Mapping[str, Any], what: str) -> dict[str, Any]:
        """Return a JSON object whose values were checked by their types."""
        with self._undamaged():
            stored: dict[str, Any] = json.loads(text)
            check_stored(stored, kinds, what)
            return stored

    @contextmanager
    def _undamaged(self) -> Iterator[None]:
        """Raise errors in here as damage of the file."""
        try:
            yield
        except (ValueError, RecursionError) as error:
            raise self._damaged(reason_of(error)) from error

    def _kind(self, schema: pyarrow.Schema, column: str) -> pyarrow.DataType:
        """Return the type of the one column of this name."""
        place = schema.get_field_index(column)
        if place < 0:
            raise self._damaged(f"it has no column {column}, or several")
        return schema.field(place).type

    def _damaged(self, what: str) -> DataError:
        return DataError.at(self.name, f"{what}; convert it again")

    def _block(self, batch: pyarrow.RecordBatch) -> Block:
        names = None
        text = batch.column("block")[0].as_py()
        if text is not None:
            if self._header is None or text != self._known_space[0]:  # else it was checked before
                self._header = self._checked(text, OF_A_BLOCK, "what it says of a block")
                with self._undamaged():
                    self._known_space = text, space_of(self._header["space"])
            names = self._names(batch)
        if self._header is None:
            raise self._damaged("its first row says nothing of its block")
        ids, values = batch.column("indices"), batch.column("values")
        offsets, same = (filled(lists.offsets, 0) for lists in (ids, values))
        indices, numbers = filled(ids.values, MOST_ID + 1), filled(values.values, np.nan)
        check_offsets(offsets, batch.num_rows, len(indices))
        check_offsets(same, batch.num_rows, len(numbers))
        entries, others = slice(offsets[0], offsets[-1]), slice(same[0], same[-1])
        labels, weights = (filled(batch.column(column), np.nan) for column in ("label", "weight"))
        names_of_labels = self._header["labels"]
        classes = -1 if names_of_labels is None else len(names_of_labels)
        indices, numbers = indices[entries], numbers[others]
        sound, zeros = _are_sound(offsets, same, indices, numbers, labels, weights, classes)
        if not sound:
            raise self._damaged("its ids, values, labels or weights are not those of examples")
        starts = (offsets - offsets[0]).astype(np.uint64)
        if zeros:  # of a version that kept them
            indices, numbers = indices.copy(), numbers.copy()
            end = without_zeros(starts, indices, numbers)
            indices, numbers = indices[:end], numbers[:end]
        return Block(
            starts,
            indices,
            numbers,
            labels,
            weights,
            groups=filled(batch.column("group"), 0) if self._grouped else None,
            label_names=names_of_labels,
            names=names,
            space=self._known_space[1],
            tags=batch.column("tag") if self._tagged else None,
        )

    def _names(self, batch: pyarrow.RecordBatch) -> Names | None:
        """Return the names that a batch emits."""
        ids, texts = (batch.column(column).slice(0, 1).flatten() for column in ("named", "names"))
        if len(ids) != len(texts) or ids.null_count or texts.null_count:
            raise self._damaged(f"{len(texts)} names do not fit {len(ids)} ids")
        if not len(texts):
            return None
        words = words_of(texts)
        offsets = words.offsets.astype(np.uint64)
        return Names(filled(ids, 0).copy(), offsets[:-1], offsets[1:], words.data)


@kernel
def _are_sound(offsets, others, ids, values, labels, weights, classes):
    """Return whether these arrays can be examples, and whether a value is 0.

    Labels are positions among `classes` classes, or numbers if that is -1.
    """
    sound, zeros = True, False
    for i in range(len(offsets)):
        sound &= offsets[i] - offsets[0] == others[i] - others[0]
    for k in range(len(ids)):
        sound &= ids[k] <= np.uint32(MOST_ID)
    for k in range(len(values)):
        sound &= abs(values[k]) <= np.float32(LARGEST)
        zeros |= values[k] == 0.0
    for i in range(len(labels)):
        sound &= 0.0 <= weights[i] <= LARGEST
        if not isnan(labels[i]):
            sound &= isfinite(labels[i]) if classes < 0 else 0.0 <= labels[i] < classes and labels[i] == int(labels[i])
    return sound, zeros
