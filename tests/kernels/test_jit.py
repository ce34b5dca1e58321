"""The kernel cache must notice a change in any source that a kernel inlines."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ouzel
from ouzel.kernels import jit
from ouzel.kernels.jit import kernel, specialise

PROGRAM = """
import ouzel.kernels.cache, ouzel.terms.losses as losses
compiled = []
ouzel.kernels.cache.on_compile.append(compiled.append)
from caller import slope
print(slope(losses.Squared(), 3.0, 1.0), compiled)
"""
CALLER = """
from ouzel.kernels.jit import kernel
from ouzel.terms.losses import derivative
@kernel
def slope(loss, prediction, target):
    return derivative(loss, prediction, target)
"""

OWN = """
from typing import NamedTuple
from ouzel.terms.losses import derivative
class Steep(NamedTuple):
    pass
@derivative.register(Steep)
def _(loss, prediction, target):
    return 7.0
"""


@kernel
def total(values, factor):
    return factor * values.sum()


def test_an_edited_loss_of_equal_size_and_time_stamp_is_seen_by_a_cached_kernel(tmp_path):
    package = tmp_path / "ouzel"
    shutil.copytree(Path(ouzel.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "caller.py").write_text(CALLER)

    def run() -> str:
        environment = {
            **os.environ,
            "PYTHONPATH": str(tmp_path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(tmp_path),
            "NUMBA_DISABLE_JIT": "0",
        }
        return subprocess.run(
            [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    losses = package / "terms" / "losses.py"
    stamp = losses.stat()
    first, second = run(), run()
    body = "def _(loss, prediction, target):\n    return prediction - target"
    losses.write_text(losses.read_text().replace(body, body.replace(" - ", " + ")))
    os.utime(losses, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    third = run()
    with open(package / "terms" / "norms.py", "a") as other:
        other.write("# a change that the kernel does not depend on\n")
    fourth = run()

    assert losses.stat().st_size == stamp.st_size
    assert (first, second, third, fourth) == ("2.0 ['slope']", "2.0 []", "4.0 ['slope']", "4.0 []")


def test_a_loss_of_ones_own_spoils_no_cache_for_who_has_it_not(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "own.py").write_text(OWN)

    def run(program: str, *folders: Path) -> str:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, folders)),
            "NUMBA_CACHE_DIR": str(tmp_path),
            "NUMBA_DISABLE_JIT": "0",
        }
        return subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    package = Path(ouzel.__file__).parents[1]
    with_own = PROGRAM.replace("losses.Squared()", "own.Steep()").replace("import ouzel", "import own, ouzel")

    assert run(with_own, package, tmp_path, tmp_path / "mine") == "7.0 ['slope']"
    assert run(PROGRAM, package, tmp_path) == "2.0 ['slope']"
    assert run(with_own, package, tmp_path, tmp_path / "mine") == "7.0 []"


def test_a_kernel_is_compiled_once_whatever_else_is_imported(tmp_path):
    program = """
import sys
import numpy as np
import ouzel.kernels.cache
from ouzel.model.answers import losses_of
from ouzel.terms.losses import Logistic
if "more" in sys.argv:
    import ouzel.terms.importance_aware  # has a function of losses that the kernel does not call
