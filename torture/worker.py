"""What a worker does: one job, input after input, in a process of its own that may die."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import NoReturn

from torture.coverage import Coverage
from torture.names import Name
from torture.slot import Slot
from torture.targets.base import Target
from torture.verdicts import FINE, Verdict, judge

EACH = 3  # failures of one signature that a job tells in full
POOL = 64  # inputs that a job breeds from
OUT_OF_MEMORY = 86  # a worker's exit status when it is too large to go on


@dataclass
class Job:
    """Inputs `first` to `first + count - 1` of a target, as many as there is time for."""

    target: Target
    first: int
    count: int
    seconds: float
    memory: int  # bytes a worker may reach
    parents: list[Name] = field(default_factory=list)  # inputs of other jobs that were new


def work(job: Job, slot: Slot, pipe: int, log: int) -> NoReturn:
    """Do the job and end the process; failures and new inputs go to the pipe as lines of JSON, stacks to the log."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    status = 0
    try:
        faulthandler.enable(log)
        faulthandler.register(signal.SIGUSR1, log, all_threads=True)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops us
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sys.setswitchinterval(1e-4)  # readers hand blocks from thread to thread
        status = _inputs(job, slot, pipe)
    except BaseException:
        import traceback

        traceback.print_exc()
        status = 70  # the harness itself is at fault
    finally:
        job.target.stop()
        os._exit(status)


def _inputs(job: Job, slot: Slot, pipe: int) -> int:
    target, told = job.target, dict[str, int]()
    target.slot = slot
    target.start()
    coverage = Coverage()
    known: set[str] = set()
    pool = [(name, target.data(name)) for name in job.parents]
    deadline = time.monotonic() + job.seconds
    for seed in range(job.first, job.first + job.count):
        name, data = _next(target, seed, pool)
        slot.begin(name)
        verdict = judge(lambda name=name, data=data: target.run(data, name.randomness("run")))  # type: ignore[misc]
        if verdict.kind in FINE and _peak() > job.memory:
            verdict = Verdict("memory", f"{target.name}: {_peak() >> 20} MiB".split(":")[0], f"{_peak() >> 20} MiB")
        slot.end(verdict.kind)
        new = f"{verdict.kind} {verdict.signature}" not in known
        known.add(f"{verdict.kind} {verdict.signature}")
        if verdict.kind not in FINE:
            told[verdict.signature] = told.get(verdict.signature, 0) + 1
            if told[verdict.signature] <= EACH:
                _tell(pipe, name, verdict)
        elif coverage.fresh() or new:
            pool = [*pool, (name, data)][-POOL:]
            _tell(pipe, name, verdict)
        if _peak() > job.memory:
            return OUT_OF_MEMORY
        if time.monotonic() > deadline:
            break
    return 0


def _next(target: Target, seed: int, pool: list[tuple[Name, bytes]]) -> tuple[Name, bytes]:
    """A new input, or a mutation of one that was new."""
    name = Name(target.name, (seed,))
    choice = name.randomness("choice")
    if not pool or choice.random() > target.breeding:
        return name, target.data(name)
    parent, data = choice.choice(pool)
    if parent.generation >= 12:
        return name, target.data(name)
    name = Name(target.name, (*parent.lineage, seed))
    return name, target.mutate(data, name.randomness("mutation"))


def _peak() -> int:
    """Bytes that this process has held at its largest."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _tell(pipe: int, name: Name, verdict: Verdict) -> None:
    line = json.dumps({"name": str(name), **verdict._asdict()}) + "\n"
    os.write(pipe, line.encode())
