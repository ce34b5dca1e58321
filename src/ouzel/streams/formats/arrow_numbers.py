"""Arrow record batches of plain numbers as the blocks that their rows are as lines of JSON, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow

from ouzel.errors import DataError
from ouzel.sketches.hashing import feature_id
from ouzel.streams.block import Block
from ouzel.streams.feature_space import NUMBER, FeatureSpace, column_key
from ouzel.streams.missing import NA_FEATURE
from ouzel.streams.options import Options
from ouzel.streams.tables.arrow_types import is_text, numbers_of, types
from ouzel.streams.tables.columns import Columns
from ouzel.streams.tables.schema import ColumnKinds

MOST_KEPT = 64  # schemas
MOST_NUMBER = 30  # bytes of a number in JSON, with its separators


class NumberColumns:
    """Reader of batches whose columns are a label and named numbers; others are read as lines of JSON."""

    def __init__(self, options: Options, label: str, id: str) -> None:
        self.options, self.label, self.id = options, label, id
        self._supported = options.space.width is None and not (options.derived or options.group)
        self._plain = replace(options, text=(), categorical=(), numeric=(), ignore=(), keep=(), dates=())
        self._columns: dict[pyarrow.Schema, Columns | None] = {}  # by their schema

    def supports(self, schema: pyarrow.Schema) -> bool:
        """Return whether batches of a schema can be read."""
        return self._columns_of(schema) is not None

    def block(self, batch: pyarrow.RecordBatch) -> Block | None:
        """Return the rows of a batch (at most ROWS) as a block; None unless all are plain examples with labels."""
        columns = self._columns_of(batch.schema)
        if columns is None:
            return None
        try:
            (block,) = columns.blocks(batch, lambda count: None)
        except DataError:
            return None
        assert block.names is not None
        if np.isnan(block.labels).any() or len(np.unique(block.names.ids)) < len(block.names.ids):
            return None
        seen = np.isin(block.names.ids, self._ids(batch))  # a column of missing values alone is not known yet
        ids, starts, ends = (part[seen] for part in block.names[:3])
        space = FeatureSpace(
            named=bool(len(ids)),
            open_vocabulary=True,
            kinds=dict(self.options.space.kinds),
            indicator=self.options.indicator,
        )
        return block._replace(names=block.names._replace(ids=ids, starts=starts, ends=ends), space=space)

    def _ids(self, batch: pyarrow.RecordBatch) -> list[int]:
        """Return the ids of the features that a batch may have: of columns with a number, and of what is missing."""
        names = []
        for name in batch.schema.names:
            array = batch.column(name)
            missing = np.isnan(numbers_of(array, np.nan)) if _is_number(array.type) else np.ones(1, np.bool_)
            names += [] if missing.all() else [name]
            names += [f"{name}={NA_FEATURE}"] if self.options.indicator and missing.any() else []
        return [feature_id(name, self._plain.seed, self._plain.bits) for name in names]

    def longest(self, schema: pyarrow.Schema) -> int:
        """Return the largest number of bytes that a row takes as a line of JSON, its label excluded."""
        return sum(2 * len(name.encode()) + MOST_NUMBER for name in schema.names)

    def _columns_of(self, schema: pyarrow.Schema) -> Columns | None:
        if schema in self._columns:
            return self._columns[schema]
        try:
            found = self._make_columns(schema) if self._supported else None
        except DataError:
            found = None
        if len(self._columns) >= MOST_KEPT:
            self._columns = {}
        self._columns[schema] = found
        return found

    def _make_columns(self, schema: pyarrow.Schema) -> Columns | None:
        """Return the reader of batches of a schema; None unless all of its columns are plain."""
        fields = {field.name: field for field in schema}
        label, weight = fields.pop(self.label, None), self.options.weight
        features = [field for name, field in fields.items() if name != weight and self.options.wants(name)]
        if label is None or not features or self.id in fields or len(fields) + 1 < len(schema):
            return None
        sound = (_is_number(label.type) or is_text(label.type)) and all(map(self._is_plain, features))
        if not sound or (weight is not None and not (weight in fields and _is_number(fields[weight].type))):
            return None
        kept = [field for field in schema if field in features or field.name in (self.label, weight)]
        return Columns(self._plain, pyarrow.schema(kept), self.label, True, "the stream", ColumnKinds(self._plain))

    def _is_plain(self, field: pyarrow.Field) -> bool:
        """Return whether a column holds the values of the feature of its name."""
        kind = self.options.space.kinds.get(field.name) or self.options.kind_of(field.name)
        return _is_number(field.type) and kind in (None, NUMBER) and isinstance(column_key(field.name), str)


def _is_number(kind: pyarrow.DataType) -> bool:
    """Return whether an Arrow type is a number of JSON."""
    return bool(types.is_integer(kind) or types.is_floating(kind))
