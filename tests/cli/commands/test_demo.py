"""`ouzel demo --write`: small real data sets, from what is installed."""

import csv

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes


def test_data_sets_are_those_of_scikit_learn_in_another_order(ouzel, tmp_path):
    ran = ouzel("demo", "--write", tmp_path / "data")

    assert ran.status == 0
    assert ran.out.count(" rows, ") == len(list((tmp_path / "data").iterdir())) == 5
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


@pytest.mark.parametrize("place", ["taken", "taken/data"])
def test_a_folder_that_cannot_be_is_one_line(ouzel, tmp_path, place):
    (tmp_path / "taken").write_text("")

    ran = ouzel("demo", "--write", tmp_path / place)

    assert ran.status == 2
    assert "taken" in ran.err
    assert ran.err.count("\n") == 1
