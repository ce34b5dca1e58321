"""Options of `ouzel train` that spread learning over processes and machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ouzel.cli.groups import values
from ouzel.errors import OuzelError
from ouzel.ranges import COUNT, check

Workers = Annotated[int | None, typer.Option(help="Learn with so many processes of this machine, in rounds.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Learn on a cluster: tcp://HOST:8786 of Dask, ray or ray://HOST:10001."),
]
MergeEvery = Annotated[
    str | None,
    typer.Option(metavar="ROWS", help="Examples each lane learns between two merges (10000), or auto."),
]
Lanes = Annotated[
    int | None, typer.Option(help="Parts of the stream learnt side by side (8); the model depends on it.")
]


@dataclass(frozen=True)
class Spread:
    """How learning is spread; nothing given is one process, in one go."""

    workers: Workers = None
    cluster: Cluster = None
    merge_every: MergeEvery = None
    lanes: Lanes = None


def of_rounds(spread: Spread, refused: dict[str, Any]) -> dict[str, Any] | None:
    """What was asked for, as the library takes it; None where nothing was. `refused` does not go with it."""
    given = {name: value for name, value in values(spread).items() if value is not None}
    if not given:
        return None
    if spread.workers is None and spread.cluster is None:
        name = next(iter(given)).replace("_", "-")
        raise OuzelError(f"--{name} is for learning in rounds; add --workers N, or --cluster ADDRESS")
    if spread.workers is not None and spread.cluster is not None:
        raise OuzelError("--workers are processes of this machine, --cluster is another's; give one of them")
    for name, value in refused.items():
        if value:
            raise OuzelError(f"--{name.replace('_', '-')} does not go with --workers and --cluster; leave it out")
    for name in ("workers", "lanes"):
        if name in given:
            check(f"--{name}", COUNT, given[name])
    every = given.get("merge_every")
    if every is not None and every != "auto":
        if not every.isdigit() or int(every) < 1:
            raise OuzelError(f"--merge-every takes a number of examples, or auto; got {every!r}")
        given["merge_every"] = int(every)
    return given
