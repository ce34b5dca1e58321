"""`ouzel demo --write`: small data sets, real and simulated, from what is installed."""

import csv
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from ouzel.cli import simulated_text


def test_data_sets_are_those_of_scikit_learn_in_another_order(ouzel, tmp_path):
    ran = ouzel("demo", "--write", tmp_path / "data")

    assert ran.status == 0
    assert ran.out.count(" rows, ") == len(list((tmp_path / "data").iterdir()))
    header, *rows = csv.reader((tmp_path / "data" / "breast_cancer.csv").read_text().splitlines())
    data = load_breast_cancer()
    assert (header[0], header[-1]) == ("mean_radius", "diagnosis")
    found = sorted((row[-1], *map(float, row[:-1])) for row in rows)
    assert found == sorted((data.target_names[y], *x) for x, y in zip(data.data.tolist(), data.target, strict=True))
    assert len({row[-1] for row in rows[:20]}) == 2  # not sorted by class
    amounts = np.loadtxt(tmp_path / "data" / "diabetes.csv", delimiter=",", skiprows=1)
    assert sorted(amounts[:, -1]) == sorted(load_diabetes().target)


def test_what_is_written_is_the_same_every_time_and_is_learnt_as_the_last_line_says(ouzel, tmp_path):
    told = ouzel("demo", "--write", tmp_path / "once", "--json").json
    again = ouzel("demo", "--write", tmp_path / "again")

    for sample in told:
        path = tmp_path / "again" / sample["file"].rpartition("/")[2]
        assert path.read_bytes() == (tmp_path / "once" / path.name).read_bytes()
    _, _, next_ = again.out.rpartition("Next: ouzel ")
    report = ouzel(*next_.split(), "--learner", "ogd", "--standardize", "--json").json
    assert report["examples"] == 569
    assert report["error_rate"] < 0.1


def test_files_are_what_their_names_say_and_are_learnt(ouzel, tmp_path):
    written = ouzel("demo", "--write", tmp_path, "--json").json

    real = {Path(sample["file"]).name for sample in written if "simulated" not in sample["file"]}
    assert real == {"iris.csv", "wine.csv", "breast_cancer.csv", "digits.csv", "diabetes.csv"}
    assert sum(Path(sample["file"]).stat().st_size for sample in written) < 12e6
    for sample in written:
        if sample["label"] is None:
            continue
        named = ["--label", sample["label"]] if not sample["file"].endswith(".svm") else []
        report = ouzel("train", sample["file"], *named, "--learner", "ogd", "--standardize", "--json").json
        assert report["examples"] == sample["rows"]
        assert report["task"] == ("classification" if sample["classes"] else "regression")
        assert len(report.get("classes") or []) == len(sample["classes"] or [])
        assert report["features"] <= sample["columns"] or not sample["file"].endswith(".svm")


def test_simulated_sets_have_what_the_pages_say_of_them(ouzel, tmp_path):
    ouzel("demo", "--write", tmp_path)
    flows = [f"{tmp_path}/simulated_flows_{day}.csv" for day in ("monday", "tuesday")]
    most = ouzel("deltoids", *flows, "--column", "source+target", "--top", 2, "--json").json["items"]
    fraud = ["--label", "fraud", "--label-positive", "1", "--ignore", "amount"]
    risk = ouzel("explain", f"{tmp_path}/simulated_payments.csv", *fraud, "--json")
    pairs = ouzel("pmi", f"{tmp_path}/simulated_stories.tsv", "--column", "text", "--top", 4, "--json").json["pairs"]

    assert {item["item"] for item in most} == {
        "source=10.0.0.46 target=203.0.113.104",
        "source=10.0.0.12 target=192.0.2.7",
    }
    assert risk.json["attributes"][0]["attribute"] == "shop=shop77"
    phrases = {tuple(phrase.split()) for phrase in simulated_text.PHRASES.split("|")}
    assert {(pair["first"], pair["second"]) for pair in pairs} <= phrases


@pytest.mark.parametrize("place", ["taken", "taken/data"])
def test_a_folder_that_cannot_be_is_one_line(ouzel, tmp_path, place):
    (tmp_path / "taken").write_text("")

    ran = ouzel("demo", "--write", tmp_path / place)

    assert ran.status == 2
    assert "taken" in ran.err
    assert ran.err.count("\n") == 1
