"""Signals that end a command unwind it, but not where that would break what still has to run."""

import signal
import time

import pytest

from ouzel.cli.ui.interrupts import Signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_numba_has_registered_what_kernels_can_call(number):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the signal is ignored here, as it is in the background of a shell")
    space = {"__name__": "numba.core.base", "signal": signal, "time": time, "passed": []}
    exec(
        f"def refresh():\n    signal.raise_signal({int(number)})\n    passed.append(True)\n"
        "def load():\n    refresh()\n    time.sleep(5.0)\n    passed.append(False)",
        space,
    )

    with Signals() as signals, pytest.raises(KeyboardInterrupt):
        space["load"]()

    assert space["passed"] == [True]
    assert signals.status(130) == (130 if number == signal.SIGINT else 128 + number)


def test_at_any_other_moment_it_unwinds_at_once():
    with Signals(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
