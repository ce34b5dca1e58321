"""Options of `ouzel train` for distributed training over processes and machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ouzel.cli.panels import values
from ouzel.errors import OuzelError
from ouzel.flags import flag_of
from ouzel.ranges import COUNT, check

Workers = Annotated[int | None, typer.Option(help="Number of processes of this machine that learn, in rounds.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Learn on a cluster: tcp://HOST:8786 of Dask, ray or ray://HOST:10001."),
]
MergeEvery = Annotated[
    str | None,
    typer.Option(metavar="ROWS", help="Examples that each shard learns between two merges (10000), or auto."),
]
Lanes = Annotated[
    int | None,
    typer.Option(
        "--shards", help="Parts of the stream that are learnt in parallel (8); the model depends on their number."
    ),
]


@dataclass(frozen=True)
class Spread:
    """Options of distributed training; without any, one process learns the whole stream."""

    workers: Workers = None
    cluster: Cluster = None
    merge_every: MergeEvery = None
    lanes: Lanes = None


def of_rounds(spread: Spread, refused: dict[str, Any]) -> dict[str, Any] | None:
    """Return the options that were given as keywords of the library, or None; refuse those of `refused` with them."""
    given = {name: value for name, value in values(spread).items() if value is not None}
    if not given:
        return None
    if spread.workers is None and spread.cluster is None:
        flag = flag_of(next(iter(given)))
        raise OuzelError(f"{flag} is for learning in rounds; add --workers N, or --cluster ADDRESS")
    if spread.workers is not None and spread.cluster is not None:
        raise OuzelError("--workers are processes of this machine, --cluster is another's; give one of them")
    for name, value in refused.items():
        if value:
            raise OuzelError(f"{flag_of(name)} does not go with --workers and --cluster; leave it out")
    for name in ("workers", "lanes"):
        if name in given:
            check(flag_of(name), COUNT, given[name])
    every = given.get("merge_every")
    if every is not None and every != "auto":
        if not every.isdigit() or int(every) < 1:
            raise OuzelError(f"--merge-every takes a number of examples, or auto; got {every!r}")
        given["merge_every"] = int(every)
    return given
