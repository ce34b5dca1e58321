"""What a model file notes of the run that wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ouzel.evaluation.progressive import Run
from ouzel.rules import flag, list_of, table, text, whole
from ouzel.training.source_records import Ledger, name_of

RUN = {
    "files": list_of(text),
    "sources": list_of(table),  # of which `Record` says what they hold
    "earlier": list_of(table),
    "logs": list_of(table),  # of which `LogRecords` says what they hold
    "passes": whole(1, 100_000),
    "holdout_every": whole(),
    "finished": flag,
    "progress": table,
}
"""What stands there."""


def notes_of(
    files: Sequence[str], ledger: Ledger, run: Run, finished: bool, logs: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """The notes of a run over some files or a log, as JSON values."""
    return {
        "files": [name_of(file) for file in files],
        **ledger.to_json(),
        "logs": list(logs),
        "passes": run.passes,
        "holdout_every": run.holdout_every,
        "finished": finished,
        "progress": run.to_json(),
    }
