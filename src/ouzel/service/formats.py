"""Formats of bodies, of files that are sent, and of the log where it is shown as lines of JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ouzel.errors import DataError, OuzelError
from ouzel.numerals import is_number
from ouzel.streams.block import ROWS, Block
from ouzel.streams.dates import is_iso
from ouzel.streams.feature_names import ID, is_named
from ouzel.streams.feature_space import CATEGORY, NUMBER, OTHER, FeatureSpace
from ouzel.streams.formats.arrow_ipc import batches_in
from ouzel.streams.formats.catalogue import FORMATS, Family, Format, find_format
from ouzel.streams.formats.records import examples_in, is_rows, records_in, rows_as_json, rows_of
from ouzel.streams.labels import labels_in
from ouzel.streams.limits import Limits
from ouzel.streams.missing import is_missing, is_na_in_numbers
from ouzel.streams.options import Options
from ouzel.streams.read import open_source
from ouzel.streams.sources.chunks import chunks_of
from ouzel.streams.sources.error_context import error_context, wrap_errors
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.arrow_types import flat, holds_blocks
from ouzel.streams.tables.columns import check_names, has_sparse_rows
from ouzel.streams.tables.schema import ColumnKinds

if TYPE_CHECKING:
    import pyarrow

JSON_LINES = FORMATS["jsonl"]
READ = tuple(format for format in FORMATS.values() if format.media_types)
"""Formats of request bodies that can be learnt."""
DEFAULTS = Options(label="label")
WEIGHT = "_weight"  # member of an importance weight, where no other is named


def rows_of_stream(file: io.BufferedReader, limits: Limits) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of an Arrow stream as validated batches of at most ROWS rows, structs split into columns."""
    with wrap_errors("the stream"):
        for table in batches_in(file, "the stream", limits):
            table.validate(full=True)  # a kernel trusts the offsets it is given
            yield from flat(table).combine_chunks().to_batches(max_chunksize=ROWS)


def json_lines_in(record: bytes, label: str, weight: str | None) -> list[bytes]:
    """Return the examples of a record as lines of JSON, to look at.

    Importance weights are members `weight`, or `_weight`. Values of 32 bits are written in full.
    """
    return list(_lines_of(rows_of(record), label, weight)) if is_rows(record) else examples_in(record)


def _lines_of(block: Block, label: str, weight: str | None) -> Iterator[bytes]:
    names: dict[int, str] = {}
    if block.names is not None:
        text = block.names.text.tobytes()
        spans = zip(block.names.ids.tolist(), block.names.starts.tolist(), block.names.ends.tolist(), strict=True)
        for feature, start, end in spans:
            names.setdefault(feature, text[start:end].decode("utf-8", "replace"))
    starts = block.offsets.tolist()
    for row, known in enumerate(labels_in(block)):
        here = slice(starts[row], starts[row + 1])
        features = zip(block.indices[here].tolist(), block.values[here].tolist(), strict=True)
        found: dict[str, object] = {label: known}
        importance = block.weights[row].item()
        if weight is not None or importance != 1.0:
            found[weight or WEIGHT] = importance
        found |= {names.get(feature, str(feature)): value for feature, value in features}
        yield json.dumps(found, ensure_ascii=False).encode()


def options_of(described: Mapping[str, Any]) -> Options:
    """Return the options to read tables for a model that `/v1/model` describes."""
    kinds = described.get("columns", {})
    mixed = {name: OTHER[kinds[name]] for name in described.get("mixed", ()) if kinds.get(name) in OTHER}
    space = FeatureSpace(named=bool(kinds), kinds=kinds, mixed=mixed, open_vocabulary=True)
    return Options(label=described.get("label", "label"), weight=described.get("weight"), space=space)


