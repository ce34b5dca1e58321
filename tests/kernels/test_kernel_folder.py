"""Kernels are code: none is loaded from a folder that other users could have written to."""

import os
import pickle
import subprocess
import sys

import pytest

from ouzel.errors import OuzelError
from ouzel.kernels import cache

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owners here")
OTHER = 65534
SUMS = """
from ouzel.kernels.jit import kernel

@kernel
def total(values):
    found = 0.0
    for value in values:
        found += value
    return found
"""
PROGRAM = "import numpy, sums; assert sums.total(numpy.arange(5.0)) == 10.0"


class Evil:
    """What a kernel's file could hold: a command that is run as the file is read."""

    def __reduce__(self):
        return os.system, ("touch ran",)


@pytest.fixture
def folder(tmp_path):
    """A folder of kernels that a run of this user has filled."""
    (tmp_path / "sums.py").write_text(SUMS)
    assert run(tmp_path).stderr == ""
    assert [*(tmp_path / "kernels").rglob("*.nbi")]
    return tmp_path / "kernels"


def run(tmp_path):
    environment = {**os.environ, "OUZEL_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)


def spoil(folder):
    for index in folder.rglob("*.nbi"):
        index.write_bytes(pickle.dumps(Evil()))


@pytest.mark.parametrize("mode", [0o777, 0o775], ids=["all", "its group"])
def test_a_folder_that_others_may_write_to_is_not_used_and_a_line_says_so(folder, tmp_path, mode):
    spoil(folder)
    folder.chmod(mode)

    ran = run(tmp_path)

    assert not (tmp_path / "ran").exists()
    (line,) = ran.stderr.splitlines()
    assert line.startswith(f"ouzel: {folder} may be written to by other users: kernels in it are not used; own it")


def test_nor_is_a_folder_below_it(folder, tmp_path):
    spoil(folder)
    for below in folder.iterdir():
        below.chmod(0o777)

    assert "may be written to by other users" in run(tmp_path).stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("of", ["folder", "file"])
def test_nor_what_belongs_to_another_user(folder, tmp_path, of):
    spoil(folder)
    for path in [folder] if of == "folder" else folder.rglob("*.nb?"):
        os.chown(path, OTHER, OTHER)

    ran = run(tmp_path)

    assert not (tmp_path / "ran").exists()
    assert ("belongs to another user" in ran.stderr) == (of == "folder")


@pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="only root gives files away")
def test_kernels_of_root_serve_everybody(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: OTHER)

    assert cache.unsafe_reason(str(tmp_path)) is None


def test_kernels_are_written_so_that_no_other_user_may_change_them(tmp_path):
    before = os.umask(0)
    try:
        cache.make_folder(tmp_path / "kernels" / "inside")
        (tmp_path / "sums.py").write_text(SUMS)
        run(tmp_path)
    finally:
        os.umask(before)

    assert [*(tmp_path / "kernels").rglob("*.nbc")]
    assert not any(path.stat().st_mode & 0o022 for path in (tmp_path / "kernels").rglob("*"))


def test_a_folder_that_would_not_be_used_is_not_filled(tmp_path):
    from ouzel.cli.commands.compile import settle_family

    tmp_path.chmod(0o777)

    with pytest.raises(OuzelError, match="kernels are code; own it"):
        settle_family(tmp_path, None)
