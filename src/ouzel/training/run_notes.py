"""What a model file notes of the run that wrote it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ouzel.evaluation.progressive import Run
from ouzel.model.model import Model
from ouzel.rules import flag, list_of, table, text, whole
from ouzel.streams.feature_space import FeatureSpace
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


def space_to_read(model: Model, noted: Mapping[str, Any], again: bool) -> FeatureSpace:
    """What a run that notes these things reads by: what its model knows.

    Of a run that began the model and was cut off, columns may go on to bring words among numbers, as they may unbroken.
    """
    begun = noted.get("progress", {}).get("examples") == model.examples and not noted.get("finished", True)
    return model.space.lenient() if begun and not again else model.space


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