def lines_to_send(path: str, format: str | None, options: Options = DEFAULTS) -> tuple[str, Iterator[bytes]]:
    """Return the media type and the lines of a file to send: its own lines, or the rows of a table as JSON objects.

    These have the features that `ouzel train` reads in the table, with the options of the model. Of a file of records
    the lines are those that a service has logged.
    """
    source = open_source(path)
    found = find_format(source, format)
    if found.family is Family.RECORDS:
        return JSON_LINES.media_types[0], _logged_lines(source)
    if found.family is Family.ARRAYS:
        raise OuzelError(f"{path}: is an array, whose rows have no names to send; convert it first: `ouzel convert`")
    if found.is_lines and found.media_types:
        return found.media_types[0], _text_lines(source, found)
    return JSON_LINES.media_types[0], _table_rows(source, found, options)


def _logged_lines(source: Source) -> Iterator[bytes]:
    with source.open() as file:
        for record in records_in(file, source.name, Options().limits):
            if is_rows(record):
                raise OuzelError(
                    f"{source.name}: has rows of another text than JSON, which are hashed; learn it with "
                    f"`ouzel train {source.name} --resume MODEL`"
                )
            yield from examples_in(record)


def _text_lines(source: Source, format: Format) -> Iterator[bytes]:
    with error_context(source, format.name):
        for data, start, stop in chunks_of(source, Options().limits):
            yield from bytes(data[start:stop]).splitlines()


class BodySource(Source):
    """Source of the bytes of a file that is open, which are not unpacked."""

    def __init__(self, file: io.BufferedReader) -> None:
        super().__init__("-")
        self.name, self._packed = "the stream", file


def cells_of_stream(
    file: io.BufferedReader, format: Format, most: int, options: Options = DEFAULTS
) -> Iterator[list[bytes]]:
    """Yield the rows of delimited text as lines of JSON for a model with these options, at most `most` at a time.

    Rows before a bad one are yielded before its error is raised.
    """
    some: list[bytes] = []
    try:
        for row in _table_rows(BodySource(file), format, options):
            some.append(row)
            if len(some) == most:
                yield some
                some = []
    except OuzelError:
        if some:
            yield some
        raise
    if some:
        yield some


def _table_rows(source: Source, format: Format, options: Options = DEFAULTS) -> Iterator[bytes]:
    """Yield the rows of a table as JSON objects. A cell of text is a number where its column holds numbers.

    What a column holds is what the model knows, what the options say, or what the first rows tell, as in files.
    """
    from ouzel.streams.formats.batches import record_batches  # which only tables need

    kinds = ColumnKinds(options)
    decided = {ID, options.label, options.weight}  # a few rows of a body say little against what the model knows
    decided |= set(kinds.known) if isinstance(source, BodySource) else set()
    with error_context(source, format.name):
        for batch in record_batches(source, DEFAULTS, format, lambda count: None):
            names = [name for name in batch.schema.names if is_named(name)]
            check_names(names, source.name, options.limits)
            _check_rows(batch.schema, source.name)
            for name in [name for name in names if name not in decided] if batch.num_rows else ():
                kinds.decide(name, batch.column(name), not format.is_delimited, source.name)
                decided |= {name} & set(kinds.known)
            if not format.is_delimited:
                words = {name for name in names if kinds.known.get(name) == CATEGORY}
                yield from rows_as_json(batch, source.name, words)
                continue
            for row in batch.to_pylist():
                yield json.dumps({name: _cell_value(row[name], name, kinds) for name in names}).encode()


def _check_rows(schema: pyarrow.Schema, name: str) -> None:
    """Refuse tables whose columns are not features by name."""
    if holds_blocks(schema) or has_sparse_rows(schema):
        found = "has rows of ids and values, which have no names to send"
        raise DataError.at(name, found, advice=f"learn it with `ouzel train {name}`, or send what it was made from")


def _cell_value(cell: str | None, column: str, kinds: ColumnKinds) -> float | str | list[str] | None:
    """Return the value of a cell of text: a number if its column holds numbers, a word, or None.

    A category that would be read as a date is a list of one word. A column whose kind was not decided is no feature.
    """
    if cell is None or is_missing(cell):
        return None
    kind = kinds.known.get(column)
    if kind == CATEGORY and is_iso(cell.strip(" ")):
        return [cell]
    if kind != NUMBER:
        return cell if kind is not None or column == ID or not is_number(cell) else float(cell)
    if is_na_in_numbers(cell.strip(" ")):
        return None
    return float(cell) if is_number(cell) else cell
