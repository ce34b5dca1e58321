"""The targets, by name; each is a file of its own."""

from __future__ import annotations

from torture.targets.analyses import Analyses
from torture.targets.arrays import Arrays
from torture.targets.base import Target
from torture.targets.bombs import Bombs
from torture.targets.columnar import Arrow, Parquet
from torture.targets.commands import Commands
from torture.targets.delimited import Csv, Tsv
from torture.targets.idx import Idx
from torture.targets.json_lines import JsonLines
from torture.targets.kills import Kills
from torture.targets.models import Models
from torture.targets.numbers import Numbers
from torture.targets.packed import Packed
from torture.targets.strays import Strays
from torture.targets.svmlight import Svmlight
from torture.targets.values import Values
from torture.targets.vw import VowpalWabbit

TARGETS: dict[str, type[Target]] = {
    target.name: target
    for target in (
    Svmlight, VowpalWabbit, Csv, Tsv, JsonLines, Parquet, Arrow, Idx, Packed, Bombs, Models, Arrays, Numbers,
    Values, Strays, Commands,
        Analyses, Kills,
    )
}  # fmt: skip
