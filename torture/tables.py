"""Arrow tables of hostile columns: every type, values at their extremes, nulls, nesting; sound as Arrow sees it."""

from __future__ import annotations

import decimal
import io
import math
import uuid
from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

Values = Callable[[Random], Any]

FLOATS = (0.0, -0.0, 1.0, -2.5, 1e-45, 5e-324, 3.4e38, 3.5e38, 1e39, -1e308, math.inf, -math.inf, math.nan)
TEXTS = (
    "Rome", "x", "", "1", "-3.5", "1e39", "inf", "nan", "NA", "a b c", "été", "🦆", "x=y", "\x00", "a\nb", "w" *
    300, "1:2", " ",
)  # fmt: skip
NAMES = (
    "label", "y", "target", "city", "v", "a", "b", "indices", "values", "7", "4294967295", "99999999999", "",
    "__index_level_0__", "text", "weight", "group", "é", "a.b",
)  # fmt: skip


def _integers(bits: int, signed: bool) -> Values:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return lambda random: random.choice((0, 1, low, high, random.randint(low, high), min(high, 2), max(low, -1)))


def _float(random: Random) -> float:
    return random.choice(FLOATS) if random.random() < 0.4 else random.gauss(0, 10)


def _text(random: Random) -> str:
    return random.choice(TEXTS)


def _small(random: Random) -> int:
    return random.choice((0, 1, 2, 3, 100, 10**6))


SIMPLE: tuple[tuple[Any, Values], ...] = (
    *((getattr(pa, f"int{bits}")(), _integers(bits, True)) for bits in (8, 16, 32, 64)),
    *((getattr(pa, f"uint{bits}")(), _integers(bits, False)) for bits in (8, 16, 32, 64)),
    (pa.float64(), _float),
    (pa.float32(), _float),
    (pa.float16(), _float),
    (pa.bool_(), lambda random: random.random() < 0.5),
    (pa.string(), _text),
    (pa.large_string(), _text),
    (pa.string_view(), _text),
    (pa.binary(), lambda random: random.choice((b"", b"\xff\xfe", b"Rome", b"1"))),
    (pa.large_binary(), lambda random: random.choice((b"", b"\xff\xfe", b"Rome"))),
    (pa.binary_view(), lambda random: random.choice((b"", b"\xff" * 40, b"Rome"))),
    (pa.binary(3), lambda random: random.choice((b"abc", b"\xff\x00\x01"))),
    (pa.decimal128(38, 3), lambda random: decimal.Decimal(random.choice(("0", "1.5", "-9" + "9" * 33 + ".999")))),
    (pa.decimal256(60, 0), lambda random: decimal.Decimal(random.choice(("1", "9" * 59)))),
    (pa.date32(), _integers(32, True)),
    (pa.date64(), lambda random: random.choice((0, 86400000, -86400000, 86400000 * 10**8, -86400000 * 10**8))),
    (pa.time32("s"), lambda random: random.choice((0, 86399, 1))),
    (pa.time64("ns"), lambda random: random.choice((0, 86399 * 10**9))),
    *((pa.timestamp(unit), _integers(64, True)) for unit in ("s", "ms", "us", "ns")),
    (pa.timestamp("us", "Europe/Rome"), _integers(64, True)),
    (pa.duration("s"), _integers(64, True)),
    (pa.null(), lambda random: None),
    (pa.month_day_nano_interval(), lambda random: (1, 2, random.choice((0, 2**60)))),
    (pa.uuid(), lambda random: uuid.UUID(int=random.getrandbits(128)).bytes),
)


def _nested(random: Random, depth: int) -> tuple[Any, Values]:
    """A type that holds others."""
    kind, values = any_type(random, depth + 1)
    some = random.choice(("list", "large_list", "fixed", "view", "struct", "map", "dictionary", "runs"))
    if some == "struct":
        other, others = any_type(random, depth + 1)
        return pa.struct([("inner", kind), ("b", other)]), lambda r: {"inner": values(r), "b": others(r)}
    if some == "map":
        return pa.map_(pa.string(), kind), lambda r: [(_text(r), values(r)) for _ in range(r.randrange(3))]
    if some == "dictionary" and not pa.types.is_nested(kind):
        return pa.dictionary(random.choice((pa.int8(), pa.int32(), pa.uint64())), kind), values
    if some == "runs":
        return pa.run_end_encoded(pa.int32(), kind), values
    if some == "fixed":
        return pa.list_(kind, 2), lambda r: [values(r), values(r)]
    make = {"large_list": pa.large_list, "view": pa.list_view}.get(some, pa.list_)
    return make(kind), lambda r: [values(r) for _ in range(r.choice((0, 1, 2, 5)))]


def any_type(random: Random, depth: int = 0) -> tuple[Any, Values]:
    """An Arrow type, and what makes values of it."""
    if depth < 3 and random.random() < 0.25:
        return _nested(random, depth)
    return random.choice(SIMPLE)


def column(random: Random, rows: int) -> Any:
    """A column of any type that Arrow will make of our values, else one of numbers."""
    kind, values = any_type(random)
    nulls = random.choice((0.0, 0.0, 0.2, 1.0))
    cells = [None if random.random() < nulls else values(random) for _ in range(rows)]
    try:
        if isinstance(kind, pa.BaseExtensionType):
            return pa.ExtensionArray.from_storage(kind, pa.array(cells, kind.storage_type))
        return pa.array(cells, kind)
    except (pa.ArrowException, OverflowError, ValueError, TypeError):
        return pa.array([float(k) for k in range(rows)])


def any_table(random: Random) -> Any:
    """A table of a few columns, one of which is likely to be taken for the label."""
    rows = random.choice((0, 1, 2, 5, 20, 20, 60))
    names = ["label", *random.choices(NAMES, k=random.randrange(5))]
    if random.random() < 0.8:
        names = list(dict.fromkeys(names))
    arrays = [column(random, rows) for _ in names]
    if random.random() < 0.6:
        arrays[0] = pa.array([random.choice((0, 1)) for _ in range(rows)], random.choice((pa.int64(), pa.float32())))
    if random.random() < 0.1:
        ids = [[random.choice((0, 1, 5, 2**31, 2**32 - 1)) for _ in range(random.randrange(4))] for _ in range(rows)]
        numbers = [[_float(random) for _ in row] for row in ids]
        arrays += [pa.array(ids, pa.list_(pa.int64())), pa.array(numbers, pa.list_(pa.float64()))]
        names += ["indices", "values"]
    return pa.Table.from_arrays(arrays, names)


def as_parquet(table: Any, random: Random) -> bytes:
    """The bytes of a Parquet file, packed and divided at random."""
    sink = io.BytesIO()
    packing = random.choice(("none", "snappy", "gzip", "zstd", "lz4", "brotli"))
    version = random.choice(("1.0", "2.6", "2.6"))
    pa.parquet.write_table(
        table,
        sink,
        compression=packing,
        row_group_size=random.choice((3, 1000)),
        use_dictionary=random.random() < 0.5,
        version=version,
        data_page_version=random.choice(("1.0", "2.0")),
        allow_truncated_timestamps=True,
    )
    return sink.getvalue()


def as_arrow(table: Any, random: Random) -> bytes:
    """The bytes of an Arrow file or stream."""
    sink = io.BytesIO()
    new = pa.ipc.new_file if random.random() < 0.5 else pa.ipc.new_stream
    packing = random.choice((None, None, None, "lz4", "zstd"))
    options = pa.ipc.IpcWriteOptions(compression=packing, emit_dictionary_deltas=random.random() < 0.3)
    with new(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=random.choice((2, 7, 1000)))
    return sink.getvalue()
