"""Text that is not UTF-8 is refused by every format, with file, line and what to do; or skipped and counted."""

import random
from contextlib import closing

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from ouzel.analytics.items import lines_of
from ouzel.errors import DataError
from ouzel.sketches.hashing import feature_id
from ouzel.streams.formats import csv
from ouzel.streams.kernels.lines import NOT_UTF8, SAVE_AS_UTF8, checked_text, is_utf8, lines_not_utf8
from ouzel.streams.options import Options
from ouzel.streams.read import read
from ouzel.streams.sources import chunks
from ouzel.streams.sources.source import Source

LATIN = "Köln".encode("latin-1")
FILES = {
    "label.svm": (b"a 1:1\n%s 1:2\nb 1:3\n", 2),
    "remark.svm": (b"a 1:1 # x\nb 1:2 # %s\nc 1:3\n", 2),
    "label.vw": (b"a | x:1\n%s | x:2\nb | x:3\n", 2),
    "name.vw": (b"a | x:1\nb | %s\nc | y:3\n", 2),
    "namespace.vw": (b"a | x:1\nb |%s x\nc | y:3\n", 2),
    "tag.vw": (b"1 | x:1\n1 %s| x\n1 | y:3\n", 2),
    "name.jsonl": (b'{"label": "a", "x": "y"}\n{"label": "b", "x": "%s"}\n{"label": "c", "x": "z"}\n', 2),
    "word.csv": (b"label,city\na,x\nb,%s\nc,z\n", 3),
    "label.csv": (b"label,city\na,x\n%s,y\nc,z\n", 3),
    "quoted.csv": (b'label,city\na,x\nb,"%s, at ""sea"""\nc,z\n', 3),
    "long.csv": (b"label,city\na,x\nb,%s" + b"k" * 70 + b"\nc,z\n", 3),
    "not-plain.csv": (b'label,city\na,x"y\nb,%s\nc,z\n', 3),
    "word.tsv": (b"label\tcity\na\tx\nb\t%s\nc\tz\n", 3),
}


def written(tmp_path, name, word):
    path = tmp_path / name
    path.write_bytes(FILES[name][0] % word)
    return path


def digest(blocks):
    """The examples of a stream, and the numbers that their rows have."""
    return [
        (
            block.indices[int(start) : int(stop)].tolist(),
            block.labels[row] if block.label_names is None else block.label_names[int(block.labels[row])],
            block.numbers[row].item(),
        )
        for block in blocks
        for row, (start, stop) in enumerate(zip(block.offsets[:-1], block.offsets[1:], strict=True))
    ]


@pytest.mark.parametrize("name", FILES)
def test_text_that_is_not_utf8_is_refused_with_its_line(name, tmp_path):
    path = written(tmp_path, name, LATIN)
    found = []

    with pytest.raises(DataError) as error:
        found.extend(block.rows for block in read(path))

    where = f"{path}: row {FILES[name][1]}, column" if name.endswith("sv") else f"{path}:{FILES[name][1]}:"
    assert str(error.value).startswith(where)
    assert NOT_UTF8 in str(error.value)
    assert str(error.value).endswith(f"; {SAVE_AS_UTF8}")  # one advice, and no other behind it
    assert str(error.value).count(";") == 1
    assert sum(found) == 1  # what stands before it is read


@pytest.mark.parametrize("name", FILES)
def test_lines_that_are_not_utf8_are_skipped_and_counted(name, tmp_path):
    stream = read(written(tmp_path, name, LATIN), on_error="skip")

    found = digest(stream)

    assert stream.skipped == 1
    assert found == [row for row in digest(read(written(tmp_path, name, "Köln".encode()))) if row[2] != 1]


@pytest.mark.parametrize("name", FILES)
def test_two_halves_of_a_character_in_two_rows_are_not_one(name, tmp_path):
    text = FILES[name][0]
    line = text.splitlines(keepends=True)[FILES[name][1] - 1]
    path = tmp_path / name
    path.write_bytes(text.replace(line, line % b"K\xc3" + line % b"\xb6ln"))

    stream = read(path, on_error="skip")

    assert len(digest(stream)) == 2
    assert stream.skipped == 2


