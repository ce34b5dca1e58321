"""A run of the attack: which target is next, workers at their jobs, and what has been found."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from torture.journal import KEPT, Journal, keep
from torture.names import Name
from torture.targets import TARGETS
from torture.targets.base import SCRATCH, Target
from torture.targets.models import CORPUS
from torture.verdicts import BROKEN, FINE, KINDS, Verdict
from torture.watchdog import Worker, in_a_fork
from torture.worker import Job

JOB = 8.0  # seconds
LONGEST_JOB = 4000  # inputs
PARENTS = 12  # inputs handed to a job to breed from
POLL = 0.05  # seconds between two looks of the watchdog
MEMORY = 2 << 30


@dataclass
class Tally:
    """The figures of one target."""

    target: Target
    wanted: float  # inputs, or a share of the time
    next_seed: int
    kinds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    kills: int = 0
    seconds: float = 0.0  # of workers
    peak: int = 0  # bytes
    at_work: int = 0  # inputs handed out and not counted yet
    parents: list[Name] = field(default_factory=list)
    failures: dict[str, list[str]] = field(default_factory=dict)  # kind and signature: names of the first

    @property
    def inputs(self) -> int:
        """Inputs that came to an end."""
        return sum(self.kinds.values())

    @property
    def broken(self) -> int:
        """Inputs that failed."""
        return sum(self.kinds[kind] for kind in BROKEN)


class Campaign:
    """Targets attacked side by side until the time is up, or each has had its inputs."""

    def __init__(
        self,
        targets: list[str],
        *,
        seed: int,
        seconds: float | None = None,
        inputs: int | None = None,
        kills: int | None = None,
        workers: int = 2,
        memory: int = MEMORY,
        patience: float | None = None,
        journal: Journal | None = None,
        kinds: dict[str, type[Target]] = TARGETS,
        failures: Path | None = None,
    ) -> None:
        self.seed, self.seconds, self.workers, self.memory = seed, seconds, workers, memory
        self.patience, self.journal, self.kinds_of = patience, journal, kinds
        self.where = {"folder": failures} if failures else {}
        self.random = Random(seed)
        whole = sum(kinds[name].weight for name in targets)
        self.counted = inputs is not None  # else time decides
        each = (inputs or 0) / whole
        self.tallies = {
            name: Tally(
                kinds[name](), kinds[name].weight * each if self.counted else kinds[name].share, seed * 10_000_000
            )
            for name in targets
        }
        if kills is not None and "kills" in self.tallies:
            self.tallies["kills"].wanted = kills
        self.began = time.monotonic()
        self.running: list[Worker] = []
        self.elapsed = 0.0

    def prepare(self, say: Callable[[str], None]) -> None:
        """Compile kernels and make sound models, each target in a process of its own."""
        for name, tally in self.tallies.items():
            say(f"preparing {name} (kernels compile the first time)")
            in_a_fork(tally.target.prepare)
        say("loading kernels")
        for tally in self.tallies.values():
            tally.target.warm()
        names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
        threads = [name for name in names[1:] if not name.startswith("jemalloc")]  # whose thread survives a fork
        if threads:
            say(f"{threads} run where workers are forked: what hangs may be the fork's fault")

    def run(self, show: Callable[[Campaign], None]) -> None:
        """Attack; `show` is called often."""
        self.began = time.monotonic()
        try:
            while self._fill() or self.running:
                time.sleep(POLL)
                for worker in list(self.running):
                    self._look(worker)
                self.elapsed = time.monotonic() - self.began
                show(self)
        finally:
            for worker in self.running:
                worker.stop()
            self.elapsed = time.monotonic() - self.began

    @property
    def over(self) -> bool:
        """Whether the time is up, where time decides."""
        return self.seconds is not None and time.monotonic() - self.began > self.seconds

    def _fill(self) -> bool:
        """Start workers for what is most behind; whether there is more to do."""
        while len(self.running) < self.workers and not self.over:
            behind = [tally for tally in self.tallies.values() if not self.counted or self._left(tally) > 0]
            if not behind:
                return False
            tally = min(behind, key=self._done)
            count = min(LONGEST_JOB, self._left(tally)) if self.counted else LONGEST_JOB
            left = JOB if self.seconds is None else min(JOB, max(1.0, self.seconds / 20))
            parents = self.random.sample(tally.parents, min(PARENTS, len(tally.parents)))
            job = Job(tally.target, tally.next_seed, count, left, self.memory, parents)
            tally.next_seed += count
            tally.at_work += count if self.counted else 1
            self.running.append(Worker(job))
        return not self.over

    def _done(self, tally: Tally) -> float:
        """How far a target has come, beside the others: by inputs, or by time."""
        if self.counted:
            return (tally.inputs + tally.at_work) / tally.wanted
        now = time.monotonic()
        running = sum(now - worker.began + 1.0 for worker in self.running if worker.job.target is tally.target)
        return (tally.seconds + running) / tally.wanted

    def _left(self, tally: Tally) -> int:
        return int(tally.wanted + 0.5) - tally.inputs - tally.at_work

    def _look(self, worker: Worker) -> None:
        """Hear what a worker has to tell; count its job once it has ended."""
        tally = self.tallies[worker.job.target.name]
        ended, found = worker.check(self.patience or tally.target.patience)
        for name, verdict in (*worker.messages(), *found):
            self._note(tally, name, verdict)
        if not ended:
            return
        self.running.remove(worker)
        counts = worker.slot.counts
        for kind, count in counts.items():
            tally.kinds[kind] += count
        tally.kills += worker.slot.kills
        tally.at_work -= worker.job.count if self.counted else 1
        tally.seconds += time.monotonic() - worker.began
        tally.peak = max(tally.peak, worker.peak)
        worker.close()
        shutil.rmtree(worker.scratch, ignore_errors=True)
        if self.journal is not None:
            job = worker.job
            told = {kind: count for kind, count in counts.items() if count}
            self.journal.write("job", target=job.target.name, first=job.first, inputs=sum(counts.values()), **told)

    def _note(self, tally: Tally, name: Name, verdict: Verdict) -> None:
        key = f"{verdict.kind}: {verdict.signature}"
        names = tally.failures.get(key, [])
        if self.journal is not None:
            self.journal.outcome(name, verdict, len(names))
        if verdict.kind in FINE:
            tally.parents = [*tally.parents, name][-400:]
            return
        tally.failures.setdefault(key, names).append(str(name))
        if len(names) <= KEPT:
            in_a_fork(self._keep, tally.target, name)

    def _keep(self, target: Target, name: Name) -> None:
        with contextlib.suppress(Exception):
            target.start()
            keep(name, target.data(name), **self.where)
            target.stop()


@contextlib.contextmanager
def scratch(models: Path | None = None):  # type: ignore[no-untyped-def]
    """A folder for the files of a run, in memory where that can be."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="torture-", dir=memory if memory.is_dir() else None))
    os.environ[SCRATCH] = str(folder)
    (models or folder / "models").mkdir(exist_ok=True)
    os.environ[CORPUS] = str(models or folder / "models")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
