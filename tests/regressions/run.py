"""Run `ouzel` on many lines of arguments, each in a process forked from this one, which pays for the imports once.

Reads a JSON list from standard input, each entry commands to run one after another; writes how each ended.
"""

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from torture.killing import become

LONGEST = 300  # seconds: a kernel may have to be compiled


def outcome(words):
    """Status (a signal's number below 0), output, and the most memory, in MiB, of one command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = os.fork()
        if not process:
            become(words, os.open(os.devnull, os.O_RDONLY), out.fileno(), err.fileno())
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


def one_after_another(commands):
    """The outcome of the first command that does not end well, else of the last."""
    for words in commands:
        ended = outcome(words)
        if ended["status"] != 0:
            break
    return ended


if __name__ == "__main__":
    from tests.forked import load

    load()
    json.dump([one_after_another(commands) for commands in json.load(sys.stdin)], sys.stdout)
