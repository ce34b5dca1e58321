"""Tables on narrow and wide screens."""

import io

import pytest
from rich.console import Console

from ouzel.cli.ui import tables
from ouzel.comparison.tables import Table

RESULTS = Table(
    ["learner", "best step", "damping", "error", "loss", "non-zeros", "seconds"],
    [["adagrad", "2^-2, 2^1", "1e-06", "0.5167*", "0.7099", "4", "0.001"], ["ogd", "2^-2", "-", "0.6", "1", "4", "9"]],
    [],
    "* the best",
)


@pytest.mark.parametrize(("width", "gone"), [(50, ["seconds", "non-zeros"]), (55, ["seconds"]), (60, []), (160, [])])
def test_what_a_narrow_screen_has_no_room_for_is_left_out_and_said(monkeypatch, width, gone):
    out = io.StringIO()
    monkeypatch.setattr(tables, "console_for_tables", lambda: Console(file=out, width=width))

    tables.show(RESULTS)

    lines = out.getvalue().splitlines()
    head = " ".join(lines[:2])  # a folded title takes two lines
    assert [title for title in RESULTS.titles if title.split("-")[0].split()[0] not in head] == gone[::-1]
    assert "2^-2," in out.getvalue()
    assert max(map(len, lines)) <= width
    assert lines[-1] == (f"left out on this narrow screen: {', '.join(gone)}" if gone else "* the best")


@pytest.mark.parametrize("width", [80, 1000], ids=["screen", "pipe"])
def test_a_table_wider_than_usual_screens_has_titles_of_several_lines(monkeypatch, width):
    out = io.StringIO()
    monkeypatch.setattr(tables, "console_for_tables", lambda: Console(file=out, width=width))
    titles = ["learner", "error rate", "above the best", "mean loss", "regret", "bound", "non-zeros", "seconds"]
    cells = ["adagrad", "0.1951*", "-0.0010 to 0.0049", "0.4359", "346.465", "8422.65", "103", "0.123"]

    tables.show(Table(titles, [cells], [], "* the best"))

    above, below, figures = out.getvalue().splitlines()[:3]
    assert above.split() == ["error", "mean", "non-"]
    assert " ".join(below.split()) == "learner rate above the best loss regret bound zeros seconds"
    assert figures.split() == " ".join(cells).split()
    assert max(map(len, (above, below, figures))) <= 80
    narrow = Table(titles[:4], [cells[:4]], [], "* the best")
    tables.show(narrow)
    assert "error rate" in out.getvalue()


def test_columns_that_have_no_room_stand_below_and_none_is_cut(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(tables, "console_for_tables", lambda: Console(file=out, width=45))
    titles = ["learner", "australian", "heart", "diabetes", "mean rank"]
    rows = [["arow", "0.1820 ± 0.0114=", "0.2678 ± 0.0164", "0.3441 ± 0.0218", "1.50"], ["ogd", "1", "2", "3", "4"]]

    tables.show(Table(titles, rows, [], "= the best"))

    lines = out.getvalue().splitlines()
    firsts = [line.split()[0] for line in lines if line.split()]
    assert firsts == ["learner", "arow", "ogd", "mean", "learner", "arow", "ogd", "="]  # a title on two lines
    assert all(cell in out.getvalue() for cell in [*titles[:-1], *rows[0]])
    assert max(map(len, lines)) <= 45


def test_models_that_have_no_room_beside_each_other_stand_below_with_the_names_of_figures():
    titles = ["first.ouzel", "second.ouzel", "third.ouzel", ""]
    rows = [["0.1", "0.2", "0.3", "error rate"], ["1", "2", "3", "calibration error"]]
    wide, narrow = io.StringIO(), io.StringIO()

    tables.show_named(Console(file=wide, width=80), titles, rows)
    tables.show_named(Console(file=narrow, width=46), titles, rows)

    assert len(wide.getvalue().splitlines()) == 3
    lines = [line.split() for line in narrow.getvalue().splitlines()]
    assert lines[0] == ["first.ouzel", "second.ouzel"]
    assert lines[4] == ["third.ouzel"]
    assert lines[2] == ["1", "2", "calibration", "error"]
    assert lines[6] == ["3", "calibration", "error"]


def test_every_command_says_which_label_it_takes_by_its_name(ouzel, tmp_path):
    table, model, plain = tmp_path / "t.csv", tmp_path / "m", tmp_path / "n.csv"
    table.write_text("a,class\n" + "".join(f"{k % 7},{'pq'[k % 2]}\n" for k in range(60)))
    plain.write_text("a,class\n" + "".join(f"{k % 7},{k % 2}\n" for k in range(60)))
    train = ["train", table, "--learner", "adagrad"]
    said = "label: class (by its name)"

    assert ouzel(*train, "--model", model).err.count(said) == 1
    for arguments in (
        ["train", table, "--resume", model, "--relearn"],
        [*train, "--workers", 0],
        ["compare", table, "--learners", "adagrad"],
        ["compare", table, "--learners", "adagrad", "--shuffles", 2],
        ["test", model, table, "--against", model],
        ["predict", model, table, "--output", tmp_path / "p.csv"],
        ["convert", table, tmp_path / "t.arrow"],
    ):
        ran = ouzel(*arguments)
        assert (ran.status, ran.err.count(said)) == (0, 1), arguments
    assert said not in ouzel(*train, "--label", "class").err
    assert "taken as" not in ouzel("train", plain, "--learner", "adagrad").err


def test_ratings_say_what_they_are_taken_for(ouzel, tmp_path):
    table, model = tmp_path / "t.csv", tmp_path / "m"
    table.write_text("a,stars\n" + "".join(f"{k % 7},{k % 5 + 1}\n" for k in range(60)))
    label = ["--label", "stars"]
    train = ["train", table, *label, "--learner", "adagrad"]
    said = "labels 1, 2, 3, 4, 5: taken as 5 classes; --task regression predicts numbers"

    assert ouzel(*train, "--model", model).err.count(said) == 1
    assert ouzel(*train, "--workers", 0).err.count(said) == 1
    assert ouzel("compare", table, *label, "--learners", "adagrad").err.count(said) == 1
    assert ouzel("test", model, table).err.count("taken as 5 classes; train with --task regression") == 1
    for arguments in ([*train, "--task", "regression"], [*train, "--loss", "logistic"], [*train[:-1], "arow"]):
        ran = ouzel(*arguments)
        assert (ran.status, ran.err.count("taken as")) == (0, 0)
