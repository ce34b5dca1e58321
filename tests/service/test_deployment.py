"""The examples of deployment name commands that there are."""

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from ouzel.cli.app import run
from ouzel.service.tokens import make_token

EXAMPLES = Path(__file__).parents[2] / "examples" / "service"
UNIT, IMAGE = EXAMPLES / "ouzel.service", EXAMPLES / "Dockerfile"


def commands():
    lines = [line.partition("=")[2] for line in UNIT.read_text().splitlines() if line.startswith("ExecStart")]
    found = [shlex.split(line) for line in lines]
    found += [json.loads(line[4:]) for line in IMAGE.read_text().splitlines() if line.startswith("CMD ")]
    return [command[1:] for command in found]


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_a_command_of_an_example_would_do(command, tmp_path):
    (tmp_path / "tokens").write_text(make_token("till", ["learn"])[1])
    places = {"/var/lib/ouzel": str(tmp_path / "data"), "/data": str(tmp_path / "data")}
    places["/tokens"] = str(tmp_path / "tokens")
    command = [places.get(word, word) for word in command if word != "--check"]

    assert run([*command, "--check"]) == 0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_the_unit_is_one_that_systemd_takes(tmp_path):
    unit = tmp_path / "ouzel.service"
    unit.write_text(UNIT.read_text().replace("/opt/ouzel/bin/ouzel", shutil.which("true") or "/bin/true"))
    ran = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60)

    assert [line for line in ran.stderr.splitlines() if "ouzel.service" in line] == []