compiled = []
ouzel.kernels.cache.on_compile.append(compiled.append)
losses_of(Logistic(), np.zeros(2), np.ones(2), np.empty(2))
print("losses_of" in compiled)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}

    said = [
        subprocess.run(
            [sys.executable, "-c", program, *given], env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()
        for given in ([], ["more"])
    ]

    assert said == ["True", "False"]


def test_a_kernel_compiled_for_its_arguments_does_the_same():
    values = np.arange(3.0)

    assert specialise(total, values, 2.0)(values, 2.0) == total(values, 2.0) == 6.0


def test_what_is_not_compiled_is_called_as_it_is():
    assert specialise(len, [1, 2]) is len


def test_without_the_jit_kernels_are_python_and_as_silent_about_overflow():
    program = """
import numpy as np
from ouzel.kernels.jit import force_inline, inline_source, kernel
for kind in (kernel, force_inline, inline_source):
    square = kind(lambda x: x * x)
    print(square(np.float32(1e30)), hasattr(square, "signatures"))
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error", "-c", program]

    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert said == "inf False\n" * 3


def test_kernels_lie_in_the_folder_that_is_told_and_are_found_wherever_the_package_lies(tmp_path):
    cache, places = tmp_path / "kernels", [tmp_path / "one", tmp_path / "two"]

    def run(place: Path, folder: Path) -> str:
        if not place.exists():
            place.mkdir()
            shutil.copytree(Path(ouzel.__file__).parent, place / "ouzel", ignore=shutil.ignore_patterns("__pycache__"))
            (place / "caller.py").write_text(CALLER)
        environment = {**os.environ, "PYTHONPATH": str(place), "OUZEL_CACHE_DIR": str(folder), "NUMBA_DISABLE_JIT": "0"}
        return subprocess.run(
            [sys.executable, "-c", PROGRAM], cwd=place, env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    assert [run(place, cache) for place in places] == ["2.0 ['slope']", "2.0 []"]
    assert list(cache.glob("caller/*.nbc"))
    shutil.move(cache, tmp_path / "moved")
    assert run(places[0], tmp_path / "moved") == "2.0 []"


def test_a_folder_of_a_family_of_processors_is_compiled_for_it(tmp_path):
    program = "import ouzel.kernels.jit; from numba.core.registry import cpu_target as cpu;"
    program += "print(cpu.target_context.codegen().magic_tuple()[1:])"
    found = []
    for family in ("x86-64-v2", "no-such"):
        (tmp_path / "processor.json").write_text(f'{{"family": "{family}"}}')
        environment = {**os.environ, "OUZEL_CACHE_DIR": str(tmp_path)}
        ran = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        found.append(ran.stdout.strip())

    assert found[0] == "('x86-64-v2', '')"
    assert "x86-64-v2" not in found[1]


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path, monkeypatch):
    doubled = kernel(lambda x: 2 * x)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(doubled._cache._cache_file, "save", full)

    assert doubled(4) == 8


def test_no_process_takes_the_kernel_of_another_or_of_older_sources(tmp_path, monkeypatch):
    from ouzel.kernels.cache import _Index

    older, one, other = (_Index(str(tmp_path), "kernel-1.py311", stamp) for stamp in ("older", "new", "new"))
    older.save("first", "older code")
    seen = one._load_index()
    other.save("second", "code of the second")
    with monkeypatch.context() as patch:
        patch.setattr(one, "_load_index", lambda: dict(seen))  # as it was before the other one wrote
        one.save("first", "code of the first")

    reader = _Index(str(tmp_path), "kernel-1.py311", "new")

    assert reader.load("first") == "code of the first"
    assert reader.load("second") in ("code of the second", None)
    with monkeypatch.context() as patch:
        patch.setattr(one, "_save_index", lambda overloads: (_ for _ in ()).throw(KeyboardInterrupt))  # killed there
        with pytest.raises(KeyboardInterrupt):
            one.save("third", "code of the third")
    assert reader.load("third") is None
    assert older.load("first") is None


def test_kernels_of_older_sources_are_removed(tmp_path):
    from ouzel.kernels.cache import _Index

    older, new = (_Index(str(tmp_path), "kernel-1.py311", stamp) for stamp in ("older", "new"))
    older.save("first", "older code")
    (old,) = tmp_path.glob("*.nbc")
    os.utime(old, (1.0, 1.0))
    other = _Index(str(tmp_path), "kernel-12.py311", "older")
    other.save("first", "code of another kernel")

    new.save("first", "code of the first")

    assert not old.exists()
    assert new.load("first") == "code of the first"
    assert other.load("first") == "code of another kernel"


@pytest.mark.parametrize("length", [0, 20, -1])
def test_a_kernel_whose_file_is_cut_off_is_compiled_again(tmp_path, length):
    from ouzel.kernels.cache import _Index

    index = _Index(str(tmp_path), "kernel-1.py311", "stamp")
    index.save("first", "code of the first")
    (file,) = tmp_path.glob("*.nbc")
    whole = file.read_bytes()
    file.write_bytes(whole[:length])

    assert index.load("first") is None
    index.save("first", "code of the first")
    assert index.load("first") == "code of the first"


@pytest.mark.parametrize("place", [0, 40, -1])
def test_a_kernel_whose_file_was_changed_is_compiled_again(tmp_path, place):
    from ouzel.kernels.cache import _Index

    index = _Index(str(tmp_path), "kernel-1.py311", "stamp")
    index.save("first", "code of the first")
    (file,) = tmp_path.glob("*.nbc")
    changed = bytearray(file.read_bytes())
    changed[place] ^= 1
    file.write_bytes(changed)

    assert index.load("first") is None


def test_a_plain_function_runs_where_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(jit.config, "DISABLE_JIT", True)

    def one_by_one(x):
        raise AssertionError("not this one")

    assert kernel(one_by_one, plain=lambda x: 2 * x)(4) == 8
    assert kernel(lambda x: 3 * x)(4) == 12
