"""Generated data: one table with everything that columns may hold, and text of features, in every format."""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.feather
import pyarrow.parquet

Row = dict[str, Any]

ROWS, TALL = 60, 12_000
CITIES = ("Rome", "Oslo", "São Paulo", "Łódź", "東京", 'the "Big" one', "a,b", " Lima ", "x;y", "new\nline", "tab\tin")
WORDS = ("good", "not", "bad", "it's", "été", "Straße", "very", "42", "film", "the", "naïve", "2.5")
CODES = ("02139", "10001", "00012e7", "99950")
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.1, 1e-46, -1e-60, 1e-38, 3.4e38, -3.3e38, 123456789.0, 16777217.0, 1e15, 2.5e-8)
MISSING = ("", "NA", "null", "NaN", "N/A", "None")
PLAIN = ("Rome", "Oslo", "Lima", "Bonn")


@cache
def table(kind: str = "odd", count: int = ROWS) -> list[Row]:
    """Rows: `odd` has everything that is difficult, `plain` has none of it, `numbers` has numbers alone."""
    chance = random.Random(f"{kind} {count}")
    return [_row(chance, kind, k, count) for k in range(count)]


def _row(chance: random.Random, kind: str, k: int, count: int) -> Row:
    odd = kind == "odd"
    price = round(chance.gauss(10, 4), 3)
    size = chance.randrange(9)
    city = chance.choice(CITIES if odd else PLAIN)
    score = price / 8 + size / 4 - 2 * (city in ("Rome", "東京")) + chance.gauss(0, 0.7)
    label = "yes" if score > 2 else "no" if score > 1 or not odd else "perhaps"
    start = f"20{chance.randrange(10, 30)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
    row: Row = {
        "price": chance.choice(NUMBERS) if odd and k % 5 == 2 else price,
        "size": size,
        "temp": None if odd and k % 7 == 3 else round(chance.uniform(-30, 40), 1),
    }
    if kind != "numbers":
        row |= {
            "city": None if odd and k % 11 == 5 else city,
            "code": chance.choice(CODES),
            "flag": chance.random() < 0.5,
            "day": start,
            "moment": f"{start}T{chance.randrange(24):02}:{chance.randrange(60):02}:{chance.randrange(60):02}",
            "us": f"{chance.randrange(1, 13)}/{chance.randrange(1, 29)}/20{chance.randrange(10, 30)}",
            "review": " ".join(chance.choice(WORDS) for _ in range(chance.randrange(0 if odd else 1, 7))),
            "empty": "",
        }
    return row | {
        "weight": round(chance.choice((0.0, 0.5, 1.0, 2.25)), 2),
        "query": 3 + k * 8 // count * 2,
        "name": f"r{k % 50}" + ("é" if odd and k % 9 == 0 else ""),
        "amount": round(score * 3, 3),
        "mark": 1 if label == "yes" else -1,
        "label": label,
    }


def cell(value: Any) -> str:
    """A value as people write it in a table of text."""
    if value is None:
        return ""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def delimited(rows: Sequence[Row], between: str = ",", header: bool = True, quoted: bool = True) -> bytes:
    """CSV text: cells that need it in quotation marks; missing values are written in all ways."""
    lines = [between.join(rows[0])] if header else []
    for k, row in enumerate(rows):
        cells = [MISSING[k % len(MISSING)] if value is None else cell(value) for value in row.values()]
        if quoted:
            cells = [
                '"' + text.replace('"', '""') + '"' if set(text) & {between, '"', "\n"} else text for text in cells
            ]
        else:
            cells = [text.replace(between, "_").replace('"', "_").replace("\n", "_") for text in cells]
        lines.append(between.join(cells))
    return ("\n".join(lines) + "\n").encode()


def json_lines(rows: Sequence[Row]) -> bytes:
    """JSON lines; every tenth has escapes, a list and an object, for which another reader is responsible."""
    lines = []
    for k, row in enumerate(rows):
        more = {"tags": ["a", "b", "a"], "in": {"x": 1.5, "y": "z"}} if k % 10 == 7 and "city" in row else {}
        lines.append(json.dumps({**row, **more}, ensure_ascii=k % 4 == 1))
    return "".join(line + "\n" for line in lines).encode()


