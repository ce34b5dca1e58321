"""One training from the command line: a new model, or one that goes on from a file; and what is on disk of it.

The model file notes how the stream was read, and of each source what was read of it, so that going on needs no flag
repeated and learns nothing twice. A run that was cut off goes on with the example after its last checkpoint; a finished
one learns what the files given hold that it has not learnt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import Run
from ouzel.files import check_place
from ouzel.learners import catalogue
from ouzel.model import persistence
from ouzel.model.model import Model
from ouzel.model.tasks.choose import learns_numbers
from ouzel.rules import check
from ouzel.streams.block import Block
from ouzel.streams.block_stream import BlockStream
from ouzel.streams.cache import BlockCache
from ouzel.streams.groups import Groups
from ouzel.streams.label_values import AS_NUMBERS, amounts_in, classes_in, why_numbers
from ouzel.training.agreement import ContradictionError, check_agreement, contradiction
from ouzel.training.log_records import LogRecords, check_log
from ouzel.training.resumption import GoingOn
from ouzel.training.run_notes import RUN, notes_of, space_to_read
from ouzel.training.source_records import Ledger, Record, behind_in_pass, check_order, name_of


@dataclass
class Session:
    """A run with its files, and the file it is saved to."""

    files: list[str]
    model: Model
    run: Run
    reading: dict[str, Any]
    format: str | None
    output: str | None
    checkpoint_every: int
    resume: str | None = None
    noted: dict[str, Any] = field(default_factory=dict)  # of the run that the file to go on from holds
    inherited: tuple[str, ...] = ()  # options of reading that the file to go on from says
    given: dict[str, Any] = field(default_factory=dict)  # flags that a run that was cut off must agree with
    remarks: list[str] = field(default_factory=list)  # for the user, before the run begins
    written: bool = False  # whether this session has written its file
    saved: int | None = None  # examples the model on disk has learnt
    begun_at: tuple[int, int] = (0, 0)  # where the run stood when this session took it up
    ledger: Ledger = field(default_factory=Ledger)
    logs: LogRecords = field(default_factory=LogRecords)
    kept: BlockCache | None = None  # where finished examples are, if they are kept
    stream: BlockStream | None = None  # of the present pass
    on_known: Callable[[], None] = lambda: None  # called as examples are passed over
    on_wait: Callable[[], None] = lambda: None  # called before the files are waited for
    opened_at: tuple[int, int] | None = None  # where the run stood at its beginning, once the run has begun it
    make_for_numbers: Callable[[], Model] | None = None  # of a new model: the one to have if labels are to be predicted

    @classmethod
    def start(
        cls,
        files: list[str],
        *,
        learner: str | None,
        settings: dict[str, Any],
        intercept: bool,
        prepared: dict[str, Any],
        reading: dict[str, Any],
        format: str | None,
        passes: int | None,
        holdout_every: int | None,
        output: str | None,
        resume: str | None,
        checkpoint_every: int,
        task: str | None = None,
        pairs: int | None = None,
        again: bool = False,
        most_classes: int | None = None,
        following: dict[str, Any] | None = None,
    ) -> Self:
        """A session that begins, or that goes on from the file `resume`."""
        if checkpoint_every and output is None:
            raise OuzelError("--checkpoint-every needs --model OUT: the file to write")
        if again and resume is None:
            raise OuzelError("--relearn needs --resume MODEL: the model that has learnt the files before")
        if output is not None:
            check_place(Path(output))
        check_log(files, passes, holdout_every, task == "ranking")
        if (passes or 1) > 1 and "-" in files:
            raise OuzelError("standard input can be read once only; for --passes put it in a file first")
        if resume is None or (resume == output and not Path(resume).exists()):
            make = partial(
                Model,
                learner or catalogue.DEFAULT,
                intercept=intercept and task != "ranking",
                **{name: value for name, value in prepared.items() if value is not None},
                task=task,
                pairs=pairs or 0,
                bits=reading.get("bits", 18),
                seed=reading.get("seed", 0),
                **settings,
            )
            model = make()
            model.classes.allow(most_classes)
            run = Run(model, passes=1 if passes is None else passes, holdout_every=holdout_every or 0)
            session = cls(files, model, run, reading, format, output, checkpoint_every, logs=LogRecords(following))
            if task is None and "loss" not in settings and learns_numbers(model.learner):
                session.make_for_numbers = partial(make, loss="squared")
            if resume is not None:
                session.remarks.append(f"{resume} is not there yet: beginning a new model")
            return session
        model, notes = persistence.load_notes(resume)
        model.classes.allow(most_classes)
        stored = notes.get("reading", {})
        if "query" in stored and "query" not in reading:
            raise OuzelError(f"{resume}: was learnt with the groups of {stored['query']}; give them again with --query")
        check_agreement(resume, model, stored, learner, settings, intercept, prepared, reading)
        for name, given, known in (("task", task, model.task.name), ("pairs", pairs, model.pairs)):
            if given is not None and given != known:
                raise contradiction(resume, name, given, known)
        run = Run(model, passes=1 if passes is None else passes, holdout_every=holdout_every or 0)
        session = cls(files, model, run, {**stored, **reading}, format, output, checkpoint_every, resume)
        session.logs = LogRecords(following)
        session.inherited = tuple(set(stored) - set(reading))
        session.given = {"passes": passes, "holdout_every": holdout_every}
        noted = notes.get("run", {})
        if noted:
            check({"logs": [], **noted}, RUN, f"{resume}: what it notes of its run")
        session.recall(noted, again)
        return session

    @property
    def title(self) -> str:
        """The files in a few words."""
        first = name_of(self.files[0])
        return first if len(self.files) == 1 else f"{first} and {len(self.files) - 1} more"

    def recall(self, noted: dict[str, Any], again: bool) -> None:
        """Take note of what the model to go on from has read; with `again` its files are learnt as if they were new."""
        assert self.resume is not None
        sources, earlier = (Record.from_json(noted.get(name, [])) for name in ("sources", "earlier"))
        if noted.get("sources") and not sources and not again:
            raise ContradictionError(
                f"{self.resume}: notes in a way that this version does not know what it has read; "
                "learn the files from their first example with --relearn"
            )
        if again or noted.get("finished", True) or not sources:
            self.ledger = Ledger(earlier=[*earlier, *sources], model=self.resume, recognising=not again)
        else:
            check_order([name_of(file) for file in self.files], noted.get("files", []), self.resume)
            self.ledger = Ledger(sources, earlier, model=self.resume)
        self.logs.remember(noted.get("logs", []), self.resume, again)
        self.noted = noted
        self.saved = self.model.examples if self.resume == self.output else None

    def recognise(self) -> None:
        """Read as far as tells whether labels are numbers, or the files those of a run that was cut off.

        Of the first the model is made anew; of the second the run stands where it stood.
        """
        if self.resume is None:
            self._recognise_numbers()
            return
        self.stream = stream = self._open()
        stream.recognise()
        learnt = f"{self.model.examples:,}"
        if not stream.resumed:
            self.ledger.begin_afresh()
            self.remarks.append(f"{self.resume}: has learnt {learnt} examples; learning what is new in the files given")
            return
        for name, given in self.given.items():
            if given is not None and given != self.noted[name]:
                raise contradiction(self.resume, name, given, self.noted[name])
        self._restore()
        self.begun_at = self.run.position
        self.remarks.append(f"{self.resume}: going on after {learnt} examples")

    def _recognise_numbers(self) -> None:
        if self.make_for_numbers is None:
            return
        self.stream = stream = self._open()
        block = stream.first()
        found = why_numbers(block)
        self.remarks += amounts_in(block) + ([AS_NUMBERS.format(found)] if found else classes_in(block))
        if found:
            self.model = self.make_for_numbers()
            self.run = Run(self.model, passes=self.run.passes, holdout_every=self.run.holdout_every)

    def open(self) -> BlockStream:
        """The files as a stream, from the beginning, or from where the run stands if there is a ledger of it."""
        if self.stream is None or self.opened_at is not None:
            self.stream = self._open()
        self.opened_at = self.run.position
        return self.stream

    @property
    def waiting(self) -> bool:
        """Whether an interruption while the run reads falls into waiting for the files."""
        return self.stream is None or self.stream.waiting

    @property
    def piped(self) -> bool:
        """Whether that may last for ever: a file comes to its end."""
        return any(Record.of(file).piped for file in self.files)

    def close(self) -> None:
        """Stop reading."""
        if self.stream is not None:
            self.stream.close()

    def end(self) -> None:
        """Save the model of a run that has come to its end; if nothing was new, show what the earlier run found."""
        if self.logs.stream is not None:  # which has no end
            self.run.go_on(self.logs.stream.learnt_to.examples)
            self.save(finished=False)
            return
        records = self.ledger.claimed.values()
        if self.noted and not self.ledger.resumed and not any(record.examples > record.before for record in records):
            self._restore()
            if self.resume == self.output:
                return
        self.save(finished=True)

    def save(self, finished: bool) -> None:
        """Write the model to its file, if it has one."""
        if self.output is None:
            return
        if self.stream is not None and self.opened_at is not None and self.opened_at[0] == self.run.passed:
            self.stream.learnt(self.run.row - self.opened_at[1])
        noted = notes_of(self.files, self.ledger, self.run, finished, self.logs.to_json())
        sizes = {"query": name_of(self.reading["query"])} if "query" in self.reading else {}
        persistence.save(self.model, self.output, {"reading": {**self.reading, **sizes}, "run": noted})
        self.saved = self.model.examples
        self.written = True

    def left_out(self) -> list[str]:
        """What to say of columns, and of sources that earlier runs have learnt."""
        return [*(self.stream.remarks if self.stream is not None else [])] + [
            f"{record.name}: "
            + ("all" if record.before == record.examples else "the first")
            + f" {record.before:,} examples were learnt before and are left out; --relearn learns them once more"
            for record in self.ledger.claimed.values()
            if record.before and record not in self.ledger.cut_off
        ]

    def cut_off(self) -> str:
        """Save what was learnt before an error or an interruption, if the model is whole; say what is on disk."""
        incomplete = self.run.incomplete or (self.stream is not None and self.stream.incomplete)
        if self.output is not None and self.run.position > self.begun_at and not incomplete:
            self.run.evaluate_pending()
            try:
                self.save(finished=False)
            except OuzelError as error:
                return f"{self.on_disk()} ({error})"
        return self.on_disk()

    def on_disk(self) -> str:
        """What a session leaves behind that did not come to its end."""
        if self.saved is not None:
            held = "the first example" if self.saved == 1 else f"the first {self.saved:,} examples"
            return f"{self.output} holds {held}; the same command with --resume {self.output} goes on after that"
        if not self.model.examples:
            return ""
        learnt = "1 example was" if self.model.examples == 1 else f"{self.model.examples:,} examples were"
        lost = f"{learnt} learnt before it and no model was written"
        return f"{lost}; --model OUT writes one" if self.output is None else lost

    def _open(self) -> BlockStream:
        space = space_to_read(self.model, self.noted, self.logs.again)
        options = {**self.reading, "space": space, "inherited": self.inherited, "cache": self.kept}
        stream = self.logs.open(self.files, self.format, options, lambda: self.on_wait())
        if self.model.task.groups:
            stream = Groups(stream)
        if self.logs.stream is not None or (self.output is None and self.resume is None):
            return stream
        passed, row = self.noted["progress"]["position"] if self.ledger.cut_off else (0, 0)
        behind = behind_in_pass(self.ledger.cut_off, row) if passed else {}
        return GoingOn(stream, self.files, self.ledger, behind, self._pass_over, lambda: self.on_wait())

    def _pass_over(self, block: Block) -> None:
        """Count the features of examples that are not learnt again."""
        self.run.features.add(block)
        self.on_known()

    def _restore(self) -> None:
        """Have the run that the file to go on from holds, and what was read of its features meanwhile."""
        features = self.run.features
        try:
            self.run = Run(self.model, passes=self.noted["passes"], holdout_every=self.noted["holdout_every"])
            self.run.restore(self.noted["progress"])
        except (LookupError, TypeError, ValueError) as error:
            raise OuzelError(
                f"{self.resume}: what it notes of its run makes no sense ({error!r}); learn the files with --relearn"
            ) from None
        self.run.features = features
