"""What broke the program once: each command of tests/regressions/README.md ends well, or in one line."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
TABLE = (FOLDER / "README.md").read_text()
COMMANDS = dict(re.findall(r"^\| `((?:train|top) .*?)` \| (\w+) \|", TABLE, re.MULTILINE))
ENDS = {"answered": (0,), "refused": (2,), "either": (0, 2)}
MOST = 2048  # MiB


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """How each command ended."""
    here = tmp_path_factory.mktemp("regressions") / "inputs"
    shutil.copytree(FOLDER, here)
    path = os.pathsep.join([str(FOLDER.parents[1]), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-m", "tests.regressions.run"],
        input=json.dumps([[shlex.split(part) for part in command.split("&&")] for command in COMMANDS]),
        stdout=subprocess.PIPE,
        cwd=here,
        env={**os.environ, "PYTHONPATH": path},
        text=True,
        check=True,
    )
    return dict(zip(COMMANDS, json.loads(ran.stdout), strict=True))


@pytest.mark.parametrize("command", COMMANDS)
def test_what_broke_the_program_once_is_answered_or_refused_in_one_line(ended, command):
    ran = ended[command]

    assert "Traceback" not in ran["err"], ran["err"]
    assert "Warning" not in ran["err"], ran["err"]
    assert ran["status"] in ENDS[COMMANDS[command]], ran
    assert ran["mib"] < MOST
    complaints = [line for line in ran["err"].splitlines() if line.startswith("ouzel: ")]
    if ran["status"] == 2:
        assert len(complaints) == 1, ran["err"]
        assert ran["err"].rstrip().endswith(complaints[0])
        assert len(complaints[0]) < 2000
        assert ran["out"] == ""
    else:
        assert not complaints
        assert not re.search(r"\b(nan|inf|infinity)\b", ran["out"], re.IGNORECASE)


def test_the_table_names_every_file_and_no_other():
    named = {word for command in COMMANDS for word in shlex.split(command) if "." in word and (FOLDER / word).exists()}
    there = {path.name for path in FOLDER.iterdir() if path.is_file() and path.suffix not in (".md", ".py")}

    assert named == there
