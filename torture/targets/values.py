"""Kinds of values across entry points: one table as dictionaries, Arrow, Parquet, JSON lines and single calls."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable
from random import Random
from typing import Any, ClassVar

import numpy as np

from torture.targets.base import Target, check_block, reading_threads
from torture.verdicts import Failure

Row = tuple[list[int], bytes]
KINDS: dict[str, Callable[[Random], Any]] = {
    "number": lambda random: random.choice((0.0, -0.0, 1e-46, 1e-45, -2.5, 1.0, 1e30, random.gauss(0, 1))),
    "whole": lambda random: random.choice((0, 1, -7, 2**53)),
    "truth": lambda random: random.random() < 0.5,
    "word": lambda random: random.choice(("Rome", " a ", "True", "FALSE", "null", "", "?", "-", "x=y", "é", "tree")),
    "day": lambda random: (
        dt.date(1970, 1, 1) + dt.timedelta(days=random.choice((0, -1, random.randint(-(9**5), 9**5))))
    ),
    "moment": lambda random: dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=random.randint(-(2**52), 2**52)),
    "clock": lambda random: dt.time(random.randrange(24), random.randrange(60), random.randrange(60)),
    "span": lambda random: dt.timedelta(milliseconds=random.choice((0, random.randint(-(2**40), 2**40)))),
    "list": lambda random: [random.choice(("a", "TRUE", "b")) for _ in range(random.randrange(4))],
}


class Values(Target):
    name = "values"
    weight = 2
    about = "one table of values of every kind through several entry points, which must come to the same features"
    breeding: ClassVar[float] = 0.0

    def make(self, random: Random) -> bytes:
        return json.dumps({"seed": random.getrandbits(48)}).encode()

    def run(self, data: bytes, random: Random) -> str:
        import pyarrow
        import pyarrow.parquet

        import ouzel

        chance = Random(json.loads(data)["seed"])
        kinds = {f"c{k}": chance.choice([*KINDS]) for k in range(chance.randint(1, 5))}
        gaps = chance.choice((0.0, 0.3))
        rows = [
            {name: None if chance.random() < gaps else KINDS[kind](chance) for name, kind in kinds.items()}
            for _ in range(chance.randint(1, 30))
        ]
        table = pyarrow.table({name: [row[name] for row in rows] for name in kinds})
        pyarrow.parquet.write_table(table.append_column("y", pyarrow.array([1] * len(rows))), self.folder / "t.parquet")
        lines = [json.dumps({"y": 1, **{name: _as_json(value) for name, value in row.items()}}) for row in rows]
        (self.folder / "t.jsonl").write_text("\n".join(lines) + "\n")
        with reading_threads(False):
            expected = _rows(ouzel.blocks_from(table))
            space = next(ouzel.blocks_from(table)).space
            found = {"dictionaries": _rows(ouzel.blocks_from([(row, 1) for row in rows], space=space))}
            found |= {name: _rows(ouzel.read(self.folder / name, space=space)) for name in ("t.parquet", "t.jsonl")}
        estimator = ouzel.OnlineClassifier("ogd").fit(table, [k % 2 for k in range(len(rows))] if rows[1:] else [0])
        estimator.predict_one(rows[0])
        found["single calls"] = [_row(*estimator._slots.row(row)) for row in rows]
        for entry, given in found.items():
            if given != expected:
                raise Failure("unsound", f"{entry} and a table come to other features", str(kinds))
        return f"{len(kinds)} columns"


def _as_json(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else value


def _row(slots: np.ndarray, values: np.ndarray) -> Row:
    """The ids and values of an example of an estimator, without the constant feature."""
    return (slots[1:] - np.uint32(1)).tolist(), values[1:].tobytes()


def _rows(blocks: Iterable[Any]) -> list[Row]:
    """The ids and values of each row."""
    found: list[Row] = []
    for block in blocks:
        check_block(block)
        for start, stop in zip(block.offsets[:-1].tolist(), block.offsets[1:].tolist(), strict=True):
            found.append((block.indices[start:stop].tolist(), block.values[start:stop].tobytes()))
    return found
