"""A process that is forked while another thread imports, compiles or reads can read and learn itself."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")

BEGIN = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of forks beside threads
import ouzel
with open("t.svm", "w") as file:
    file.write("1 1:1 2:3 4:5\\n-1 2:1\\n" * 20_000)
under_way, child = threading.Event(), None

def read():
    return sum(block.rows for block in ouzel.read("t.svm"))
"""
IMPORTING = """
def notice(event, arguments):
    if event == "import" and arguments[0] == MODULE and threading.current_thread() is not threading.main_thread():
        under_way.set()
        time.sleep(0.3)

sys.addaudithook(notice)
thread = threading.Thread(target=read)
"""
COMPILING = """
from ouzel.kernels.jit import global_compiler_lock

def compile():
    with global_compiler_lock:
        under_way.set()
        time.sleep(0.3)

thread = threading.Thread(target=compile)
"""
END = """
thread.start()
assert under_way.wait(20)
child = os.fork()
if not child:
    signal.alarm(20)
    os._exit(0 if read() == 40_000 else 1)
status = os.waitpid(child, 0)[1]
thread.join()
sys.exit(status and f"the child ended with {status}")
"""


@pytest.mark.parametrize(
    "program",
    [
        *(IMPORTING.replace("MODULE", repr(name)) for name in ("ouzel.streams.block", "ouzel.streams.kernels.numbers")),
        COMPILING,
    ],
    ids=["importing", "importing a reader", "compiling"],
)
def test_a_child_reads_whatever_another_thread_was_at(program, tmp_path):
    ran = subprocess.run([sys.executable, "-c", BEGIN + program + END], cwd=tmp_path, capture_output=True, text=True)

    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_fork_leaves_no_lock_behind():
    from ouzel.kernels.jit import global_compiler_lock

    child = os.fork() if sys.version_info < (3, 12) else None
    if child == 0:
        os._exit(1 if global_compiler_lock.is_locked() else 0)

    assert not global_compiler_lock.is_locked()
    assert child is None or os.waitpid(child, 0)[1] == 0
