"""CSV and TSV."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from torture.targets.base import ReaderTarget, warm_learners

SAMPLES = (
    b"label,a,b\n1,2.5,x\n0,-3,y\n" + b"1,0,z\n" * 5,
    b'y,city,text,weight\nyes,Rome,the quick fox,1\nno,"Bonn, Rhein","a ""b"" c",0.5\nyes,,NA,2\n',
    b"target;a;b\n1.5;1e-3;\n-2.5;3,5;q\n",
    b"label|a|7|4294967294\n1|2|3|4\n0|1||2\n",
    b"id,group,a,b,label\n1,q1,0.5,x,2\n2,q1,0.25,y,1\n3,q2,1,x,0\n",
    b"label,\xc3\xa9,b\n1,caf\xc3\xa9,2\n0,\xf0\x9f\xa6\x86,3\n",
    b"label,a\r\n1,2\r\n0,3\r\n",
    b'label,"two\nlines",b\n1,"x\ny",2\n',
    b"label,a,b\n" + b"".join(b"%d,%d,w%d\n" % (k % 2, k, k % 7) for k in range(60)),
    b"class,a,,__index_level_0__\nA,1,2,3\nB,2,3,4\nC,3,4,5\n",
)
OPTIONS: tuple[tuple[str, Sequence[Any]], ...] = (
    ("label", ("label", "y", "a", "text", "")),
    ("weight", ("weight", "a", "b")),
    ("group", ("group", "id", "b")),
    ("text", (("text",), ("a", "b"), ("b",))),
    ("ignore", (("a",), ("id",))),
    ("label_positive", ("1", "yes", "A")),
    ("skip_lines", (1, 3)),
    ("delimiter", (";", "|", "x", " ")),
    ("columns", (("label", "a", "b"), ("a", "a"), ("label",))),
    ("bits", (1, 8, 31)),
    ("id", ("id", "a")),
    ("categorical", (("a",), ("*",))),
    ("numeric", (("a",), ("b",))),
    ("dates", (("a",), ("b",))),
    ("keep", (("a", "b"),)),
    ("missing", ("indicator",)),
    ("crosses", (("a*b",), ("*:*",), ("b*b", "a*city"))),
)


def table_options(random: Random) -> dict[str, Any]:
    """Options of reading tables, mostly none."""
    return {name: random.choice(values) for name, values in OPTIONS if random.random() < 0.06}


def warm_tables() -> None:
    """Load the kernels of tables; Arrow's own readers would start threads."""
    import pyarrow as pa

    import ouzel

    table = pa.table({"a": [1.5, 2.0], "b": ["x", "y"], "c": [["x"], ["y", "z"]]})
    warm_learners(next(ouzel.blocks_from(table, [0, 1])))


class Csv(ReaderTarget):
    name = "csv"
    weight = 11
    about = "comma-separated values"
    format = "csv"
    suffixes = (".csv", "")

    def samples(self) -> Sequence[bytes]:
        return SAMPLES

    def options(self, random: Random) -> dict[str, Any]:
        return {**super().options(random), **table_options(random)}

    def warm(self) -> None:
        warm_tables()


class Tsv(Csv):
    name = "tsv"
    weight = 4
    about = "tab-separated values"
    format = "tsv"
    suffixes = (".tsv", ".tab", "")

    def samples(self) -> Sequence[bytes]:
        return [sample.replace(b",", b"\t").replace(b";", b"\t") for sample in SAMPLES]
