"""Parquet and Arrow: tables of every type and value, whole and damaged."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from torture import mutation, tables
from torture.converted import converted
from torture.targets.base import ReaderTarget
from torture.targets.delimited import table_options, warm_tables

TRIES = 5  # tables that the format may refuse to hold
CONVERTED = 0.2  # share of tables that `ouzel convert` may have written


class Columnar(ReaderTarget):
    """What both formats share."""

    binary = True
    share = 10.0
    kinds = mutation.BINARY

    def samples(self) -> Sequence[bytes]:
        return [self.fresh(Random(seed)) for seed in range(40)]

    def fresh(self, random: Random) -> bytes:
        """The bytes of a table made of nothing."""
        for _ in range(TRIES):
            try:
                make = converted if random.random() < CONVERTED else tables.any_table
                return self.written(make(random), random)
            except Exception:
                continue
        return self.written(tables.pa.table({"label": [1, 0], "a": ["x", "y"]}), random)

    def warm(self) -> None:
        warm_tables()

    def written(self, table: Any, random: Random) -> bytes:
        """A table in the format."""
        raise NotImplementedError

    def make(self, random: Random) -> bytes:
        if random.random() < 0.3:
            data = self.fresh(random)
            return data if random.random() < 0.5 else self.mutate(data, random)
        return super().make(random)

    def options(self, random: Random) -> dict[str, Any]:
        return {**super().options(random), **table_options(random)}


class Parquet(Columnar):
    name = "parquet"
    weight = 15
    about = "Parquet files"
    format = "parquet"
    suffixes = (".parquet", ".pq", "")

    def written(self, table: Any, random: Random) -> bytes:
        return tables.as_parquet(table, random)


class Arrow(Columnar):
    name = "arrow"
    weight = 18
    about = "Arrow files and streams, Feather"
    format = "arrow"
    suffixes = (".arrow", ".feather", ".ipc", "")

    def written(self, table: Any, random: Random) -> bytes:
        return tables.as_arrow(table, random)
