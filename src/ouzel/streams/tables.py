"""Tables as streams: CSV and TSV, Parquet, Arrow and Feather, JSON lines. PyArrow and json do the parsing."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from ouzel.errors import DataError
from ouzel.streams.block import Block
from ouzel.streams.canonical import canonical_rows
from ouzel.streams.chunks import chunks_of
from ouzel.streams.columns import LABELS, Columns
from ouzel.streams.lines import Problem
from ouzel.streams.memory import ROWS, blocks_from
from ouzel.streams.options import Options
from ouzel.streams.sources import BROKEN, Source

Skipped = Callable[[int], None]


def read_table(source: Source, options: Options, format: str, skipped: Skipped) -> Iterator[Block]:
    """Blocks of a table; `skipped` is told the number of rows left out."""
    readers = {"csv": _read_csv, "tsv": _read_csv, "parquet": _read_parquet, "arrow": _read_arrow, "jsonl": _read_json}
    try:
        yield from readers[format](source, options, format, skipped)
    except pyarrow.ArrowInvalid as error:
        raise DataError(f"{source.name}: is no sound {format} file ({_first_line(error)})") from None
    except (*BROKEN, OSError) as error:
        raise source.broken(error) from None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def find_label(options: Options, columns: list[str], name: str) -> str | None:
    """The label's column: the one named, or the first with a usual name; there must be one unless to predict."""
    if options.label is not None:
        return options.label if options.label in columns or not options.unlabelled else None
    for candidate in LABELS:
        for column in columns:
            if column.lower() == candidate:
                return column
    if options.unlabelled:
        return None
    raise DataError(f"{name}: which column is the label? Name it with --label; there are {', '.join(columns)}")


class _Arrived:
    """A file whose `read` returns what has arrived, for Arrow's readers."""

    closed = False

    def __init__(self, source: Source) -> None:
        file: Any = source.open()
        self.read = file.read1 if source.size is None else file.read

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        pass


def _read_csv(source: Source, options: Options, format: str, skipped: Skipped) -> Iterator[Block]:
    delimiter = options.delimiter or ("\t" if format == "tsv" else ",")
    names = list(options.columns) or _header(source, options, delimiter)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{source.name}: two columns are named {twice!r}; name them all with --columns")

    def bad_row(row: Any) -> str:
        if options.on_error == "skip":
            skipped(1)
            return "skip"
        return "error"

    reader = pyarrow.csv.open_csv(
        pyarrow.PythonFile(_Arrived(source), mode="r"),
        pyarrow.csv.ReadOptions(
            use_threads=False,
            block_size=1 << 20,
            column_names=names,
            skip_rows=options.skip_lines + (0 if options.columns else 1),
        ),
        pyarrow.csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=source.size is not None, invalid_row_handler=bad_row
        ),
        pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.large_string()), strings_can_be_null=True),
    )
    label = find_label(options, names, source.name)
    columns = Columns(options, reader.schema, label, numeric_text=True, name=source.name)
    for batch in reader:
        yield columns.block(batch)


def _header(source: Source, options: Options, delimiter: str) -> list[str]:
    """The names of columns in the first line that is not skipped."""
    head = source.peek(1 << 16).decode("utf-8-sig", "replace").splitlines()[options.skip_lines :]
    if not head:
        raise DataError(f"{source.name}: is empty; there is nothing to learn from")
    names = next(csv.reader([head[0]], delimiter=delimiter))
    if all(_is_number(name) for name in names):
        raise DataError(f"{source.name}: has no header; name its {len(names)} columns with --columns A,B,…")
    return [name.strip() for name in names]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _read_parquet(source: Source, options: Options, format: str, skipped: Skipped) -> Iterator[Block]:
    file: Any = pyarrow.BufferReader(source.open().read()) if source.path is None else source.path
    with pyarrow.parquet.ParquetFile(file) as table:
        yield from _batches(table.iter_batches(ROWS), table.schema_arrow, source, options)


