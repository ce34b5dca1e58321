"""`ouzel` in processes that are forked from one which has imported it and loaded its kernels: each starts in a moment.

`program()` is the path of a program: what it is called with, its folder, its environment and its standard streams go to
a process forked from a server, and it ends as that one does. `Forked` is `subprocess.Popen` of it, whose signals go to
the forked process. What a process is before it runs `ouzel` is tested by others, which start Python.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from torture.killing import become

ROOT = Path(__file__).parents[1]
PROGRAM = """import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({place!r})
    asked = json.dumps([os.getpid(), sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(asked).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(asked)
    status = int(server.recv(8) or 1)
if status < 0:
    os.kill(os.getpid(), -status)
sys.exit(status)
"""
USUAL = (
    "train t.csv --model m --plot p.png",
    "predict m t.csv --explain 1",
    "test m t.csv --plot p.png",
    "train t.jsonl",
    "train t.svm --learner adagrad",
    "compare t.csv --learners arow,adagrad,ogd",
)
"""Commands by whose running modules are imported and kernels loaded."""


@functools.cache
def program() -> Path:
    """The program, whose server ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="ouzel-"))
    command = [sys.executable, "-m", "tests.forked", str(folder)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=ROOT)
    while not (folder / "ouzel").exists():
        assert server.poll() is None
        time.sleep(0.01)

    @atexit.register
    def end() -> None:
        server.communicate()
        shutil.rmtree(folder, ignore_errors=True)

    return folder / "ouzel"


class Forked(subprocess.Popen[Any]):
    """`ouzel` with these arguments, begun."""

    def __init__(self, *words: object, **how: Any) -> None:
        super().__init__([str(program()), *map(str, words)], **how)

    def send_signal(self, number: int) -> None:
        """To the forked process; SIGKILL and SIGTERM of `kill` and `terminate` come here as well."""
        told, end = program().with_name(str(self.pid)), time.monotonic() + 60.0
        while self.poll() is None and not told.exists():
            assert time.monotonic() < end
            time.sleep(0.001)
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # it has ended since
                os.kill(int(told.read_text()), number)


def serve(place: Path) -> None:
    """Write the program into a folder, and fork a process for each call of it until standard input ends."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place / "socket"))
        server.listen()
        (place / "asking.py").write_text(PROGRAM.format(place=str(place / "socket")))
        written = place / "written"
        written.write_text(f"#!/bin/sh\nexec '{sys.executable}' -IS '{place / 'asking.py'}' \"$@\"\n")
        written.chmod(0o755)
        written.rename(place / "ouzel")  # is there at once, whole
        load()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how the processes between have ended
        while server in select.select([server, sys.stdin], [], [])[0]:
            client, _ = server.accept()
            if not os.fork():
                server.close()
                answer(client, place)
            client.close()


def load() -> None:
    """Have imported and loaded what commands take."""
    from ouzel.cli.app import run

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), open(os.devnull, "w") as nowhere:
        Path("t.csv").write_text("a,b,label\n" + "1.5,x,1\n2,y z,0\n" * 9)
        Path("t.jsonl").write_text('{"label": 1, "a": 2}\n{"label": 0, "b": "c"}\n')
        Path("t.svm").write_text("1 1:0.5\n-1 2:1\n")
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            assert [run(words.split()) for words in USUAL] == [0] * len(USUAL)


def answer(client: socket.socket, place: Path) -> None:
    """Run what is asked for in a process of its own; put down its number, and tell how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(client, 4, 3)
    with client.makefile("rb") as asked:
        asker, words, folder, environment = json.loads(asked.read(int.from_bytes(head, "big")))
    process = os.fork()
    if not process:
        client.close()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[0] = str(Path(sys.executable).parent)  # where a program lies
        become(words, *streams)
    for stream in streams:
        os.close(stream)
    (place / f"{asker}.begun").write_text(str(process))
    (place / f"{asker}.begun").rename(place / str(asker))
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    (place / str(asker)).unlink()  # its number may be another's soon
    client.sendall(str(status).encode())
    os._exit(0)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
