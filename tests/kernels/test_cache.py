"""Loaded kernels are as good as compiled ones for kernels that are compiled later and call them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = """
from ouzel.kernels.jit import kernel

@kernel
def total(values):
    found = 0.0
    for value in values:
        found += value
    return found

@kernel
def mean(values):
    return total(values) / len(values)

@kernel
def doubled(values):
    if not len(values):
        raise ValueError("nothing to double")
    return 2.0 * values

@kernel
def factorial(number):
    return 1.0 if number < 2.0 else number * factorial(number - 1.0)

@kernel
def choices(number, taken):
    return factorial(number) / (factorial(taken) * factorial(number - taken))

@kernel
def even(number):
    return number == 0.0 or odd(number - 1.0)

@kernel
def odd(number):
    return number != 0.0 and even(number - 1.0)

@kernel
def parity(number):
    return 0.0 if even(number) else 1.0
"""
PROGRAM = """
import sys
import numpy as np
import ouzel.kernels.cache
import sums
from ouzel.kernels.cache import LoadedLibrary
compiled = []
ouzel.kernels.cache.on_compile.append(compiled.append)
values = np.arange(5.0)
calls = {"total": lambda: sums.total(values), "doubled": lambda: sums.doubled(values).tolist(),
         "mean": lambda: sums.mean(values),
         "factorial": lambda: sums.factorial(4.0), "choices": lambda: sums.choices(4.0, 2.0),
         "even": lambda: sums.even(10.0), "parity": lambda: sums.parity(3.0)}
print(*(calls[name]() for name in sys.argv[1:]), *compiled)
for name in sys.argv[1:]:
    for result in getattr(sums, name).overloads.values():
        waits = isinstance(result.library, LoadedLibrary) and result.library.bitcode
        print(name, "waits" if waits else "is ready to be called")
"""
ERROR = """
from numba.core.runtime import rtsys
try:
    sums.doubled(values[:0])
except ValueError as error:
    print(error, rtsys._init)
"""


def _run(folder: Path, *names: str, more: str = "") -> list[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "NUMBA_CACHE_DIR": str(folder),
        "NUMBA_DISABLE_JIT": "0",
    }
    command = [sys.executable, "-c", PROGRAM + more, *names]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("kernels")
    (place / "sums.py").write_text(KERNELS)
    return place


def test_llvm_code_of_a_loaded_kernel_is_parsed_when_another_that_calls_it_is_compiled(folder):
    assert _run(folder, "total") == ["10.0 total", "total is ready to be called"]
    assert _run(folder, "total") == ["10.0", "total waits"]
    assert _run(folder, "total", "mean") == [
        "10.0 2.0 mean",
        "total is ready to be called",
        "mean is ready to be called",
    ]
    assert _run(folder, "mean", "total") == ["2.0 10.0", "mean waits", "total waits"]


def test_a_loaded_kernel_allocates_and_raises_without_what_numba_compiles_for_its_runtime(folder):
    first, second = (_run(folder, "doubled", more=ERROR) for _ in range(2))

    assert first == ["[0.0, 2.0, 4.0, 6.0, 8.0] doubled", "doubled is ready to be called", "nothing to double True"]
    assert second == ["[0.0, 2.0, 4.0, 6.0, 8.0]", "doubled waits", "nothing to double False"]


def test_a_kernel_that_calls_itself_is_loaded_and_called_by_others(folder):
    assert _run(folder, "factorial")[0] == "24.0 factorial"
    assert _run(folder, "factorial") == ["24.0", "factorial waits"]
    assert _run(folder, "factorial", "choices")[0] == "24.0 6.0 choices"
    assert _run(folder, "choices", "factorial") == ["6.0 24.0", "choices waits", "factorial waits"]


def test_kernels_that_call_each_other_are_compiled_in_each_process(folder):
    for _ in range(2):
        assert _run(folder, "even", "parity")[0] == "True 1.0 even odd parity"
