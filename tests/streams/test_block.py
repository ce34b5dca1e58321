"""Blocks: what was freed of one serves the next, and what is learnt from is of one kind."""

import os
import subprocess
import sys

import numpy as np
import pytest

from ouzel.streams.block import Block

PROGRAM = """
import resource
import numpy as np
from ouzel.streams.options import Options
from ouzel.streams.formats.svmlight import parse_svmlight
line = b"1 " + b" ".join(b"%d:0.125" % k for k in range(1, 71)) + b"\\n"
text, width = np.frombuffer(line * 3500, np.uint8).copy(), len(line)
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for k in range(20):
    if k == 10:
        before = faults()
    parse_svmlight(text, 0, len(text) - k % 7 * width, Options())
print((faults() - before) / 10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="about the C library of Linux")
def test_pages_are_not_fetched_anew_for_every_block():
    pages = 2_000_000 // 4096  # of the text, about as many as its block takes

    usual = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}  # Dask sets one
    asked = [sys.executable, "-c", PROGRAM]

    found = subprocess.run(asked, capture_output=True, text=True, check=True, env=usual)

    assert float(found.stdout) < pages / 5


def test_labels_and_weights_that_cannot_be_written_are_copied_to_learn_from():
    rows = np.arange(3, dtype=np.uint64)
    block = Block(rows, np.zeros(2, np.uint32), np.ones(2, np.float32), np.ones(2), np.ones(2, np.float32))
    assert block.labelled() is block
    for name in ("labels", "weights"):
        given = block._replace(**{name: np.frombuffer(getattr(block, name).tobytes(), getattr(block, name).dtype)})
        found = given.labelled()

        assert found.labels.flags.writeable
        assert found.weights.flags.writeable
        np.testing.assert_array_equal(getattr(found, name), getattr(given, name))
