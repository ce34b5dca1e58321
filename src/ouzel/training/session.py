"""Session of one training from the command line, of a new model; `resumed_session` resumes one from its file.

The model file stores how the stream was read, and what was read of each source.
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
from ouzel.streams.feature_space import FeatureSpace
from ouzel.streams.label_remarks import AS_NUMBERS, amounts_in, check_few_classes, classes_in, why_numbers
from ouzel.streams.read import read
from ouzel.streams.sources.addresses import is_log
from ouzel.streams.sources.source import is_piped, name_of

if TYPE_CHECKING:
    from ouzel.model import persistence
    from ouzel.streams import groups
    from ouzel.streams.block_cache import BlockCache
    from ouzel.streams.logs.stream import LogStream
    from ouzel.training import log_records, resumed_stream, run_notes, source_records
    from ouzel.training.log_records import LogRecords
    from ouzel.training.source_records import Ledger
else:
    log_records = deferred("ouzel.training.log_records")
    groups = deferred("ouzel.streams.groups")  # of a ranking
    persistence = deferred("ouzel.model.persistence")  # with --model, as all that follow
    resumed_stream = deferred("ouzel.training.resumed_stream")
    run_notes = deferred("ouzel.training.run_notes")
    source_records = deferred("ouzel.training.source_records")


@dataclass(frozen=True)
class SessionOptions:
    """Options of a training."""

    learner: str | None
    settings: dict[str, Any]
    intercept: bool
    prepared: dict[str, Any]
    reading: dict[str, Any]
    format: str | None
    passes: int | None
    holdout_every: int | None
    output: str | None
    resume: str | None
    checkpoint_every: int
    task: str | None = None
    pairs: int | None = None
    relearn: bool = False
    most_classes: int | None = None
    following: dict[str, Any] | None = None
    alarm: float = 0.0
    alarm_inputs: bool = False
    delay: int | str = 0

    @property
    def resumes(self) -> bool:
        """Whether there is a model to resume; one that is to be written may not be there yet."""
        return self.resume is not None and (self.resume != self.output or Path(self.resume).exists())


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
    inherited: tuple[str, ...] = ()  # options of reading taken from a file to resume
    remarks: list[str] = field(default_factory=list)  # for the user, before the run begins
    written: bool = False  # whether this session has saved its model
    saved: int | None = None  # examples the model on disk has learnt
    examples_before: int = 0  # that the model had learnt before this session
    resumed_at: tuple[int, int] = (0, 0)  # position of the run when this session resumed it
    following: dict[str, Any] | None = None  # options of reading a log: start, end, gaps
    block_cache: BlockCache | None = None  # of parsed blocks, with --cache
    stream: BlockStream | None = None  # of the present pass
    on_known: Callable[[], None] = lambda: None  # called as examples are skipped
    on_say: Callable[[str], None] = lambda line: None  # called with lines for people on a log
    on_wait: Callable[[], None] = lambda: None  # called before the files are waited for
    opened_at: tuple[int, int] | None = None  # position of the run when it started the pass
    make_for_numbers: Callable[[], Model] | None = None  # makes a new model, for labels that are numbers
    asks: bool = False  # whether a loss alone says that labels are classes, however many there are

    @cached_property
    def ledger(self) -> Ledger:
        """The records of the sources, which only a model with a file has."""
        return source_records.Ledger()

    @cached_property
    def logs(self) -> LogRecords:
        """The records of logs, which a model with a file has, and any that learns a log."""
        return log_records.LogRecords(self.following)

    @property
    def log_stream(self) -> LogStream | None:
        """The log that is being read, if the source is one."""
        return self.logs.stream if is_log(self.files[0]) else None

    @classmethod
    def start(cls, files: list[str], options: SessionOptions) -> Self:
        """Start a session of files; `ResumedSession` does where `options.resumes`."""
        if options.checkpoint_every and options.output is None:
            raise OuzelError("--checkpoint-every needs --model OUT: the file to write")
        if options.relearn and options.resume is None:
            raise OuzelError("--relearn needs --resume MODEL: the model that has learnt the files before")
        if options.delay and (options.checkpoint_every or options.resume is not None or any(map(is_log, files))):
            raise OuzelError("--delay is for one run over files; leave out --checkpoint-every, --resume and logs")
        if options.output is not None:
            check_place(Path(options.output))
        if any(map(is_log, files)):
            log_records.check_log(files, options.passes, options.holdout_every, options.task == "ranking")
        if (options.passes or 1) > 1 and "-" in files:
            raise OuzelError("standard input can be read once only; for --passes put it in a file first")
        return cls._begin(files, options)

    @classmethod
    def _begin(cls, files: list[str], options: SessionOptions) -> Self:
        """Begin a session of a new model."""
        make = partial(
            Model,
            options.learner or catalogue.DEFAULT,
            intercept=options.intercept and options.task != "ranking",
            **{name: value for name, value in options.prepared.items() if value is not None},
            task=options.task,
            pairs=options.pairs or 0,
            bits=options.reading.get("bits", 18),
            seed=options.reading.get("seed", 0),
            **options.settings,
        )
        session = cls._around(make(), files, options, options.reading)
        if options.task is None and "loss" not in options.settings and "loss" in session.model.settings._fields:
            session.make_for_numbers = partial(make, loss="squared")
        numbers = session.model.task.numbers or session.model.task.groups
        session.asks = options.task is None and options.most_classes is None and not numbers
        if options.resume is not None:
            session.remarks.append(f"{options.resume} is not there yet: beginning a new model")
        return session

    @classmethod
    def _around(cls, model: Model, files: list[str], options: SessionOptions, reading: dict[str, Any]) -> Self:
        """A session of a model."""
        model.classes.allow(options.most_classes)
        passes = 1 if options.passes is None else options.passes
        watch = {name: getattr(options, name) for name in ("alarm", "alarm_inputs", "delay")}
        run = Run(model, passes=passes, holdout_every=options.holdout_every or 0, **watch)
        output, every = options.output, options.checkpoint_every
        return cls(files, model, run, reading, options.format, output, every, following=options.following)

    @property
    def title(self) -> str:
        """The files in a few words."""
        first = name_of(self.files[0])
        return first if len(self.files) == 1 else f"{first} and {len(self.files) - 1} more"

    def recognise(self) -> None:
        """Read until it is known whether labels are numbers, for which the model is made anew.

        The block that was read stays in the stream, which yields it as its first one (`BlockStream.first`).
        """
        if self.make_for_numbers is None and not self.asks:
            return
        self.stream, clock = (stream := self._open()), self.run.clock
        with clock.on("reading"):
            block = stream.first()
        if self.make_for_numbers is None:
            check_few_classes(block)
            return
        found = why_numbers(block)
        remarks = amounts_in(block) + ([AS_NUMBERS.format(found)] if found else classes_in(block))
        if not remarks or not learns_numbers(self.model.learner):
            return
        self.remarks += remarks
        if found:
            self.model = self.make_for_numbers()
            begun = self.run
            self.run = Run(self.model, passes=begun.passes, holdout_every=begun.holdout_every)
            self.run.clock, self.run.alarm = clock, begun.alarm

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
        """Save the model of a finished run."""
        if self.log_stream is not None:  # a log has no end
            self.run.go_on(self.log_stream.committed.examples)
            self.save(finished=False)
        else:
            self._end()

    def _end(self) -> None:
        """Save the model of a finished run of files."""
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
        """Return the remarks on columns."""
        return [*(self.stream.remarks if self.stream is not None else [])]

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
        count = self.model.examples - self.examples_before
        learnt = "1 example was" if count == 1 else f"{count:,} examples were"
        lost = f"{learnt} learnt before it and no model was written" if count else ""
        return f"{lost}; --model OUT writes one" if count and self.output is None else lost

    def _open(self) -> BlockStream:
        options = {**self.reading, "space": self._space, "inherited": self.inherited, "cache": self.block_cache}
        if any(map(is_log, self.files)):
            self.logs.on_say = lambda line: self.on_say(line)
            stream: BlockStream = self.logs.open(self.files, self.format, options, lambda: self.on_wait())
        else:
            stream = read(self.files, format=self.format, **options)
        if self.model.task.groups:
            stream = groups.Groups(stream)
        if self.log_stream is not None or not self._records_sources:
            return stream
        reading = self.files, self.ledger, self._learnt_so_far()
        return resumed_stream.ResumedStream(stream, *reading, self._count_skipped, lambda: self.on_wait())

    @property
    def _space(self) -> FeatureSpace:
        """The feature space by which the files are read."""
        return self.model.space

    @property
    def _records_sources(self) -> bool:
        """Whether it is recorded what was learnt of each source."""
        return self.output is not None

    def _learnt_so_far(self) -> dict[int, int]:
        """The examples of each source that an interrupted run has learnt in the present pass."""
        return {}

    def _count_skipped(self, block: Block) -> None:
        """Count the features of examples that are skipped."""
        self.run.features.add(block)
        self.on_known()
