"""`ouzel convert` as people run it."""

import json

import pytest


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A small table in the present folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("city,price,y\n" + "Rome,1.5,a\nBonn,2,b\nRome,inf,b\n" * 50)


def test_a_converted_file_trains_the_same_model(ouzel, table):
    options = ["--label", "y", "--numeric", "price", "--on-error", "skip", "--bits", "12"]
    converted = ouzel("convert", "t.csv", "t.arrow", *options)
    straight = ouzel("train", "t.csv", *options, "--json")
    again = ouzel("train", "t.arrow", "--bits", "12", "--json")

    assert converted.out.startswith("100 examples written to t.arrow (")
    assert converted.out.endswith(" bytes), 50 bad lines left out\n")
    first, second = (json.loads(ran.out) for ran in (straight, again))
    assert (first["error_rate"], first["mean_loss"]) == (second["error_rate"], second["mean_loss"])


def test_json_says_what_was_written(ouzel, table, tmp_path):
    ran = ouzel(
        "convert", "t.csv", "t.parquet", "--label", "y", "--on-error", "skip", "--compression", "zstd", "--json"
    )

    said = json.loads(ran.out)
    assert (said["examples"], said["skipped"], said["output"]) == (100, 50, "t.parquet")
    assert said["bytes"] == (tmp_path / "t.parquet").stat().st_size


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["t.csv"], "give the files to read, and behind them the one to write"),
        (["t.csv", "t.csv"], "the ending of a file's name says what to convert to"),
        (["t.csv", "nowhere/t.arrow"], "there is no folder"),
        (["missing.csv", "t.arrow"], "there is no such file"),
    ],
)
def test_what_cannot_be_done_is_one_line(ouzel, table, arguments, said):
    ran = ouzel("convert", *arguments)

    assert ran.status == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1
