"""Folder of a served model: the model it started from, the log of examples learnt since, and snapshots.

    base.ouzel                  the model at its start, and how lines are read
    log.sqlite                  the examples learnt since, in order
    follows                     a shadow that an alarm started: the leader, and its example before the alarm's
    snapshot-000000120000.ouzel the model after 120,000 of them; the last two are kept
    readers/                    snapshots unpacked for the processes that map them, and deleted with those

`base` and the log define the model; a snapshot only saves reading the log from its start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ouzel.errors import ContradictionError, OuzelError
from ouzel.files import write_atomically
from ouzel.learners import catalogue
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.rounds import untrained
from ouzel.service.example_log import Entry, Log
from ouzel.service.owner import Owner
from ouzel.streams.block import ROWS
from ouzel.streams.feature_names import ID
from ouzel.streams.formats.records import framed
from ouzel.streams.options import OF_MESSAGES
from ouzel.training.resume_options import validate_resume_options

BASE, LOG, READERS, FOLLOWS = "base.ouzel", "log.sqlite", "readers", "follows"
SNAPSHOT = re.compile(r"snapshot-(\d{12})\.ouzel")
KEPT = 2  # snapshots: the last, and the one before it in case the last is damaged


class Folder:
    """The files of one model, by the name of the model."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self.base = path / BASE
        self.readers = path / READERS

    @property
    def begun(self) -> bool:
        """Whether the folder has a model."""
        return self.base.exists()

    def check_new(self) -> None:
        """Raise OuzelError if no model can start here: there is the log of a model whose base file is missing."""
        if (self.path / LOG).exists():
            raise OuzelError(f"{self.path}: has a log and no {BASE}, where it began; put that file back")

    def begin(self, model: Model, notes: dict[str, Any]) -> None:
        """Write the model to start from; its notes say how lines are read."""
        self.check_new()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OuzelError(f"{self.path}: cannot be made ({error.strerror}); name a folder with --data") from None
        persistence.save(model, self.base, notes)

    def begin_anew(self, like: Folder) -> None:
        """Write the model of another folder as it is before it has learnt anything."""
        model, notes = persistence.load_notes(like.base)
        self.begin(untrained(model), {"reading": notes.get("reading", {})})

    @property
    def follows(self) -> str:
        """Where a shadow began to follow: the leader and the number of an example, `NAME:NUMBER`, or nothing."""
        path = self.path / FOLLOWS
        return path.read_text() if path.is_file() else ""

    def write_follows(self, place: str) -> None:
        """Have `follows` return a place from now on, also after a crash."""
        with write_atomically(self.path / FOLLOWS) as file:
            file.write(place.encode())

    def open(self, say: Callable[[str], None] = lambda line: None) -> tuple[Owner, Log]:
        """Return the model with all acknowledged examples, and its log; report damaged snapshots to `say`."""
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
        """Return the snapshots, the oldest first."""
        found = self.path.iterdir() if self.path.is_dir() else ()
        return sorted(path for path in found if SNAPSHOT.fullmatch(path.name))

    def snapshot(self, owner: Owner) -> Path:
        """Write a snapshot of the model, delete all but the last two, and return its path."""
        path = self.path / f"snapshot-{owner.learnt:012}.ouzel"
        if not path.exists():
            partial = self.path / "snapshot.ouzel"
            learnt = owner.save(partial)
            path = partial.replace(self.path / f"snapshot-{learnt:012}.ouzel")
        for old in self.snapshots()[:-KEPT]:
            with suppress(OSError):
                old.unlink()
        return path

    def rolled_back(self, log: Log, to: int) -> Path | None:
        """Have the log, and so the model, end with the example `to`; return a file of records with those behind it.

        OuzelError if no state at or before that example is there. Killed in between, nothing is rolled back.
        """
        last, starts = log.last(), [learnt_of(path) for path in self.snapshots()]
        reachable = min([*(start for start in starts if start >= log.first() - 1), *([0] if log.first() == 1 else [])])
        if not reachable <= to <= last:
            raise OuzelError(
                f"{log.path}: the model can go back to any of examples {reachable:,} to {last:,}; got {to:,}"
            )
        if to == last:
            return None
        removed = self.path / f"rolled-back-{to + 1:012}-{last:012}.records"
        with write_atomically(str(removed)) as file:
            for part in framed(row.record for row in log.rows(to)):
                file.write(part)
        for path, start in zip(self.snapshots(), starts, strict=True):
            if start > to:
                path.unlink()
        log.cut(to)
        return removed

    def compact(self, log: Log, keep: int) -> None:
        """Delete old examples of the log: keep the last `keep`, and all after the older snapshot.

        The model is then defined by that snapshot and the log.
        """
        found = self.snapshots()
        if len(found) == KEPT:
            log.forget(min(learnt_of(found[0]), log.last() - keep))

    def _replay(self, owner: Owner, log: Log) -> None:
        for part in _parts(log.rows(after=owner.learnt)):
            try:
                owner.learn(owner.reading.examples(row.record for row in part))
            except OuzelError as error:
                raise OuzelError(f"{log.path}: examples {part[0].first:,} to {part[-1].number:,}: {error}") from None