@pytest.mark.parametrize("size", [5, 20])
@pytest.mark.parametrize("name", FILES)
def test_where_chunks_end_does_not_matter(name, size, tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK", size)
    monkeypatch.setattr(csv, "PIECE", size)
    path = written(tmp_path, name, LATIN)

    stream = read(path, on_error="skip")

    assert (len(digest(stream)), stream.skipped) == (2, 1)
    with pytest.raises(DataError, match=SAVE_AS_UTF8):
        list(read(path))


def test_a_header_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"label,%s\na,1\n" % LATIN)

    for on_error in ("raise", "skip"):
        with pytest.raises(DataError, match=rf"t\.csv:1: found {NOT_UTF8}; {SAVE_AS_UTF8}"):
            list(read(path, on_error=on_error))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["t.csv", "t.svm", "t.vw", "t.jsonl"])
def test_utf16_text_has_a_line_of_its_own(name, encoding, tmp_path):
    path = tmp_path / name
    path.write_bytes("\ufefflabel,a\n1,2\n".encode(encoding))

    with pytest.raises(DataError, match=rf"{name}: holds UTF-16 text; save it as UTF-8"):
        list(read(path))


def test_the_kernel_says_what_python_says():
    rng = random.Random(7)
    edges = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE]
    edges += [0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]
    texts = [bytes(rng.choices(edges, k=rng.randint(0, 6))) for _ in range(4000)]
    texts += ["aä€😀\ud7ff\ue000\uffff\U0010ffff".encode() * 20, b"x" * 70 + b"\xc3", b"\xf0\x9f\x98" + b"y" * 70]

    for text in texts:
        data = np.frombuffer(b"\xc3" + text + b"\x80", np.uint8)
        try:
            sound = bool(text.decode() or True)
        except UnicodeDecodeError:
            sound = False
        assert is_utf8(data, 1, 1 + len(text)) == sound, text


def test_what_is_before_the_first_odd_line_is_kept_as_it_lies():
    data = np.frombuffer(b"a\n\xc3\xa4\nb\xe4\nc\n", np.uint8)

    found = checked_text(data, 0, len(data), Options())

    assert found.data is data
    assert (found.stop, found.lines) == (5, 2)
    assert found.problem is not None
    assert (found.problem.line, found.problem.column) == (2, 2)
    assert [first for _, first, _ in lines_not_utf8(data, 0, len(data))] == [5]


def test_labels_of_bytes_are_told_apart_or_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"label": [b"K\xf6ln", b"K\xe4ln"], "a": [1, 2]}), path)

    with pytest.raises(DataError, match=r"row 1, column 'label': found b'K.*ln'; expected text in UTF-8"):
        list(read(path))


def test_lines_of_a_corpus_that_are_not_utf8_are_refused(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"a b\nK\xc3\xb6ln\nK\xf6ln\n")
    found = []

    with closing(Source(path)) as source, pytest.raises(DataError, match=r"corpus\.txt:3:2: found .*; save the file"):
        found.extend(lines_of(source))

    assert found == [["a b", "Köln"]]


def test_a_byte_order_mark_is_taken_off_at_the_beginning_of_a_file_alone(tmp_path):
    rows = "\ufeffx,1\nz,0\n"
    texts = {"plain": rows + "y,0\n", "quoted": rows + 'a"b,0\n', "marked": "\ufeffw,label\n" + rows + 'a"b,0\n'}
    found = {}
    for name, text in texts.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(text if name == "marked" else "w,label\n" + text)
        block = next(read(path, categorical="w"))
        found[name] = block.indices[: int(block.offsets[2])].tolist()

    assert found["plain"] == found["quoted"] == found["marked"]
    assert found["plain"][0] == feature_id("w=\ufeffx")
