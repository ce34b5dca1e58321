"""One training from the command line: a new model, or one that goes on from a file; and what is on disk of it.

The model file notes how the stream was read and how far, so that going on needs no flag repeated. A run that was cut
off goes on with the example after its last checkpoint if it is given the same files; a finished one learns whatever
files it is given.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from ouzel import persistence
from ouzel.cli.options import DEFAULT_LEARNER
from ouzel.cli.shown import count
from ouzel.errors import OuzelError
from ouzel.evaluation.progressive import Run
from ouzel.files import check_place
from ouzel.learners.settings import resolve_settings
from ouzel.learners.words import in_words
from ouzel.models import Model
from ouzel.streams.groups import Groups
from ouzel.streams.reading import Stream, read


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
    remarks: list[str] = field(default_factory=list)  # for the user, before the run begins
    finished: bool = False  # nothing is left to learn
    saved: int | None = None  # examples the model on disk has learnt
    begun_at: tuple[int, int] = (0, 0)  # where the run stood when this session took it up

    @classmethod
    def start(
        cls,
        files: list[str],
        *,
        learner: str | None,
        settings: dict[str, Any],
        intercept: bool,
        reading: dict[str, Any],
        format: str | None,
        passes: int | None,
        holdout_every: int | None,
        output: str | None,
        resume: str | None,
        checkpoint_every: int,
        task: str | None = None,
        pairs: int | None = None,
    ) -> Self:
        """A session that begins, or that goes on from the file `resume`."""
        if checkpoint_every < 0:
            raise OuzelError(f"--checkpoint-every takes a number of examples; got {checkpoint_every}")
        if checkpoint_every and output is None:
            raise OuzelError("--checkpoint-every needs --model OUT: the file to write")
        if output is not None:
            check_place(Path(output))
        if (passes or 1) > 1 and "-" in files:
            raise OuzelError("standard input can be read once only; for --passes put it in a file first")
        if resume is None or (resume == output and not Path(resume).exists()):
            model = Model(
                learner or DEFAULT_LEARNER,
                intercept=intercept and task != "ranking",
                task=task,
                pairs=pairs or 0,
                bits=reading.get("bits", 18),
                seed=reading.get("seed", 0),
                **settings,
            )
            run = Run(model, passes=1 if passes is None else passes, holdout_every=holdout_every or 0)
            session = cls(files, model, run, reading, format, output, checkpoint_every)
            if resume is not None:
                session.remarks.append(f"{resume} is not there yet: starting afresh")
            return session

        model, notes = persistence.load_notes(resume)
        stored = notes.get("reading", {})
        _check_agreement(resume, model, stored, learner, settings, intercept, reading)
        for name, given, known in (("task", task, model.task), ("pairs", pairs, model.pairs)):
            if given is not None and given != known:
                raise _contradiction(resume, name, given, known)
        noted = notes.get("run", {})
        before, now = noted.get("sources", []), _sources(files)
        same_names = [name for name, _ in before] == [name for name, _ in now]
        cut_off = same_names and not noted.get("finished", True)
        if cut_off:
            for name, given in (("passes", passes), ("holdout_every", holdout_every)):
                if given is not None and given != noted[name]:
                    raise _contradiction(resume, name, given, noted[name])
            passes, holdout_every = noted["passes"], noted["holdout_every"] or None
        run = Run(model, passes=1 if passes is None else passes, holdout_every=holdout_every or 0)
        session = cls(files, model, run, {**stored, **reading}, format, output, checkpoint_every)
        if cut_off:
            run.restore(noted["progress"])
            session.saved = model.examples
            session.begun_at = run.position
            session.remarks.append(f"{resume}: going on after {count(model.examples)} examples")
        elif before == now and checkpoint_every and resume == output:
            run.restore(noted["progress"])
            session.finished = True
            session.remarks.append(
                f"{resume}: this run is finished; without --checkpoint-every it learns the files again"
            )
        else:
            session.remarks.append(f"{resume}: has learnt {count(model.examples)} examples; learning the files given")
        return session

    @property
    def title(self) -> str:
        """The files in a few words."""
        first = "standard input" if self.files[0] == "-" else Path(self.files[0]).name
        return first if len(self.files) == 1 else f"{first} and {len(self.files) - 1} more"

    def open(self) -> Stream | Groups:
        """The files as a stream, from the beginning."""
        stream = read(self.files, format=self.format, **self.reading)
        return Groups(stream) if self.model.task == "ranking" else stream

    def save(self, finished: bool) -> None:
        """Write the model to its file, if it has one."""
        if self.output is None:
            return
        every = self.run.holdouts[0].every if self.run.holdouts else 0
        noted = {
            "sources": _sources(self.files),
            "passes": self.run.passes,
            "holdout_every": every,
            "finished": finished,
            "progress": self.run.to_json(),
        }
        persistence.save(self.model, self.output, {"reading": self.reading, "run": noted})
        self.saved = self.model.examples

    def cut_off(self) -> str:
        """Save what was learnt before an error or an interruption, if the model is whole; say what is on disk."""
        if self.output is not None and self.run.position > self.begun_at and not self.run.torn:
            self.run.settle()
            try:
                self.save(finished=False)
            except OuzelError as error:
                return f"{self.on_disk()} ({error})"
        return self.on_disk()

    def on_disk(self) -> str:
        """What a session leaves behind that did not come to its end."""
        if self.saved is not None:
            held = "the first example" if self.saved == 1 else f"the first {count(self.saved)} examples"
            return f"{self.output} holds {held}; the same command with --resume {self.output} goes on after that"
        if not self.model.examples:
            return ""
        learnt = "1 example was" if self.model.examples == 1 else f"{count(self.model.examples)} examples were"
        lost = f"{learnt} learnt before it and no model was written"
        return f"{lost}; --model OUT writes one" if self.output is None else lost


def _sources(files: Sequence[str]) -> list[list[Any]]:
    """The files by place and size."""
    return [
        [file, None] if file == "-" or not Path(file).is_file() else [os.path.abspath(file), os.path.getsize(file)]
        for file in files
    ]


def _check_agreement(
    path: str,
    model: Model,
    stored: dict[str, Any],
    learner: str | None,
    settings: dict[str, str],
    intercept: bool,
    reading: dict[str, Any],
) -> None:
    """Refuse a flag that contradicts what the model was learnt with."""
    if learner is not None and learner != model.learner.name:
        raise _contradiction(path, "learner", learner, model.learner.name)
    if not intercept and model.intercept:
        raise _contradiction(path, "no_intercept", "given", "an intercept")
    given = resolve_settings(model.learner, dict(settings))
    for name, value in settings.items():
        here = name if name in given._fields else "penalty"
        wanted, stored_value = getattr(given, here), getattr(model.settings, here)
        if (type(wanted), wanted) != (type(stored_value), stored_value):  # terms without parameters are equal tuples
            known = in_words(model.settings)
            raise _contradiction(path, name, value, known.get(name, "none"))
    noted = {**stored, "bits": model.bits, "seed": model.seed}
    for name, value in reading.items():
        before = noted.get(name)
        before = tuple(before) if isinstance(before, list) else before
        if name not in ("on_error", "query") and value != before:
            raise _contradiction(path, name, value, "none" if before is None else before)


def _contradiction(path: str, name: str, given: Any, stored: Any) -> OuzelError:
    learnt = "without it" if stored == "none" else f"with {stored}"
    return OuzelError(
        f"--{name.replace('_', '-')} {given} contradicts {path}, which was learnt {learnt}; "
        "leave the option out, or begin a new model without --resume"
    )
