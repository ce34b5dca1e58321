"""The files of this folder, made anew: `python -m tests.regressions.make`. Each broke the program once."""

import decimal
import gzip
import io
import struct
import tempfile
import uuid
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import zstandard

import ouzel
from tests.forging import parts_of, tensors_of, write, write_tensors

HERE = Path(__file__).parent
WORDS = pa.table({"label": [1, 0, 1], "city": ["Rome", "x", "y"]})
NOTHING = pa.schema([("label", pa.int8()), ("a", pa.list_(pa.dense_union([])))])
SVM = b"+1 1:1 2:0.5\n-1 1:-1 3:2\n" * 10


def stream(table, new=pa.ipc.new_stream):
    """The bytes of an Arrow stream, or of a file."""
    sink = io.BytesIO()
    with new(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parquet(**columns):
    """The bytes of a Parquet file."""
    sink = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), sink, compression="none")
    return sink.getvalue()


def changed(data, before, after):
    """The data with one part of it, which must be there, replaced by another of its length."""
    place = data.find(before)
    assert place > 0
    assert len(before) == len(after)
    return data[:place] + after + data[place + len(before) :]


def offsets(*numbers):
    """Arrow's offsets, 32 bits each."""
    return struct.pack(f"<{len(numbers)}i", *numbers)


def unending(head, piece, size):
    """A small zstd archive of a beginning and `size` bytes of a piece repeated."""
    packer = zstandard.ZstdCompressor(level=19).compressobj()
    parts = [packer.compress(head)]
    megabyte = piece * ((1 << 20) // len(piece))
    parts += [packer.compress(megabyte) for _ in range(size >> 20)]
    return b"".join([*parts, packer.flush()])


def arrow_files():
    """Damage that Arrow does not see unless it is asked to look."""
    city = offsets(0, 4, 5, 6)
    yield "damaged.arrow", changed(stream(WORDS), city, offsets(0, 4, 5, 2**30))
    yield "foreign.arrow", changed(stream(WORDS), city, offsets(0, 400, 5, 6))
    yield "negative.arrow", changed(stream(WORDS), city, offsets(0, -4, 5, 6))
    yield "union.arrow", stream(pa.Table.from_batches([], NOTHING))
    yield "foreign.feather", changed(stream(WORDS, pa.ipc.new_file), city, offsets(0, 4, 400, 6))
    yield "bad-utf8.arrow", changed(stream(WORDS), b"Romexy", b"R\xff\xfeexy")
    lists = pa.table({"label": [1, 0], "indices": [[1, 2], [3]], "values": [[1.0, 2.0], [3.0]]})
    yield "lists.arrow", changed(stream(lists), offsets(0, 2, 3), offsets(0, 2, 2**29))
    places = pa.array([0, 77777, 0], pa.int32())
    codes = pa.DictionaryArray.from_arrays(places, pa.array(["Rome", "x"]), safe=False)
    yield "codes.arrow", stream(pa.table({"label": [1, 0, 1], "city": codes}))
    yield "field-name.arrow", stream(WORDS).replace(b"city", b"\xff\xfety")


def parquet_files():
    """Labels of every unusual kind, and a damaged page."""
    yield "far-dates.parquet", parquet(label=pa.array([2**62, 0], pa.timestamp("us")), a=[1.0, 2.0])
    yield "far-days.parquet", parquet(label=pa.array([2**31 - 1, 0], pa.date32()), a=[1.0, 2.0])
    ids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([uuid.UUID(int=k).bytes for k in (1, 2)], pa.binary(16)))
    yield "uuid.parquet", parquet(label=ids, a=[1.0, 2.0])
    wide = [decimal.Decimal(2**100), decimal.Decimal(1)]
    yield "decimal128.parquet", parquet(label=pa.array(wide, pa.decimal128(38, 0)), a=[1.0, 2.0])
    yield "decimal-cells.parquet", parquet(label=[1, 0], a=pa.array(wide, pa.decimal128(38, 0)))
    yield "bytes.parquet", parquet(label=pa.array([b"\xff\xfe", b"a"]), a=[1.0, 2.0])
    yield "durations.parquet", parquet(label=[1, 0], a=pa.array([2**62, -1], pa.duration("s")))
    yield (
        "damaged.parquet",
        changed(parquet(label=[1, 0] * 50, a=["x", "yz"] * 50), b"\x02\x00\x00\x00yz", b"\xff\xff\xff\x7fyz"),
    )
    yield "negative-rows.parquet", with_rows_below_nothing(parquet(label=[1, 0, 1, 0, 1]))