def _parts(rows: Iterator[Entry]) -> Iterator[list[Entry]]:
    """Yield rows of the log in parts of some thousand examples."""
    part: list[Entry] = []
    for row in rows:
        part.append(row)
        if row.number - part[0].first >= ROWS:
            yield part
            part = []
    if part:
        yield part


def _check_agreement(*given: Any) -> None:
    try:
        validate_resume_options(*given)
    except ContradictionError as error:
        advice = "leave the option out to go on, or begin a new model with another --name or --data"
        raise ContradictionError(f"{error.found}; {advice}") from None


def learnt_of(snapshot: Path) -> int:
    """Return the number of examples of the log that a snapshot has learnt, by its name."""
    found = SNAPSHOT.fullmatch(snapshot.name)
    assert found is not None
    return int(found[1])


OF_JSON = ("label", "label_positive", "weight", "text", "categorical", "numeric", "dates", "ignore", "keep", "missing")
AS_IT_IS = {
    "scale_targets": True,
    "standardize": None,
    "forget": None,
    "class_weight": None,
}  # what a service takes no options for


def begin(
    folder: Folder,
    file: str | None,
    learner: str | None,
    settings: dict[str, Any],
    reading: dict[str, Any],
    given: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Start a model in a folder, or check that its model agrees with the options; return a line on what was done."""
    if folder.begun:
        model, notes = persistence.load_notes(folder.base)
        prepared = {**AS_IT_IS, "class_weight": None, **given}
        _check_agreement(str(folder.base), model, notes.get("reading", {}), learner, settings, True, prepared, reading)
        return f"{folder.path}: going on"
    notes = {}
    if file is not None:
        if settings or learner is not None or any(value for value in given.values()):
            raise OuzelError("the settings of --model FILE are in the file; leave out --learner and settings")
        model, notes = persistence.load_notes(file)
        if model.task.groups:
            raise OuzelError(f"{file}: ranks groups, which come as a whole; a service takes one example at a time")
        said = f"{folder.path}: beginning with {file}, which has learnt {model.examples:,} examples"
    else:
        hashing = {"bits": reading.get("bits", 18), "seed": reading.get("seed", 0)}
        model = Model(learner or catalogue.DEFAULT, **given, **hashing, **settings)
        said = f"{folder.path}: beginning a new model"
    folder.begin(model, {**notes, "reading": lines_read({**notes.get("reading", {}), **reading})})
    return said


def lines_read(reading: dict[str, Any]) -> dict[str, Any]:
    """Return the options for reading lines: nothing depends on which line comes first, and ids are not features."""
    known = {name: value for name, value in reading.items() if name in (*OF_JSON, *OF_MESSAGES, "bits", "seed")}
    ignored = [name for name in known.get("ignore", ()) if name != ID]
    return {**known, "label": known.get("label", "label"), "ignore": [*ignored, ID], "sample": 0}


def check_folders(
    folders: Sequence[Folder],
    file: str | None,
    learner: str | None,
    settings: dict[str, Any],
    reading: dict[str, Any],
    given: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[str]:
    """Check whether folders can be served, without writing: yield a line on each, or raise OuzelError."""
    for folder in folders:
        if folder.begun:
            model, notes = persistence.load_notes(folder.base)
            if folder is folders[0]:
                stored, prepared = notes.get("reading", {}), {**AS_IT_IS, "class_weight": None, **given}
                _check_agreement(str(folder.base), model, stored, learner, settings, True, prepared, reading)
            owner, examples = folder.open()
            yield f"{folder.path}: sound, {owner.learnt:,} examples in the log, {owner.model.examples:,} learnt in all"
            examples.close()
            continue
        folder.check_new()
        if file is not None:
            yield f"{file}: sound, {persistence.load_model(file).examples:,} examples learnt"
        else:
            model = Model(learner or catalogue.DEFAULT, **given, **settings)
            yield f"{folder.path}: a new model, {model.learner.name}"
