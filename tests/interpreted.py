"""Kernels without the JIT, silent about overflow from the outermost one on.

`NUMBA_DISABLE_JIT=1 python -m pytest -p tests.interpreted` takes half the time: each kernel enters `np.errstate`, which
is more work than most do, and one that another calls need not. `python -m tests.interpreted MODULE` runs a module so.
"""

import functools
import runpy
import sys
import threading

import numpy as np

from ouzel.kernels import jit

within = threading.local()


def as_compiled(function):
    """What `ouzel.kernels.jit._as_compiled` gives, in fewer steps."""

    @functools.wraps(function)
    def run(*arguments):
        if getattr(within, "kernel", False):
            return function(*arguments)
        within.kernel = True
        try:
            with np.errstate(all="ignore"):
                return function(*arguments)
        finally:
            within.kernel = False

    return run


jit._as_compiled = as_compiled

if __name__ == "__main__":
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
