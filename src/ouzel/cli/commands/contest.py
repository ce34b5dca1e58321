"""Parameters of a comparison by `ouzel compare`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from ouzel.cli.ui.outputs import titled
from ouzel.errors import OuzelError
from ouzel.evaluation.comparison.grid import Candidate
from ouzel.learners.catalogue import LEARNERS
from ouzel.model.model import Model
from ouzel.model.tasks.choose import learns_numbers


@dataclass(frozen=True)
class Contest:
    """Candidates, the stream that they learn, and the outputs of the comparison."""

    files: list[str]
    chosen: list[Candidate]
    jobs: int
    format: str | None
    reading: dict[str, Any]  # options of the stream
    model: dict[str, Any]  # options of the models
    plot: str | None
    table: str | None
    best: str | None  # where the best model goes
    quiet: bool

    @property
    def title(self) -> str:
        """Title of plots: the names of the files."""
        return titled(self.files)

    @property
    def labels_decide(self) -> bool:
        """Whether labels alone decide between classes and numbers: no task and no loss is given."""
        learners = [LEARNERS.get(entry.learner) for entry in self.chosen if "loss" not in entry.settings]
        return "task" not in self.model and any(found is not None and learns_numbers(found) for found in learners)

    def save(self, model: Any) -> None:
        """Write the best model with its reading options; raise an OuzelError if it is another library's."""
        if not isinstance(model, Model):
            raise OuzelError(f"--save-best: the least error is that of {model.learner.name}, which only it can save")
        from ouzel.model import persistence

        assert self.best is not None
        persistence.save(model, self.best, {"reading": self.reading})
        print(f"model of {model.learner.name} written to {self.best}", file=sys.stderr)
