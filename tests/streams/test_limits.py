"""No piece of a stream takes more than a limit, and the line that says so names the limit and how to raise it."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
import zstandard

import ouzel
from ouzel.errors import DataError, OuzelError
from ouzel.streams.limits import Limits
from ouzel.streams.sources.compression import UNPACK_AT_ONCE, Unpacking, find_unpacker

WORD = "a" * 3000


def rows_until(stream, says):
    """The rows given out before DataError, and that error."""
    rows = 0

    def read():
        nonlocal rows
        for block in stream:
            rows += block.rows

    with pytest.raises(DataError, match=says) as caught:
        read()
    return rows, caught.value


LONG = {
    "a label": ("t.svm", f"1 1:1\n{WORD} 1:1\n", 1, "t.svm:2:1: found 'aaa"),
    "a label of VW": ("t.vw", f"1 | 1:1\n{WORD} | 1:1\n", 1, "t.vw:2:1: found 'aaa"),
    "a name": ("t.vw", f"1 | 1:1\n1 | {WORD}\n", 1, "t.vw:2:5: found 'aaa"),
    "a namespace": ("t.vw", f"1 | 1:1\n1 |{WORD} x\n", 1, "t.vw:2:3005: found 'x'"),
    "a label of a table": ("t.csv", f"y,x\n1,2\n{WORD},1\n", 1, "row 3, column 'y': found 'aaa"),
    "a cell": ("t.csv", f"y,x\n1,2\n1,{WORD}\n", 1, "row 3, column 'x': found 'aaa"),
    "a column": ("t.csv", f"y,{WORD}\n1,2\n", 0, "has a column whose name is 3,000 characters long"),
    "a value": ("t.jsonl", f'{{"y":1}}\n{{"y":1,"x":"{WORD}"}}\n', 1, "t.jsonl:2:1: found 'x'"),
    "an entry": ("t.jsonl", f'{{"y":1}}\n{{"y":1,"x":["{WORD}"]}}\n', 1, "t.jsonl:2:1: found 'x'"),
    "a label of JSON": ("t.jsonl", f'{{"y":1}}\n{{"y":"{WORD}"}}\n', 1, "t.jsonl:2:1: found 'y'"),
    "a member": ("t.jsonl", f'{{"y":1}}\n{{"y":1,"{WORD}":2}}\n', 1, "t.jsonl:2:1: found 'aaa"),
}


@pytest.mark.parametrize("kind", LONG)
def test_a_word_beyond_the_limit_is_a_bad_row_that_can_be_let_pass(tmp_path, kind):
    name, content, before, says = LONG[kind]
    path = tmp_path / name
    path.write_text(content)

    found, error = rows_until(ouzel.read(path, limits={"word": "2KB"}), "limits={'word': '4KB'}")

    assert found == before
    assert says in str(error)
    assert len(str(error)) < 600
    assert "--limit word=4KB" in error.on_command_line
    assert sum(block.rows for block in ouzel.read(path, limits={"word": "4KB"})) == before + 1
    if before:
        assert sum(block.rows for block in ouzel.read(path, limits={"word": "2KB"}, on_error="skip")) == before


@pytest.mark.parametrize("kind", [kind for kind in LONG if "label" in kind])
@pytest.mark.parametrize("size", [5000, 1 << 20])
def test_the_name_of_a_class_has_a_limit_of_its_own(tmp_path, kind, size):
    name, content, before, says = LONG[kind]
    path = tmp_path / name
    path.write_text(content.replace(WORD, "a" * size))
    more = "8KB" if size == 5000 else "1MB"

    found, error = rows_until(ouzel.read(path), "expected a label of at most 4KB")

    assert found == before
    assert says in str(error)
    assert len(str(error)) < 600
    assert "--limit label=8KB" in error.on_command_line
    assert sum(block.rows for block in ouzel.read(path, limits={"label": more})) == before + 1
    assert sum(block.rows for block in ouzel.read(path, on_error="skip")) == before


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_the_name_of_a_class_has_its_limit_in_columns_too(tmp_path, name):
    path = tmp_path / name
    table = pa.table({"y": ["a", "b", "a" * 5000], "x": [1.0, 2.0, 3.0]})
    if name == "t.arrow":
        path.write_bytes(arrow(table, None))
    else:
        pyarrow.parquet.write_table(table, path)

    found, error = rows_until(ouzel.read(path), "expected a label of at most 4KB")

    assert found == 2
    assert "column 'y'" in str(error)


@pytest.mark.parametrize("text", ["text", ()])
def test_words_of_text_have_the_limit_too(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(f"y,text\n1,short {WORD}\n")

    with pytest.raises(DataError, match=r"found 'short aaa.*expected a label, a name or a word of at most 2KB"):
        list(ouzel.read(path, text=text, limits={"word": "2KB"}))


@pytest.mark.parametrize("name", ["t.svm", "t.vw", "t.jsonl", "t.csv"])
def test_a_line_beyond_the_limit_is_refused_after_those_before_it(tmp_path, name):
    first = {"t.csv": "y,x\n1,2\n", "t.jsonl": '{"y":1}\n'}.get(name, "1 | 1:1\n" if "vw" in name else "1 1:1\n")
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress((first * (1 if "csv" in name else 500_000)).encode() + b"1 " * 6_000_000, 1))

    rows, error = rows_until(ouzel.read(path, limits={"line": "4MB"}), "has a line of .* more than the limit of 4MB")

    assert "limits={'line': '8MB'}" in str(error)
    assert rows == 500_000 or "csv" in name


def test_a_header_without_an_end_is_refused(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a," * (40 << 20), 1))

    with pytest.raises(DataError, match="more than the limit of 32MB"):
        list(ouzel.read(path))


def test_rows_of_a_table_may_be_as_long_as_a_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{k % 2},{'x ' * 3_000_000},{k}\n" for k in range(1, 4)))

    read = ouzel.read(path, columns="y,text,n", label="y", text="text", limits={"line": "8MB"})
    blocks = ouzel.read(path, columns=["y", "text", "n"], label="y", text="text", limits={"line": "8MB"})

    assert read.options.columns == ("y,text,n",)
    assert sum(block.rows for block in blocks) == 3


def zeros(size):
    """A file that begins as Parquet does, packed small."""
    return gzip.compress(b"PAR1" + bytes(size), 1)


def test_a_packed_file_that_unpacks_to_more_than_the_limit_is_refused(tmp_path):
    for name in ("t.parquet.gz", "t.idx.gz"):
        path = tmp_path / name
        path.write_bytes(zeros(20 << 20))

        with pytest.raises(DataError, match=r"unpacks to .* bytes or more, more than the limit of 16MB") as caught:
            list(ouzel.read(path, limits={"unpacked": "16MB"}))
        assert "limits={'unpacked': '32MB'}" in str(caught.value)


def arrow(table, compression):
    buffer = io.BytesIO()
    with pa.ipc.new_file(buffer, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return buffer.getvalue()


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("coded", [False, True])
def test_a_record_batch_that_unpacks_to_more_than_the_limit_is_refused_before_it_is_unpacked(
    tmp_path, compression, coded
):
    words = pa.array(["a" * (1 << 20)] * 8)
    table = pa.table({"y": [1] * 8, "x": words.dictionary_encode() if coded else words})
    path = tmp_path / "t.arrow"
    path.write_bytes(arrow(table, compression))

    with pytest.raises(DataError, match=r"a record batch that unpacks to .* more than the limit of 512KB"):
        list(ouzel.read(path, limits={"batch": "512KB"}))
    assert sum(block.rows for block in ouzel.read(path)) == 8


def test_columns_of_nothing_have_a_limit_of_rows(tmp_path):
    batch = pa.RecordBatch.from_arrays([pa.nulls(10_000_000)], names=["label"])
    path = tmp_path / "t.arrow"
    path.write_bytes(arrow(pa.Table.from_batches([batch]), None))

    with pytest.raises(DataError, match="has a record batch of 10,000,000 rows"):
        list(ouzel.read(path, limits={"batch": "1MB"}))


PROGRAM = """
import resource, sys
import ouzel
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
next(ouzel.read(sys.argv[1]), None)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
@pytest.mark.parametrize("kind", ["dictionary.arrow", "view.arrow", "dictionary.parquet"])
def test_a_word_that_stands_once_for_many_rows_takes_little_memory(tmp_path, kind):
    rows, word = 1500, "w" * 900_000  # 1.3 GB if written out
    codes = pa.array([0] * rows, pa.int32())
    words = pa.DictionaryArray.from_arrays(codes, pa.array([word]))
    if "view" in kind:
        views = np.zeros((rows, 4), np.int32)
        views[:, 0] = len(word)
        views[:, 1] = np.frombuffer(b"wwww", np.int32)[0]
        buffers = [None, pa.py_buffer(views), pa.py_buffer(word.encode())]
        words = pa.Array.from_buffers(pa.string_view(), rows, buffers)
    path = tmp_path / kind
    table = pa.table({"y": [1] * rows, "x": words})
    if "parquet" in kind:
        pa.parquet.write_table(table, path, store_schema=False)
    else:
        path.write_bytes(arrow(table, None))

    found = subprocess.run([sys.executable, "-c", PROGRAM, path], capture_output=True, text=True, check=True)

    assert int(found.stdout) < 700


