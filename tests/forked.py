"""`ouzel` in processes that are forked from one which has imported it and loaded its kernels: each starts in a moment.

`python -m tests.forked FOLDER` writes a program `ouzel` into the folder. What that is called with, its folder, its
environment and its standard streams go to a process forked from this one, and it ends as that one does.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.regressions.run import become

ROOT = Path(__file__).parents[1]
PROGRAM = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({place!r})
    asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(asked).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(asked)
    status = int(server.recv(8) or 1)
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


@contextlib.contextmanager
def programs(folder: Path, environment: dict[str, str]) -> Iterator[Path]:
    """The folder, with the program in it until the end."""
    command = [sys.executable, "-m", "tests.forked", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=ROOT, env=environment) as server:
        while not (folder / "ouzel").exists():
            assert server.poll() is None
            time.sleep(0.01)
        yield folder
        server.communicate()  # its standard input ends, and so does it


def serve(folder: Path) -> None:
    """Fork a process for each call of the program, until standard input ends."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
        server.listen()
        written = folder / "written"
        written.write_text(PROGRAM.format(python=sys.executable, place=str(folder / "socket")))
        written.chmod(0o755)
        written.rename(folder / "ouzel")
        load()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how the processes between have ended
        while server in select.select([server, sys.stdin], [], [])[0]:
            client, _ = server.accept()
            if not os.fork():
                server.close()
                answer(client)
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


def answer(client: socket.socket) -> None:
    """Run what is asked for in a process of its own; tell how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(client, 4, 3)
    with client.makefile("rb") as asked:
        words, folder, environment = json.loads(asked.read(int.from_bytes(head, "big")))
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
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    client.sendall(str(status if status >= 0 else 128 - status).encode())
    os._exit(0)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
