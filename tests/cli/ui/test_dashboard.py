"""`ouzel train --live`: one screen of figures, curve and weights."""

import io
import sys

import pytest
from rich.console import Console

from ouzel.cli.ui.dashboard import Dashboard
from ouzel.evaluation.progressive import Run
from ouzel.model.model import Model
from ouzel.streams.read import read


def run_over(path, **settings):
    run = Run(Model("ogd", **settings))
    for block in read(path):
        for start in range(0, block.rows, 100):
            run.learn(block.slice(start, min(start + 100, block.rows)))
    return run


def text_of(dashboard, run, width, height):
    console = Console(width=width, height=height, file=io.StringIO())
    console.print(dashboard.frame(run, width, height))
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 160])
@pytest.mark.parametrize("height", [12, 24, 50])
def test_a_frame_fits_the_terminal_and_says_how_it_goes(small, width, height):
    run = run_over(small)

    lines = text_of(Dashboard("small.svm"), run, width, height).rstrip("\n").splitlines()

    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    shown = "\n".join(lines)
    assert f"error rate {run.scores.error_rate:.4f} so far" in shown
    assert "1,000" in shown
    assert "error rate: so far, and lately" in shown
    assert ("most important features, for 1" in shown) == (width >= 110 or height > 12)


def test_numbers_have_a_curve_of_their_loss(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("sun,y\n" + "".join(f"{k % 7},{1.5 * (k % 7)}\n" for k in range(500)))

    shown = text_of(Dashboard("numbers"), run_over(path, task="regression"), 80, 24)

    assert "rmse" in shown
    assert "mean loss: so far, and lately" in shown


def test_weights_that_move_are_marked(small):
    dashboard, run = Dashboard("small"), run_over(small)
    dashboard.frame(run, 80, 24)
    state = run.model.states[0]
    run.model.states[0] = state._replace(weight=2.0 * state.weight)

    assert "▲" in text_of(dashboard, run, 80, 24)


def test_elsewhere_than_on_a_terminal_it_prints_lines(ouzel, small):
    ran = ouzel("train", small, "--live")

    assert ran.status == 0
    assert "since last" in ran.err
    assert "\x1b" not in ran.err


def test_on_a_terminal_the_last_state_stays(small, monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(Console, "is_terminal", True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run = run_over(small)
    with Dashboard("small.svm") as dashboard:
        dashboard.console.file = out
        dashboard.show(run)
        dashboard.finish(run)

    assert "most important features" in out.getvalue().rsplit("error rate", 1)[-1]


def test_it_does_not_go_with_rounds(ouzel, small):
    ran = ouzel("train", small, "--live", "--workers", 2)

    assert ran.status == 2
    assert "--live does not go with --workers" in ran.err


def test_the_dashboard_names_its_package(monkeypatch, tmp_path, ouzel):
    monkeypatch.setitem(sys.modules, "plotext", None)
    (tmp_path / "small.csv").write_text("x,label\n1,a\n2,b\n" * 20)

    ran = ouzel("train", tmp_path / "small.csv", "--live", "--learner", "perceptron")

    assert ran.status == 2
    assert '--live needs plotext: pip install "ouzel[plot]"' in ran.err