def test_names_repeated_with_their_namespace_have_a_limit(tmp_path):
    path = tmp_path / "t.vw"
    path.write_text("1 |" + "n" * 100_000 + " a b" * 30_000 + "\n1 | a\n")

    with pytest.raises(DataError, match="the names of its line take more than 32MB"):
        list(ouzel.read(path))
    assert sum(block.rows for block in ouzel.read(path, on_error="skip")) == 1


def test_wide_rows_are_read_in_smaller_blocks_and_come_to_the_same(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("y,a column with a name\n" + "".join(f"{k % 2},word {k}\n" for k in range(1000)))
    whole = next(ouzel.read(path))
    monkeypatch.setattr("ouzel.streams.tables.columns.MOST_TEXT", 1000)

    parts = list(ouzel.read(path))

    assert len(parts) > 10
    assert np.concatenate([part.indices for part in parts]).tolist() == whole.indices.tolist()


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"lines": "1GB"}, "there is no limit 'lines' of reading; there are line, word, unpacked, batch"),
        ({"line": "much"}, "the limit line is a size of at least 1 byte, such as 64MB; got 'much'"),
        ({"word": 0}, "the limit word is a size of at least 1 byte"),
        ({"word": "nan"}, "the limit word is a size of at least 1 byte"),
    ],
)
def test_limits_that_cannot_be_are_refused(limits, says):
    with pytest.raises(OuzelError, match=says):
        ouzel.read([], limits=limits)


