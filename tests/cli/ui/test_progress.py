"""Progress of a stream: lines on standard error, and a live line on a terminal."""

import os
import subprocess
import sys

import pytest

from ouzel.cli.ui.progress import Screen


def test_names_that_are_those_of_emoji_are_printed_as_they_are(ouzel, tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("label,:star:\n" + "1,30\n0,31\n" * 20)
    with Screen(":star:") as screen:
        screen.say("[bold] :star:")

    assert capsys.readouterr().err == "[bold] :star:\n"
    assert "  :star: " in ouzel("train", path, "--learner", "adagrad").out


def test_a_quiet_screen_prints_what_must_be_printed(capsys):
    with Screen("title", quiet=True) as screen:
        screen.say("a figure")
        screen.print("a line that was left out")

    assert capsys.readouterr().err == "a line that was left out\n"


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Windows are not opened so")
def test_a_terminal_has_a_live_line_below_the_table(small):
    here, there = os.openpty()
    command = [sys.executable, "-m", "ouzel", "train", small, "--learner", "adagrad"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=there, env=environment) as process:
        os.close(there)
        shown = b""
        try:
            while part := os.read(here, 1 << 16):
                shown += part
        except OSError:  # how Linux says that the other end is closed
            pass
        out = process.stdout.read().decode()
    os.close(here)

    assert process.returncode == 0, shown
    assert "error rate" in out
    assert "since last" in shown.decode()
    assert "examples" in shown.decode()
    assert "\x1b[" in shown.decode()
    assert small.name in shown.decode()
