"""`ouzel compare`, `ouzel reproduce` and `ouzel demo`."""

import csv
import sys

import numpy as np
import pytest

import reproduce
from ouzel import OuzelError, compare
from ouzel import read as ouzel_read
from ouzel.cli.experiments import experiment_names, load_experiments
from tests.printed import titles


def test_the_table_shows_the_best_of_each_learner(ouzel, small):
    ran = ouzel(
        "compare", small, "--learners", "ogd,adagrad", "--step-sizes", "2^-2:2^1", "--plot", small.with_name("p.svg")
    )

    assert ran.status == 0
    assert titles(ran.out) == {
        *("learner", "best", "step", "error", "rate"),
        *("above", "the", "mean", "loss", "non-", "zeros", "seconds"),
    }
    assert "the best of 8 candidates over 1,000 examples" in ran.out
    assert small.with_name("p.svg").stat().st_size > 1000


def test_regret_is_in_the_table_the_json_and_the_plot(ouzel, small):
    plot = small.with_name("regret.svg")
    ran = ouzel("compare", small, "--learners", "ogd,adagrad", "--regret", "--plot", plot)
    entries = ouzel("compare", small, "--learners", "ogd,adagrad", "--regret", "--json").json

    assert ran.status == 0
    assert {"regret", "bound"} <= titles(ran.out)
    assert "<!-- bound of adagrad -->" in plot.read_text()
    assert [point["examples"] for point in entries[0]["regret_curve"]] == [64, 128, 256, 512, 1000]
    assert entries[0]["regret_bound"] is None
    assert entries[1]["regret"] < entries[1]["regret_bound"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--shuffles", "3"), "leave out --shuffles 3"),
        (("--delay", "5"), "leave out --delay 5"),
        (("--learners", "river.linear_model:LogisticRegression"), "regret is that of a convex loss"),
    ],
)
def test_regret_of_other_comparisons_is_refused_in_a_line(ouzel, small, options, error):
    ran = ouzel("compare", small, "--regret", *options)

    assert ran.status != 0
    assert len(ran.err.splitlines()) == 1
    assert error in ran.err


def test_curves_of_numbers_are_of_their_loss(ouzel, small):
    plot = small.with_name("numbers.svg")

    assert ouzel("compare", small, "--learners", "ogd,adagrad", "--loss", "squared", "--plot", plot).status == 0

    assert "<!-- progressive loss -->" in plot.read_text()


def test_every_candidate_is_in_the_json(ouzel, small):
    entries = ouzel("compare", small, "--learners", "adagrad", "--l1", "1e-4:1e-1", "--json").json

    assert [entry["l1"] for entry in entries] == [1e-4, 1e-3, 1e-2, 1e-1]
    assert entries[0]["nonzeros"] >= entries[-1]["nonzeros"]
    alone = ouzel("train", small, "--learner", "adagrad", "--l1", "1e-3", "--json").json
    assert entries[1]["error_rate"] == alone["error_rate"]


def test_ties_are_shown(ouzel, tmp_path):
    path = tmp_path / "easy.svm"
    path.write_text("1 1:1\n-1 2:1\n" * 50)

    ran = ouzel("compare", path, "--learners", "adagrad", "--step-sizes", "2^0:2^2")

    assert "2^0, 2^1, 2^2" in ran.out


def test_recovery_is_measured_against_a_learner_without_a_budget(ouzel, small):
    entries = ouzel("compare", small, "--learners", "awm", "--budget", "1KB,2KB", "--top", "4", "--json").json

    assert [entry["budget"] for entry in entries] == [1024.0, 2048.0]
    assert all(entry["recovery_error"] >= 1.0 - 1e-9 for entry in entries)
    assert all(entry["bytes_used"] <= entry["budget"] for entry in entries)


def test_recovery_and_error_are_drawn_against_the_budget(ouzel, small):
    plot = small.with_name("budgets.svg")
    ran = ouzel("compare", small, "--learners", "awm,hashing", "--budget", "1KB,2KB", "--top", "4", "--plot", plot)

    assert ran.status == 0
    assert ran.out.splitlines()[0].split() == [
        "learner",
        "budget",
        "error",
        "rate",
        *("above", "the", "best"),
        "mean",
        "loss",
        "recovery",
        "seconds",
    ]
    assert "against unbounded (error 0." in ran.out
    assert max(map(len, ran.out.splitlines()[:-2])) <= 80
    assert plot.stat().st_size > 1000