def arrow(rows: Sequence[Row]) -> Any:
    """An Arrow table; words of one column as a dictionary, days and moments as what they are."""
    columns: dict[str, Any] = {name: pyarrow.array([row[name] for row in rows]) for name in rows[0]}
    if "city" in columns:
        columns["city"] = columns["city"].dictionary_encode()
        columns["day"] = columns["day"].cast(pyarrow.date32())
        columns["moment"] = columns["moment"].cast(pyarrow.timestamp("s"))
    return pyarrow.table(columns)


def svmlight(rows: Sequence[Row], groups: bool = False) -> bytes:
    """svmlight text: ids in disorder, repeated ids, zeros, tiny and huge values, remarks, empty rows."""
    chance, lines = random.Random("svmlight"), ["# a remark"]
    for k, row in enumerate(rows):
        pairs = [f"{chance.randrange(1, 400)}:{chance.choice(NUMBERS)!r}" for _ in range(chance.randrange(0, 8))]
        pairs += [f"{3 + row['size']}:{row['price']!r}", f"{3 + row['size']}:1e-3", "5:0", f"{40 + row['size']}:1"]
        pairs = [] if k % 13 == 12 else pairs
        group = [f"qid:{row['query']}"] if groups else []
        remark = ["# said é"] if k % 6 == 1 else []
        lines.append(" ".join([str(row["mark"]) if k % 3 else f"{row['mark']:+d}", *group, *pairs, *remark]))
    return ("\n".join(lines) + "\n").encode()


def libffm(rows: Sequence[Row]) -> bytes:
    """The same text with a field before each id."""
    lines = []
    for line in svmlight(rows).decode().splitlines():
        text, *remark = line.partition("#")
        words = [word if ":" not in word else f"{k % 5}:{word}" for k, word in enumerate(text.split(" "))]
        lines.append(" ".join(words) + "".join(remark))
    return ("\n".join(lines) + "\n").encode()


def vw(rows: Sequence[Row]) -> bytes:
    """Vowpal Wabbit text: importances, tags, namespaces with values, words with values, ids, zeros, doubled names."""
    lines = []
    for k, row in enumerate(rows):
        words = str(row.get("review", "")).replace(":", "") or "none"
        city = str(row.get("city") or "none").translate({ord(c): "_" for c in ' |:\n\t"'})
        head = f"{row['mark']} {row['weight']} 'r{k} " if k % 2 else f"{row['mark']} "
        spaces = [
            f"|n:{1 + k % 3 / 2} price:{min(row['price'], 1e30)!r} size:{row['size']} zero:0 size:1",
            f"|c {city} code_{row.get('code')}",
            f"|t {words}",
        ]
        if k % 5 == 4:
            spaces.append("| 17:2 4:0 17:1 alone")
        lines.append(head + " ".join(spaces[: 1 + k % 4 if k % 7 == 6 else 4]))
    return ("\n".join(lines) + "\n").encode()


def idx(rows: Sequence[Row], folder: Path) -> Path:
    """Images of 3 by 4 pixels in an idx file, and the file of their labels."""
    chance = random.Random("idx")
    pixels = bytes(chance.choice((0, 0, 1, 128, 255)) for _ in range(len(rows) * 12))
    (folder / "t.labels-idx1-ubyte").write_bytes(
        struct.pack(">ii", 0x801, len(rows)) + bytes(k % 4 for k in range(len(rows)))
    )
    path = folder / "t.images-idx3-ubyte"
    path.write_bytes(struct.pack(">iiii", 0x803, len(rows), 3, 4) + pixels)
    return path


def lists(rows: Sequence[Row]) -> Any:
    """An Arrow table of sparse rows: lists of ids and of values."""
    chance = random.Random("lists")
    ids = [sorted(chance.sample(range(200), chance.randrange(0, 6))) for _ in rows]
    values = [[float(chance.choice((0.0, 1.0, 0.5, -2.0, 1e-46))) for _ in row] for row in ids]
    return pyarrow.table({"indices": ids, "values": values, "label": [row["mark"] for row in rows]})