def with_rows_below_nothing(data):
    """A Parquet file of five rows whose row group says, by one bit, that they are -6."""
    for place in range(len(data)):
        if data[place : place + 2] == b"\x16\x0a":
            found = data[: place + 1] + b"\x0b" + data[place + 2 :]
            if pa.parquet.read_metadata(io.BytesIO(found)).row_group(0).num_rows == -6:
                return found
    raise ValueError("there is no such place")


def text_files():
    """Text that was read wrongly, or said too much about."""
    yield "junk-behind.svm.gz", gzip.compress(SVM, mtime=0) + b"junk"
    yield "infinite.csv", b"label,a\n1,1e39\n0,inf\n1,-inf\n0,1e400\n1,nan\n"
    yield "several-lines.csv", b'kind,"two\nlines",b\n1,2,3\n'
    yield "regression.csv", b"label,a\n" + b"".join(b"%d.%d,%d\n" % (k * 37 % 101, k, k) for k in range(250))
    yield "five.svm", b"-1 1:1e25\n1 1:1e25 2:1e25\n-1 1:-1e25 2:1e25\n1 1:1e25 2:-1e25\n-1 2:1e25\n"
    yield "outlier.svm", SVM + b"-1 1:3e38 2:3e38\n" + SVM
    yield "underflow.svm", b"1 1:3000\n1 1:1600 2:1\n-1 2:-1\n"
    yield "small.svm", SVM
    yield "empty-images.idx", struct.pack(">4I", 0x803, 2**32 - 1, 0, 0)
    yield "nested.jsonl", b'{"label": 1, "a": ' + b"[" * 20_000 + b"\n"


def bombs():
    """Small files that become large."""
    yield "header.csv.zst", unending(b"label,", b"abcdefg," * 64, 1 << 30)
    yield "word.svm.zst", unending(b"1 1:1\n", b"abcdefgh", 20 << 20)
    yield "zeros.parquet.zst", unending(b"PAR1", b"\0", 2 << 30)


def forged(change, model=None):
    """A model file with a right digest, after a change of its metadata and arrays."""
    model = model or ouzel.StreamingPMI(budget="4KB", sample_size=10, heap_size=4, window=3).partial_fit(["a b c"] * 9)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m")
        model.save(path)
        described, arrays = parts_of(path)
        change(described, arrays)
        write(path, described, arrays)
        return path.read_bytes()


def unpacking(name, size):
    """A model file in which a packed tensor is one of so many zeros."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m")
        ouzel.OnlineClassifier("ogd").learn_one({"a": 1.0}, 0).learn_one({"b": 1.0}, 1).save(path)
        described, tensors = tensors_of(path)
        packed = zstandard.ZstdCompressor(level=3).compressobj(size=size)
        parts = [packed.compress(bytes(1 << 24)) for _ in range(size >> 24)]
        tensors[name] = np.frombuffer(b"".join([*parts, packed.flush()]), np.uint8)
        described["stored"]["tensors"].setdefault(name, {})["packed"] = True
        write_tensors(path, described, tensors)
        return path.read_bytes()


def model_files():
    """Models that lie."""
    yield "unpacks.model", unpacking("notes", 4 << 30)
    yield "rows-unpack.model", unpacking("slots.0", 4 << 30)
    yield "names-code.model", forged(lambda d, a: d["notes"]["parameters"].update(tokens="os:system"))
    yield (
        "dimension.model",
        forged(lambda d, a: d.update(dimension=2**31), ouzel.OnlineGradientClassifier().fit([[1.0], [2.0]], [0, 1])),
    )
    yield "budget.model", forged(lambda d, a: d["settings"].update(width=2.0**40, heap_size=2.0**40))
    yield "infinite.model", forged(lambda d, a: d.update(examples=float("inf")))
    yield "nan.model", forged(lambda d, a: next(v for v in a.values() if v.dtype == np.float32).fill(np.nan))


if __name__ == "__main__":
    for part in (arrow_files, parquet_files, text_files, bombs, model_files):
        for name, content in part():
            (HERE / name).write_bytes(content)
            print(f"{len(content):>8,}  {name}")