def test_random_orders_have_a_mean_and_a_standard_deviation(ouzel, small):
    ran = ouzel(
        "compare", small, "--learners", "ogd,adagrad", "--shuffles", "3", "-j", "2", "--plot", small.with_name("s.png")
    )

    assert ran.status == 0
    assert "error rate" in ran.out
    assert "±" in ran.out
    again = [ouzel("compare", small, "--learners", "ogd", "--shuffles", "2", "--json").json[0]["error"] for _ in "ab"]
    assert again[0] == again[1]


def test_learners_that_cannot_hold_the_features_are_left_out(ouzel, tmp_path):
    path = tmp_path / "wide.svm"
    many = " ".join(f"{feature}:1" for feature in range(10, 4200))
    path.write_text(f"1 1:1\n2 2:1 {many}\n3 1:1 9:1\n" * 9)

    for orders in ([], ["--shuffles", "2"]):
        ran = ouzel("compare", path, "--learners", "arow,arow-full,sop-full", *orders)

        assert ran.status == 0
        assert "left out: arow-full, sop-full: a whole matrix over the features takes up to 4,096 of them" in ran.err
        assert [line.split()[0] for line in ran.out.splitlines()[1:2]] == ["arow"]
    alone = ouzel("compare", path, "--learners", "arow-full")
    assert alone.status == 2
    assert "takes up to 4,096 of them" in alone.err


def test_the_three_figures_have_one_legend_of_the_best_eight(tmp_path):
    from ouzel.comparison.grid import Candidate
    from ouzel.comparison.plots import draw_cumulative
    from ouzel.comparison.shuffles import Summary
    from ouzel.model.tasks.classification import OneAgainstRest
    from ouzel.terms.losses import Logistic

    grown = np.arange(1.0, 41.0)[None, :].repeat(3, axis=0)
    names = [f"learner-{k}" for k in range(30)]
    found = {
        n: Summary(
            Candidate(n, None, None, None, {}),
            grown[0],
            grown * (1 + k),
            grown,
            grown,
            40.0,
            OneAgainstRest(Logistic()),
        )
        for k, n in enumerate(names)
    }

    draw_cumulative(found, str(tmp_path / "figures.svg"), "some.svm")

    drawn = (tmp_path / "figures.svg").read_text()
    assert [drawn.count(f"<!-- {name} -->") for name in names] == [1] * 8 + [0] * 22
    assert "some.svm, 40 examples, 3 orders; the best 8 of 30" in drawn


def test_experiments_are_listed_and_run(ouzel, tmp_path, monkeypatch):
    ran = []

    class Known:
        summary = "a table"

        def load(self):
            return lambda data, output, quick, paths: ran.append((data.path.name, quick, paths))

    load_experiments()  # as the command does, whatever other tests have imported
    monkeypatch.setitem(sys.modules["reproduce"].EXPERIMENTS, "some-table", Known())
    assert "a table; no report" in ouzel("reproduce").out
    assert ouzel("reproduce", "some-table", "--output", tmp_path / "o", "--quick").status == 0
    assert ran == [("data", True, [])]


def test_help_and_completion_name_the_experiments(ouzel):
    said = " ".join(ouzel("reproduce", "--help").out.split()).replace("- ", "-")

    assert ", ".join(sorted(reproduce.EXPERIMENTS)) in said
    found = [name for name in experiment_names() if name.startswith("son-figure")]
    assert found == ["son-figure-1", "son-figure-2", "son-figure-4"]


@pytest.mark.long
def test_the_demo_says_who_wins(ouzel, tmp_path):
    ran = ouzel("demo", "--plot", tmp_path / "demo.png")

    assert ran.status == 0
    assert "wins" in ran.out
    assert (tmp_path / "demo.png").stat().st_size > 1000
    assert max(map(len, ran.out.splitlines())) <= 80 + len(str(tmp_path))


def test_an_entry_that_diverged_is_marked(ouzel, tmp_path):
    path = tmp_path / "numbers.svm"
    path.write_text("".join(f"{40 + k % 7} 1:{30 + k % 5} 2:{k % 11}\n" for k in range(300)))
    arguments = ["compare", path, "--learners", "ogd,auto", "--loss", "squared"]

    table = ouzel(*arguments).out

    marked = [line for line in table.splitlines() if "!" in line]
    assert [line.split()[0] for line in marked] == ["ogd", "!"]
    assert [bool(entry["warnings"]) for entry in ouzel(*arguments, "--json").json] == [True, False]


