"""Session of a training that resumes a model from its file.

The model file stores how the stream was read, and what was read of each source: resuming needs no option repeated, and
learns nothing twice. An interrupted run resumes after its last checkpoint; a finished one learns what is new.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from ouzel.errors import ContradictionError, OuzelError
from ouzel.evaluation.progressive import Run
from ouzel.model import persistence
from ouzel.streams.feature_space import FeatureSpace
from ouzel.streams.sources.source import name_of
from ouzel.training.resume_options import contradiction, validate_resume_options
from ouzel.training.run_notes import check_notes, space_for_reading
from ouzel.training.session import Session, SessionOptions
from ouzel.training.source_records import Ledger, Record, check_order, learnt_in_pass


@dataclass
class ResumedSession(Session):
    """A run that continues an interrupted one, or learns what is new, with the model of a file."""

    resume: str = ""  # the file
    stored_run: dict[str, Any] = field(default_factory=dict)  # the record of the run in it
    given: dict[str, Any] = field(default_factory=dict)  # options that must equal those of an interrupted run

    @classmethod
    def _begin(cls, files: list[str], options: SessionOptions) -> Self:
        """Begin a session of the model in the file `options.resume`."""
        resume = options.resume
        assert resume is not None
        model, notes = persistence.load_notes(resume)
        stored = notes.get("reading", {})
        if "query" in stored and "query" not in options.reading:
            raise OuzelError(f"{resume}: was learnt with the groups of {stored['query']}; give them again with --query")
        trained = options.learner, options.settings, options.intercept, options.prepared, options.reading
        validate_resume_options(resume, model, stored, *trained)
        for name, given, known in (("task", options.task, model.task.name), ("pairs", options.pairs, model.pairs)):
            if given is not None and given != known:
                raise contradiction(resume, name, given, known)
        session = cls._around(model, files, options, {**stored, **options.reading})
        session.resume, session.examples_before = resume, model.examples
        session.inherited = tuple(set(stored) - set(options.reading))
        session.given = {"passes": options.passes, "holdout_every": options.holdout_every}
        stored_run = notes.get("run", {})
        check_notes(stored_run, resume)
        session.recall(stored_run, options.relearn)
        watched = 0.0 if session.run.alarm is None else session.run.alarm.stated
        if options.alarm and options.alarm != watched:
            raise contradiction(resume, "alarm", options.alarm, watched)
        return session

    def recall(self, stored_run: dict[str, Any], relearn: bool) -> None:
        """Take the records of the resumed model; with `relearn` its files are learnt as if they were new."""
        sources, earlier = (Record.from_json(stored_run.get(name, [])) for name in ("sources", "earlier"))
        if stored_run.get("sources") and not sources and not relearn:
            raise ContradictionError(
                f"{self.resume}: notes in a way that this version does not know what it has read; "
                "learn the files from their first example with --relearn"
            )
        if relearn or stored_run.get("finished", True) or not sources:
            self.ledger = Ledger(earlier=[*earlier, *sources], model=self.resume, recognising=not relearn)
        else:
            check_order([name_of(file) for file in self.files], stored_run.get("files", []), self.resume)
            self.ledger = Ledger(sources, earlier, model=self.resume)
        self.logs.remember(stored_run.get("logs", []), self.resume, relearn)
        self.run.go_on_watching(stored_run.get("progress", {}))
        self.stored_run = stored_run
        self.saved = self.model.examples if self.resume == self.output else None

    def recognise(self) -> None:
        """Read until it is known whether the files are those of an interrupted run, which is restored."""
        self.stream = stream = self._open()
        stream.recognise()
        learnt = f"{self.model.examples:,}"
        if not stream.resumed:
            self.ledger.start_new_run()
            self.remarks.append(f"{self.resume}: has learnt {learnt} examples; learning what is new in the files given")
            return
        for name, given in self.given.items():
            if given is not None and given != self.stored_run[name]:
                raise contradiction(self.resume, name, given, self.stored_run[name])
        self._restore()
        self.resumed_at = self.run.position
        self.remarks.append(f"{self.resume}: going on after {learnt} examples")

    def left_out(self) -> list[str]:
        """Return the remarks on columns, and on sources that earlier runs have learnt."""
        return super().left_out() + [
            f"{record.name}: "
            + ("all" if record.before == record.examples else "the first")
            + f" {record.before:,} examples were learnt before and are left out; --relearn learns them once more"
            for record in self.ledger.claimed.values()
            if record.before and record not in self.ledger.interrupted
        ]

    def _end(self) -> None:
        """Save the model of a finished run; if nothing was new, restore the figures of the earlier run."""
        if self.stored_run and not (self.ledger.resumed or self.ledger.anything_new):
            self._restore()
            if self.resume == self.output:
                return
        self.save(finished=True)

    @property
    def _space(self) -> FeatureSpace:
        """The feature space by which the files are read."""
        return space_for_reading(self.model, self.stored_run, self.logs.relearn)

    @property
    def _records_sources(self) -> bool:
        """Whether it is recorded what was learnt of each source."""
        return True

    def _learnt_so_far(self) -> dict[int, int]:
        """The examples of each source that an interrupted run has learnt in the present pass."""
        passed, row = self.stored_run["progress"]["position"] if self.ledger.interrupted else (0, 0)
        return learnt_in_pass(self.ledger.interrupted, row) if passed else {}

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