def write_parquet(made: Any, path: Path) -> None:
    """A Parquet file of several row groups."""
    pyarrow.parquet.write_table(made, path, row_group_size=max(25, len(made) // 3))


def write_stream(made: Any, path: Path) -> None:
    """An Arrow stream of several batches."""
    path.write_bytes(as_stream(made, max(25, len(made) // 3)))


def as_stream(made: Any, rows: int) -> bytes:
    """An Arrow stream with some rows in each batch."""
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, made.schema) as writer:
        writer.write_table(made, max_chunksize=rows)
    return sink.getvalue().to_pybytes()


TEXT: dict[str, tuple[str, Callable[[Sequence[Row]], bytes]]] = {
    "csv": ("t.csv", delimited),
    "csv unquoted": ("u.csv", lambda rows: delimited(rows, quoted=False)),
    "tsv": ("t.tsv", lambda rows: delimited(rows, "\t")),
    "csv semicolons": ("s.csv", lambda rows: delimited(rows, ";")),
    "csv without header": ("h.csv", lambda rows: delimited(rows, header=False)),
    "csv behind lines": ("l.csv", lambda rows: b"made by hand\n\n" + delimited(rows)),
    "csv with CRLF": ("r.csv", lambda rows: delimited(rows, quoted=False).replace(b"\n", b"\r\n")),
    "csv with a BOM": ("b.csv", lambda rows: b"\xef\xbb\xbf" + delimited(rows)),
    "csv with bad lines": ("bad.csv", lambda rows: spoilt(delimited(rows, quoted=False), b"1,2,3\n", b"\xff" * 9)),
    "jsonl": ("t.jsonl", json_lines),
    "jsonl with bad lines": (
        "bad.jsonl",
        lambda rows: spoilt(json_lines(rows), b'{"a": \n', b'{"label": 1, "b": 1e99}'),
    ),
    "svmlight": ("t.svm", svmlight),
    "svmlight groups": ("g.svm", lambda rows: svmlight(rows, True)),
    "svmlight with bad lines": ("bad.svm", lambda rows: spoilt(svmlight(rows), b"1 7:\n", b"1 7:1e60")),
    "libffm": ("t.ffm", libffm),
    "libffm with bad lines": ("bad.ffm", lambda rows: spoilt(libffm(rows), b"1 7:1", b"1 0:7:1e60")),
    "vw": ("t.vw", vw),
    "vw with bad lines": ("bad.vw", lambda rows: spoilt(vw(rows), b"1 a:1\n", b"1 |a b:nan")),
}
"""Formats of text, with variants: the name of a file, and how rows are written."""

TABLES: dict[str, tuple[str, Callable[[Any, Path], None]]] = {
    "parquet": ("t.parquet", write_parquet),
    "arrow": ("t.arrow", lambda made, path: pyarrow.feather.write_feather(made, path, compression="uncompressed")),
    "feather packed": ("p.feather", lambda made, path: pyarrow.feather.write_feather(made, path, compression="zstd")),
    "arrow stream": ("t.ipc", write_stream),
}
"""Formats of typed columns likewise."""


def spoilt(text: bytes, *bad: bytes) -> bytes:
    """Text with bad lines among its lines."""
    lines = text.splitlines(keepends=True)
    for k, line in enumerate(bad):
        lines.insert(7 + 5 * k, line.rstrip(b"\n") + b"\n")
    return b"".join(lines)


def written(format: str, rows: Sequence[Row], folder: Path) -> Path:
    """The file of rows in a format or a variant of one, once written."""
    if format == "idx":
        return idx(rows, folder)
    if format in TEXT:
        name, make = TEXT[format]
        path = folder / name
        if not path.exists():
            path.write_bytes(make(rows))
        return path
    if format.startswith("lists in "):
        path = folder / f"lists.{format.removeprefix('lists in ')}"
        if not path.exists():
            (write_parquet if path.suffix == ".parquet" else write_stream)(lists(rows), path)
        return path
    name, write = TABLES[format]
    path = folder / name
    if not path.exists():
        write(arrow(rows), path)
    return path


def finite(rows: Sequence[Row]) -> list[Row]:
    """Rows as dictionaries without what belongs to the label."""
    return [
        {name: value for name, value in row.items() if not (isinstance(value, float) and math.isnan(value))}
        for row in rows
    ]