def test_in_python_as_on_the_command_line(ouzel, small):
    found = compare(["ogd", "adagrad"], small, step_sizes=[0.25, 0.5])
    said = ouzel("compare", small, "--learners", "ogd,adagrad", "--step-sizes", "0.25,0.5", "--json").json

    alike = [{name: value for name, value in row.items() if name != "seconds"} for row in said]
    assert [{name: value for name, value in row.items() if name != "seconds"} for row in found.to_json()] == alike
    assert found.best.learner.name in repr(found)
    assert found.to_pandas()["learner"].tolist() == ["ogd", "adagrad"]
    assert "<td>adagrad</td>" in found._repr_html_()


def test_orders_in_python(small, tmp_path):
    found = compare("ogd,adagrad", small, shuffles=3)

    found.write(str(tmp_path / "t.md"))
    found.plot(str(tmp_path / "t.svg"))

    assert [len(row["error"]["values"]) for row in found.to_json()] == [3, 3]
    assert "3 orders" in (tmp_path / "t.svg").read_text()
    with pytest.raises(OuzelError, match="random orders leave no model"):
        _ = found.best


def test_each_file_by_itself_in_python_is_what_the_command_says(ouzel, small, tmp_path):
    other = tmp_path / "other.svm"
    other.write_text(small.read_text().replace("1:", "7:"))
    told = ouzel("compare", small, other, "--per-file", "--learners", "ogd,pa1", "--shuffles", 3)

    found = compare("ogd,pa1", [small, other], each=True, shuffles=3)
    named = compare("ogd,pa1", {"small": ouzel_read(small), "other": ouzel_read(other)}, each=True, shuffles=3)
    found.plot(str(tmp_path / "r.svg"))

    assert list(found.files) == ["small", "other"]
    assert repr(named) == repr(found)
    assert repr(found).splitlines()[1].split() == told.out.rpartition("learner ")[2].splitlines()[1].split()
    assert found.to_pandas()["learner"].tolist() == ["ogd", "pa1"]
    assert [entry["file"] for entry in found.to_json()] == ["small", "other"]
    assert "critical difference" in (tmp_path / "r.svg").read_text()
    with pytest.raises(OuzelError, match="that of a file is"):
        _ = found.best
    with pytest.raises(OuzelError, match="each takes files, or blocks by their names"):
        compare("ogd", ouzel_read(small), each=True)


def test_each_file_has_a_column_and_learners_have_ranks(ouzel, small, tmp_path):
    other = tmp_path / "other.svm"
    other.write_text(small.read_text().replace("1:", "7:"))
    files = ["compare", small, other, "--per-file", "--learners", "ogd,adagrad,pa1"]

    ran = ouzel(*files, "--table", tmp_path / "t.csv", "--plot", tmp_path / "r.svg")

    assert ran.status == 0
    assert (tmp_path / "t.csv").read_text().splitlines()[0] == "learner,small,other,mean_rank"
    assert "critical difference" in (tmp_path / "r.svg").read_text()
    assert [entry["file"] for entry in ouzel(*files, "--json").json] == [str(small), str(other)]


