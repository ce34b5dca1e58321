"""Types of what commands of services print with --json."""

from __future__ import annotations

from typing import Annotated

from ouzel.cli.schemas.training import Seconds
from ouzel.schemas import Count, Model, Result, about


class Sent(Result):
    """The counts of examples that were sent to a service."""

    learnt: Annotated[Count, about("examples")]
    repeated: Annotated[Count, about("that had been learnt before")]
    refused: Annotated[Count, about("lines")]
    reason: Annotated[str | None, about("of the first refusal")]
    seconds: Seconds
    model: Annotated[Model, about("as `GET /v1/model` of the service describes it")]


class Kept(Result):
    """A snapshot of a served model."""

    examples: Annotated[Count, about("of the log, that it has learnt")]
    written: Annotated[float, about("in seconds since 1970")]


class RolledBack(Result):
    """The log of a served model, after `ouzel rollback`."""

    model: Annotated[str, about("its name")]
    first: Annotated[Count, about("number of the first example in the log")]
    last: Annotated[Count, about("number of the last one; 0 of an empty log")]
    removed: Annotated[Count, about("examples taken out of the log")]
    file: Annotated[str | None, about("the file of records that has them")]
    snapshots: Annotated[list[Kept], about("the oldest first")]
