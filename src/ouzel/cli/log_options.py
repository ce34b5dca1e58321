"""Options of commands that read logs, such as Kafka topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ouzel.cli.groups import values
from ouzel.errors import OuzelError
from ouzel.streams.logs.address import is_log

Begin = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE", help="Of a log: begin at its beginning, at its end, or at a time (2026-11-20T08:00)."
    ),
]
Follow = Annotated[bool, typer.Option("--follow", help="Of a log: go on at its end, and wait for more.")]
Until = Annotated[
    str | None,
    typer.Option(
        metavar="WHEN", help="Of a log: stop at 'lag 0' (its end), 'offset N', 'examples N' (in all), or a time."
    ),
]
OnGap = Annotated[
    str | None, typer.Option(help="What to do where messages of a log are gone: raise, or skip (and count them).")
]
Quarantine = Annotated[
    str | None, typer.Option(metavar="FILE", help="With --on-error skip: write the messages left out to this file.")
]


@dataclass(frozen=True)
class Following:
    """How far a log is read."""

    begin: Begin = None
    follow: Follow = False
    until: Until = None
    on_gap: OnGap = None
    quarantine: Quarantine = None


def of_logs(following: Following, files: Sequence[str]) -> dict[str, Any]:
    """The options that were given, as the library takes them; refused where no log is read."""
    given = {name: value for name, value in values(following).items() if value}
    if given and not any(map(is_log, files)):
        name = next(iter(given)).replace("_", "-")
        raise OuzelError(f"--{name} is for logs such as kafka://broker:9092/topic; leave it out")
    return given
