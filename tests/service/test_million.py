"""Many examples: counts are exact, and memory does not grow with them."""

import os
from pathlib import Path

import httpx
import pytest

from ouzel.service.folder import Folder, begin
from tests.service.killing import LINES, SUMMARY, Running

AT_ONCE, BAD_EVERY = 25_000, 100

pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read as Linux tells it"),
]


def lines(start: int) -> bytes:
    """Lines of which one in a hundred is not an example."""
    numbers = range(start, start + AT_ONCE)
    return b"".join(
        b'{"x": %d}\n' % k if k % BAD_EVERY == 0 else b'{"label": %d, "x": %d, "w": "w%d"}\n' % (k % 2, k % 9, k % 50)
        for k in numbers
    )


def memory(pid: int) -> int:
    """Resident bytes of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("count", [100_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_counts_are_exact_and_memory_is_flat(tmp_path, count):
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {})
    running, learnt, refused, resident = Running(folder, snapshot_every=10.0), 0, 0, []
    try:
        with httpx.Client(base_url=running.address, timeout=120) as client:
            for start in range(0, count, AT_ONCE):
                summary = client.post(SUMMARY, content=lines(start), headers=LINES).json()
                learnt, refused = learnt + summary["learnt"], refused + summary["refused"]
                resident.append(memory(running.process.pid))
            told = client.get("/v1/model").json()
            metrics = client.get("/metrics").text
    finally:
        running.end()
    print(f"{count:,} lines: {learnt:,} learnt, {refused:,} refused; {[size >> 20 for size in resident]} MB")

    assert (learnt, refused) == (count - count // BAD_EVERY, count // BAD_EVERY)
    assert told["examples"] == learnt
    assert f'ouzel_examples_total{{model="model",outcome="refused"}} {float(refused)}' in metrics
    assert resident[-1] - resident[len(resident) // 4] < 32 << 20
