"""What the seconds of a run went to."""

import time

import pytest
from numba import config, njit

from ouzel.evaluation.counts import Clock
from ouzel.kernels import jit


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled without the JIT")
def test_compiling_is_no_part_of_learning_and_what_compiles_within_it_counts_once():
    inner = njit(lambda x: x * x + 1.0)
    outer = njit(lambda x: inner(x) * 2.0)
    clock = Clock()

    begun = time.perf_counter()
    with clock.on("learning"):
        time.sleep(0.05)
        outer(3.0)
    taken = time.perf_counter() - begun

    assert 0.01 < clock.seconds["compiling"] <= taken - 0.05
    assert 0.05 <= clock.seconds["learning"] <= taken - clock.seconds["compiling"]
    with clock.on("learning"):
        outer(3.0)
    assert sum(clock.seconds.values()) <= time.perf_counter() - begun


def test_no_more_is_compiled_than_was_waited_for(monkeypatch):
    compiled = iter([0.0, 1000.0])  # another thread's, most of it
    monkeypatch.setattr(jit, "seconds_compiling", lambda: next(compiled))
    clock = Clock()

    begun = time.perf_counter()
    with clock.on("reading"):
        time.sleep(0.01)

    assert 0.01 <= clock.seconds["compiling"] <= time.perf_counter() - begun
    assert clock.seconds["reading"] == 0.0
