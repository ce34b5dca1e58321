"""What a served model has on disk: where it began, the log of what it learnt since, and snapshots on the way.

    base.ouzel                  the model as it began, and how lines are read
    log.sqlite                  the examples learnt since, in order
    snapshot-000000120000.ouzel the model after so many of them; the last two are kept
    readers/                    snapshots unpacked for processes that map them; they come and go with those

The model is always `base` and the log; a snapshot saves reading the log from its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from ouzel.errors import OuzelError
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.service.example_log import Entry, Log
from ouzel.service.owner import Owner
from ouzel.service.reading import Line
from ouzel.streams.block import ROWS

BASE, LOG, READERS = "base.ouzel", "log.sqlite", "readers"
SNAPSHOT = re.compile(r"snapshot-(\d{12})\.ouzel")
KEPT = 2  # snapshots: one, and one before it should that be damaged


class Folder:
    """The files of one model, by its name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self.base = path / BASE
        self.readers = path / READERS

    @property
    def begun(self) -> bool:
        """Whether there is a model."""
        return self.base.exists()

    def check_new(self) -> None:
        """OuzelError if a model cannot begin here: there is a log of one whose beginning is missing."""
        if (self.path / LOG).exists():
            raise OuzelError(f"{self.path}: has a log and no {BASE}, where it began; put that file back")

    def begin(self, model: Model, notes: dict[str, Any]) -> None:
        """Take a model to begin with; its notes say how lines are read."""
        self.check_new()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OuzelError(f"{self.path}: cannot be made ({error.strerror}); name a folder with --data") from None
        persistence.save(model, self.base, notes)

    def open(self, say: Callable[[str], None] = lambda line: None) -> tuple[Owner, Log]:
        """The model with all that was acknowledged, and its log; `say` is told in a line what was not sound."""
        owner, log = Owner(self.name, self.base), Log(self.path / LOG)
        for snapshot in reversed(self.snapshots()):
            try:
                owner.restore(snapshot)
                break
            except OuzelError as error:
                say(f"{error}; going on from the one before it")
        if log.last() < owner.learnt:
            raise OuzelError(
                f"{log.path}: ends with example {log.last():,}, and a snapshot has learnt {owner.learnt:,}; put back a "
                "sound copy of the folder"
            )
        self._replay(owner, log)
        return owner, log

    def snapshots(self) -> list[Path]:
        """The snapshots there are, the oldest first."""
        found = self.path.iterdir() if self.path.is_dir() else ()
        return sorted(path for path in found if SNAPSHOT.fullmatch(path.name))

    def snapshot(self, owner: Owner) -> Path:
        """Write the model as it is now, and remove what is older than the one before; its file."""
        path = self.path / f"snapshot-{owner.learnt:012}.ouzel"
        if not path.exists():
            beside = self.path / "snapshot.ouzel"
            learnt = owner.save(beside)
            path = beside.replace(self.path / f"snapshot-{learnt:012}.ouzel")
        for old in self.snapshots()[:-KEPT]:
            with suppress(OSError):
                old.unlink()
        return path

    def compact(self, log: Log, keep: int) -> None:
        """Keep no more than so many examples behind the last, but all that any snapshot is behind of.

        The first snapshot that is kept is then where the model begins.
        """
        found = self.snapshots()
        if len(found) == KEPT:
            log.forget(min(learnt_of(found[0]), log.last() - keep))

    def _replay(self, owner: Owner, log: Log) -> None:
        entries = log.entries(after=owner.learnt)
        while part := list(islice(entries, ROWS)):
            try:
                owner.learn([line.example for line in _sound(owner, part)])
            except OuzelError as error:
                raise OuzelError(f"{log.path}: examples {part[0].number:,} to {part[-1].number:,}: {error}") from None


def learnt_of(snapshot: Path) -> int:
    """How many examples of the log a snapshot has learnt, by its name."""
    found = SNAPSHOT.fullmatch(snapshot.name)
    assert found is not None
    return int(found[1])


def _sound(owner: Owner, entries: list[Entry]) -> Iterator[Line]:
    lines = owner.reading.lines([entry.line for entry in entries], [None] * len(entries))
    for entry, line in zip(entries, lines, strict=True):
        if not isinstance(line, Line):
            raise OuzelError(f"example {entry.number:,} was learnt, and is not one any more: {line.error}")
        yield line
