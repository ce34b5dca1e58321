"""The owner of a model: the one place where it learns, and where its state is read.

An example takes the way of files: the reader of JSON lines, blocks, `Run.learn`. What a run notes of its files is noted
here of the log, so that a snapshot is, byte for byte, the file that `ouzel train` makes of the exported log.
"""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from operator import is_not
from pathlib import Path
from typing import Any

from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import Run
from ouzel.evaluation.report import Report
from ouzel.layout import copied
from ouzel.model import persistence
from ouzel.model.answers import as_json
from ouzel.model.contributions import explained
from ouzel.model.importance import most_important
from ouzel.model.room import check_block
from ouzel.service.answers import Answer, answers_before, answers_of, errors_of
from ouzel.service.aside import MOMENT, NotNowError
from ouzel.service.drift import PageHinkley
from ouzel.service.limits import ServiceLimits
from ouzel.service.reading import Line, Reading, Row
from ouzel.streams.block import Block
from ouzel.streams.digest import Digest
from ouzel.streams.formats.json_python import Example
from ouzel.training.run_notes import notes_of
from ouzel.training.source_records import Ledger, Record


class Owner:
    """A model that has learnt the first so many examples of a log, which begins where the model file `base` stood.

    Whatever reads or changes the model holds `lock`, for as long as a group of examples takes to be learnt or
    predicted; nobody waits for a disk with it.
    """

    def __init__(self, name: str, base: Path, mapped: bool = False) -> None:
        self.name = name
        self.base = base
        self.mapped = mapped  # whether the model's arrays are those of a file, as long as nothing is learnt
        self.model, notes = persistence.load_notes(base, mapped)
        self.model.classes.allow(None)
        if self.model.task.groups:
            raise OuzelError(f"{base}: ranks groups, which come as a whole; a service takes one example at a time")
        stored = notes.get("run", {})
        earlier = [Record.from_json(stored.get(kind, [])) for kind in ("earlier", "sources")]
        self.stored_reading: dict[str, Any] = notes.get("reading", {})
        self.reading = Reading(self.model, self.stored_reading)
        self.reading_aside = Reading(self.model, self.stored_reading, like=self.reading)  # of what is long
        self.logs = stored.get("logs", [])  # those that the file of a training says it has read
        self.ledger = Ledger(earlier=[*earlier[0], *earlier[1]], recognising=False)
        self.record = self.ledger.claim(0, None, self.file)
        self.record.piped = False
        self.digest = Digest()
        self.run = Run(self.model)
        self.drift = PageHinkley()
        self.lock = threading.RLock()
        self._asked_about: tuple[Sequence[Example | Row], Block | None] = ([], None)  # what `refusal` made a block of

    @property
    def file(self) -> str:
        """The name of the file that the log is exported to."""
        return f"{self.name}.jsonl"

    @property
    def learnt(self) -> int:
        """Examples of the log that the model has learnt."""
        return self.record.examples

    def refusal(self, examples: Sequence[Example | Row], limits: ServiceLimits) -> OuzelError | None:
        """Why the model would not learn these examples; None if it would."""
        block = self.reading.block(examples)
        self._asked_about = list(examples), block
        return self.refusal_of(block, limits)

    def refusal_of(self, block: Block, limits: ServiceLimits) -> OuzelError | None:
        """The same of a block."""
        try:
            with self.lock:
                limits.check(block, self.model)
                check_block(self.model, block)
        except OuzelError as error:
            return error
        return None

    def learn(self, examples: Sequence[Example | Row]) -> list[Answer]:
        """Learn examples of the log; what was predicted of each before."""
        (before, block), self._asked_about = self._asked_about, ([], None)
        if block is None or len(before) != len(examples) or any(map(is_not, before, examples)):
            block = self.reading.block(examples)
        return self.learn_block(block)

    def learn_block(self, block: Block, told: bool = True) -> list[Answer]:
        """The same of a block; nothing of what was predicted unless it is to be told."""
        with self.lock:
            known = len(self.model.classes)
            outcome = self.run.learn(block)
            self.record.extend(self.digest, block)
            for part in self.model.task.parts(outcome):
                self.drift.add(errors_of(self.model, part, self.run.scores.mae))
            return answers_before(self.model, outcome, known) if told else []

    def predict(self, examples: Sequence[Example | Row], now: bool = False) -> list[Answer]:
        """What the model says of examples; `now`, NotNowError if it learns for longer than a moment."""
        return self.predict_block((self.reading if now else self.reading_aside).block(examples, asked=True), now)

    def predict_block(self, block: Block, now: bool = False) -> list[Answer]:
        """The same of a block."""
        if not self.lock.acquire(timeout=MOMENT if now else -1):
            raise NotNowError
        try:
            return answers_of(self.model, self.model.margins(block))
        finally:
            self.lock.release()

    def explain(self, example: Example | Row) -> list[dict[str, Any]]:
        """What each feature of an example adds to its margins."""
        block = self.reading_aside.block([example], asked=True)
        with self.lock:
            return next(explained(self.model, block))

    def top(self, n: int) -> list[dict[str, Any]]:
        """The n most important features of each class."""
        with self.lock:
            found = most_important(self.model, n)
        return [{"class": label, **as_json(part)} for label, part in found]

    def report(self) -> Report:
        """The figures so far."""
        with self.lock:
            return self.run.report()

    def save(self, path: Path) -> int:
        """Write the model as it is now; how many examples of the log are in it. Learning goes on meanwhile."""
        with self.lock:
            frozen = copy.copy(self.model)
            frozen.states = list(map(copied, self.model.states))
            frozen.preparation = self.model.preparation.copied()
            frozen.names, frozen.classes = copy.deepcopy(self.model.names), copy.deepcopy(self.model.classes)
            noted = notes_of([self.file], self.ledger, self.run, finished=True, logs=self.logs)
            learnt = self.learnt
        noted["progress"]["position"] = [self.run.passes, 0]  # as of a file that was read to its end
        persistence.save(frozen, path, {"reading": self.stored_reading, "run": noted})
        return learnt

    def restore(self, path: Path) -> None:
        """Stand where the model stood that `save` wrote; OuzelError if the file is not sound or of another log."""
        model, notes = persistence.load_notes(path, self.mapped)
        stored = notes.get("run", {})
        if stored.get("files") == [self.file] and not stored.get("sources"):
            return  # of before anything was learnt
        record = next(iter(Record.from_json(stored.get("sources", []))), None)
        if record is None or record.name != self.file:
            raise OuzelError(f"{path}: is not a snapshot of this log; remove it")
        model.classes.allow(None)
        run = Run(model)
        run.restore({**stored["progress"], "position": [0, record.examples]})
        self.model, self.run, self.digest = model, run, Digest.of(record.examples, record.digest)
        self.ledger.sources[:] = [record]
        self.ledger.claimed[0] = self.record = record

    def rehearse(self) -> None:
        """Compile what learning and predicting takes, on a copy of the model that nobody keeps."""
        double = Owner(self.name, self.base)
        known = double.model.classes.known if double.model.classes.closed else [0, 1]
        row = {"a": 1.0, "b": "word"}
        texts = [json.dumps({double.reading.label: label, **row}).encode() for label in known[:2]]
        with suppress(OuzelError):  # of a model of an array's columns, say
            for asked in (False, True):  # together, and one by one
                given = [
                    *double.reading.lines(texts, [None] * len(texts), asked),
                    double.reading.line(texts[0], None, asked),
                ]
                examples = [line.example for line in given if isinstance(line, Line)]
                for some in (examples[:-1], examples[-1:]):
                    double.predict(some) if asked else double.learn(some)
            double.top(1)
            double.report()
