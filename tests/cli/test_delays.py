"""`--delay` of `train` and `compare`: labels that come some examples, or some time, late."""

import json

from ouzel.cli.app import run


def test_labels_are_late_by_the_times_of_rows(capsys, tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"2024-01-{1 + k // 24:02}T{k % 24:02}:00,{k % 7},{'ab'[k // 60 % 2]}\n" for k in range(480)]
    path.write_text("hour,x,y\n" + "".join(rows))
    errors = {}
    for delay in ("0", "1h", "2d", "48"):
        given = ["train", str(path), "--label", "y", "--id", "hour", "--learner", "pa1", "--json", "--delay", delay]
        assert run(given) == 0
        errors[delay] = json.loads(capsys.readouterr().out)["error_rate"]
    assert errors["0"] <= errors["1h"] < errors["2d"]
    for command in ("train", "compare"):
        assert run([command, str(path), "--label", "y", "--delay", "1y"]) != 0
        assert "delay is a number of examples, or a time" in capsys.readouterr().err
        assert run([command, str(path), "--label", "y", "--delay", "1d"]) != 0
        assert "name its column with --id COLUMN" in capsys.readouterr().err


def test_late_labels_go_with_intervals_and_recalibration(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{k % 7},{'abc'[k % 3]}\n" for k in range(300)))
    given = ["--label", "y", "--learner", "adagrad", "--interval", ".9", "--calibrate", "--json"]
    assert run(["train", str(path), *given, "--delay", "5"]) == 0
    (level,) = json.loads(capsys.readouterr().out)["intervals"]
    assert 0.8 < level["coverage"] <= 1.0
