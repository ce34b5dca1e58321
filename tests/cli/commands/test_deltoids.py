"""`ouzel deltoids` shows what one stream has and the other has not, and says plainly what is wrong."""

import re

import pytest


@pytest.fixture
def pair(tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("ip,port\n" + "10.0.0.1,80\n10.0.0.2,80\n" * 200)
    second.write_text("ip,port\n" + "10.0.0.3,80\n10.0.0.2,80\n" * 200)
    return first, second


def test_items_are_listed_with_their_ratios(ouzel, pair, tmp_path):
    answer = ouzel("deltoids", *pair, "--column", "ip", "--exact", "--json").json
    picture = tmp_path / "ratios.png"
    shown = ouzel("deltoids", *pair, "--column", "ip", "--compare", "--plot", picture, "--model", tmp_path / "m")

    assert {row["item"] for row in answer["items"][:2]} == {"10.0.0.1", "10.0.0.3"}
    assert answer["items"][0]["true_ratio"] in (pytest.approx(200), pytest.approx(1 / 200))
    assert answer["seen"] == [400, 400]
    assert answer["recall"][0] == {"ratio": 2.0, "items": 2, "awm": 1.0}
    assert re.search(r"10\.0\.0\.1 *$", shown.out, re.MULTILINE)
    assert "recall count-min x8" in shown.out
    assert picture.stat().st_size > 5000
    assert "10.0.0.1" in ouzel("top", tmp_path / "m").out


@pytest.mark.parametrize("exact", [[], ["--exact"]])
def test_the_ratio_of_an_item_that_is_absent_from_a_stream_is_a_bound(ouzel, pair, exact):
    shown = ouzel("deltoids", *pair, "--column", "ip", *exact).out
    rows = {line.split()[-1]: line for line in shown.splitlines() if "10.0.0" in line}

    for item, ratio in (("10.0.0.1", "≥ 200"), ("10.0.0.3", "≤ 1/200"), ("10.0.0.2", "1.00")):
        assert rows[item].strip().startswith(f"{ratio}  ")
        assert rows[item].count(ratio) == 1 + bool(exact)
    assert not re.search("[≤≥]", rows["10.0.0.2"])
    assert "≥ and ≤ mark items that one stream lacks" in shown


def test_nothing_is_said_of_bounds_where_both_streams_have_all_items(ouzel, pair):
    assert not re.search("[≤≥]", ouzel("deltoids", *pair, "--column", "port").out)


BAD = {
    "no such file": (["absent.csv", "FIRST", "--column", "ip"], "absent.csv: there is no such file"),
    "one file alone": (["FIRST"], "Missing argument 'SECOND'"),
    "no column": (
        ["FIRST", "SECOND"],
        "first.csv: is a table; name the column that holds the items with --column NAME",
    ),
    "another column": (["FIRST", "SECOND", "--column", "mac"], "has no column 'mac'; its columns are ip, port"),
    "half a pair of columns": (["FIRST", "SECOND", "--column", "ip+mac"], "has no column 'mac'"),
    "standard input twice": (["-", "-"], "standard input is one stream"),
    "too small a budget": (["FIRST", "SECOND", "--column", "ip", "--budget", "4"], "budget must be"),
    "a budget that is none": (["FIRST", "SECOND", "--column", "ip", "--budget", "much"], "budget must be a size"),
    "a step that is none": (
        ["FIRST", "SECOND", "--column", "ip", "--learning-rate", "x"],
        "--learning-rate .* got 'x'",
    ),
    "no such format": (["FIRST", "SECOND", "--format", "excel"], "format must be one of"),
    "a column of lines": (["FIRST", "SECOND", "--column", "ip", "--format", "svmlight"], "has no columns"),
    "nothing in one": (["FIRST", "EMPTY", "--column", "ip"], "empty.csv: there are no items in it"),
    "fewer than none": (["FIRST", "SECOND", "--column", "ip", "--top", "-1"], "--top must be a whole number from 0"),
    "a binary file": (["BINARY", "BINARY"], "zero bytes; expected lines of text"),
    "a plot of no kind": (["FIRST", "SECOND", "--column", "ip", "--plot", "x.xls"], "ends in .svg"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_line(ouzel, pair, tmp_path, monkeypatch, kind):
    arguments, pattern = BAD[kind]
    (tmp_path / "empty.csv").write_text("ip,port\n")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 10)
    files = {"FIRST": pair[0], "SECOND": pair[1], "EMPTY": tmp_path / "empty.csv", "BINARY": tmp_path / "binary"}
    monkeypatch.chdir(tmp_path)

    ran = ouzel("deltoids", *[files.get(argument, argument) for argument in arguments])

    assert (ran.status, ran.out) == (2, "")
    assert re.search(pattern, ran.err)
    assert len([line for line in ran.err.splitlines() if "compiling" not in line]) == 1, ran.err
