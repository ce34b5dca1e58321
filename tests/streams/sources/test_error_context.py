"""Whatever a library raises while data is read is one line; a mistake of our own is not hidden."""

import io
import random
import uuid

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

import ouzel
from ouzel.errors import DataError
from ouzel.streams.files import Files
from ouzel.streams.sources.error_context import error_context, wrap_errors
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.cells import words_of

CITIES = pa.table({"label": [1, 0, 1], "city": ["Rome", "x", "y"]})
OFFSETS = np.array([0, 4, 5, 6], np.int32).tobytes()
TABLE = pa.table(
    {
        "label": [1, 0, 1, 0],
        "word": ["Rome", "x", None, "é"],
        "number": [1.5, None, 3.0, -1.0],
        "whole": pa.array([1, 2, 3, None], pa.int16()),
        "day": pa.array([1, 2, 3, 4], pa.date32()),
        "list": [["a", "b"], [], None, ["c"]],
        "object": [{"p": 1, "q": "z"}] * 4,
        "kind": pa.array(["u", "v", "u", None]).dictionary_encode(),
        "bytes": pa.array([b"\xff", b"b"] * 2),
    }
)
VIEWS = TABLE.append_column("view", pa.array([f"a long string view {k}" for k in range(4)]).cast(pa.string_view()))
SPARSE = pa.table(
    {
        "label": [1, 0, 1],
        "indices": pa.array([[1, 2], [3], []], pa.list_(pa.uint32())),
        "values": pa.array([[1.0, 2.0], [3.0], []], pa.list_(pa.float32())),
    }
)


def stream(table, compression=None, file=False):
    """The bytes of a table in Arrow's format, for random access or as a stream."""
    buffer = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_file if file else pa.ipc.new_stream)(buffer, table.schema, options=options) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def parquet(table, **options):
    buffer = io.BytesIO()
    pa.parquet.write_table(table, buffer, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("offsets", [[0, 4, 5, 2**30], [0, 400, 5, 6], [0, 4, 3, 6], [-1, 4, 5, 6]])
@pytest.mark.parametrize("suffix", ["arrow", "feather"])
def test_offsets_outside_of_their_data_are_one_line(tmp_path, offsets, suffix):
    content = stream(CITIES, file=suffix == "feather")
    assert OFFSETS in content
    path = tmp_path / f"damaged.{suffix}"
    path.write_bytes(content.replace(OFFSETS, np.array(offsets, np.int32).tobytes()))

    with pytest.raises(DataError, match="is not a sound arrow file") as caught:
        list(ouzel.read(path))
    assert "\n" not in str(caught.value)


def text_of(offsets):
    return pa.Array.from_buffers(
        pa.string(), 3, [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"Romexy")]
    )


def test_tables_in_memory_are_validated_too():
    table = pa.table({"city": text_of([0, 400, 5, 6])})

    with pytest.raises(DataError, match="table: cannot be read"):
        list(ouzel.blocks_from(table, [1, 0, 1]))


def test_kernels_are_not_given_offsets_that_do_not_ascend_within_the_data():
    large = pa.Array.from_buffers(
        pa.large_binary(), 3, [None, pa.py_buffer(np.array([0, 400, 5, 6], np.int64)), pa.py_buffer(b"Romexy")]
    )

    with pytest.raises(ValueError, match="do not ascend within"):
        words_of(large)


def test_text_that_is_not_the_utf_8_it_claims_to_be_is_one_line(tmp_path):
    path = tmp_path / "t.arrow"
    path.write_bytes(stream(CITIES).replace(b"Romexy", b"Rom\xffxy"))

    with pytest.raises(DataError, match="Invalid UTF8 sequence"):
        list(ouzel.read(path))


def test_batches_before_a_damaged_one_are_given_out(tmp_path):
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, CITIES.schema) as writer:
        for _ in range(3):
            writer.write_table(CITIES)
    content = buffer.getvalue()
    last = content.rindex(OFFSETS)
    path = tmp_path / "t.arrow"
    path.write_bytes(content[:last] + np.array([0, 400, 5, 6], np.int32).tobytes() + content[last + len(OFFSETS) :])
    blocks = ouzel.read(path)

    assert [next(blocks).rows, next(blocks).rows] == [3, 3]
    with pytest.raises(DataError, match="is not a sound arrow file"):
        next(blocks)


