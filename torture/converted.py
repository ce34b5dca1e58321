"""Tables of converted examples: what they say of themselves, and their columns, made wrong here and there."""

from __future__ import annotations

import json
import math
from random import Random
from typing import Any

import pyarrow as pa

from ouzel.streams.feature_space import FeatureSpace
from ouzel.streams.feature_specs import DerivedFeatures
from ouzel.streams.formats.blocks import IDS, KEY, TEXT, TEXTS, VALUES
from ouzel.streams.stored_space import described

ODD: tuple[Any, ...] = (None, -1, 0, 1, 10**9, 1 << 70, 1.5, True, "", "x", "\ud800", [], [["a", "number"]], {}, [None])
KINDS = (pa.string(), pa.int64(), pa.list_(pa.int32()), pa.float16(), pa.null(), pa.dictionary(pa.int8(), pa.string()))
SPACES = (
    FeatureSpace(),
    FeatureSpace(named=True, open_vocabulary=True),
    FeatureSpace(named=True, kinds={"a": "number", "b": "text"}, derived=DerivedFeatures(crosses=("a*b",))),
    FeatureSpace(lowest=0, highest=9),
    FeatureSpace(width=10),
)


def converted(random: Random) -> pa.Table:
    """A table as `ouzel convert` writes it, with up to three things of it changed."""
    rows = random.choice((1, 2, 5, 20, 60))
    sizes = [random.randrange(4) for _ in range(rows)]
    columns: dict[str, Any] = {
        "indices": ([[random.randrange(10) for _ in range(size)] for size in sizes], IDS),
        "values": ([[random.gauss(0.0, 1.0) for _ in range(size)] for size in sizes], VALUES),
        "label": ([float(random.randrange(2)) for _ in range(rows)], pa.float64()),
        "weight": ([1.0] * rows, pa.float32()),
    }
    if random.random() < 0.3:
        columns["group"] = ([row // 3 for row in range(rows)], pa.int64())
    if random.random() < 0.3:
        columns["tag"] = ([f"r{row}" for row in range(rows)], TEXT)
    told = {"space": described(random.choice(SPACES)), "labels": random.choice((None, ["no", "yes"], [-1, 1]))}
    tells = {0, random.randrange(rows)}
    columns["named"] = ([[3, 5] if row in tells else None for row in range(rows)], IDS)
    columns["names"] = ([["a", "b=x"] if row in tells else None for row in range(rows)], TEXTS)
    columns["block"] = ([json.dumps(told) if row in tells else None for row in range(rows)], TEXT)
    stored = {"version": 1, "bits": 18, "seed": 0}
    for _ in range(random.randrange(4)):
        random.choice((_change_cell, _change_type, _change_words, _drop))(columns, told, stored, random)
    arrays = {name: pa.array(cells, kind) for name, (cells, kind) in columns.items()}
    return pa.table(arrays).replace_schema_metadata({KEY: json.dumps(stored).encode()})


def _change_cell(columns: dict[str, Any], told: Any, stored: Any, random: Random) -> None:
    """Another value in one place, of the same type."""
    cells, kind = columns[random.choice(list(columns))]
    row = random.randrange(len(cells))
    numbers = (0, -1, 2, 1 << 30, 4294967295, math.nan, math.inf, 3.4e38, 1e300, -0.0)
    words = ("", "x", "1", "{}", "[]", "null", json.dumps(random.choice(ODD)))
    of_lists = hasattr(kind, "value_type")
    known = words if (kind.value_type if of_lists else kind) in (TEXT, pa.string()) else numbers
    value = [random.choice(known) for _ in range(random.randrange(4))] if of_lists else random.choice(known)
    cells[row] = random.choice((None, value, value))


def _change_type(columns: dict[str, Any], told: Any, stored: Any, random: Random) -> None:
    """A column of nothing but nulls, of a type that nobody expects."""
    name = random.choice(list(columns))
    columns[name] = ([None] * len(columns[name][0]), random.choice(KINDS))


def _change_words(columns: dict[str, Any], told: Any, stored: Any, random: Random) -> None:
    """What a block or the file says, changed in one word."""
    where = random.choice((stored, told, told["space"], told["space"]) if isinstance(told["space"], dict) else (told,))
    where[random.choice((*where, "other"))] = random.choice(ODD)
    cells, kind = columns["block"]
    if kind == TEXT:
        columns["block"] = ([None if cell is None else json.dumps(told) for cell in cells], kind)


def _drop(columns: dict[str, Any], told: Any, stored: Any, random: Random) -> None:
    """One column less."""
    if len(columns) > 1:
        del columns[random.choice([name for name in columns if name != "block"] or list(columns))]
