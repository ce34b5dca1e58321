"""Processes are killed when something has happened; those that have ended before are told from them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from torture.killing import Child, reached, strike, through_kills, written

WRITES = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text('begun'); time.sleep(float(sys.argv[2]))"


def begin(path, seconds):
    return subprocess.Popen([sys.executable, "-c", WRITES, path, str(seconds)])


def test_a_process_is_killed_once_it_has_written(tmp_path):
    path = tmp_path / "file"

    assert strike(begin(path, 60), written(path)) == -signal.SIGKILL
    assert path.exists()


def test_a_process_that_has_ended_is_not_struck(tmp_path):
    path = tmp_path / "file"

    assert strike(begin(path, 0), lambda: False) == 0
    assert through_kills(lambda: begin(path, 0), path, [0.0]) <= 1
    assert through_kills(lambda: begin(path, 60), path, [0.0, 0.01]) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is forked")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_how_a_child_ended_is_known_and_one_that_takes_too_long_is_ended():
    def forked(seconds):
        pid = os.fork()
        if not pid:
            time.sleep(seconds)
            os._exit(3)
        return Child(pid)

    assert forked(0.0).wait() == 3
    assert strike(forked(60.0)) == -signal.SIGKILL
    with pytest.raises(TimeoutError, match="took more than 0 s"):
        forked(60.0).wait(0.05)


def test_what_does_not_happen_in_time_is_told(tmp_path):
    process = begin(tmp_path / "file", 60)

    assert not reached(process, lambda: False, longest=0.05)
    assert strike(process, number=signal.SIGTERM) == -signal.SIGTERM
