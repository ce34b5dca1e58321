"""The same examples from any format, compression and cut give the same figures to the last digit."""

import bz2
import gc
import gzip
import json
import lzma
import subprocess
import sys
import time
import warnings

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.errors import DataError
from ouzel.evaluation.progressive import progressive_validation
from ouzel.model.model import Model
from ouzel.streams.formats.catalogue import find_format
from ouzel.streams.read import read
from ouzel.streams.sources import chunks
from ouzel.streams.sources.source import Source

PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.ZstdCompressor().compress}


@pytest.fixture(scope="module")
def examples():
    """Text of 700 examples, and what a model makes of it."""
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(700):
        ids = np.sort(rng.choice(50, 5, replace=False))
        values = rng.normal(size=5).round(4)
        label = 1 if values.sum() > 0 else -1
        lines.append((label, " ".join(f"{k}:{v}" for k, v in zip(ids, values, strict=True))))
    return lines


def svmlight(lines):
    return "".join(f"{y} {x}\n" for y, x in lines).encode()


def figures(path, **options):
    report = progressive_validation(Model("adagrad"), read(path, **options))
    return report.examples, report.error_rate, report.mean_loss


@pytest.mark.parametrize("kind", [*PACK, "vw", "parquet", "two files", "tiny chunks"])
def test_every_format_gives_the_same_figures(examples, tmp_path, monkeypatch, kind):
    plain = tmp_path / "plain.svm"
    plain.write_bytes(svmlight(examples))
    other = tmp_path / f"other.svm.{kind}"
    if kind in PACK:
        other.write_bytes(PACK[kind](svmlight(examples)))
    elif kind == "vw":
        other = tmp_path / "other.vw"
        other.write_text("".join(f"{y} | {x}\n" for y, x in examples))
    elif kind == "parquet":
        other = tmp_path / "other.parquet"
        block = next(read(plain))
        cut = [slice(int(a), int(b)) for a, b in zip(block.offsets[:-1], block.offsets[1:], strict=True)]
        table = {
            "label": block.labels,
            "indices": pyarrow.array([block.indices[c] for c in cut], pyarrow.list_(pyarrow.uint32())),
            "values": pyarrow.array([block.values[c] for c in cut], pyarrow.list_(pyarrow.float32())),
        }
        pyarrow.parquet.write_table(pyarrow.table(table), other)
    elif kind == "two files":
        halves = [tmp_path / "a.svm", tmp_path / "b.svm"]
        halves[0].write_bytes(svmlight(examples[:301]))
        halves[1].write_bytes(svmlight(examples[301:]))
        other = halves
    expected = figures(plain)
    if kind == "tiny chunks":
        monkeypatch.setattr(chunks, "CHUNK", 100)
        other = plain

    assert figures(other) == expected