def _read_arrow(source: Source, options: Options, format: str, skipped: Skipped) -> Iterator[Block]:
    if source.peek(6) == b"ARROW1":
        with pyarrow.ipc.open_file(source.open().read() if source.path is None else str(source.path)) as table:
            batches = (table.get_batch(k) for k in range(table.num_record_batches))
            yield from _batches(batches, table.schema, source, options)
    else:
        with pyarrow.ipc.open_stream(pyarrow.PythonFile(source.open(), mode="r")) as table:
            yield from _batches(iter(table), table.schema, source, options)


def _batches(batches: Iterator[Any], schema: Any, source: Source, options: Options) -> Iterator[Block]:
    label = find_label(options, schema.names, source.name)
    if {"indices", "values"} <= set(schema.names):
        columns = Columns(options, schema, label, name=source.name)
        for batch in batches:
            for start in range(0, batch.num_rows, ROWS):
                yield _sparse_rows(batch.slice(start, ROWS), columns)
        return
    columns = Columns(options, schema, label, name=source.name)
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS):
            yield columns.block(batch.slice(start, ROWS))


def _sparse_rows(batch: Any, columns: Columns) -> Block:
    """Rows whose features stand in two list columns, `indices` and `values`."""
    lists = batch.column("indices").cast(pyarrow.large_list(pyarrow.uint32()))
    values = batch.column("values").cast(pyarrow.large_list(pyarrow.float32())).flatten().to_numpy()
    offsets = np.concatenate([[0], np.cumsum(lists.value_lengths().fill_null(0).to_numpy())]).astype(np.uint64)
    ids = lists.flatten().to_numpy().copy()
    if len(ids) != len(values) or not np.isfinite(values).all():
        raise DataError(f"{columns.name}: rows from {columns.rows + 1}: expected as many finite values as indices")
    numbers = values.copy()
    end = canonical_rows(offsets, ids, numbers)
    labels, names = columns._labels(batch)
    weights = columns._weights(batch)
    columns.rows += batch.num_rows
    return Block(offsets, ids[:end], numbers[:end], labels, weights, label_names=names)


def _read_json(source: Source, options: Options, format: str, skipped: Skipped) -> Iterator[Block]:
    lines = 0
    label: str | None = None
    for data, start, stop in chunks_of(source):
        rows = []
        problem = None
        for number, line in enumerate(bytes(data[start:stop]).splitlines(), lines):
            if not line.strip():
                continue
            try:
                example = json.loads(line)
                if not isinstance(example, dict):
                    raise ValueError(f"found a {type(example).__name__}")
                if label is None:
                    label = find_label(options, list(example), f"{source.name}:{number + 1}")
                rows.append(_example(example, label, options))
            except (ValueError, TypeError) as error:
                if options.on_error == "skip" and not isinstance(error, DataError):
                    skipped(1)
                    continue
                problem = Problem(number, 1, _first_line(error), "expected a JSON object with values that are finite")
                break
        yield from blocks_from(rows, bits=options.bits, seed=options.seed)
        if problem is not None:
            raise DataError(problem.message(source.name, 0))
        lines += bytes(data[start:stop]).count(b"\n")


def _example(row: dict[str, Any], label: str | None, options: Options) -> tuple[dict[Any, Any], Any, float]:
    """Features, label and weight of one JSON object; objects inside it give names such as `outer.inner`."""
    target = None if label is None else row.pop(label, None)
    if options.label_positive is not None and target is not None:
        target = 1.0 if str(target) == options.label_positive else -1.0
    weight = 1.0 if options.weight is None else float(row.pop(options.weight))
    features: dict[Any, Any] = {}
    for name, value in row.items():
        if name not in options.ignore:
            _flatten(int(name) if name.isdigit() else name, value, features)
    return features, target, weight


def _flatten(name: Any, value: Any, features: dict[Any, Any]) -> None:
    if isinstance(value, dict):
        for inner, more in value.items():
            _flatten(f"{name}.{inner}", more, features)
    elif isinstance(value, list):
        for more in value:
            features[f"{name}={more}"] = 1.0
    elif value is not None:
        if not isinstance(value, str) and not np.isfinite(np.float32(value)):
            raise ValueError(f"{name!r} is {value}")
        features[name] = value
