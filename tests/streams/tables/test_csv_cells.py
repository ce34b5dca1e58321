"""Cells of CSV text that is written plainly are those that PyArrow's parser finds, however the text is cut."""

import io
from contextlib import closing
from pathlib import Path

import pyarrow
import pyarrow.csv
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ouzel
from ouzel.streams.formats import csv
from ouzel.streams.formats.catalogue import find
from ouzel.streams.formats.csv import CsvTokenizer
from ouzel.streams.options import Options
from ouzel.streams.sources.source import Source
from ouzel.streams.tables.arrow_types import encoded
from ouzel.streams.tables.csv_cells import NULLS, SkippedRows, as_arrow
from tests.streams.tables.test_tables import examples, wrote

PLAIN = ["", "a", "1", "-1.5", " b ", "ü", "NA", "1.#IND", "1.5", "nano", "x" * 16, "y" * 17, "n/a"]
QUOTED = ["", "a", "a,b", "a\nb", 'a ""b""', "\r\n", "é" + "x" * 40, "null", "1.#QNAN"]
CELLS = st.sampled_from([*PLAIN, *(f'"{cell}"' for cell in QUOTED)])
FALLBACK = st.sampled_from(['b"c', '"a"b', "a\rb", 'c""', "a,b", '"', "\0"])
ENDS = st.sampled_from(["\n"] * 8 + ["\r\n"] * 3 + ["\n\n", "\r\n\r\n"])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS, ENDS), max_size=30)


def by_arrow(text: str, names: list[str]) -> pyarrow.Table:
    kinds = dict.fromkeys(names, pyarrow.large_string())
    table = pyarrow.csv.read_csv(
        io.BytesIO(text.encode()),
        pyarrow.csv.ReadOptions(use_threads=False, column_names=names),
        pyarrow.csv.ParseOptions(newlines_in_values=True, invalid_row_handler=lambda row: "skip"),
        pyarrow.csv.ConvertOptions(column_types=kinds, strings_can_be_null=True),
    )
    return table.combine_chunks()


def by_ouzel(path: Path, text: str, names: list[str]) -> pyarrow.Table:
    path.write_bytes((",".join(names) + "\n" + text).encode())
    with closing(Source(str(path))) as source:
        batches = csv.delimited_batches(source, Options(on_error="skip"), find("csv"), lambda rows: None, SkippedRows())
        return pyarrow.Table.from_batches(map(as_arrow, batches)).combine_chunks()


@settings(deadline=None, max_examples=200)
@given(rows=ROWS, odd=st.none() | FALLBACK, piece=st.sampled_from([20, 60, 1 << 20]), ended=st.booleans())
@example(rows=[("1", "a", "b", "\n")], odd='"', piece=20, ended=False)
def test_cells_are_those_of_pyarrow(tmp_path_factory, rows, odd, piece, ended):
    text = "".join(f"{a},{b},{c}{end}" for a, b, c, end in [("1", "2", "3", "\n"), *rows])
    text += "" if odd is None else f"{odd},1,2\n" + "3,4,5\n" * 3
    text = text if ended else text.rstrip("\r\n")
    names = ["x", "y", "z"]
    expected = by_arrow(text, names)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv, "PIECE", piece)
        found = by_ouzel(tmp_path_factory.mktemp("t") / "t.csv", text, names)

    assert found.equals(expected)


def test_words_for_nothing_are_null_quoted_or_not():
    words = [word.decode() for word in NULLS] + ["", "nul", "1.#INDx", "-", "1"]
    text = "".join(f'{word},"{word}"\n' for word in words)

    rows, end = CsvTokenizer(["a", "b"], ",").tokenize(text.encode())
    batch = rows.to_arrow()

    assert end == len(text)
    assert batch.column(0).is_null().to_pylist() == [True] * (len(NULLS) + 1) + [False] * 4
    assert batch.column(1).equals(batch.column(0))


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize(
    "cells", [["1", "0", "-1"], ["", "yes", "NA", "no", "a\0", "a", "é"], ["eight by", "eight", "null"], ["NULL"]]
)
def test_few_short_cells_are_numbered_as_pyarrow_numbers_them(cells, quote):
    rows = "".join(f"{quote}{cell}{quote},x\n" for cell in cells * 3)

    tokenize, _ = CsvTokenizer(["label", "x"], ",").tokenize(rows.encode())

    codes, known = tokenize.encoded("label")
    expected, cells_expected = encoded(tokenize.column("label"))
    assert (codes.tolist(), known) == (expected.tolist(), cells_expected)


