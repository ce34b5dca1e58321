"""`ouzel compile` as people run it."""

import json
import os
import subprocess
import sys

import pytest

from tests.printed import check


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cpu", "x86-64-v2"], "name it with --cache-dir DIR"),
        (["--cpu", "i386", "--cache-dir", "kernels"], "--cpu takes one of x86-64, x86-64-v2, x86-64-v3, x86-64-v4"),
        (["--learner", "no-such"], "no-such"),
    ],
)
def test_what_cannot_be_done_is_one_line(ouzel, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OUZEL_CACHE_DIR", raising=False)

    ran = ouzel("compile", *arguments)

    assert ran.status == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.long
def test_nothing_is_left_to_compile(tmp_path):
    def run(*arguments):
        environment = {**os.environ, "OUZEL_CACHE_DIR": str(tmp_path / "kernels"), "NUMBA_DISABLE_JIT": "0"}
        return subprocess.run(
            [sys.executable, "-m", "ouzel", *arguments], env=environment, capture_output=True, text=True, check=True
        )

    found = json.loads(run("compile", "--learner", "ogd", "--json").stdout)
    check("compile", found)
    (tmp_path / "t.csv").write_text("label,city,price\n" + "1,Rome,2.5\n0,Bonn,1\n" * 20)
    ran = run("train", str(tmp_path / "t.csv"), "--learner", "ogd")

    assert found["kernels"] > 0
    assert "compiling" not in ran.stderr
