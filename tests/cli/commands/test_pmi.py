"""`ouzel pmi` lists pairs with their mutual information, from text and from logs, and says plainly what is wrong."""

import re

import numpy as np
import pytest


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("The prime minister said no.\nThe price rose, he said.\n" * 400)
    return path


def test_pairs_are_listed_with_their_information(ouzel, corpus, tmp_path):
    answer = ouzel("pmi", corpus, "--exact", "--window", "2", "--json").json
    shown = ouzel("pmi", corpus, "--exact", "--plot", tmp_path / "p.png", "--model", tmp_path / "m", "--top", "50")

    assert ("prime", "minister") in {(row["first"], row["second"]) for row in answer["pairs"]}
    assert answer["tokens"] == 4000
    assert all(abs(row["pmi"] - row["exact_pmi"]) < 0.7 for row in answer["pairs"] if row["count"])
    assert re.search(r"prime minister *$", shown.out, re.MULTILINE)
    assert "correlation of estimated and exact PMI" in shown.out
    assert (tmp_path / "p.png").stat().st_size > 5000
    assert "prime minister" in ouzel("top", tmp_path / "m", "-n", "500").out


def test_top_lists_the_pairs_that_pmi_printed(ouzel, tmp_path):
    random = np.random.default_rng(0)
    lines = [" ".join(f"a{k} b{k}" for k in random.integers(0, 300, 5)) for _ in range(4000)]
    (tmp_path / "text").write_text("\n".join(lines))
    budget = ["--budget", "200KB", "--heap-size", "200", "--min-count", "25"]

    answer = ouzel("pmi", tmp_path / "text", "--json", "--model", tmp_path / "m", *budget).json
    (listed,) = ouzel("top", tmp_path / "m", "--json").json
    shown = ouzel("pmi", tmp_path / "text", *budget).out

    assert len(listed["features"]) == 20
    assert listed["features"] == [[f"{row['first']} {row['second']}", row["pmi"]] for row in answer["pairs"]]
    assert not answer["complete"]
    assert re.search(r"none with a PMI above [\d.]+ is missing, below it some may be$", shown, re.MULTILINE)


def test_the_number_of_occurrences_from_which_pairs_are_shown_is_printed_and_recall_with_it(ouzel, corpus):
    shown = ouzel("pmi", corpus, "--exact", "--min-count", "300", "--top", "99")
    answer = ouzel("pmi", corpus, "--exact", "--min-count", "300", "--json").json

    assert "shown are pairs of 300 occurrences or more; none is missing" in shown.out
    assert re.search(r"^ *PMI +interval +counted +exact +count +pair", shown.out)
    assert re.search(r"true PMI from +pairs +recall\n +0 +\d+ +1.000", shown.out)
    assert answer["least_count"] == 300
    assert answer["complete"]
    assert answer["complete_above"] is None
    assert all(row["recall"] in (1.0, None) for row in answer["recall"])
    assert all(row["count_low"] == row["count"] == row["count_high"] >= 300 for row in answer["pairs"])


def test_tables_events_and_other_tokens_are_read(ouzel, corpus, tmp_path, monkeypatch):
    log = tmp_path / "log.csv"
    log.write_text("time,event\n" + "1,disk full\n2,write failed\n3,login\n" * 300)
    (tmp_path / "mine.py").write_text("def letters(text):\n    return [c for c in text if c.isalpha()]\n")
    monkeypatch.chdir(tmp_path)

    events = ouzel("pmi", log, "--events", "--column", "event", "--window", "2", "--json").json
    letters = ouzel("pmi", corpus, "--tokens", "mine:letters", "--json").json

    assert {(row["first"], row["second"]) for row in events["pairs"]} >= {("disk full", "write failed")}
    assert all(len(row["first"]) == 1 for row in letters["pairs"])


BAD = {
    "no such file": (["absent.txt"], "there is no such file"),
    "a narrow window": (["FILE", "--window", "1"], "window must be a whole number from 2 to 10,000; got 1"),
    "too small a budget": (["FILE", "--budget", "8KB"], "a budget of 8,192 bytes is too small"),
    "no tokens": (["FILE", "--tokens", "[a-z"], "regular expression"),
    "no such tokeniser": (["FILE", "--tokens", "absent_module:f"], "cannot import"),
    "a table without a column": (["TABLE"], "is a table; name the column"),
    "another column": (["TABLE", "--column", "text"], "has no column 'text'"),
    "numbers": (["SPARSE"], "is svmlight, which holds no text"),
    "nothing": (["EMPTY"], "there are no tokens in it"),
    "a binary file": (["BINARY"], "holds zero bytes"),
    "fewer than none": (["FILE", "--top", "-1"], "--top must be a whole number from 0"),
    "a step that is none": (["FILE", "--learning-rate", "x"], "--learning-rate must be a number from"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_line(ouzel, corpus, tmp_path, monkeypatch, kind):
    arguments, pattern = BAD[kind]
    names = {"TABLE": "a.csv", "SPARSE": "a.svm", "EMPTY": "empty.txt", "BINARY": "binary"}
    files = {"FILE": corpus} | {key: tmp_path / name for key, name in names.items()}
    files["TABLE"].write_text("a,b\n1,2\n")
    files["SPARSE"].write_text("+1 3:1\n")
    files["EMPTY"].write_text("\n")
    files["BINARY"].write_bytes(bytes(range(256)) * 10)
    monkeypatch.chdir(tmp_path)

    ran = ouzel("pmi", *[files.get(argument, argument) for argument in arguments])

    assert (ran.status, ran.out) == (2, "")
    assert re.search(pattern, ran.err)
    assert len([line for line in ran.err.splitlines() if "compiling" not in line]) == 1, ran.err
