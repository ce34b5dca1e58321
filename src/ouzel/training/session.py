"""Session of one training from the command line: of a new model, or one resumed from its file.

The model file stores how the stream was read, and what was read of each source: resuming needs no option repeated, and
learns nothing twice. An interrupted run resumes after its last checkpoint; a finished one learns what is new.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ouzel.deferred import deferred
from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import Run
from ouzel.files import check_place
from ouzel.learners import catalogue
from ouzel.model.model import Model
from ouzel.model.tasks.choose import learns_numbers
from ouzel.streams.block import Block
from ouzel.streams.block_stream import BlockStream
from ouzel.streams.labels import AS_NUMBERS, amounts_in, classes_in, why_numbers
from ouzel.streams.sources.source import is_piped, name_of
from ouzel.training.log_records import LogRecords, check_log

if TYPE_CHECKING:
    from ouzel.model import persistence
    from ouzel.streams import groups
    from ouzel.streams.convert import BlockCache
    from ouzel.training import resume_options, resumed_stream, run_notes, source_records
    from ouzel.training.source_records import Ledger
else:
    groups = deferred("ouzel.streams.groups")  # of a ranking
    persistence = deferred("ouzel.model.persistence")  # with --model or --resume, as all that follow
    resume_options = deferred("ouzel.training.resume_options")
    resumed_stream = deferred("ouzel.training.resumed_stream")
    run_notes = deferred("ouzel.training.run_notes")
    source_records = deferred("ouzel.training.source_records")


@dataclass
class Session:
    """A run with its files, and the file that its model is saved to."""

    files: list[str]
    model: Model
    run: Run
    reading: dict[str, Any]
    format: str | None
    output: str | None
    checkpoint_every: int
    resume: str | None = None
    stored_run: dict[str, Any] = field(default_factory=dict)  # the record of the run in the file to resume
    inherited: tuple[str, ...] = ()  # options of reading taken from the file to resume
    given: dict[str, Any] = field(default_factory=dict)  # options that must equal those of an interrupted run
    remarks: list[str] = field(default_factory=list)  # for the user, before the run begins
    written: bool = False  # whether this session has saved its model
    saved: int | None = None  # examples the model on disk has learnt
    resumed_at: tuple[int, int] = (0, 0)  # position of the run when this session resumed it
    logs: LogRecords = field(default_factory=LogRecords)
    block_cache: BlockCache | None = None  # of parsed blocks, with --cache
    stream: BlockStream | None = None  # of the present pass
    on_known: Callable[[], None] = lambda: None  # called as examples are skipped
    on_wait: Callable[[], None] = lambda: None  # called before the files are waited for
    opened_at: tuple[int, int] | None = None  # position of the run when it started the pass
    make_for_numbers: Callable[[], Model] | None = None  # makes a new model, for labels that are numbers

    @cached_property
    def ledger(self) -> Ledger:
        """The records of the sources, which only a model with a file has."""
        return source_records.Ledger()

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
        relearn: bool = False,
        most_classes: int | None = None,
        following: dict[str, Any] | None = None,
    ) -> Self:
        """Start a session, or resume one from the file `resume`."""
        if checkpoint_every and output is None:
            raise OuzelError("--checkpoint-every needs --model OUT: the file to write")
        if relearn and resume is None:
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
            if task is None and "loss" not in settings and "loss" in model.settings._fields:
                session.make_for_numbers = partial(make, loss="squared")
            if resume is not None:
                session.remarks.append(f"{resume} is not there yet: beginning a new model")
            return session
        model, notes = persistence.load_notes(resume)
        model.classes.allow(most_classes)
        stored = notes.get("reading", {})
        if "query" in stored and "query" not in reading:
            raise OuzelError(f"{resume}: was learnt with the groups of {stored['query']}; give them again with --query")
        resume_options.validate_resume_options(resume, model, stored, learner, settings, intercept, prepared, reading)
        for name, given, known in (("task", task, model.task.name), ("pairs", pairs, model.pairs)):
            if given is not None and given != known:
                raise resume_options.contradiction(resume, name, given, known)
        run = Run(model, passes=1 if passes is None else passes, holdout_every=holdout_every or 0)
        session = cls(files, model, run, {**stored, **reading}, format, output, checkpoint_every, resume)
        session.logs = LogRecords(following)
        session.inherited = tuple(set(stored) - set(reading))
        session.given = {"passes": passes, "holdout_every": holdout_every}
        stored_run = notes.get("run", {})
        run_notes.check_notes(stored_run, resume)
        session.recall(stored_run, relearn)
        return session

    @property
    def title(self) -> str:
        """The files in a few words."""
        first = name_of(self.files[0])
        return first if len(self.files) == 1 else f"{first} and {len(self.files) - 1} more"

    def recall(self, stored_run: dict[str, Any], relearn: bool) -> None:
        """Take the records of the resumed model; with `relearn` its files are learnt as if they were new."""
        assert self.resume is not None
        sources, earlier = (
            source_records.Record.from_json(stored_run.get(name, [])) for name in ("sources", "earlier")
        )
        if stored_run.get("sources") and not sources and not relearn:
            raise resume_options.ContradictionError(
                f"{self.resume}: notes in a way that this version does not know what it has read; "
                "learn the files from their first example with --relearn"
            )
        if relearn or stored_run.get("finished", True) or not sources:
            self.ledger = source_records.Ledger(
                earlier=[*earlier, *sources], model=self.resume, recognising=not relearn
            )
        else:
            source_records.check_order([name_of(file) for file in self.files], stored_run.get("files", []), self.resume)
            self.ledger = source_records.Ledger(sources, earlier, model=self.resume)
        self.logs.remember(stored_run.get("logs", []), self.resume, relearn)
        self.stored_run = stored_run
        self.saved = self.model.examples if self.resume == self.output else None

    def recognise(self) -> None:
        """Read until it is known whether labels are numbers, or the files those of an interrupted run.

        For numbers the model is made anew; an interrupted run is restored.
        """
        if self.resume is None:
            self._recognise_numbers()
            return
        self.stream = stream = self._open()
        stream.recognise()
        learnt = f"{self.model.examples:,}"
        if not stream.resumed:
            self.ledger.start_new_run()
            self.remarks.append(f"{self.resume}: has learnt {learnt} examples; learning what is new in the files given")
            return
        for name, given in self.given.items():
            if given is not None and given != self.stored_run[name]:
                raise resume_options.contradiction(self.resume, name, given, self.stored_run[name])
        self._restore()
        self.resumed_at = self.run.position
        self.remarks.append(f"{self.resume}: going on after {learnt} examples")

    def _recognise_numbers(self) -> None:
        if self.make_for_numbers is None:
            return
        self.stream = stream = self._open()
        block = stream.first()
        found = why_numbers(block)
        remarks = amounts_in(block) + ([AS_NUMBERS.format(found)] if found else classes_in(block))
        if not remarks or not learns_numbers(self.model.learner):
            return
        self.remarks += remarks
        if found:
            self.model = self.make_for_numbers()
            self.run = Run(self.model, passes=self.run.passes, holdout_every=self.run.holdout_every)

    def open(self) -> BlockStream:
        """Open the files as a stream, without the examples that the ledger has recorded."""
        if self.stream is None or self.opened_at is not None:
            self.stream = self._open()
        self.opened_at = self.run.position
        return self.stream

    @property
    def waiting(self) -> bool:
        """Whether the run is waiting for the files."""
        return self.stream is None or self.stream.waiting

    @property
    def piped(self) -> bool:
        """Whether waiting may last for ever, as for a pipe."""
        return any(map(is_piped, self.files))

    def close(self) -> None:
        """Stop reading."""
        if self.stream is not None:
            self.stream.close()

    def end(self) -> None:
        """Save the model of a finished run; if nothing was new, restore the figures of the earlier run."""
        if self.logs.stream is not None:  # a log has no end
            self.run.go_on(self.logs.stream.committed.examples)
            self.save(finished=False)
            return
        if self.stored_run and not (self.ledger.resumed or self.ledger.anything_new):
            self._restore()
            if self.resume == self.output:
                return
        self.save(finished=True)

    def save(self, finished: bool) -> None:
        """Write the model to its file, if there is one."""
        if self.output is None:
            return
        if self.stream is not None and self.opened_at is not None and self.opened_at[0] == self.run.passed:
            self.stream.learnt(self.run.row - self.opened_at[1])
        run_record = run_notes.notes_of(self.files, self.ledger, self.run, finished, self.logs.to_json())
        sizes = {"query": name_of(self.reading["query"])} if "query" in self.reading else {}
        persistence.save(self.model, self.output, {"reading": {**self.reading, **sizes}, "run": run_record})
        self.saved = self.model.examples
        self.written = True

    def left_out(self) -> list[str]:
        """Return the remarks on columns, and on sources that earlier runs have learnt."""
        remarks = [*(self.stream.remarks if self.stream is not None else [])]
        if self.resume is None:
            return remarks
        return remarks + [
            f"{record.name}: "
            + ("all" if record.before == record.examples else "the first")
            + f" {record.before:,} examples were learnt before and are left out; --relearn learns them once more"
            for record in self.ledger.claimed.values()
            if record.before and record not in self.ledger.interrupted
        ]

    def cut_off(self) -> str:
        """Save what was learnt before an error or an interruption, if the model is consistent; describe the file."""
        incomplete = self.run.incomplete or (self.stream is not None and self.stream.incomplete)
        if self.output is not None and self.run.position > self.resumed_at and not incomplete:
            self.run.evaluate_pending()
            try:
                self.save(finished=False)
            except OuzelError as error:
                return f"{self.on_disk()} ({error})"
        return self.on_disk()

    def on_disk(self) -> str:
        """Describe the file that an unfinished session leaves."""
        if self.saved is not None:
            known = "the first example" if self.saved == 1 else f"the first {self.saved:,} examples"
            return f"{self.output} holds {known}; the same command with --resume {self.output} goes on after that"
        if not self.model.examples:
            return ""
        learnt = "1 example was" if self.model.examples == 1 else f"{self.model.examples:,} examples were"
        lost = f"{learnt} learnt before it and no model was written"
        return f"{lost}; --model OUT writes one" if self.output is None else lost

    def _open(self) -> BlockStream:
        space = self.model.space
        if self.stored_run:
            space = run_notes.space_for_reading(self.model, self.stored_run, self.logs.relearn)
        options = {**self.reading, "space": space, "inherited": self.inherited, "cache": self.block_cache}
        stream = self.logs.open(self.files, self.format, options, lambda: self.on_wait())
        if self.model.task.groups:
            stream = groups.Groups(stream)
        if self.logs.stream is not None or (self.output is None and self.resume is None):
            return stream
        passed, row = self.stored_run["progress"]["position"] if self.ledger.interrupted else (0, 0)
        so_far = source_records.learnt_in_pass(self.ledger.interrupted, row) if passed else {}
        reading = self.files, self.ledger, so_far
        return resumed_stream.ResumedStream(stream, *reading, self._count_skipped, lambda: self.on_wait())

    def _count_skipped(self, block: Block) -> None:
        """Count the features of examples that are skipped."""
        self.run.features.add(block)
        self.on_known()

    def _restore(self) -> None:
        """Restore the run in the file to resume, but keep the features counted since."""
        features = self.run.features
        try:
            self.run = Run(self.model, passes=self.stored_run["passes"], holdout_every=self.stored_run["holdout_every"])
            self.run.restore(self.stored_run["progress"])
        except (LookupError, TypeError, ValueError) as error:
            raise OuzelError(
                f"{self.resume}: what it notes of its run makes no sense ({error!r}); learn the files with --relearn"
            ) from None
        self.run.features = features
