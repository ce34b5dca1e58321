"""Ray as the engine: the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from ouzel.distributed import train
from ouzel.distributed.engine import Serial

PROGRAM = """
import sys, warnings
warnings.simplefilter("ignore")
import ray
from ouzel.distributed import train

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=40)
train(sys.argv[1], "adagrad", cluster="ray", merge_every=200, lanes=3, output=sys.argv[2])
ray.shutdown()
"""


def test_ray_gives_the_bits_of_one_process(svm, tmp_path):
    pytest.importorskip("ray")
    one, two, program = tmp_path / "one.ouzel", tmp_path / "two.ouzel", tmp_path / "program.py"
    program.write_text(PROGRAM)
    train(svm, "adagrad", cluster=Serial(), output=one, merge_every=200, lanes=3)
    command = [sys.executable, str(program), str(svm), str(two)]
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}

    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True) as ray:
        try:
            _, said = ray.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            os.killpg(ray.pid, signal.SIGKILL)
            raise

    assert ray.returncode == 0, said[-2000:]
    assert one.read_bytes() == two.read_bytes()
