"""Owner of a model: the one place that learns with it and reads its state.

Examples pass through the code that reads files: the reader of JSON lines, blocks, `Run.learn`. The owner records the
log as a run records its files, so that a snapshot is, byte for byte, the model file that `ouzel train` makes from the
exported log.
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from operator import is_not
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.evaluation.alarm import MOST_EVENTS, Alarm, Drift
from ouzel.evaluation.mistakes import errors_of
from ouzel.evaluation.progressive import Run
from ouzel.evaluation.report import Report
from ouzel.layout import copied
from ouzel.model import persistence
from ouzel.model.answers import is_probabilistic
from ouzel.model.contributions import explained
from ouzel.model.importance import as_json, most_important
from ouzel.model.intervals import intervals_of
from ouzel.model.model import Model
from ouzel.model.room import check_block
from ouzel.model.tasks.task import Outcome
from ouzel.service.batching import MOMENT, WouldBlockError
from ouzel.service.column_remarks import ColumnRemarks
from ouzel.service.example import example_of
from ouzel.service.limits import Answer, Line, Row, ServiceLimits
from ouzel.service.reading import Reading
from ouzel.streams.block import Block
from ouzel.streams.digest import Digest
from ouzel.streams.formats.catalogue import find
from ouzel.streams.formats.json_python import Example
from ouzel.streams.labels import Label
from ouzel.training.run_notes import notes_of
from ouzel.training.source_records import Ledger, Record

FILE, OLD_FILE = find("records").suffixes[0], find("jsonl").suffixes[0]  # of the log that is exported; earlier versions


class Owner:
    """A model that started from the model file `base` and has learnt the first `learnt` examples of a log.

    All code that reads or changes the model holds `lock`, for as long as it takes to learn or predict a group of
    examples; no one holds it while waiting for the disk.
    """

    def __init__(self, name: str, base: Path, mapped: bool = False) -> None:
        self.name = name
        self.base = base
        self.mapped = mapped  # whether the arrays of the model are mapped from a file; such a model does not learn
        self.model, notes = persistence.load_notes(base, mapped)
        self.model.classes.allow(None)
        if self.model.task.groups:
            raise OuzelError(f"{base}: ranks groups, which come as a whole; a service takes one example at a time")
        stored = notes.get("run", {})
        earlier = [Record.from_json(stored.get(kind, [])) for kind in ("earlier", "sources")]
        self.stored_reading: dict[str, Any] = notes.get("reading", {})
        self.reading = Reading(self.model, self.stored_reading)
        self.background_reading = Reading(self.model, self.stored_reading, like=self.reading)  # for long requests
        self.logs = stored.get("logs", [])  # that the base model was trained on, with positions
        self.ledger = Ledger(earlier=[*earlier[0], *earlier[1]], recognising=False)
        self.record = self.ledger.claim(0, None, self.file)
        self.record.piped = False
        self.digest = Digest()
        self.run = _run_of(self.model)
        self.alarm = Alarm(numbers=self.model.task.numbers)  # of this start of the service
        self.drift: deque[Drift] = deque(maxlen=MOST_EVENTS)  # the last alarms; their examples are numbers of the log
        self.remarks = ColumnRemarks(self.model.bits)  # of this start of the service
        self.lock = threading.RLock()
        self._top: tuple[Any, list[dict[str, Any]]] = (None, [])  # the last answer of `top`, and what it is of
        # the examples that `refusal` checked last, and their block
        self._validated: tuple[Sequence[Example | Row], Block | None] = ([], None)

    @property
    def file(self) -> str:
        """Name of the file that the log is exported to."""
        return f"{self.name}{FILE}"

    @property
    def learnt(self) -> int:
        """Number of examples of the log that the model has learnt."""
        return self.record.examples

    def refusal(self, examples: Sequence[Example | Row], limits: ServiceLimits) -> OuzelError | None:
        """Return the error that learning these examples would raise, or None."""
        block = self.reading.block(examples)
        self._validated = list(examples), block
        return self.refusal_of(block, limits)

    def refusal_of(self, block: Block, limits: ServiceLimits) -> OuzelError | None:
        """Return the error that learning a block would raise, or None."""
        try:
            with self.lock:
                limits.check(block, self.model)
                check_block(self.model, block)
        except OuzelError as error:
            return error
        return None

    def learn(self, examples: Sequence[Example | Row]) -> list[Answer]:
        """Learn examples of the log; return the predictions made before."""
        (before, block), self._validated = self._validated, ([], None)
        if block is None or len(before) != len(examples) or any(map(is_not, before, examples)):
            block = self.reading.block(examples)
        return self.learn_block(block)

    def learn_block(self, block: Block, return_predictions: bool = True) -> list[Answer]:
        """Learn a block; return the predictions made before, or none of them."""
        with self.lock:
            known = len(self.model.classes)
            outcome = self.run.learn(block)
            self.run.features.add(block)
            self.record.extend(self.digest, block)
            self.remarks.look(self.model, block, self.learnt)
            self.remarks.look_at_labels(self.model, outcome.targets, known, self.learnt)
            if self.model.remark is not None:
                self.remarks.add(self.model.remark)
                self.model.remark = None
            for event in self.alarm.add(errors_of(self.model.task, outcome)):
                number = self.learnt - (self.alarm.examples - event.example)
                self.drift.append(event._replace(example=number))
            return answers_before(self.model, outcome, known) if return_predictions else []

    def predict(self, examples: Sequence[Example | Row], now: bool = False) -> list[Answer]:
        """Return answers to examples; with `now`, raise WouldBlockError if the model learns for more than a moment."""
        reading = self.reading if now else self.background_reading
        return self.predict_block(reading.block(examples, to_predict=True), now)

    def predict_block(self, block: Block, now: bool = False) -> list[Answer]:
        """Return answers to the examples of a block."""
        if not self.lock.acquire(timeout=MOMENT if now else -1):
            raise WouldBlockError
        try:
            margins = self.model.margins(block)
            answers = answers_of(self.model, self.model.preparation.recalibrated(self.model.task, margins))
            for row, columns in self.remarks.unknown(self.model, block, self.reading.options.text):
                answers[row]["unknown"] = columns
            if not self.model.interval:
                return answers
            intervals = intervals_of(self.model, margins, self.model.preparation.group_keys(self.model, block))
            return [answer | more for answer, more in zip(answers, intervals, strict=True)]
        finally:
            self.lock.release()

    def explain(self, example: Example | Row) -> list[dict[str, Any]]:
        """Return what each column of an example contributes to its margins."""
        block = self.background_reading.block([example], to_predict=True)
        with self.lock:
            return next(explained(self.model, block))

    def top(self, n: int) -> list[dict[str, Any]]:
        """Return the n most important columns, features and pairs of each class; learning goes on meanwhile."""
        with self.lock:
            state = self.learnt, n
            if state == self._top[0]:
                return self._top[1]
            frozen = self._frozen()
        found = as_json(frozen, most_important(frozen, n), n)
        self._top = state, found
        return found

    def _frozen(self) -> Model:
        """Return the model as it is now; the caller holds the lock."""
        frozen = copy.copy(self.model)
        frozen.states = list(map(copied, self.model.states))
        frozen.preparation = self.model.preparation.copied()
        frozen.names, frozen.classes = copy.deepcopy(self.model.names), copy.deepcopy(self.model.classes)
        return frozen

    def described(self) -> dict[str, Any]:
        """Return settings, figures and columns as JSON values."""
        report, space = self.report().to_json(), self.model.space
        with self.lock:
            example = example_of(self.model)
            warnings = [*report["warnings"], *self.remarks.lines]
            drift = [event._asdict() for event in self.drift]
        return {
            **report,
            "warnings": warnings,
            "label": self.reading.label,
            "weight": self.reading.options.weight,
            "columns": {name: kind for name, kind in space.kinds.items() if kind},
            "mixed": list(space.mixed),
            "example": example,
            "calibration_weights": self.run.scores.calibration.weights,
            "examples_in_all": self.model.examples,
            "log": self.learnt,
            "drift": drift,
        }

    def report(self) -> Report:
        """Return the figures so far."""
        with self.lock:
            return self.run.report()

    def save(self, path: Path) -> int:
        """Write the model as it is now, while it learns on; return how many examples of the log it has learnt."""
        with self.lock:
            frozen = self._frozen()
            run_notes = notes_of([self.file], self.ledger, self.run, finished=True, logs=self.logs)
            learnt = self.learnt
        run_notes["progress"]["position"] = [self.run.passes, 0]  # as for a file read to its end
        persistence.save(frozen, path, {"reading": self.stored_reading, "run": run_notes})
        return learnt

    def restore(self, path: Path) -> None:
        """Load a model that `save` wrote; raise OuzelError if the file is damaged or belongs to another log."""
        model, notes = persistence.load_notes(path, self.mapped)
        stored = notes.get("run", {})
        known = self.file, f"{self.name}{OLD_FILE}"
        if stored.get("files") in ([name] for name in known) and not stored.get("sources"):
            return  # saved before the first example
        record = next(iter(Record.from_json(stored.get("sources", []))), None)
        if record is None or record.name not in known:
            raise OuzelError(f"{path}: is not a snapshot of this log; remove it")
        record.name = self.file
        model.classes.allow(None)
        run = _run_of(model)
        run.restore({**stored["progress"], "position": [0, record.examples]})
        self.model, self.run, self.digest = model, run, Digest.of(record.examples, record.digest)
        self.ledger.sources[:] = [record]
        self.ledger.claimed[0] = self.record = record

    def warm_up(self) -> None:
        """Compile the kernels for learning and predicting, on a copy of the model that is then discarded."""
        double = Owner(self.name, self.base)
        labels = double.model.classes.known[:2] if double.model.classes.closed else [0, 1]
        texts = double.reading.sample_lines(labels)
        with suppress(OuzelError):  # a model of the columns of an array, say, has no names to learn by
            for to_predict in (False, True):
                together = double.reading.lines(texts, [None] * len(texts), to_predict)
                alone = [double.reading.line(text, None, to_predict) for text in texts[:1]]
                for lines in (together, alone):
                    if examples := [line.example for line in lines if isinstance(line, Line)]:
                        double.predict(examples) if to_predict else double.learn(examples)
            double.top(1)
            double.report()


def _run_of(model: Model) -> Run:
    """A run of a model, which counts the features that it knows by name."""
    run, known = Run(model), model.names.ids()
    offsets: Any = np.array([0, len(known)], np.uint64)  # as those of blocks
    run.features.add_ids(known, *offsets)
    return run


def answers_of(model: Model, margins: np.ndarray) -> list[Answer]:
    """Return an answer for each row of margins (n,) or (n, classes) of a model that does not rank."""
    if not (model.task.numbers or len(model.classes)):
        return [_of_few_classes(model, None) for _ in range(len(margins))]
    found = model.task.answers(model, margins)
    names = list(map(str, found.classes))
    columns: dict[str, list[Any]] = {"prediction": found.predicted.tolist()}
    if found.predicted.dtype.kind == "U":  # also of classes that are words and numbers
        by_name = dict(zip(names, found.classes, strict=True))
        columns["prediction"] = [by_name[name] for name in columns["prediction"]]
    if not model.task.numbers:
        if found.margins.shape[1] == 1:
            columns["margin"] = found.margins[:, 0].tolist()
        else:
            columns["margins"] = [dict(zip(names, row, strict=True)) for row in found.margins.tolist()]
    if found.probabilities is not None:
        columns["probabilities"] = [dict(zip(names, row, strict=True)) for row in found.probabilities.tolist()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def answers_before(model: Model, outcome: Outcome, known: int) -> list[Answer]:
    """Return the prediction made for each example before it was learnt.

    The model knew `known` classes before the first example. Without a class it predicted nothing; with one it
    predicted that one.
    """
    answers = answers_of(model, outcome.margins)
    if model.task.numbers or known >= 2:
        return answers
    known_then = np.maximum.accumulate(np.concatenate([[known], outcome.targets[:-1] + 1]))
    for place in np.flatnonzero(known_then < 2):
        only = model.classes.known[0] if known_then[place] else None
        answers[place] = _of_few_classes(model, only)
    return answers


def _of_few_classes(model: Model, only: Label | None) -> Answer:
    """The answer of a model that knew only one class, or none: as that of `predict_one` and `predict_proba_one`."""
    shares = {} if only is None else {str(only): 1.0}
    return {"prediction": only, **({"probabilities": shares} if is_probabilistic(model.loss) else {})}