def test_errors_of_each_file_over_random_orders_have_their_standard_deviations(ouzel, small, tmp_path):
    other = tmp_path / "other.svm"
    other.write_text(small.read_text().replace("1:", "7:"))
    flags = ["--per-file", "--learners", "ogd,pa1", "--shuffles", 3]

    found = ouzel("compare", small, other, *flags, "--table", tmp_path / "t.csv", "--json").json
    ran = ouzel("compare", small, other, *flags, "--table", tmp_path / "t.tex")

    error = found[1]["results"][0]["error"]
    row = next(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert (float(row["other"]), float(row["other_sd"])) == (error["mean"], error["sd"])
    assert rf"{error['mean']:.4f} $\pm$ {error['sd']:.4f}" in (tmp_path / "t.tex").read_text()
    assert "± is the standard deviation (n - 1)" in " ".join(ran.out.split("learner")[-1].split())


def test_a_star_of_a_file_is_earned_by_a_paired_test_over_its_orders():
    from ouzel.comparison.results import marked, table_of_files

    orders = {
        "clear": {"ogd": [0.30, 0.31, 0.33], "pa": [0.10, 0.11, 0.12], "pa1": [0.40, 0.42, 0.43]},
        "close": {"ogd": [0.20, 0.22, 0.24], "pa": [0.21, 0.23, 0.21], "pa1": [0.40, 0.42, 0.43]},
    }
    means = {file: {name: sum(values) / 3 for name, values in of.items()} for file, of in orders.items()}
    least = table_of_files(means, means)

    table = marked(least, orders)

    assert [row[1][-1] for row in table.cells] == ["3", "*", "7"]
    assert [row[2][-1] for row in table.cells] == ["=", "=", "7"]
    assert "a paired t-test, p < 0.05 by Holm's correction" in table.note
    assert [row[-1] for row in table.cells] == [row[-1] for row in least.cells]  # mean ranks
    one = {file: {name: values[:1] for name, values in of.items()} for file, of in orders.items()}
    assert marked(least, one) == marked(least, {"clear": {}, "close": {}}) == least


def test_a_table_of_files_says_that_steps_were_chosen_on_each(ouzel, small):
    flags = ["--per-file", "--shuffles", 2, "--learners", "ogd"]

    assert "of each learner the step" not in ouzel("compare", small, *flags).out
    assert "of each learner the step" in " ".join(ouzel("compare", small, *flags, "--step-sizes", "1,2").out.split())


def test_the_best_model_is_written_and_predicts(ouzel, small, tmp_path):
    ran = ouzel("compare", small, "--learners", "ogd,adagrad", "--save-best", tmp_path / "best")

    assert ran.status == 0
    assert "written to" in ran.err
    assert ouzel("predict", tmp_path / "best", small).status == 0


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--table", "t.txt"], "t.txt: a table's name ends in .csv, .md, .tex"),
        (["--save-best", "m", "--shuffles", 2], "--save-best is of one reading"),
        (["--save-best", "nowhere/m"], "nowhere"),
    ],
)
def test_what_could_not_be_written_is_refused_before_anything_is_read(ouzel, flags, said):
    ran = ouzel("compare", "no-such-file", *flags)

    assert ran.status == 2
    assert said in " ".join(ran.err.split())


def test_other_libraries_and_grids_of_any_setting(ouzel, small, tmp_path):
    learners = "ogd,sklearn.linear_model:SGDClassifier"

    ran = ouzel(
        "compare", small, "--learners", learners, "--grid", "learning_rate=0.1,0.5", "--plot", tmp_path / "g.svg"
    )

    assert ran.status == 0, ran.err
    lines = [line.split() for line in ran.out.splitlines()]
    last = next(place for place, line in enumerate(lines) if line[:1] == ["learner"])
    assert lines[last][:2] == ["learner", "learning_rate"]
    assert [row[:2] for row in lines[last + 1 : last + 4]] == [["ogd", "0.1"], ["ogd", "0.5"], ["SGDClassifier", "-"]]
    assert (tmp_path / "g.svg").exists()


def test_what_another_library_has_not_is_one_line(ouzel, small):
    for learners, said in (
        ("json:loads", "loads cannot be made without arguments"),
        ("sklearn.linear_model:Absent", "there is no learner 'Absent'"),
        ("absent_module:Any", "cannot import absent_module"),
    ):
        ran = ouzel("compare", small, "--learners", learners)
        assert ran.status == 2
        assert said in ran.err
    assert "--grid takes NAME=RANGE" in ouzel("compare", small, "--grid", "sketch_size").err


def test_learners_may_be_the_columns_of_a_table_of_files(ouzel, small, tmp_path):
    other = tmp_path / "other.svm"
    other.write_text(small.read_text().replace("1:", "7:"))
    files = ["compare", small, other, "--per-file", "--learners", "ogd,pa1"]
    for place in ("wide.csv", "tall.csv", "tall.tex"):
        ouzel(*files, "--table", tmp_path / place, *(["--columns-as", "learners"] if "tall" in place else []))
    wide, tall = (
        [line.split(",") for line in (tmp_path / name).read_text().split()] for name in ("wide.csv", "tall.csv")
    )

    assert tall[0] == ["file", "ogd", "pa1"]
    assert tall[1:3] == [[wide[0][k], wide[1][k], wide[2][k]] for k in (1, 2)]
    assert "file & ogd & pa1" in (tmp_path / "tall.tex").read_text()
    assert "give --per-file and --table" in ouzel("compare", small, "--columns-as", "learners").err


def test_a_learner_without_the_setting_that_varies_is_a_level_line(ouzel, small):
    found = compare("ogd,arow", small, step_sizes=[0.25, 0.5])
    axes = found.plot().axes[0]
    lines = {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}

    (low, first), (high, second) = lines["arow"]
    assert (low, high) == (0.25, 0.5)
    assert first == second == next(entry.figure for entry in found.entries if entry.candidate.learner == "arow")
