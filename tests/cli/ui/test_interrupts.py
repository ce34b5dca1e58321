"""Signals that end a command unwind it, but not where that would break what still has to run."""

import signal
import time

import pytest

from ouzel.cli.ui.interrupts import Signals


@pytest.mark.parametrize(
    ("module", "name"),
    [("numba.core.base", "refresh"), ("llvmlite.binding.executionengine", "_raw_object_cache_notify")],
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_numba_can_be_interrupted(number, module, name):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the signal is ignored here, as it is in the background of a shell")
    space = {"__name__": module, "signal": signal, "passed": []}
    exec(f"def {name}():\n    signal.raise_signal({int(number)})\n    passed.append(True)", space)

    def call():
        space[name]()
        time.sleep(5.0)
        space["passed"].append(False)

    with Signals() as signals, pytest.raises(KeyboardInterrupt):
        call()

    assert space["passed"] == [True]
    assert signals.status(130) == (130 if number == signal.SIGINT else 128 + number)


def test_at_any_other_moment_it_unwinds_at_once():
    with Signals(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
