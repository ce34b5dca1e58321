"""What `ouzel compare` was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ouzel.evaluation.comparison.grid import Candidate


@dataclass(frozen=True)
class Contest:
    """Candidates, the stream that they learn, and what is to be shown of it."""

    files: list[str]
    chosen: list[Candidate]
    jobs: int
    format: str | None
    reading: dict[str, Any]  # options of the stream
    model: dict[str, Any]  # options of the models
    plot: str | None
    quiet: bool
