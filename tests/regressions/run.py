"""Run `ouzel` on many lines of arguments, each in a process forked from this one, which pays for the imports once.

Reads a JSON list of commands (lists of words) from standard input; writes a JSON list of how each ended.
"""

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

LONGEST = 300  # seconds: a kernel may have to be compiled


def become(words, out, err):
    """Turn this forked process into `ouzel`."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.argv = ["ouzel", *words]
    from ouzel.cli import main

    try:
        main()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(1)


def outcome(words):
    """Status (a signal's number below 0), output, and the most memory, in MiB, of one command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = os.fork()
        if not process:
            become(words, out, err)
        deadline = time.monotonic() + LONGEST
        while not (ended := os.wait4(process, os.WNOHANG))[0]:
            time.sleep(0.01)
            resident = int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            if time.monotonic() > deadline or resident > 3 << 30:
                os.kill(process, signal.SIGKILL)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace")[-20_000:])
        status = os.waitstatus_to_exitcode(ended[1])
        return {"status": status, "out": texts[0], "err": texts[1], "mib": ended[2].ru_maxrss >> 10}


if __name__ == "__main__":
    import ouzel.cli.app
    import ouzel.models
    import ouzel.streams.tables  # noqa: F401

    json.dump([outcome(words) for words in json.load(sys.stdin)], sys.stdout)
