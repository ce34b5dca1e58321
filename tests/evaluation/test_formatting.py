"""What a stream calls its features stands on one line of a screen, whatever letters it has."""

import io

from rich.console import Console

from ouzel.cli.app import answered
from ouzel.cli.ui.tables import show_named

NAME = "line\nbreak \x1b[31mred"
PRINTED = r"line\nbreak \x1b[31mred"


def test_control_characters_of_a_name_do_not_reach_the_screen(tmp_path, capsys):
    table, model = tmp_path / "t.csv", tmp_path / "m.ouzel"
    table.write_text("word,y\n" + "".join(f'"{(NAME, "plain")[k % 2]}",{"abcb"[k % 4]}\n' for k in range(30)))

    assert answered(["train", str(table), "--learner", "adagrad", "--model", str(model)]) == 0
    trained = capsys.readouterr().out
    assert answered(["top", str(model)]) == 0
    shown = capsys.readouterr().out
    assert answered(["explain", str(table), "--label", "y", "--label-positive", "a", "--min-support", "1"]) == 0
    explained = capsys.readouterr().out

    for text in (trained, shown, explained):
        assert f"word={PRINTED}" in text
        assert "\x1b" not in text
    assert answered(["top", str(model), "--json"]) == 0  # data have the name itself
    assert r"line\nbreak \u001b[31mred" in capsys.readouterr().out


def test_a_table_has_a_line_for_each_row():
    out = io.StringIO()

    show_named(Console(file=out, width=80), ["n", "name"], [["1", NAME], ["2", "naïve\N{NO-BREAK SPACE}b"]])

    lines = [line.rstrip() for line in out.getvalue().split("\n")]
    assert lines[1:3] == [f"1  {PRINTED}", "2  naïve\N{NO-BREAK SPACE}b"]