def test_limits_are_sizes_or_numbers():
    assert Limits.of({"line": "1GB", "word": 10}) == Limits(line=2**30, word=10)


PACK = {
    "gz": lambda data: gzip.compress(data),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("kind", PACK)
def test_an_archive_is_unpacked_a_piece_at_a_time(kind):
    packed = PACK[kind](bytes(200 << 20))
    unpacking = Unpacking(io.BufferedReader(io.BytesIO(packed)), find_unpacker(packed))
    buffer = bytearray(1 << 16)

    unpacking.readinto(buffer)

    assert len(unpacking.unpacked) <= 40 * UNPACK_AT_ONCE


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("name", ["t.svm", "t.csv", "t.jsonl", "t.vw"])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_whole_members_before_junk_are_learnt(tmp_path, kind, name, on_error):
    lines = {"t.svm": "1 1:1\n", "t.vw": "1 | 1:1\n", "t.csv": "1,2\n", "t.jsonl": '{"y":1}\n'}
    content = ("y,x\n" if "csv" in name else "") + lines[name] * 1000
    path = tmp_path / f"{name}.{kind}"
    path.write_bytes(PACK[kind](content.encode()) + b"what is this? " * 50)

    rows, _ = rows_until(ouzel.read(path, on_error=on_error), "the compressed file is damaged")

    assert rows == 1000


def test_a_line_that_a_damage_cuts_short_is_not_learnt(tmp_path):
    for content in ("y,x\n" + "1,2\n" * 9 + "1,25", 'y,x\n1,2\n1,"a\nb'):
        path = tmp_path / "t.csv.gz"
        path.write_bytes(gzip.compress(content.encode()) + b"junk")

        rows, _ = rows_until(ouzel.read(path), "the compressed file is damaged")

        assert rows == (9 if "25" in content else 1)
