"""Items made in threads."""

import gc
import subprocess
import sys
import threading

import pytest

from ouzel.streams.read import read
from ouzel.streams.sources.prefetch import prefetch, prefetch_map


def failing_after(count):
    yield from range(count)
    raise ValueError("broken")


def test_items_come_in_order_and_an_error_in_its_place():
    found = []

    with pytest.raises(ValueError, match="broken"):
        found.extend(prefetch(failing_after(20), most=1))

    assert found == list(range(20))


def test_results_come_in_order():
    assert list(prefetch_map(lambda number: number * number, iter(range(50)), endless=True)) == [
        number * number for number in range(50)
    ]


def test_no_more_is_made_than_may_wait():
    made = []

    def items():
        for number in range(100):
            made.append(number)
            yield number

    ahead = prefetch(items(), most=2)
    assert next(ahead) == 0
    ahead.close()

    assert len(made) <= 6
    assert not [thread for thread in threading.enumerate() if thread.name == "ouzel-read"]


def test_what_makes_the_items_is_closed_with_them():
    closed = []

    def items():
        try:
            yield from range(100)
        finally:
            closed.append(threading.current_thread().name)

    ahead = prefetch(items())
    next(ahead)
    ahead.close()

    assert closed == ["ouzel-read"]


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_a_program_that_ends_before_its_file_ends_well(tmp_path, name):
    program = f"""
import numpy as np, pyarrow, pyarrow.csv, pyarrow.parquet, ouzel
table = pyarrow.table({{"label": np.arange(300_000) % 2, "x": np.arange(300_000)}})
pyarrow.{"parquet.write_table" if name.endswith("parquet") else "csv.write_csv"}(table, "{tmp_path}/{name}")
stream = ouzel.read("{tmp_path}/{name}")
print(next(stream).rows)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "4096\n", "")


def test_a_stream_that_is_forgotten_is_closed_at_once(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,label\n" + "1,1\n2,-1\n" * 40_000)
    gc.disable()
    try:
        stream = read(path)
        next(stream)
        del stream
    finally:
        gc.enable()

    assert not [thread for thread in threading.enumerate() if thread.name == "ouzel-read"]


def test_a_program_may_end_while_one_thread_waits_for_another():
    program = """
import time
from ouzel.streams.sources.prefetch import prefetch

def slow():
    while True:
        time.sleep(0.01)
        yield 1

inner = prefetch(slow())
outer = prefetch((item for item in inner), most=1 << 20)
next(outer)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=60)

    assert (ended.returncode, ended.stderr) == (0, b"")
