"""Kernels that a wheel comes with are run where they are right, and nowhere else."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ouzel
from ouzel.kernels import cache
from ouzel.kernels.jit import kernel

FAMILY = "x86-64-v2"
CALLER = """
from ouzel.kernels.jit import kernel
from ouzel.terms.losses import derivative
@kernel
def slope(loss, prediction, target):
    return derivative(loss, prediction, target)
"""
LOSSES = "terms/losses.py"
BODY = "def _(loss, prediction, target):\n    return prediction - target"
PROGRAM = """
import sys
import llvmlite.binding
able = llvmlite.binding.get_host_cpu_features()
able.update(dict.fromkeys(sys.argv[1:], False))
llvmlite.binding.get_host_cpu_features = lambda: able
import ouzel.kernels.cache, ouzel.terms.losses as losses
compiled = []
ouzel.kernels.cache.on_compile.append(compiled.append)
from caller import slope
print(slope(losses.Squared(), 3.0, 1.0), compiled)
"""
RAN, COMPILED = "2.0 []", "2.0 ['slope']"

pytestmark = pytest.mark.skipif(not cache.supports(FAMILY), reason=f"this machine is not one of {FAMILY}")


class Installed:
    """A copy of the package, a module that has a kernel, and the kernel in the folder that a wheel has."""

    def __init__(self, place: Path) -> None:
        self.place, self.package, self.tries = place, place / "ouzel", 0
        shutil.copytree(
            Path(ouzel.__file__).parent, self.package, ignore=shutil.ignore_patterns("__pycache__", "compiled")
        )
        (place / "caller.py").write_text(CALLER)
        self.wheel = self.package / "compiled"
        self.wheel.mkdir()
        (self.wheel / "processor.json").write_text(json.dumps({"family": FAMILY}))
        assert self.run(OUZEL_CACHE_DIR=str(self.wheel)) == COMPILED

    def run(self, *missing: str, **variables: str) -> str:
        """What the program prints, and the kernels that it compiled, without features of the processor."""
        self.tries += 1
        environment = {
            **{name: value for name, value in os.environ.items() if name != "OUZEL_CACHE_DIR"},
            "PYTHONPATH": str(self.place),
            "NUMBA_CACHE_DIR": str(self.place / f"own{self.tries}"),
            "NUMBA_DISABLE_JIT": "0",
            **variables,
        }
        command = [sys.executable, "-c", PROGRAM, *missing]
        ran = subprocess.run(command, cwd=self.place, env=environment, capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    @property
    def kernel(self) -> Path:
        (found,) = self.wheel.glob("caller/*.nbc")
        return found


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def installed(made, tmp_path) -> Installed:
    """The package as it was installed, whatever a test did to it."""
    kept = {path: path.read_bytes() for path in [*made.wheel.rglob("*.*"), made.package / LOSSES] if path.is_file()}
    yield made
    for path, content in kept.items():
        path.write_bytes(content)


def edit_source(installed: Installed) -> None:
    losses = installed.package / LOSSES
    text = losses.read_text().replace(BODY, BODY.replace(" - ", " + "))
    losses.write_text(f"{text}\n")  # of another size: within a second Python takes bytecode of one size for the same


def edit_version(name: str) -> Callable[[Installed], None]:
    def edit(installed: Installed) -> None:
        (index,) = installed.wheel.glob("caller/*.nbi")
        with open(index, "rb") as file:
            version, rest = pickle.load(file), file.read()
        other = version.replace(f"{name} ", f"{name} 9")
        assert other != version
        index.write_bytes(pickle.dumps(other) + rest)

    return edit


def name_other_family(installed: Installed) -> None:
    (installed.wheel / "processor.json").write_text(json.dumps({"family": "no-such"}))


def name_family_of_others(installed: Installed) -> None:
    """The kernel is of another family than the wheel says."""
    (installed.wheel / "processor.json").write_text(json.dumps({"family": "x86-64"}))


def remove_family(installed: Installed) -> None:
    (installed.wheel / "processor.json").unlink()


def cut_off(installed: Installed) -> None:
    installed.kernel.write_bytes(installed.kernel.read_bytes()[:-1])


def of_other_python(installed: Installed) -> None:
    for path in list(installed.wheel.glob("caller/*")):
        path.rename(path.with_name(path.name.replace(f".py{sys.version_info[0]}{sys.version_info[1]}.", ".py399.")))


def test_a_kernel_of_the_wheel_is_run_and_nothing_is_compiled_or_written(installed):
    assert installed.run() == RAN
    assert not list(installed.place.glob(f"own{installed.tries}/**/*.nb*"))


@pytest.mark.parametrize(
    "plant",
    [
        edit_version("numba"),
        edit_version("llvmlite"),
        name_other_family,
        name_family_of_others,
        remove_family,
        cut_off,
        of_other_python,
    ],
)
def test_a_kernel_that_is_not_right_is_compiled_anew(installed, plant):
    plant(installed)

    assert installed.run() == COMPILED
    for path in installed.wheel.glob("caller/*.py399.*"):
        path.unlink()


def test_a_kernel_of_other_sources_is_never_run(installed):
    edit_source(installed)

    assert installed.run() == "4.0 ['slope']"


@pytest.mark.parametrize("feature", ["ssse3", "popcnt"])
def test_a_processor_that_lacks_a_feature_compiles_for_itself(installed, feature):
    assert installed.run(feature) == COMPILED


@pytest.mark.parametrize("variables", [{"OUZEL_WHEEL_KERNELS": "0"}, {"NUMBA_CPU_NAME": "x86-64"}])
def test_who_asks_for_others_gets_none_of_the_wheel(installed, variables):
    assert installed.run(**variables) == COMPILED


def test_kernels_that_were_compiled_here_go_before_those_of_the_wheel(installed, tmp_path):
    own = {"NUMBA_CACHE_DIR": str(tmp_path)}

    assert installed.run(OUZEL_WHEEL_KERNELS="0", **own) == COMPILED
    installed.kernel.unlink()
    assert installed.run(**own) == RAN


def test_where_no_folder_can_be_written_kernels_are_compiled_and_kept_nowhere(monkeypatch):
    monkeypatch.setattr(cache._Kernels, "_locator_classes", [cache._Nowhere])

    @kernel
    def total(values):
        return values.sum()

    assert total(np.arange(3.0)) == 3.0
    assert not Path(total._cache.cache_path).exists()
