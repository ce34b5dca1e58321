"""The watchdog: workers at their jobs, and what becomes of those that hang, grow too large, or die."""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from torture.names import Name
from torture.slot import Slot
from torture.targets.base import SCRATCH
from torture.verdicts import Verdict
from torture.worker import OUT_OF_MEMORY, Job, work

FRAME = re.compile(r'File "([^"]*)", line \d+ in (\S+)')
HARNESS = 70  # exit status of a worker whose own code failed


class Worker:
    """One job in a forked process."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.slot = Slot()
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 closed with the worker
        self.began = time.monotonic()
        self.scratch = tempfile.mkdtemp(prefix="job-", dir=os.environ.get(SCRATCH))
        reading, writing = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(reading)
            os.setpgid(0, 0)  # with all that it starts
            os.environ[SCRATCH] = self.scratch
            work(job, self.slot, writing, self.log.fileno())
        os.close(writing)
        os.set_blocking(reading, False)
        self.pipe = reading
        self.text = b""
        self.ticks, self.moved = -1, time.monotonic()
        self.peak = 0  # bytes

    def messages(self) -> list[tuple[Name, Verdict]]:
        """What the worker has told since this was last asked: failures, and inputs that were new."""
        while chunk := self._read():
            self.text += chunk
        *lines, self.text = self.text.split(b"\n")
        found = [json.loads(line) for line in lines]
        return [(Name.parse(each.pop("name")), Verdict(**each)) for each in found]

    def check(self, patience: float) -> tuple[bool, list[tuple[Name, Verdict]]]:
        """Whether the job has ended, and failures that only the watchdog sees."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            return True, self._end(status)
        now = time.monotonic()
        if self.slot.ticks != self.ticks:
            self.ticks, self.moved = self.slot.ticks, now
        resident = _resident(self.pid)
        self.peak = max(self.peak, resident)
        if resident > self.job.memory and self.slot.at_work is not None:  # else the worker has seen it, and ends
            return True, self._kill("memory", f"more than {self.job.memory >> 20} MiB")
        if now - self.moved > patience:
            return True, self._kill("hang", f"no progress for {patience:.0f} s")
        return False, []

    def stop(self) -> None:
        """End the job, unless it has ended."""
        with suppress(ProcessLookupError, ChildProcessError):
            self._end_processes()
        self.close()

    def close(self) -> None:
        """Let go of pipe and log."""
        os.close(self.pipe)
        self.log.close()

    def _read(self) -> bytes:
        try:
            return os.read(self.pipe, 1 << 16)
        except BlockingIOError:
            return b""

    def _kill(self, kind: str, what: str) -> list[tuple[Name, Verdict]]:
        """Ask for a stack, then kill: what the worker was at is the culprit."""
        os.kill(self.pid, signal.SIGUSR1)
        time.sleep(0.3)
        log = self._log()
        self._end_processes()
        if kind == "memory" and self.slot.at_work is None:
            return []  # the worker saw it in the meantime, and has told
        return self._blame(Verdict(kind, f"{_where(log)}", f"{what}\n{log[-4000:]}"))

    def _end_processes(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def _end(self, status: int) -> list[tuple[Name, Verdict]]:
        code = os.waitstatus_to_exitcode(status)
        if code in (0, OUT_OF_MEMORY):
            return []
        log = self._log()
        if code == HARNESS:
            raise RuntimeError(f"the harness failed at {self.slot.last}:\n{log[-4000:]}")
        cause = signal.Signals(-code).name if code < 0 else f"status {code}"
        return self._blame(Verdict("dead", f"{cause} at {_where(log)}", log[-4000:]))

    def _blame(self, verdict: Verdict) -> list[tuple[Name, Verdict]]:
        """A failure of the input at work; of the one before it, where damage shows late."""
        if self.slot.at_work is not None:
            self.slot.end(verdict.kind)
        return [(self.slot.last or Name(self.job.target.name, (self.job.first,)), verdict)]

    def _log(self) -> str:
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace").partition("\nExtension modules:")[0]


def _where(log: str) -> str:
    """The deepest function of the package on the stack that the log shows last."""
    last = log[max(log.rfind("Fatal Python error"), log.rfind("Current thread"), 0) :]
    frames = [(file, function) for file, function in FRAME.findall(last) if "/ouzel/" in file]
    return f"{Path(frames[0][0]).name}:{frames[0][1]}" if frames else "no line of the package"


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0


def in_a_fork(function: Any, *arguments: Any) -> int:
    """Call a function in a child; its exit status, so that no threads or kernels of it stay here."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            function(*arguments)
            status = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
