"""Tables of comparisons: marks that are earned, files that other programs read, ranks over several files."""

import csv

import numpy as np
import pytest
from scipy import stats

from ouzel.comparison.grid import Candidate
from ouzel.comparison.results import table_of_files, table_of_orders
from ouzel.comparison.shuffles import Summary
from ouzel.comparison.significance import against_best, critical_difference, mean_ranks
from ouzel.comparison.tables import write_table
from ouzel.model.tasks.classification import OneAgainstRest
from ouzel.terms.losses import Logistic


def summary(name, errors, weight=100.0):
    last = np.array(errors)[:, None]
    task = OneAgainstRest(Logistic())
    return Summary(Candidate(name, None, None, None, {}), np.array([100]), last * weight, last, last, weight, task)


def test_p_values_are_those_of_a_paired_t_test_and_holms_correction():
    errors = np.random.default_rng(3).normal([[0.10], [0.12], [0.105]], 0.01, (3, 12))

    found = against_best(errors)

    raw = [stats.ttest_rel(errors[k], errors[0]).pvalue for k in (1, 2)]
    assert found[0] == 1.0
    assert found[1] == pytest.approx(2 * raw[0])
    assert found[2] == pytest.approx(max(2 * raw[0], raw[1]))


def test_a_star_is_given_only_to_one_better_than_all_others_for_certain():
    clear = table_of_orders([summary("a", [0.1, 0.11, 0.12]), summary("b", [0.2, 0.22, 0.21])])
    close = table_of_orders([summary("a", [0.1, 0.2, 0.12]), summary("b", [0.2, 0.11, 0.14])])

    assert [row[1][-1] for row in clear.cells] == ["*", "0"]
    assert "better than every other" in clear.note
    assert [row[1][-1] for row in close.cells] == ["=", "="]
    assert "not worse for certain" in close.note


def test_spreads_are_by_one_less_than_the_orders():
    found = summary("a", [0.1, 0.2, 0.3])

    assert found.row()["error"] == pytest.approx((0.2, 0.1))
    assert found.to_json()["error"]["values"] == pytest.approx([0.1, 0.2, 0.3])
    assert summary("a", [0.1]).row()["error"][1] == 0.0


@pytest.mark.parametrize("ending", [".csv", ".md", ".tex"])
def test_tables_are_written_by_their_ending(tmp_path, ending):
    path = tmp_path / f"t{ending}"

    write_table(table_of_orders([summary("a_b", [0.1, 0.11]), summary("c", [0.2, 0.22])]), str(path))

    text = path.read_text()
    if ending == ".csv":
        rows = list(csv.DictReader(text.splitlines()))
        assert [row["learner"] for row in rows] == ["a_b", "c"]
        assert float(rows[0]["error"]) == pytest.approx(0.105)
        assert float(rows[0]["error_sd"]) == pytest.approx(np.std([0.1, 0.11], ddof=1))
    elif ending == ".md":
        assert text.startswith("| learner | error rate | updates | seconds |\n| --- | ---: |")
    else:
        assert r"a\_b & \textbf{0.1050 $\pm$ 0.0071}" in text
        assert text.count(r"\\") == 3


def test_ranks_over_files_and_their_critical_difference_are_demsars():
    errors = {"x": {"a": 0.1, "b": 0.2, "c": 0.3}, "y": {"a": 0.2, "b": 0.1, "c": 0.3, "d": 0.0}}

    table = table_of_files(errors)

    assert [row[0] for row in table.cells] == ["a", "b", "c"]  # d has no figure of x
    assert [row[-1] for row in table.cells] == ["1.50", "1.50", "3.00"]
    assert mean_ranks(np.array([[1.0, 1.0], [1.0, 2.0]])).tolist() == [1.25, 1.75]
    assert critical_difference(5, 30) == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 30)), rel=1e-3)  # his table 5
