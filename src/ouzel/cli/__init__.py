"""The command line: one file per command, with imports deferred until a command needs them."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

STARTED = 300_000  # more objects than a command has made when it begins to work


def main() -> None:
    """Run `ouzel` with the arguments of the process."""
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # Arrow's own clears large pages anew for every table
    gc.set_threshold(STARTED)  # what is imported is not garbage: collecting it takes a tenth of the start
    try:
        from ouzel.cli.ui.standard_streams import make_usable

        make_usable()
        from ouzel.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were imported
        status = 130
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)  # Arrow's threads may be reading a file ahead, and would not survive an orderly end of Python
