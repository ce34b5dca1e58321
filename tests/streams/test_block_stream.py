"""Whatever blocks are read from, what is known of them is said in one way."""

import numpy as np
import pytest

import ouzel
from ouzel.streams.block_stream import BlockStream, as_stream
from ouzel.streams.groups import Groups
from ouzel.streams.logs.decode import Decoder
from ouzel.streams.logs.reading import Reading
from ouzel.streams.logs.stream import LogStream
from ouzel.streams.options import Options
from ouzel.training.resumed_stream import ResumedStream
from ouzel.training.source_records import Ledger
from tests.streams.logs.memory_log import MemoryLog

TEXT = "1 qid:1 1:1 2:2\n0 qid:1 2:1\n1 qid:2 3:1\n0 qid:2 1:3\n"
FROM_FILES = ("file", "groups", "resumed")


@pytest.fixture(params=[*FROM_FILES, "log", "array", "table", "dictionaries", "generator"])
def opened(request, tmp_path):
    """A kind of stream, and one of four examples, read with bits=20 where somebody says how."""
    path = tmp_path / "a.svm"
    path.write_text(TEXT)
    labels = np.array([1, 0, 1, 0])

    def log():
        values = [line.replace(" qid:1", "").replace(" qid:2", "").encode() for line in TEXT.splitlines()]
        return LogStream(MemoryLog(values), Decoder, "svmlight", Options(bits=20), Reading())

    def table():
        import pyarrow

        return ouzel.blocks_from(pyarrow.table({"a": [1.0, 2.0, 3.0, 4.0]}), labels, bits=20)

    make = {
        "file": lambda: ouzel.read(path, bits=20),
        "groups": lambda: Groups(ouzel.read(path, bits=20)),
        "resumed": lambda: ResumedStream(ouzel.read(path, bits=20), [str(path)], Ledger()),
        "log": log,
        "array": lambda: ouzel.blocks_from(np.eye(4), labels),
        "table": table,
        "dictionaries": lambda: ouzel.blocks_from([({"a": 1.0}, 1)] * 4, bits=20),
        "generator": lambda: as_stream(block for block in ouzel.blocks_from(np.eye(4), labels)),
    }
    with make[request.param]() as stream:
        yield request.param, stream


def test_every_stream_keeps_the_contract(opened):
    kind, stream = opened

    assert isinstance(stream, BlockStream)
    first = stream.first()
    blocks = list(stream)
    assert blocks[0] is first
    assert sum(block.rows for block in blocks) == stream.examples == 4
    assert stream.name
    assert stream.options.bits == (18 if kind in ("array", "generator") else 20)
    assert stream.space == blocks[-1].space
    assert list(stream.begins) == [0]
    assert stream.skipped == 0
    assert list(stream.remarks) == []
    assert (stream.size, stream.position) == ((len(TEXT),) * 2 if kind in FROM_FILES else (None, 0))
    assert stream.seconds > 0.0
    assert (stream.leaves_out, stream.resumed, stream.incomplete) == (kind in ("resumed", "log"), False, False)
    stream.emit_names_once()
    stream.learnt(4)
    assert as_stream(stream) is stream


def test_a_stream_in_memory_says_how_it_was_read(tmp_path):
    import pyarrow.ipc

    examples = [({"price": 2.5, "city": "Rome"}, 1)]
    ouzel.convert(ouzel.blocks_from(examples, bits=20), tmp_path / "a.arrow")

    read = next(ouzel.read(tmp_path / "a.arrow", bits=20))
    assert read.indices.tolist() == next(ouzel.blocks_from(examples, bits=20)).indices.tolist()
    with pyarrow.OSFile(str(tmp_path / "a.arrow")) as file:
        metadata = pyarrow.ipc.open_file(file).schema.metadata
    assert b'"bits": 20' in metadata[b"ouzel.blocks"]


def test_a_table_in_memory_says_which_columns_a_model_does_not_know():
    import pyarrow

    model = ouzel.OnlineClassifier("ogd").fit(pyarrow.table({"a": [1.0, 2.0]}), [0, 1])
    stream = ouzel.blocks_from(pyarrow.table({"a": [1.0], "b": [1.0]}), model=model, unlabelled=True)
    list(stream)

    assert list(stream.remarks) == ["table: columns b are not known to the model, and left out"]


def test_blocks_that_somebody_made_are_a_stream_that_ends_with_its_maker():
    ended = []

    def blocks():
        try:
            yield next(ouzel.blocks_from(np.eye(2), [0, 1]))
            yield next(ouzel.blocks_from(np.eye(2), [0, 1]))
        finally:
            ended.append(True)

    with as_stream(blocks()) as stream:
        next(stream)
    assert ended == [True]
    assert list(as_stream([])) == []


def test_groups_close_what_they_are_made_of(tmp_path):
    (tmp_path / "a.svm").write_text(TEXT)
    stream = ouzel.read(tmp_path / "a.svm")
    with Groups(stream) as groups:
        next(groups)

    assert list(stream) == []
