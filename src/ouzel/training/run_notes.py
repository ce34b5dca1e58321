"""The record in a model file of the run that wrote it: files, sources, options, progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from ouzel.evaluation.progressive import Run
from ouzel.model.model import Model
from ouzel.ranges import Range, Table, check_stored
from ouzel.streams.feature_space import FeatureSpace
from ouzel.streams.sources.source import name_of
from ouzel.training.source_records import Ledger

RUN = {
    "files": list[str],
    "sources": list[Table],  # each a `Record`
    "earlier": list[Table],
    "logs": list[Table],  # each an entry of `LogRecords`
    "passes": Annotated[int, Range(1, 100_000, whole=True)],
    "holdout_every": int,
    "finished": bool,
    "progress": Table,
}
"""Its schema."""


def check_notes(stored_run: Mapping[str, Any], path: str) -> None:
    """Refuse a record that is not sound; a file without a record of a run has an empty one."""
    if stored_run:
        check_stored({"logs": [], **stored_run}, RUN, f"{path}: what it notes of its run")


def space_for_reading(model: Model, stored_run: Mapping[str, Any], relearn: bool) -> FeatureSpace:
    """Return the feature space by which a run with this record reads: that of its model.

    If the run began the model and was interrupted, columns of numbers may still turn out to hold words, as without the
    interruption.
    """
    begun = stored_run.get("progress", {}).get("examples") == model.examples and not stored_run.get("finished", True)
    return model.space.lenient() if begun and not relearn else model.space


def notes_of(
    files: Sequence[str], ledger: Ledger, run: Run, finished: bool, logs: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return the record of a run over files or a log as JSON values."""
    return {
        "files": [name_of(file) for file in files],
        **ledger.to_json(),
        "logs": list(logs),
        "passes": run.passes,
        "holdout_every": run.holdout_every,
        "finished": finished,
        "progress": run.to_json(),
    }