def test_standard_input_gives_the_same_figures_and_is_learnt_as_it_arrives(examples, tmp_path):
    plain = tmp_path / "plain.svm"
    plain.write_bytes(svmlight(examples))
    command = [sys.executable, "-m", "ouzel", "train", "-", "--learner", "adagrad", "--json"]
    found = json.loads(subprocess.run(command, input=svmlight(examples), capture_output=True, check=True).stdout)

    assert (found["examples"], found["error_rate"], found["mean_loss"]) == figures(plain)

    program = "import ouzel\nfor block in ouzel.read('-', format='svmlight'): print(block.rows, flush=True)"
    with subprocess.Popen([sys.executable, "-c", program], stdin=-1, stdout=-1) as process:
        for _ in range(2):
            process.stdin.write(b"1 1:1\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"1\n"
            time.sleep(0.05)
        process.stdin.close()


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "empty.svm", "there are no examples"),
        (b"# only\n\n", "remarks.svm", "there are no examples"),
        (gzip.compress(b"1 1:1\n" * 9999, mtime=0)[:-30], "cut.svm.gz", "the compressed file is damaged"),
        (lzma.compress(b"1 1:1\n" * 99)[:-30], "cut.svm.xz", "the compressed file is damaged"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "picture.svm", "found"),
        (b"what is this", "thing", "its format cannot be told"),
        (b"price\n1.5\n2.5\n", "column", "its format cannot be told"),
        ("1 1:1\n".encode("utf-16"), "wide.svm", "holds UTF-16 text; save it as UTF-8"),
    ],
)
def test_a_bad_file_has_one_clear_line(content, name, said, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(DataError, match=said) as caught:
        list(read(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ("1 3:0.5\n-1 7:1\n", "svmlight"),
        ("1\n-1\n", "svmlight"),
        ("spam\n ham\nspam 3:0.5\n", "svmlight"),
        ("1 qid:3 3:0.5\n", "svmlight"),
        ("1 | a b:2\n", "vw"),
        ("1\t| a b:2\n", "vw"),
        ("1 1.0 tag|space a\n", "vw"),
        ("y,x\n1,2\n", "csv"),
        ("at time:of day,y\n10:20,1\n", "csv"),
        ("y;x\n1;2\n", "csv"),
        ("y|x\n1|2\n", "csv"),
        ("y\tx|z\n1\t2\n", "tsv"),
        ('  {"y": 1}\n', "jsonl"),
        ('[{"y": 1}]\n', "jsonl"),
    ],
)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
def test_the_format_is_told_by_the_first_line(tmp_path, content, format, mark):
    path = tmp_path / "data"
    path.write_bytes(mark + content.encode())

    assert find_format(Source(path), None).name == format


@pytest.mark.parametrize("name", ["a.svm", "a.vw", "a.csv", "a.jsonl"])
def test_the_mark_of_utf_8_is_no_part_of_the_data(tmp_path, name):
    content = {"svm": "1 7:2\n", "vw": "1 | 7:2\n", "csv": "y,7\n1,2\n", "jsonl": '{"y": 1, "7": 2}\n'}
    path = tmp_path / name
    path.write_bytes(b"\xef\xbb\xbf" + content[path.suffix[1:]].encode())

    (block,) = read(path)

    assert (block.labels.tolist(), block.indices.tolist(), block.values.tolist()) == ([1.0], [7], [2.0])


def test_frames_of_zstd_that_hold_no_data_are_passed_over(tmp_path):
    path = tmp_path / "a.svm.zst"
    empty = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"
    path.write_bytes(empty + PACK["zst"](b"1 1:1\n") + empty + PACK["zst"](b"-1 2:1\n"))

    assert [label for block in read(path) for label in block.labels] == [1.0, -1.0]


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read(tmp_path / "nothing.svm")
    with pytest.raises(DataError, match="is a folder"):
        read(tmp_path)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "arrow"])
@given(data=st.one_of(st.binary(max_size=60), st.text('label,x\n0123.5nan"{}:', max_size=60).map(str.encode)))
@settings(max_examples=40)
def test_no_bytes_crash_a_table_reader_or_become_nan(suffix, data, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / f"x.{suffix}"
    path.write_bytes(data)
    try:
        for block in read(path):
            assert np.isfinite(block.values).all()
            assert not np.isinf(block.labels).any()
    except DataError as error:
        assert "\n" not in str(error)  # noqa: PT017 -- either outcome will do


def test_tables_become_features_by_column_and_word(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("label,price,city,7\nyes,2.5,Rome,1\nno,,Oslo,0\n")
    first = next(read(path))

    assert first.label_names == ["yes", "no"]
    assert first.nonzeros == 5  # price, city=Rome, 7; price=(missing), city=Oslo
    assert 7 in first.indices.tolist()


def test_a_stream_that_is_forgotten_closes_its_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("label,price\n" + "1,2.5\n" * 5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gc.freeze()  # what was there before need not be looked through
        for seen in 10 * (0, 1, 2):  # a generation decides the order in which what is forgotten ends
            stream = read(path)
            gc.collect(seen)
            next(stream)
            gc.collect(seen)
            del stream
            gc.collect()
        gc.unfreeze()

    assert not [warning for warning in caught if warning.category is ResourceWarning]


@pytest.mark.parametrize(
    ("name", "options", "examples", "features"),
    [
        ("a9a.svm.xz", {}, 32561, 123),
        ("mushrooms.svm.xz", {}, 8124, 112),
        ("mnist.t10k-images-idx3-ubyte.gz", {}, 10000, 784),
        ("connect-4.tsv.xz", {}, 67557, None),
        ("rcv1_topics_sample.svm.xz", {"label_positive": "15"}, 27613, 47236),
    ],
)
def test_data_sets_have_the_size_that_is_said_of_them(data, name, options, examples, features):
    rows = largest = 0
    for block in read(data(name), **options):
        rows += block.rows
        largest = max(largest, int(block.indices.max(initial=0)))

    assert rows == examples
    assert features is None or largest <= features