FILES = {
    "parquet": parquet(TABLE),
    "plain.parquet": parquet(VIEWS, use_dictionary=False, compression="none"),
    "zstd.parquet": parquet(TABLE, compression="zstd"),
    "sparse.parquet": parquet(SPARSE),
    "arrow": stream(VIEWS),
    "file.arrow": stream(TABLE, file=True),
    "lz4.arrow": stream(VIEWS, "lz4"),
    "zstd.arrow": stream(TABLE, "zstd", file=True),
    "sparse.arrow": stream(SPARSE),
}
WORDS = [b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\1\0\0\0", b"\xff" * 8, b"\xff" * 7 + b"\x7f"]


def mutated(content, random):
    """Some bytes changed, words put in their place, or cut out."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(data))
        how = random.random()
        if how < 0.6:
            data[at] ^= 1 << random.randrange(8)
        elif how < 0.9:
            word = random.choice(WORDS)
            data[at : at + len(word)] = word
        else:
            del data[at : at + random.randrange(1, 20)]
    return bytes(data)


@pytest.mark.parametrize("kind", FILES)
def test_damaged_tables_are_read_or_refused_in_one_line(tmp_path, kind):
    chance = random.Random(f"mutations of {kind}")
    path = tmp_path / f"t.{kind}"
    refused = 0
    for _ in range(300):
        path.write_bytes(mutated(FILES[kind], chance))
        try:
            for block in ouzel.read(path, on_error=chance.choice(("raise", "skip"))):
                assert np.isfinite(block.values).all()
                assert not np.isinf(block.labels).any()
                assert block.offsets[-1] <= len(block.indices)
        except DataError as error:
            refused += 1
            assert "\n" not in str(error)  # noqa: PT017 -- either outcome will do

    assert 0 < refused <= 300


ODD = {
    "far-off dates": pa.array([2**31 - 1, 0], pa.date32()),
    "far-off moments": pa.array([2**62, 0], pa.timestamp("us")),
    "durations": pa.array([2**62, 0], pa.duration("s")),
    "an unknown time zone": pa.array([0, 1], pa.timestamp("us", tz="Nowhere/None")),
    "intervals": pa.array([(1, 2, 3), (2**31 - 1, 5, 2**62)], pa.month_day_nano_interval()),
    "a union": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]),
    "a map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int8())),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), pa.array(["k", "m"])),
    "UUIDs": pa.array([uuid.UUID(int=k).bytes for k in range(2)], pa.uuid()),
    "128 bits": pa.array([10**37, -1], pa.decimal128(38, 0)),
    "256 bits": pa.array([10**70, None], pa.decimal256(76, 2)),
    "an extension": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", "1"])),
    "infinite halves": pa.array(np.array([1.0, np.inf], np.float16)),
}
READ = ("UUIDs", "128 bits", "256 bits", "an extension")


@pytest.mark.parametrize("role", ["label", "weight", "group", "text", None])
@pytest.mark.parametrize("kind", ODD)
def test_columns_of_any_type_are_read_or_refused_in_one_line(tmp_path, kind, role):
    table = pa.table({"z": ODD[kind]} | ({} if role == "label" else {"y": [1, 0]}))
    path = tmp_path / "t.arrow"
    path.write_bytes(stream(table))
    options = {} if role is None else {role: "z"}
    try:
        rows = sum(block.rows for block in ouzel.read(path, **options))
        assert rows == 2
    except DataError as error:
        assert "'z'" in str(error)  # noqa: PT017 -- either outcome will do
        assert "\n" not in str(error)  # noqa: PT017
        assert (kind, role) not in {(one, "label") for one in READ}


def test_uuids_are_labels_by_their_text(tmp_path):
    path = tmp_path / "t.arrow"
    path.write_bytes(stream(pa.table({"y": ODD["UUIDs"], "x": [1, 2]})))

    assert next(ouzel.read(path)).label_names == [str(uuid.UUID(int=k)) for k in range(2)]


def test_rows_of_any_type_can_be_skipped(tmp_path):
    view = pa.array(["a", "b", "c"]).cast(pa.string_view())
    table = pa.table({"y": [1, 0, 1], "x": [1.0, np.inf, 2.0], "view": view, "views": pa.array([["p"]] * 3)})
    path = tmp_path / "t.arrow"
    path.write_bytes(stream(table))
    blocks = ouzel.read(path, on_error="skip")

    assert [label for block in blocks for label in block.labels] == [1.0, 1.0]
    assert blocks.skipped == 1


FOREIGN = [ValueError("a\nb"), IndexError("far"), OverflowError("large"), MemoryError(), RecursionError("deep")]
FOREIGN += [
    KeyError("k"),
    TypeError("odd"),
    EOFError(),
    pa.ArrowCapacityError("full"),
    pa.ArrowNotImplementedError("no"),
]


@pytest.mark.parametrize("error", FOREIGN, ids=lambda error: type(error).__name__)
def test_what_a_library_raises_is_one_line(tmp_path, error):
    path = tmp_path / "t.arrow"
    path.write_bytes(b"")

    for place in (error_context(Source(path), "arrow"), wrap_errors("table")):
        with pytest.raises(DataError) as caught, place:
            raise error
        assert "\n" not in str(caught.value)
        assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [AssertionError(), NameError("typo"), AttributeError("typo"), KeyboardInterrupt()])
def test_mistakes_of_our_own_are_not_hidden(tmp_path, error):
    path = tmp_path / "t.arrow"
    path.write_bytes(b"")

    with pytest.raises(type(error)), error_context(Source(path), "arrow"):
        raise error


def test_every_format_is_read_within_the_guard(tmp_path, monkeypatch):
    def broken(*_):
        raise pa.ArrowCapacityError("more than there is room for")
        yield

    monkeypatch.setattr(Files, "_blocks_of", broken)
    for suffix in ("svm", "vw", "csv", "jsonl", "arrow", "parquet"):
        path = tmp_path / f"t.{suffix}"
        path.write_bytes(b"1 1:1\n")

        with pytest.raises(DataError, match=r"is not a sound .* file \(more than there is room for\)"):
            list(ouzel.read(path))
