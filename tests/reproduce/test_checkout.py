"""The experiments lie beside the package in a checkout; what is installed without them says where they are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import reproduce
from ouzel.cli import experiments
from ouzel.errors import OuzelError

ROOT = Path(__file__).parents[2]


def run(folder, *arguments, **environment):
    """Run the command line in a folder."""
    command = [sys.executable, "-m", "ouzel", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, **environment})


def test_experiments_are_found_from_any_folder_and_a_module_of_that_name_there_is_not_run(tmp_path):
    (tmp_path / "reproduce").mkdir()
    for name in ("reproduce/__init__.py", "reproduce/running.py", "reproduce/provenance.py"):
        (tmp_path / name).write_text("open('ran', 'w')\n")

    ran = run(tmp_path, "reproduce")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert [line.split()[0] for line in ran.stdout.splitlines()] == sorted(reproduce.EXPERIMENTS)
    assert not (tmp_path / "ran").exists()
    assert "no report" not in ran.stdout  # the checkout's reports, not those of this folder


@pytest.mark.parametrize("arguments", [(), ("son-figure-1", "--quick")])
def test_an_installed_package_says_in_one_line_where_experiments_are(tmp_path, arguments):
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "ouzel").symlink_to(ROOT / "src" / "ouzel")

    ran = run(tmp_path, "reproduce", *arguments, PYTHONPATH=str(tmp_path / "site-packages"))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "ouzel: the papers' experiments are in the source checkout, in its folder reproduce/, and not in an installed "
        "package; run `pip install -e .` in the checkout, and then `ouzel reproduce`\n"
    )
    assert run(tmp_path, "--help", PYTHONPATH=str(tmp_path / "site-packages")).returncode == 0


def test_a_folder_beside_an_installed_package_is_not_taken_for_a_checkout(tmp_path, monkeypatch):
    (tmp_path / "reproduce").mkdir()
    (tmp_path / "reproduce" / "__init__.py").write_text("raise SystemExit\n")
    monkeypatch.setattr(experiments, "PACKAGE", tmp_path / "site-packages" / "ouzel")
    monkeypatch.setattr(experiments, "FOLDER", tmp_path / "reproduce")

    assert experiments.experiment_names() == []
    with pytest.raises(OuzelError, match="in the source checkout"):
        experiments.load_experiments()
