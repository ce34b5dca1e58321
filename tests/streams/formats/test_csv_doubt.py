"""A line says where quotation marks, or the names of the columns once more, show that cells are not what was meant.

The cases are those of Pollock (Vitagliano et al., 2023, "Pollock: A Data Loading Benchmark", PVLDB 16) whose rows are
read with other cells than those of the clean file.
"""

import pytest

import ouzel

MARK = "has a quotation mark that is not around a cell"
AGAIN = "has the names of the columns again, and is read as any other row"
WIDE = "".join(f",c{k}" for k in range(998))
CASES = {
    "a stray mark at the end": ('a,b\n1,x\n2,y"\n3,z\n', 3, MARK),
    "a stray mark within": ('a,b\n1,5" pipe\n2,y\n', 2, MARK),
    "a separator missing after a quotation": ('a,b\n1,"x"y\n2,z\n', 2, MARK),
    "after rows of several lines": ('a,b\n1,"x\ny"\n2,"z"w\n', 4, MARK),
    "a second header": ("a,b\n1,x\na,b\n2,y\n", 3, AGAIN),
    "a second header in quotation marks": ('"a","b"\r\n1,x\r\n"a","b"\r\n2,y\r\n', 3, AGAIN),
    "a second header, one cell of it in quotation marks": ('a,b\n1,x\n"a",b\n2,y\n', 3, AGAIN),
    "a second table with its header": ("a,b\r\n1,x\r\na,b\r\n2,y\r\n3,z\r\n", 3, AGAIN),
    "a second table below an empty line": ("a,b\n1,x\n\na,b\n2,y\n3,z\n", 4, AGAIN),
    "a second header of a thousand columns": (f"a,b{WIDE}\n1,x{',1' * 998}\n" * 2, 3, AGAIN),
    "a second header at the end": ("a,b\n1,x\n2,y\na,b", 4, AGAIN),
}
SOUND = {
    "plain": "a,b\n1,x\n2,y\n",
    "quoted": 'a,b\n1,"x, y"\n2,"say ""hi"""\n3,""\n',
    "of several lines": 'a,b\r\n1,"x\r\ny"\r\n2,z\r\n',
    "with empty lines": 'a,b\n\n1,"x"\n\n2,z',
    "of one column": "label\nlabel\nother\n",
}


def remarks(path, text, **options):
    path.write_bytes(text.encode())
    stream = ouzel.read(path, label=None if "a" not in text[:2] else "a", **options)
    rows = sum(block.rows for block in stream)
    return rows, list(stream.remarks)


@pytest.mark.parametrize("case", CASES)
def test_a_row_whose_cells_are_doubtful_is_named(case, tmp_path):
    text, row, what = CASES[case]

    _, found = remarks(tmp_path / "t.csv", text)

    (line,) = [line for line in found if what in line]
    assert f"t.csv: row {row} {what}" in line


@pytest.mark.parametrize("case", SOUND)
def test_nothing_is_said_of_sound_rows(case, tmp_path):
    text = SOUND[case]
    options = {} if text.startswith("a") else {"unlabelled": True}

    _, found = remarks(tmp_path / "t.csv", text, **options)

    assert not [line for line in found if MARK in line or AGAIN in line]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_the_separator_of_the_file_counts(ending, tmp_path):
    text = 'a,b\n1,"x"y\n' if ending == "csv" else 'a\tb\n1\t"x"y\n'

    _, found = remarks(tmp_path / f"t.{ending}", text)

    assert any(MARK in line for line in found)
