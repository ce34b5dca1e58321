"""The record of what is read and learnt: a sample of it, and that it finds what changes."""

import doctest
import re

import pytest

import ouzel
from records import adapter, contents, figures, running, tables
from records.__main__ import TODAY

SAMPLE = "read/plain/*/usual/file"


def test_a_sample_of_cases_is_as_recorded(capsys):
    assert running.compare(TODAY, SAMPLE, most=5) == 0, capsys.readouterr().out


def test_a_record_that_was_just_written_has_no_differences(tmp_path):
    path = tmp_path / "r.json"

    assert running.write(path, SAMPLE, whole=False) == 0
    assert running.compare(path, SAMPLE, most=5) == 0


def test_every_format_has_cases():
    with pytest.raises(ouzel.OuzelError) as refused:
        list(ouzel.read(__file__, format="none"))
    formats = re.search(r"one of ([\w, ]+);", str(refused.value))[1].split(", ")

    assert len(formats) > 5
    of_services = {"records"}  # whose cases stand in tests/streams/formats/test_records.py, for no command writes one
    assert {*formats} - {*tables.TEXT, *tables.TABLES, "idx"} == of_services


@pytest.mark.parametrize("whole", [False, True])
def test_a_name_that_is_emitted_twice_is_found_with_its_case(whole, tmp_path, monkeypatch, capsys):
    path, names_of = tmp_path / "r.json", adapter.names_of
    running.write(path, "read/plain/csv/usual/file", whole)
    monkeypatch.setattr(adapter, "names_of", lambda block: names_of(block) + names_of(block)[:1])

    assert running.compare(path, "read/plain/csv/usual/file", most=5) == 1

    said = capsys.readouterr().out
    assert "read/plain/csv/usual/file\n    emitted: " in said
    assert "names: " not in said
    assert "1 read: emitted\n" in said
    assert running.compare(path, "read/plain/csv/usual/file", most=5, without=["emitted"]) == 0


def test_some_cases_are_written_anew_and_the_others_stay(tmp_path):
    path = tmp_path / "r.json"
    running.write(path, "read/plain/csv/usual/*", whole=False)
    before = running.Record.of(path)
    running.write(path, "read/plain/csv/usual/file", whole=False)

    assert running.Record.of(path) == before


def test_a_case_that_is_gone_is_a_difference(tmp_path, monkeypatch, capsys):
    path = tmp_path / "r.json"
    running.write(path, "read/plain/csv/usual/file", whole=False)
    monkeypatch.setattr(running, "chosen", lambda only: iter(()))

    assert running.compare(path, None, most=5) == 1
    assert "is in the record, and was not run" in capsys.readouterr().out


def test_a_difference_names_the_part_and_the_first_entry_with_and_without_the_texts():
    before = {"ids": ["1 2", "3", "4"], "values": ["0.5 1.0", "2.0", "1.0"], "said": ["skipped 0"]}
    now = {"ids": ["1 2", "3", "4"], "values": ["0.5 1.0", "2.5", "1.0"], "said": ["skipped 1"]}
    short = contents.shortened(before)

    assert contents.differences(short, before) == []
    assert contents.differences(short, now) == [
        "values: first in entry 1, now '2.5'",
        "said: was 'skipped 0', is 'skipped 1'",
    ]
    assert contents.differences(short, now, before)[0] == "values: first in entry 1: was '2.0', is '2.5'"


def test_examples_of_the_record_hold():
    assert doctest.testmod(contents).failed == 0


def test_two_checkouts_are_measured_in_turn_and_the_slower_one_is_called_so(monkeypatch, capsys):
    measured = []

    def seconds(python, name):
        measured.append(python)
        return 1.1 if python != "other" else 1.0

    monkeypatch.setattr(figures, "measured", seconds)
    assert figures.figures("other", 2, "start, s", None, False) == 1

    first, *rest = (python == "other" for python in measured)
    assert (first, *rest) == (False, True, False, True, True, False)  # those that compile, then in turn
    assert re.search(r"start, s +1\.1 +1 +1\.100  slower", capsys.readouterr().out)
