"""`--class-weight` on the command line: given or balanced, kept in the file, agreed with when going on, refused."""

import re

import pytest

from tests.printed import titles

ROWS = [f"{'yes' if k % 9 == 0 else 'no'},{k % 7},{(k * k) % 5}\n" for k in range(600)]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("label,a,b\n" + "".join(ROWS))
    return path


def weighted(path, tmp_path, weight):
    """The table with a column of importances."""
    out = tmp_path / "weighted.csv"
    lines = [f"{row.rstrip()},{weight if row.startswith('yes') else 1}\n" for row in ROWS]
    out.write_text("label,a,b,w\n" + "".join(lines))
    return out


@pytest.mark.parametrize("flags", [["yes=5"], ["yes=5,no=1"], ["yes=5", "no=1"]])
def test_a_weight_is_a_column_of_importances_however_it_is_written(ouzel, table, tmp_path, flags):
    given = [part for flag in flags for part in ("--class-weight", flag)]
    ouzel("train", table, "--learner", "ogd", "--model", tmp_path / "m", *given)
    ouzel("train", weighted(table, tmp_path, 5), "--weight", "w", "--learner", "ogd", "--model", tmp_path / "n")

    one, other = (ouzel("top", tmp_path / name, "--json").json for name in ("m", "n"))
    assert one == other


def test_figures_of_a_rare_class_are_shown_and_are_scikit_learns(ouzel, table, tmp_path):
    from sklearn.metrics import precision_recall_fscore_support

    table.write_text("label,a,b\n" + "".join(ROWS).replace("no,3,", "yes,3,", 2))
    ran = ouzel("train", table, "--learner", "ogd", "--class-weight", "balanced", "--json").json
    (good, missed), (alarms, hits) = ran["confusion"][::-1] if ran["rare_class"] == "no" else ran["confusion"]
    truth = [0] * (good + missed) + [1] * (alarms + hits)
    said = [0] * good + [1] * missed + [0] * alarms + [1] * hits
    precision, recall, f1, _ = precision_recall_fscore_support(truth, said, average="binary")

    assert ran["rare_class"] == "yes"
    assert ran["rare_share"] == pytest.approx((alarms + hits) / 600)
    assert (ran["precision"], ran["recall"], ran["f1"]) == pytest.approx((precision, recall, f1))
    assert 0.0 < ran["average_precision"] < 1.0
    assert ran["average_precision_error"] < 0.2


def test_the_lines_of_a_rare_class_name_it(ouzel, tmp_path):
    path = tmp_path / "rare.csv"
    path.write_text("label,a\n" + "".join(f"{'late' if k % 20 == 0 else 'ok'},{k % 20}\n" for k in range(400)))
    shown = ouzel("train", path, "--learner", "adagrad", "--top", 0, "--model", tmp_path / "m").out
    tested = ouzel("test", tmp_path / "m", path).out
    compared = ouzel("compare", path, "--learners", "ogd,adagrad").out

    assert re.search(r"^  class late +F1 \S+ .*recall \S+ +average precision \S+$", shown, re.MULTILINE)
    assert all(f"{name} of late" in tested for name in ("average precision", "precision", "recall", "F1"))
    assert {"average", "precision", "F1"} <= titles(compared)
    assert "average precision and F1 of the rare class, late" in compared


def test_a_model_goes_on_with_its_weights_and_refuses_others(ouzel, table, tmp_path):
    out, flags = tmp_path / "m", ["--class-weight", "balanced"]
    ouzel("train", table, "--learner", "adagrad", "--model", out, *flags)

    again = ouzel("train", table, "--resume", out, "--relearn", "--model", tmp_path / "n")
    same = ouzel("train", table, "--resume", out, "--relearn", "--model", tmp_path / "o", *flags)
    other = ouzel("train", table, "--resume", out, "--relearn", "--class-weight", "yes=2")

    assert again.status == same.status == 0
    assert (tmp_path / "n").read_bytes() == (tmp_path / "o").read_bytes()
    assert other.status == 2
    assert "--class-weight yes=2 contradicts" in " ".join(other.err.split())
    assert "trained with --class-weight balanced" in " ".join(other.err.split())
    assert re.search("options +class_weight=balanced", ouzel("info", out).out)


def test_rounds_of_workers_have_the_weights_of_one_whatever_their_number(ouzel, table, tmp_path):
    for workers in (1, 2):
        flags = ["--class-weight", "balanced", "--workers", workers, "--merge-every", 40, "--shards", 3]
        ran = ouzel("train", table, "--learner", "adagrad", "--model", tmp_path / f"m{workers}", *flags)
        assert ran.status == 0

    assert (tmp_path / "m1").read_bytes() == (tmp_path / "m2").read_bytes()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["yes"], "--class-weight takes CLASS=WEIGHT, such as yes=5,no=1, or balanced; got 'yes'"),
        (["yes=x"], "--class-weight takes CLASS=WEIGHT, such as yes=5,no=1, or balanced; got 'yes=x'"),
        (["balanced", "yes=2"], "--class-weight takes CLASS=WEIGHT, such as yes=5,no=1, or balanced; got 'balanced'"),
        (["yes=2", "yes=3"], "--class-weight gives two weights to the class 'yes'; leave one out"),
        (["yes=-1"], "--class-weight of 'yes' must be a number from 0 to 1e9; got -1.0"),
        (["yes=nan"], "--class-weight of 'yes' must be a number from 0 to 1e9; got nan"),
    ],
)
def test_what_is_no_weight_is_refused_in_one_line(ouzel, table, flags, said):
    ran = ouzel("train", table, *(part for flag in flags for part in ("--class-weight", flag)))

    assert ran.status == 2
    assert ran.err.strip() == f"ouzel: {said}"


def test_numbers_and_rankings_are_refused_and_a_class_that_never_occurs_is_reported(ouzel, table):
    balanced = ["--learner", "ogd", "--class-weight", "balanced"]
    numbers = ouzel("train", table, "--loss", "squared", "--label", "a", *balanced)
    ranking = ouzel("train", table, "--task", "ranking", "--label", "a", "--group", "b", *balanced)
    never = ouzel("train", table, "--learner", "ogd", "--class-weight", "maybe=2")

    for ran in (numbers, ranking):
        assert ran.status == 2
        assert "has no classes; leave out --class-weight balanced" in ran.err
    assert "warning: class_weight: no example is of the class 'maybe'; the classes are" in " ".join(never.out.split())
