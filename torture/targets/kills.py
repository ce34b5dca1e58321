"""Kills at random moments: training that is killed, and gone on with until done, leaves the bytes of an unbroken run.

Processes are forked from this worker, which has all imports behind it: a kill costs the time of the work it interrupts.
One in twenty starts cold, as a user's does.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import NoReturn

from ouzel.errors import OuzelError
from torture.comparing import difference
from torture.killing import Child, become, strike
from torture.learners import chosen, settings_of
from torture.targets import kill_data
from torture.targets.base import Target
from torture.targets.delimited import Csv
from torture.targets.numbers import warm_catalogue
from torture.targets.svmlight import Svmlight
from torture.targets.vw import VowpalWabbit
from torture.verdicts import Failure, scrubbed

COLD = 0.05  # share of processes that start from nothing
SIGNALS = (*(signal.SIGKILL,) * 8, signal.SIGTERM, signal.SIGINT)
STOPPED = {signal.SIGINT: (130,), signal.SIGTERM: (128 + signal.SIGTERM, 130), signal.SIGKILL: ()}
HELD = (signal.SIGINT, signal.SIGTERM)  # while a process becomes `ouzel`
LONGEST = 180.0  # seconds that one process may take, on a machine that does much besides


class Kills(Target):
    name = "kills"
    weight = 0.1
    share = 15.0
    about = "kill -9, SIGTERM, SIGINT; resumed, and compared with an unbroken run"
    breeding = 0.0
    patience = 400.0

    def __init__(self) -> None:
        super().__init__()
        self.unbroken: dict[str, tuple[Path, float]] = {}

    def prepare(self) -> None:
        """Compile what training takes."""
        self.start()
        for learner in chosen():
            _begun(_command(learner, ["-"], []), kill_data.TEXT, self._fresh("prepared")).wait()
        self.stop()

    def warm(self) -> None:
        for kind in (Svmlight, VowpalWabbit, Csv):
            kind().warm()
        warm_catalogue()

    def start(self) -> None:
        super().start()
        self.sources = kill_data.write(self.folder)
        import ouzel.cli.app
        import ouzel.evaluation.curve_plots
        import ouzel.evaluation.progressive
        import ouzel.model.persistence
        import ouzel.streams.formats.batches  # noqa: F401 what children would import

    def make(self, random: Random) -> bytes:
        learner = random.choice(chosen())
        form = random.choice(list(kill_data.FORMS))
        extra: list[str] = []
        checkpoints = random.choice((0, 30, 100, 333, 1000))
        if random.random() < 0.2 and not form.endswith("-"):
            extra += ["--passes", "2"]
        if random.random() < 0.2:
            extra += ["--holdout-every", random.choice(("2", "7"))]
        spec = {"learner": learner, "form": form, "every": checkpoints, "extra": extra}
        return json.dumps({**spec, "kills": random.choice((1, 1, 2, 3)), "seed": random.getrandbits(32)}).encode()

    def mutate(self, data: bytes, random: Random) -> bytes:
        return self.make(random)

    def run(self, data: bytes, random: Random) -> str:
        spec = json.loads(data)
        random = Random(spec["seed"])
        files, content = kill_data.FORMS[spec["form"]](self.sources)
        arguments = _command(spec["learner"], files, spec["extra"])
        if spec["every"]:
            arguments += ["--resume", "m.ouzel", "--checkpoint-every", str(spec["every"])]
        reference, seconds = self._unbroken(arguments, content)
        folder = self._fresh("killed")
        for _ in range(spec["kills"]):
            cold = random.random() < COLD
            pause = random.uniform(0, (1.5 + seconds) if cold else seconds)
            chosen_signal = random.choice(SIGNALS)
            status = strike(_begun(arguments, content, folder, cold), pause=pause, number=chosen_signal)
            self._note_kill()
            _check_status(status, chosen_signal, folder, cold)
            _check_model(folder / "m.ouzel")
            if status == 0:
                break
        else:
            status = _begun(arguments, content, folder).wait()
        if status != 0:
            raise Failure("dead", f"training gone on with ended with {status}: {_said(folder)}", f"{arguments}")
        differs = difference(reference, folder / "m.ouzel")
        if differs:
            raise Failure("differs", differs, json.dumps(arguments))
        return f"the same after {spec['kills']} kills"

    def _note_kill(self) -> None:
        if self.slot is not None:
            self.slot.add_kills(1)
            self.slot.tick()

    def _unbroken(self, arguments: list[str], content: bytes) -> tuple[Path, float]:
        """The model of a run that nothing stops, and how long it took."""
        key = json.dumps([arguments, len(content)])
        if key not in self.unbroken:
            if len(self.unbroken) > 200:
                self.unbroken.clear()
            folder = self._fresh("unbroken")
            began = time.monotonic()
            status = _begun(arguments, content, folder).wait()
            seconds = time.monotonic() - began
            if status == 2:
                raise OuzelError(_said(folder))
            if status != 0:
                raise Failure("noise", f"an unbroken run ended with {status}: {_said(folder)}", f"{arguments}")
            kept = self.folder / f"unbroken-{len(self.unbroken)}.ouzel"
            shutil.copy(folder / "m.ouzel", kept)
            self.unbroken[key] = kept, seconds
        return self.unbroken[key]

    def _fresh(self, name: str) -> Path:
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder


class _Begun(Child):
    """`ouzel` that was begun, and is not to take for ever."""

    def wait(self, timeout: float = LONGEST) -> int:
        try:
            return super().wait(timeout)
        except TimeoutError:
            raise Failure("hang", f"training took more than {timeout:.0f} s") from None


def _begun(arguments: list[str], content: bytes, folder: Path, cold: bool = False) -> _Begun:
    """`ouzel` in a folder, with this on its standard input; forked, or as a user starts it."""
    (folder / "stdin").write_bytes(content)
    if cold:
        with open(folder / "stdin") as stdin, open(folder / "err", "w") as err, open(folder / "out", "w") as out:
            command = [sys.executable, "-m", "ouzel", *arguments]
            return _Begun(subprocess.Popen(command, stdin=stdin, stdout=out, stderr=err, cwd=folder).pid)
    signal.pthread_sigmask(signal.SIG_BLOCK, HELD)  # until it is clear which process a signal is for
    try:
        process = os.fork()
        if not process:
            _become(arguments, folder)
        return _Begun(process)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)


def _become(arguments: list[str], folder: Path) -> NoReturn:
    """Turn this forked process into `ouzel`."""
    try:
        for stop in HELD:
            signal.signal(stop, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        new = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        files = ("stdin", os.O_RDONLY), ("out", new), ("err", new)
        become(arguments, *(os.open(name, flags) for name, flags in files))
    finally:
        os._exit(71)


def _command(learner: str, files: list[str], extra: list[str]) -> list[str]:
    given = [f"--{name}={value}" for name, value in settings_of(learner).items()]
    form = ["--format", "svmlight"] if files == ["-"] else []
    return ["train", *files, "--learner", learner, *given, "--model", "m.ouzel", *form, *extra]


def _said(folder: Path) -> str:
    text = (folder / "err").read_text(errors="replace") if (folder / "err").exists() else ""
    return scrubbed(next((line for line in reversed(text.splitlines()) if line.strip()), "nothing"))


def _check_status(status: int, given: int, folder: Path, cold: bool) -> None:
    """Fail unless a process ended as one does that is stopped by a signal, or had ended before."""
    said = (folder / "err").read_text(errors="replace") if (folder / "err").exists() else ""
    where = "cold" if cold else "warm"
    if "Traceback (most recent call last)" in said:
        name = signal.Signals(given).name
        raise Failure("traceback", f"{name} ({where}): {scrubbed(said.strip().splitlines()[-1])}", said[-4000:])
    if status not in (0, -given, *STOPPED.get(signal.Signals(given), ())):
        raise Failure("noise", f"{signal.Signals(given).name} ended in status {status}: {_said(folder)}", said[-4000:])


def _check_model(path: Path) -> None:
    """Fail unless the model on disk, if there is one, is whole."""
    import ouzel
    from ouzel.model import persistence

    if path.exists():
        try:
            persistence.load_model(path)
        except ouzel.OuzelError as error:
            raise Failure("unsound", f"the model after a kill: {scrubbed(str(error))}") from None
