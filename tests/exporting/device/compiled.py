"""Headers compiled by the C compiler of the machine, and what they say of examples."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ouzel.exporting.device.header import write

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
DRIVER = Path(__file__).with_name("driver.c")


def compile_c(source, target, *options):
    """Compile a file of C, all warnings being errors."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler, gcc")
    ran = subprocess.run(
        [compiler, *STRICT, "-O1", *options, str(source), "-o", str(target), "-lm"], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[:2000]
    return target


class Device:
    """A model's header in a program that learns, or only predicts, what it is sent."""

    def __init__(self, model, folder, *options, alter=lambda code: code):
        folder.mkdir(exist_ok=True)
        self.folder, self.columns = folder, model.columns
        self.header = write(model, folder / "model.h", "ouzel")
        self.learns = self.header.hindrance is None
        (folder / "model.h").write_text(alter((folder / "model.h").read_text()))
        told = [f"-I{folder}", *(["-DLEARNS"] if self.learns else []), *options]
        self.program = compile_c(DRIVER, folder / "device", *told)

    def says(self, block, labels=None, importances=None, before=None):
        """Margins (n, columns) from before learning each example, and what is predicted (n,) after it."""
        sent = []
        importances = np.full(block.rows, -1.0 if labels is None else 1.0) if importances is None else importances
        for i in range(block.rows):
            here = slice(int(block.offsets[i]), int(block.offsets[i + 1]))
            features = np.empty(here.stop - here.start, [("id", "<u4"), ("value", "<f4")])
            features["id"], features["value"] = block.indices[here], block.values[here]
            label = 0.0 if labels is None else labels[i]
            sent += [np.uint32(len(features)).tobytes(), np.float64(label).tobytes()]
            sent += [np.float32(importances[i]).tobytes(), features.tobytes()]
        words = [str(self.program), str(self.folder / "state.bin"), *([str(before)] if before else [])]
        ran = subprocess.run(words, input=b"".join(sent), capture_output=True)
        assert ran.returncode == 0, ran.returncode
        found = np.frombuffer(ran.stdout).reshape(block.rows, self.columns + 1)
        return found[:, :-1], found[:, -1]
