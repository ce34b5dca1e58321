"""How files are cut: every example in one piece, whatever the format, and cuts that follow from the files alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from ouzel.distributed import partitions, reading
from ouzel.distributed.partitions import plan_of
from ouzel.distributed.reading import Position, read_rows
from ouzel.errors import OuzelError
from ouzel.streams.options import make_options
from ouzel.streams.read import read
from tests.distributed.conftest import examples, svmlight_lines


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(partitions, "SMALLEST", 1 << 8)
    reading.OPEN.clear()
    reading.RECENT.clear()


def write(folder: Path, format: str) -> Path:
    X, y = examples(300)
    names = [f"f{j}" for j in range(X.shape[1])]
    path = folder / f"some.{format}"
    if format == "svm":
        path.write_text("\n".join(svmlight_lines(X, y)))
    elif format == "vw":
        rows = (" ".join(f"a{j}:{row[j]}" for j in np.flatnonzero(row)) for row in X)
        path.write_text("".join(f"{label} |n {row}\n" for label, row in zip(y, rows, strict=True)))
    elif format == "jsonl":
        rows = (
            {"label": int(label), **dict(zip(names, row.tolist(), strict=True))}
            for row, label in zip(X, y, strict=True)
        )
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif format == "csv":
        lines = [",".join(["label", "note", *names])]
        quoted = ['"two\nlines, ""quoted"""', "plain", '"a, b"']
        lines += [
            ",".join([str(label), quoted[k % 3], *map(str, row)])
            for k, (row, label) in enumerate(zip(X, y, strict=True))
        ]
        path.write_text("\n".join(lines) + "\n")
    else:
        table = pyarrow.table({"label": y, **{name: X[:, j] for j, name in enumerate(names)}})
        if format == "parquet":
            pyarrow.parquet.write_table(table, path, row_group_size=40)
        else:
            with pyarrow.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
    return path


def rows_of(blocks) -> list[tuple[float, tuple[float, ...]]]:
    found = []
    for block in blocks:
        for i in range(block.rows):
            here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
            found.append(
                (
                    float(block.labels[i]),
                    tuple(sorted(zip(block.indices[here].tolist(), block.values[here].tolist(), strict=True))),
                )
            )
    return found


@pytest.mark.parametrize("format", ["svm", "vw", "jsonl", "csv", "parquet", "arrow"])
def test_every_example_is_in_one_lane_and_cut_anywhere(tmp_path, format):
    path = write(tmp_path, format)
    label = {"label": "label"} if format in ("jsonl", "csv", "parquet", "arrow") else {}
    with read(path, **label) as stream:
        blocks = list(stream)
    options = make_options({**label, "space": blocks[0].space})
    plan = plan_of([str(path)], None, options, 3)

    found = []
    for shard in plan.shards:
        position, ended = Position(), False
        while not ended:
            taken = read_rows(shard, position, 7, options, False)
            assert sum(block.rows for block in taken.blocks) == 7 or taken.ended
            found += rows_of(taken.blocks)
            position, ended = taken.behind, taken.ended

    assert len(plan.shards) == (1 if format == "arrow" else 3)
    assert sorted(found) == sorted(rows_of(blocks))


def test_a_position_is_read_alike_by_a_process_that_has_read_nothing_before(svm):
    options = make_options({})
    (shard, *_) = plan_of([str(svm)], None, options, 2).shards
    there = read_rows(shard, Position(), 100, options, False).behind
    followed = rows_of(read_rows(shard, there, 50, options, False).blocks)
    reading.OPEN.clear()
    reading.RECENT.clear()

    assert rows_of(read_rows(shard, there, 50, options, False).blocks) == followed


def test_a_bad_line_is_named_with_its_part_of_the_file(svm):
    lines = svm.read_text().splitlines()
    lines[900] = "1 5:x"
    svm.write_text("\n".join(lines))
    options = make_options({})
    shards = plan_of([str(svm)], None, options, 2).shards

    with pytest.raises(OuzelError, match=r"some.svm \(bytes [\d,]+ to [\d,]+\):\d+:5: found") as caught:
        [read_rows(shard, Position(), 10_000, options, False) for shard in shards]
    assert "--on-error skip" in caught.value.on_command_line


def test_what_cannot_be_read_twice_is_refused():
    with pytest.raises(OuzelError, match="can be read once only"):
        plan_of(["-"], "svmlight", make_options({}), 2)
