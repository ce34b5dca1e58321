"""Files by address, in memory and on disk, by way of fsspec."""

import gzip

import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

import ouzel
from ouzel.distributed.training import train
from ouzel.errors import DataError

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("upath")

ROWS = "price,size,city\n" + "".join(f"{100.5 + 3 * k},{k % 7},{'Rome' if k % 2 else 'Bonn'}\n" for k in range(200))


@pytest.fixture
def folder():
    system = fsspec.filesystem("memory")
    table = pyarrow.csv.read_csv(pyarrow.py_buffer(ROWS.encode()))
    with system.open("/stored/rows.csv", "wb") as file:
        file.write(ROWS.encode())
    with system.open("/stored/rows.csv.gz", "wb") as file:
        file.write(gzip.compress(ROWS.encode()))
    with system.open("/stored/rows.parquet", "wb") as file:
        pyarrow.parquet.write_table(table, file, row_group_size=50)
    with system.open("/stored/rows.arrow", "wb") as file, pyarrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    yield "memory://stored"
    system.rm("/stored", recursive=True)


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.parquet", "rows.arrow"])
def test_every_format_is_read_by_its_address(folder, name):
    with ouzel.read(f"{folder}/{name}", label="price") as stream:
        blocks = list(stream)
    assert sum(block.rows for block in blocks) == 200
    assert sum(block.nonzeros for block in blocks) == sum(2 - (k % 7 == 0) for k in range(200))


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_rounds_learn_parts_of_what_lies_at_an_address(folder, name, tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    options = {"merge_every": 20, "lanes": 2, "reading": {"label": "price"}}
    here = train(str(tmp_path / "rows.csv"), "adagrad", **options)
    there = train(f"{folder}/{name}", "adagrad", **options)
    assert there.model.examples == here.model.examples == 200


def test_an_address_that_leads_nowhere_is_one_line():
    for address, said in [
        ("memory://stored/none.csv", "there is no such file"),
        ("nope://stored/rows.csv", "cannot be reached"),
    ]:
        with pytest.raises(DataError, match=said):
            ouzel.read(address)
