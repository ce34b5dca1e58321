"""Items made in threads."""

import subprocess
import sys
import threading

import pytest

from ouzel.streams.ahead import made_ahead, mapped_ahead


def failing_after(count):
    yield from range(count)
    raise ValueError("broken")


def test_items_come_in_order_and_an_error_in_its_place():
    found = []

    with pytest.raises(ValueError, match="broken"):
        found.extend(made_ahead(failing_after(20), most=1))

    assert found == list(range(20))


def test_results_come_in_order():
    assert list(mapped_ahead(lambda number: number * number, iter(range(50)), endless=True)) == [
        number * number for number in range(50)
    ]


def test_no_more_is_made_than_may_wait():
    made = []

    def items():
        for number in range(100):
            made.append(number)
            yield number

    ahead = made_ahead(items(), most=2)
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

    ahead = made_ahead(items())
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
