"""What holds of every format at every entry point; the formats are those of the catalogue."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow
import pytest
import zstandard

import ouzel
from ouzel.errors import DataError, OuzelError
from ouzel.evaluation.predictions import write_predictions
from ouzel.model.model import Model
from ouzel.model.persistence import load_model
from ouzel.service.formats import READ
from ouzel.streams.formats import protocol
from ouzel.streams.formats.catalogue import FORMATS, Family, by_content, by_file_name, by_media_type, find
from ouzel.streams.formats.packed_rows import canonical
from ouzel.streams.formats.records import framed, record_of_rows
from ouzel.streams.logs.decode import Decoder
from ouzel.streams.logs.reading import Reading as LogReading
from ouzel.streams.logs.stream import LogStream
from ouzel.streams.options import Options, make_options
from ouzel.streams.sources import chunks
from tests.service.conftest import start
from tests.streams.logs.memory_log import MemoryLog

__all__ = ["start"]  # a fixture

ROWS = 40
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.ZstdCompressor().compress}
of_lines = [name for name, format in FORMATS.items() if format.family is Family.LINES]
of_tables = [name for name, format in FORMATS.items() if format.is_table]
BINARY = Family.COLUMNAR, Family.ARRAYS, Family.RECORDS
of_text = [name for name, format in FORMATS.items() if format.family not in BINARY]
every_format = pytest.mark.parametrize("name", FORMATS)


def examples():
    """Blocks of numbered features with labels -1 and 1."""
    rng = np.random.default_rng(5)
    rows = [dict(zip(rng.choice(50, 4, False).tolist(), rng.normal(size=4).round(2), strict=True)) for _ in range(ROWS)]
    return list(ouzel.blocks_from([(row, 1 if k % 3 else -1) for k, row in enumerate(rows)]))


def columns(zeros=False, missing=False):
    """Columns of a table with a label."""
    rng = np.random.default_rng(6)
    numbers = rng.normal(size=ROWS).round(3)
    words = np.array(["red", "blue", "a b"], object)[rng.integers(3, size=ROWS)]
    if zeros:
        numbers[::4] = 0.0
    if missing:
        numbers[::4], words[1::5] = np.nan, None
    return {"n": [None if n != n else float(n) for n in numbers], "c": words, "y": [k % 2 for k in range(ROWS)]}


def sample(name, folder, **how):
    """A file of the format, however its examples can be written."""
    format = FORMATS[name]
    path = folder / f"sample{format.suffixes[0]}"
    if format.is_table:
        write_predictions([columns(**how)], path)
    elif format.family is Family.LINES:
        ouzel.convert(examples(), path)
    elif format.family is Family.RECORDS:
        path.write_bytes(b"".join(framed(record_of_rows(canonical(block), Options()) for block in examples())))
    else:
        path = folder / "digits-images-idx3-ubyte"
        pixels = np.arange(ROWS * 4, dtype=np.uint8)
        path.write_bytes(
            bytes.fromhex("00000803") + b"".join(n.to_bytes(4, "big") for n in (ROWS, 2, 2)) + pixels.tobytes()
        )
        labels = bytes.fromhex("00000801") + ROWS.to_bytes(4, "big") + bytes(k % 2 for k in range(ROWS))
        (folder / "digits-labels-idx1-ubyte").write_bytes(labels)
    return path


def options_of(name):
    return {"label": "y"} if FORMATS[name].is_table else {}


def rows_of(blocks):
    """Ids, values, label and importance of each row."""
    return [
        (block.indices[a:b].tolist(), block.values[a:b].tobytes(), label, weight)
        for block in blocks
        for a, b, label, weight in zip(
            *(block.offsets[:-1].astype(int), block.offsets[1:].astype(int)),
            *(labels_of(block), block.weights.tolist()),
            strict=True,
        )
    ]


def labels_of(block):
    names = block.label_names
    return [label if names is None or label != label else names[int(label)] for label in block.labels.tolist()]


def read(path, name, **given):
    return rows_of(ouzel.read(path, format=name, **options_of(name), **given))


@every_format
def test_a_format_is_detected_by_the_name_and_by_the_contents_of_a_file(name, tmp_path):
    path = sample(name, tmp_path)
    bare = tmp_path / "bare"
    bare.write_bytes(path.read_bytes())

    assert by_file_name(path).name == by_content(bare.read_bytes()[:4096], "bare").name == name
    assert by_file_name(bare) is None
    assert {by_file_name(f"day{suffix}").name for suffix in FORMATS[name].suffixes} == {name}
    if FORMATS[name].family is not Family.ARRAYS:  # whose labels are found by the name
        assert rows_of(ouzel.read(bare, **options_of(name))) == read(path, name)
    assert len(read(path, name)) == ROWS


@every_format
@pytest.mark.parametrize("packer", PACKERS)
def test_a_compressed_file_has_the_examples_of_the_file(name, packer, tmp_path):
    path = sample(name, tmp_path)
    expected = read(path, name)
    for part in (path, *tmp_path.glob("*labels*")):
        (tmp_path / f"{part.name}.{packer}").write_bytes(PACKERS[packer](part.read_bytes()))
    packed = tmp_path / f"{path.name}.{packer}"
    assert by_file_name(packed.with_suffix("")).name == name

    assert read(packed, name) == expected


@every_format
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_brings_the_examples_of_the_file(name, tmp_path):
    path = sample(name, tmp_path)
    if FORMATS[name].family is Family.ARRAYS:
        pytest.skip("its labels are another file")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    try:
        assert read(pipe, name) == read(path, name)
    finally:
        writer.join()


def test_standard_input_brings_the_examples_of_the_file_in_every_format(tmp_path):
    program = (
        "import sys; from tests.streams.formats.test_laws import rows_of, options_of, ouzel; "
        "name = sys.argv[1]; sys.stdout.write(repr(rows_of(ouzel.read('-', format=name, **options_of(name)))))"
    )
    for name in ("svmlight", "csv", "arrow"):
        path = sample(name, tmp_path)
        command = [sys.executable, "-c", program, name]
        found = subprocess.run(command, input=path.read_bytes(), capture_output=True)
        assert found.returncode == 0, found.stderr.decode()
        assert found.stdout.decode() == repr(read(path, name))


@every_format
def test_messages_of_a_log_are_the_examples_of_the_file(name, tmp_path):
    format, path = FORMATS[name], sample(name, tmp_path)
    values = [path.read_bytes()] if format.family in BINARY else path.read_bytes().splitlines()
    options = make_options(options_of(name))
    with LogStream(MemoryLog(values, 7), Decoder, name, options, LogReading(), None) as stream:
        if format.in_messages:
            assert rows_of(stream) == read(path, name)
        else:
            with pytest.raises(OuzelError, match=f"messages are .*; got '{name}'"):
                list(stream)


def bodies():
    return [format.name for format in READ]


@pytest.mark.parametrize("name", bodies())
def test_a_service_learns_a_body_as_the_file_is_learnt(name, tmp_path, start):
    format, path = FORMATS[name], sample(name, tmp_path)
    body = path.read_bytes()
    if format.is_columnar:
        table = pyarrow.ipc.open_file(io.BytesIO(body)).read_all()
        sink = io.BytesIO()
        with pyarrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        body = sink.getvalue()
    client = start(learner="ogd", reading=options_of(name))
    model = Model("ogd")
    for block in ouzel.read(path, format=name, sample=0, **options_of(name)):
        model.learn(block)

    for media_type in format.media_types:
        assert by_media_type(media_type) is format
    answer = client.post("/v1/learn?answers=summary", content=body, headers={"Content-Type": format.media_types[-1]})

    assert answer.json()["learnt"] == ROWS, answer.json()
    snapshot = client.post("/v1/snapshot")
    assert snapshot.status_code == 200
    saved = tmp_path / "snapshot"
    saved.write_bytes(client.get("/v1/snapshot").content)
    learnt = load_model(saved)
    assert learnt.examples == model.examples
    assert np.array_equal(learnt.weights(), model.weights())


@pytest.mark.parametrize("name", of_text)
def test_a_bad_line_is_left_out_wherever_it_stands_and_named_by_its_number(name, tmp_path):
    path = sample(name, tmp_path)
    expected, lines = read(path, name), path.read_text().splitlines()
    header = int(FORMATS[name].is_delimited)
    bad = {Family.LINES: "1 | 0:1:x 7:x |", Family.OBJECTS: '{"n": }', Family.DELIMITED: "1,2,3,4,5\t6\t7\t8"}
    for place in (0, 1, ROWS // 2, ROWS):
        changed = [*lines[: header + place], bad[FORMATS[name].family], *lines[header + place :]]
        path.write_text("\n".join(changed) + "\n")

        assert read(path, name, on_error="skip") == expected
        with pytest.raises(DataError, match=rf"(:|row ){header + place + 1}\b"):
            read(path, name)


@pytest.mark.parametrize("name", of_text)
def test_examples_are_the_same_wherever_chunks_end(name, tmp_path, monkeypatch):
    path = sample(name, tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:6]))
    expected = read(path, name)
    for size in range(1, len(path.read_bytes()) + 2):
        monkeypatch.setattr(chunks, "CHUNK", size)
        assert read(path, name) == expected, size


@pytest.mark.parametrize("name", of_tables)
def test_tables_of_every_format_have_the_same_examples(name, tmp_path):
    for how in ({}, {"zeros": True}, {"missing": True}):
        expected = read(sample("parquet", tmp_path, **how), "parquet")
        found = read(sample(name, tmp_path, **how), name)

        assert found == expected, how
        assert not any((np.frombuffer(values, np.float32) == 0.0).any() for _, values, _, _ in found)


@pytest.mark.parametrize("name", of_lines)
def test_lines_of_every_format_have_the_same_examples(name, tmp_path):
    assert read(sample(name, tmp_path), name) == rows_of(examples())


@pytest.mark.parametrize("name", of_lines)
def test_repeated_ids_add_up_and_zeros_are_left_out_in_lines_of_every_format(name, tmp_path):
    (short,), (long,) = (
        find(name).module.lines_of(next(ouzel.blocks_from([(row, 1)]))) for row in ({3: 2.0}, {3: 2.0, 5: 1.0})
    )
    last = long.strip().removeprefix(short.strip())  # a feature and what separates it from the one before
    zero = last.replace("5", "7").replace("1", "0")
    path = tmp_path / "t"
    path.write_text(f"{long.strip()}{last}{zero}\n")

    (block,) = ouzel.read(path, format=name)

    assert (block.indices.tolist(), block.values.tolist()) == ([3, 5], [2.0, 2.0])
    assert block.space.highest in (7, None), "a zero is no feature, and its id is known, unless names may be"


@every_format
def test_an_option_of_columns_is_refused_where_there_are_none(name, tmp_path):
    path = sample(name, tmp_path)
    if FORMATS[name].takes_columns:
        assert len(read(path, name, weight="n" if name == "idx" else None)) == ROWS
        return
    with pytest.raises(OuzelError, match=f"is {name}, and the option is for .* alone; leave out weight='w'"):
        list(ouzel.read(path, format=name, weight="w"))


def test_the_documentation_lists_every_format():
    docs = Path(__file__).parents[3] / "docs"
    page, service = (docs / "streams.md").read_text(), (docs / "service.md").read_text()
    for format in FORMATS.values():
        assert f"| {format.title} | {format.example} | {format.features} |" in page
    assert [format.name for format in READ if f"(`{format.media_types[0]}`)" not in service] == []


@every_format
def test_the_module_of_a_format_has_what_its_family_needs(name):
    needed = {
        Family.LINES: protocol.LineFormat,
        Family.COLUMNAR: protocol.ColumnarFormat,
        Family.ARRAYS: protocol.ArrayFormat,
        Family.RECORDS: protocol.RecordFormat,
    }.get(FORMATS[name].family)

    for function in [] if needed is None else [part for part in vars(needed) if not part.startswith("_")]:
        assert callable(getattr(FORMATS[name].module, function)), function
