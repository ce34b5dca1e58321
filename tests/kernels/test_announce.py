"""A notice says that kernels are being compiled, at terminals and in notebooks only."""

import io
import sys

import pytest

from ouzel.kernels import announce


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def compiles(monkeypatch):
    """Compile kernels; the arguments are the seconds spent compiling by then."""

    def at(*seconds):
        announcement = announce._Announcement()
        monkeypatch.setattr(announce, "_announcement", announcement)
        for second in seconds:
            monkeypatch.setattr(announce, "seconds_compiling", lambda second=second: second)
            announcement("kernel")

    return at


def test_at_a_terminal_a_line_says_that_kernels_are_compiled_and_how_far_it_is(compiles, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())

    compiles(0.0, 0.5, 9.0, 10.5, 11.0, 19.0, 21.0)

    assert sys.stderr.getvalue().splitlines() == [
        "ouzel: compiling kernels (once; later runs find them on disk) …",
        "ouzel: compiling kernels: 3 of about 120, 10 seconds …",
        "ouzel: compiling kernels: 6 of about 120, 21 seconds …",
    ]


def test_a_notebook_shows_the_notice_and_a_pipe_does_not(compiles, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    compiles(0.0)
    assert sys.stderr.getvalue() == ""

    monkeypatch.setitem(sys.modules, "ipykernel", object())
    compiles(0.0)
    assert "compiling kernels" in sys.stderr.getvalue()


def test_a_screen_shows_the_lines_while_it_is_there(compiles, monkeypatch):
    shown = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    announcement = announce._Announcement()
    monkeypatch.setattr(announce, "_announcement", announcement)

    with announce.shown_by(shown.append):
        announcement("kernel")

    assert shown == ["compiling kernels (once; later runs find them on disk) …"]
    assert sys.stderr.getvalue() == ""
    assert announcement.write is announce._write
