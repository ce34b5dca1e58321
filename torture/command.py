"""`python -m torture`: run the attack, repeat one input, write the figures into the docs."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import zlib
from pathlib import Path

from torture.campaign import MEMORY, Campaign, scratch
from torture.coverage import REASON
from torture.journal import HERE, Journal
from torture.learners import CHOSEN
from torture.names import Name
from torture.report import figures, refresh, table
from torture.targets import TARGETS
from torture.verdicts import FINE, judge
from torture.watchdog import Worker, in_a_fork
from torture.worker import Job

LAST = HERE / "last.json"
EVERY = 0.5  # seconds between two states of the live line


def main() -> None:
    """Do what the command line says; status 1 if anything failed."""
    arguments = _parser().parse_args()
    if getattr(arguments, "learners", None):
        os.environ[CHOSEN] = arguments.learners
    sys.exit(arguments.do(arguments))


def run(arguments: argparse.Namespace) -> int:
    """Attack, say what was found, and leave the figures in torture/last.json."""
    names = arguments.targets.split(",") if arguments.targets else list(TARGETS)
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        sys.exit(f"torture: there is no target {unknown[0]!r}; there are {', '.join(TARGETS)}")
    seed = arguments.seed if arguments.seed is not None else int.from_bytes(os.urandom(3), "big")
    given = sys.argv[1:]
    say = print if not arguments.json else lambda *_: None
    say(f"seed {seed}" + (f"; {REASON}" if REASON else ""))
    journal = Journal(seed, given)
    with scratch():
        campaign = Campaign(
            names,
            seed=seed,
            seconds=None if arguments.inputs else 60.0 * arguments.minutes,
            inputs=arguments.inputs,
            kills=arguments.kills,
            workers=arguments.workers,
            memory=arguments.memory << 20,
            patience=arguments.patience,
            journal=journal,
        )
        line = Line(quiet=arguments.json)
        try:
            campaign.prepare(line.say)
            _warm()
            campaign.run(line.show)
        except KeyboardInterrupt:
            line.say("stopped")
        line.end()
        found = figures(campaign, given)
    journal.write("end", **{name: found[name] for name in ("inputs", "kills", "failed", "minutes")})
    journal.close()
    LAST.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found) if arguments.json else f"{table(found)}\njournal: {journal.path}")
    return int(found["failed"] > 0)


def replay(arguments: argparse.Namespace) -> int:
    """Run one input again, in a process of its own, and show what becomes of it."""
    path = Path(arguments.input)
    with scratch():
        if path.is_file():
            seeds = path.name.split(".")
            plain = all(seed.isdigit() for seed in seeds)  # else libFuzzer has named it
            name = Name(path.parent.name, tuple(map(int, seeds)) if plain else (zlib.crc32(path.read_bytes()),))
        else:
            name = Name.parse(arguments.input)
        target = TARGETS[name.target]()
        if name.target == "models" and in_a_fork(target.prepare):
            return 1
        if arguments.here:
            target.start()
            data = path.read_bytes() if path.is_file() else target.data(name)
            print(f"{name}: {len(data)} bytes: {data[:300]!r}")
            verdict = judge(lambda: target.run(data, name.randomness("run")))
            print(f"{verdict.kind}: {verdict.signature}\n{verdict.detail}")
            target.stop()
            return int(verdict.kind not in FINE)
        found = _alone(target, name, path.read_bytes() if path.is_file() else None)
    return found


def _alone(target, name: Name, data: bytes | None) -> int:  # type: ignore[no-untyped-def]
    """Run one input under the watchdog."""
    if data is not None:
        target.data = lambda name: data
    else:
        target.breeding = 0.0
        making = target.data
        target.data = lambda _: making(name)
    worker = Worker(Job(target, name.seed, 1, 600.0, MEMORY))
    found = []
    while True:
        time.sleep(0.05)
        ended, more = worker.check(target.patience)
        found += [*worker.messages(), *more]
        if ended:
            break
    for _, verdict in found:
        print(f"{name}: {verdict.kind}: {verdict.signature}\n{verdict.detail}")
    return int(any(verdict.kind not in FINE for _, verdict in found))


def guided(arguments: argparse.Namespace) -> int:
    """Atheris on one target, in a process that is its own from the first import on."""
    seconds = str(60.0 * arguments.minutes)
    with scratch():  # here, as libFuzzer ends its process at once
        command = [sys.executable, "-m", "torture.guided", arguments.target, seconds]
        return subprocess.run(command, check=False).returncode


class Line:
    """The line that moves while the attack goes on."""

    def __init__(self, quiet: bool) -> None:
        self.live = not quiet and sys.stderr.isatty()
        self.quiet = quiet
        self.next = 0.0

    def say(self, text: str) -> None:
        """Put a text in the line."""
        if self.live:
            print(f"\r\x1b[2K{text}", end="", file=sys.stderr, flush=True)
        elif not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def show(self, campaign: Campaign) -> None:
        """The rate, the inputs, the failures, and what is at work."""
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + (EVERY if self.live else 30.0)
        tallies = campaign.tallies.values()
        counts = [worker.slot.counts for worker in campaign.running]
        inputs = sum(tally.inputs for tally in tallies) + sum(sum(count.values()) for count in counts)
        failed = sum(tally.broken for tally in tallies)
        kills = sum(tally.kills for tally in tallies) + sum(worker.slot.kills for worker in campaign.running)
        at_work = " ".join(sorted({worker.job.target.name for worker in campaign.running}))
        minutes = campaign.elapsed / 60
        rate = inputs / max(campaign.elapsed, 1.0)
        self.say(
            f"{minutes:.1f} min  {inputs:,} inputs  {rate:,.0f}/s  {kills:,} kills  {failed:,} failed  [{at_work}]"
        )

    def end(self) -> None:
        """Leave the line."""
        if self.live:
            print(file=sys.stderr)


def _warm() -> None:
    """Import, before workers are forked, what all of them need; nothing here may start a thread."""
    import ouzel.estimators
    import ouzel.model.model
    import ouzel.model.persistence
    import ouzel.streams.formats.batches
    import ouzel.streams.formats.svmlight
    import ouzel.streams.formats.vw  # noqa: F401


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="run | replay | guided | docs | targets")
    command = commands.add_parser("run", help="attack")
    command.add_argument("--minutes", type=float, default=10.0, help="how long (10)")
    command.add_argument("--inputs", type=int, help="or how many inputs, divided by the targets' weights")
    command.add_argument("--kills", type=int, help="with --inputs: how many trainings are killed")
    command.add_argument("--targets", help="a,b,…: by default all")
    command.add_argument("--learners", help="a,b,…: attack these alone")
    command.add_argument("--seed", type=int, help="of all seeds; by default another each time")
    command.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="processes at once")
    command.add_argument("--memory", type=int, default=MEMORY >> 20, metavar="MIB", help="a worker's limit (2048)")
    command.add_argument("--patience", type=float, help="seconds without progress before it is a hang")
    command.add_argument("--json", action="store_true", help="print the figures as JSON and nothing else")
    command.set_defaults(do=run)
    command = commands.add_parser("replay", help="run one input again: its name, or a file of torture/failures")
    command.add_argument("input", metavar="NAME|FILE")
    command.add_argument("--here", action="store_true", help="in this process: for a debugger")
    command.add_argument("--learners", help="as they were given to the run")
    command.set_defaults(do=replay)
    command = commands.add_parser("guided", help="let Atheris, if it is installed, find its way through a target")
    command.add_argument("target", choices=list(TARGETS))
    command.add_argument("--minutes", type=float, default=5.0, help="how long (5)")
    command.set_defaults(do=guided)
    command = commands.add_parser("docs", help="write the figures of a run into docs/reliability.md")
    command.add_argument("figures", nargs="?", type=Path, default=LAST)
    command.set_defaults(do=lambda arguments: refresh(arguments.figures) or 0)
    command = commands.add_parser("targets", help="list the targets")
    command.set_defaults(do=lambda _: print("\n".join(f"{n:<10} {t.about}" for n, t in TARGETS.items())) or 0)
    return parser
