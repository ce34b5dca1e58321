"""The example scripts run, and the skeleton of a learner learns."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
BESIDE = {"in_onnxruntime": ("onnx", "onnxruntime"), "with_duckdb": ("duckdb",), "with_mlflow": ("mlflow.pyfunc",)}
"""What examples need beside Ouzel: where it is not installed they are left out."""


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda script: script.stem)
def test_an_example_runs_and_prints(script, capsys, monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    for name in BESIDE.get(script.stem, ()):
        pytest.importorskip(name)

    runpy.run_path(str(script), run_name="__main__")

    assert capsys.readouterr().out


def test_the_skeleton_learns(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "developer"))
    import skeleton

    from ouzel.learners.rows import Rows

    monkeypatch.delitem(sys.modules, "skeleton")
    settings = skeleton.Settings()
    state = skeleton.grow(skeleton.init(1, settings), 3, settings)
    rows = Rows(np.array([0, 2, 4], np.uint64), np.array([0, 1, 0, 2], np.uint32), np.ones(4, np.float32))
    margins = np.empty(2)
    for _ in range(3):
        skeleton.learn_rows(state, rows, np.array([1.0, -1.0]), np.ones(2, np.float32), settings, margins)

    np.testing.assert_array_equal(np.sign(margins), [1.0, -1.0])
    np.testing.assert_array_equal(skeleton.weights(skeleton.swap_classes(state), settings), -state.weight)
