"""Shells complete commands, options, learners, losses, formats and files."""

import os
import subprocess
import sys

import pytest

from ouzel.cli.app import COMMANDS, run
from ouzel.learners.catalogue import LEARNERS
from ouzel.streams.formats.catalogue import FORMATS
from ouzel.terms import LOSSES_OF_CLASSES, LOSSES_OF_NUMBERS


def completed(monkeypatch, capsys, words, shell="bash"):
    given = f"ouzel {words}"
    monkeypatch.setenv("_OUZEL_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", given)
    monkeypatch.setenv("COMP_CWORD", str(len(given.split(" ")) - 1))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", given)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    assert run([]) == 0
    return capsys.readouterr().out.split("\n")[:-1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", list(COMMANDS)),
        ("tr", ["train"]),
        ("train --lea", ["--learner", "--learning-rate"]),
        ("train --learner ", list(LEARNERS)),
        ("learners son-o", ["son-oja"]),
        ("train --loss ", [*LOSSES_OF_CLASSES, *LOSSES_OF_NUMBERS]),
        ("train --format ", list(FORMATS)),
        ("convert a.csv b.arrow --on-error ", ["raise", "skip"]),
        (
            "compare f --learners all-b,so",
            ["all-b,son-oja", "all-b,son-fd", "all-b,son-rp", "all-b,sop", "all-b,sop-full"],
        ),
        ("train --task re", ["regression"]),
        ("schema pr", ["predict"]),
    ],
)
def test_a_shell_completes_names(monkeypatch, capsys, words, expected):
    assert completed(monkeypatch, capsys, words) == expected


@pytest.mark.parametrize(
    "words", ["train ", "train da", "train --model ", "predict ", "top m --output x", "train --resume m"]
)
def test_a_shell_completes_files_itself_where_a_file_is_meant(monkeypatch, capsys, words):
    assert completed(monkeypatch, capsys, words) == [""]


def test_fish_and_zsh_show_what_an_option_is(monkeypatch, capsys):
    assert completed(monkeypatch, capsys, "train --passes", "fish") == ["--passes\tPasses over the files (1)."]
    assert '"--passes":"Passes over the files (1)."' in completed(monkeypatch, capsys, "train --passes", "zsh")[0]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_for_a_shell(shell, tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [sys.executable, "-m", "ouzel", "--install-completion", shell]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"{shell} completion installed in {tmp_path}" in ran.stdout
    assert any("_OUZEL_COMPLETE" in path.read_text() for path in tmp_path.rglob("*ouzel*") if path.is_file())


def test_completing_imports_no_command_but_that_of_the_line():
    code = (
        "import os, sys;"
        "os.environ.update(_OUZEL_COMPLETE='complete_bash', COMP_WORDS='ouzel train --l', COMP_CWORD='2');"
        "from ouzel.cli.app import run; status = run([]);"
        "names = [name for name in sys.modules if name.startswith('ouzel.cli.commands.')];"
        "heavy = {'numba', 'numpy', 'pydantic', 'pyarrow'} & set(sys.modules);"
        "sys.exit(str([names, heavy]) if len(names) > 2 or heavy else status)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert ran.returncode == 0, ran.stderr
    assert "--learning-rate" in ran.stdout