@pytest.mark.parametrize("cells", [["nine byte"], [str(k) for k in range(65)]])
def test_others_are_left(cells):
    tokenize, _ = CsvTokenizer(["label"], ",").tokenize("".join(f"{cell}\n" for cell in cells).encode())

    assert tokenize.encoded("label") is None


@pytest.mark.parametrize("text", ["1,2,3\n", "1\n", 'a"b",c\n', '"a"b,c\n', "a\rb,c\n", "a,b\rc\n", '"a"b"c",d\n'])
def test_what_is_not_written_plainly_is_left(text):
    assert CsvTokenizer(["a", "b"], ",").tokenize(text.encode()) is None


def test_rows_behind_a_quotation_that_does_not_end_are_left():
    text = b'1,"a\nb"\n2,"c\n'

    batch, end = CsvTokenizer(["a", "b"], ",").tokenize(text)

    assert (batch.num_rows, text[end:]) == (1, b'2,"c\n')
    assert CsvTokenizer(["a", "b"], ",").tokenize(text.replace(b'"c', b'5" pipe')) is None
    assert CsvTokenizer(["a", "b"], ",").tokenize(text + b"d" * 10 + b"\n") is None


@pytest.mark.parametrize("text", [b"1\n0\n1\xe2", b"1\n0\xff\n1\xe2\x82", b"1\n0\n1\xe2\n"])
def test_a_letter_that_is_cut_short_is_part_of_its_row(tmp_path, monkeypatch, text):
    path = wrote(tmp_path, "t.csv", b"y\n" + text)
    found, error, _ = examples(path)
    skipping = examples(path, on_error="skip")
    monkeypatch.setattr(csv, "can_tokenize", lambda delimiter: False)

    assert (found, str(error)) == (examples(path)[0], str(examples(path)[1]))
    assert "bytes that are not UTF-8" in str(error)
    assert skipping == examples(path, on_error="skip")
    assert skipping[2] == text.count(b"\xe2") + text.count(b"\xff")


def test_what_a_column_holds_does_not_go_by_a_mark_within_a_cell(tmp_path):
    path = wrote(tmp_path, "t.csv", 'y,size\n1,7\n0,5" pipe\n1,abc\n0,def\n')

    with ouzel.read(path) as stream:
        values = [block.values.tolist() for block in stream]

    assert values == [[1.0] * 4]


def test_uneven_rows_far_on_are_told_by_their_number(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "PIECE", 100)
    path = wrote(tmp_path, "t.csv", "y,x\n" + "1,2\n" * 1000 + '0,"3\n4"\n1,2,3\n0,4\n')

    found, error, _ = examples(path)
    _, none, skipped = examples(path, on_error="skip")

    assert len(found) == 1001
    assert "row 1003: found 3 cells" in str(error)
    assert (none, skipped) == (None, 1)


def test_models_are_the_same_however_text_is_cut(tmp_path, monkeypatch):
    rows = "".join(f'{k % 2},{k * 0.37},"w{k % 7}","a\n{k % 3}"\n' for k in range(500))
    path = wrote(tmp_path, "t.csv", "label,x,word,two\n" + rows)

    def digest(piece):
        monkeypatch.setattr(csv, "PIECE", piece)
        model = ouzel.AdaGradClassifier()
        with ouzel.read(path) as stream:
            ouzel.progressive_validation(model, stream)
        model.save(tmp_path / "m.ouzel")
        return (tmp_path / "m.ouzel").read_bytes()

    assert digest(64) == digest(1 << 23)
