"""Options of commands that read logs, such as Kafka topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ouzel.cli.groups import values
from ouzel.errors import OuzelError
from ouzel.streams.formats.catalogue import MESSAGE_FORMATS
from ouzel.streams.sources.addresses import BY_SCHEME, EXAMPLE, is_log, is_remote, with_query

if TYPE_CHECKING:
    from ouzel.service.feed import Plan

SCHEMES = ", ".join(f"{scheme}://…" for scheme in BY_SCHEME)
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
LabelsOf = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="Of a log: its labels come later, in this one, and find their message by its key."
    ),
]
Within = Annotated[
    int | None, typer.Option(metavar="N", help="With --labels: messages that one waits for its label (10000).")
]
By = Annotated[
    str | None, typer.Option(metavar="MEMBER", help="With --labels: a member of both to find messages by, not the key.")
]
Sql = Annotated[
    str | None, typer.Option("--sql", metavar="SELECT", help="Read what a database answers to this, in place of files.")
]
Database = Annotated[
    str | None,
    typer.Option(metavar="URL", help="That database: postgresql://…, sqlite:///file, duckdb:///file, adbc+DRIVER://…"),
]
Cursor = Annotated[
    str | None,
    typer.Option(metavar="COL", help="Column of --sql that only grows: rows are read in its order, as those of a log."),
]

LABELS_APART = (
    "--feed learns messages that hold their labels; where these come in a log of their own, learn with "
    "`ouzel train URL --labels URL --model m --resume m --follow`, or have the labels sent to the service's /v1/label"
)


@dataclass(frozen=True)
class Querying:
    """What is asked of a database."""

    sql: Sql = None
    database: Database = None
    cursor: Cursor = None


@dataclass(frozen=True)
class Following:
    """How far a log is read."""

    begin: Begin = None
    follow: Follow = False
    until: Until = None
    on_gap: OnGap = None
    labels: LabelsOf = None
    within: Within = None
    by: By = None
    quarantine: Quarantine = None


@dataclass(frozen=True)
class Feeding:
    """The logs that feed a service."""

    feed: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help=f"A log to learn, too: {SCHEMES}; may be repeated."),
    ] = None
    feed_begin: Annotated[
        str,
        typer.Option(metavar="WHERE", help="Of a new --feed: beginning, end, or a time (2026-11-20T08:00)."),
    ] = "beginning"
    feed_format: Annotated[
        str | None, typer.Option(help=f"Of messages: {', '.join(MESSAGE_FORMATS)}; by default that of the first ones.")
    ] = None
    feed_anew: Annotated[
        bool, typer.Option("--feed-anew", help="Begin in a --feed that is another log of the same name by now.")
    ] = False
    on_gap: OnGap = None
    later_labels: Annotated[str | None, typer.Option("--labels", hidden=True)] = None

    def plans(self) -> list[Plan]:
        """What is to be read; OuzelError in one line where that cannot be."""
        from ouzel.service.feed import plans_of

        if self.later_labels is not None:
            raise OuzelError(LABELS_APART)
        return plans_of(self.feed, self.feed_begin, self.feed_format, self.feed_anew, self.on_gap)


def sources_of(files: Sequence[str] | None, querying: Querying) -> list[str]:
    """The files of a command, or the question to a database that stands in their place."""
    if querying.sql is None:
        for name in ("database", "cursor"):
            if getattr(querying, name) is not None:
                raise OuzelError(f"--{name} goes with --sql: what is to be read of the database")
        if not files:
            raise OuzelError(
                f"Missing argument 'FILE': files, a log such as {EXAMPLE}, or a query with --sql; "
                "see `ouzel train --help`"
            )
        return list(files)
    if files:
        raise OuzelError("--sql reads a database in place of files; leave one of them out")
    if querying.database is None:
        raise OuzelError("--sql needs --database: where to ask, such as postgresql://server/name")
    return [with_query(querying.database, querying.sql, querying.cursor)]


def check_rounds(sources: Sequence[str], seconds: float) -> None:
    """Refuse to learn in rounds what is not a file, or with checkpoints by the clock."""
    if seconds:
        raise OuzelError("learning in rounds saves by examples; give --checkpoint-every a number of them")
    if any(map(is_remote, sources)):
        raise OuzelError("a log or a database is learnt by one process; leave out --workers and --cluster")


def of_logs(following: Following, files: Sequence[str]) -> dict[str, Any]:
    """The options that were given, as the library takes them; refused where no log is read."""
    given = {name: value for name, value in values(following).items() if value is not None and value is not False}
    if "within" in given and "labels" not in given:
        raise OuzelError("--within goes with --labels: the log that labels come from")
    if given and not any(map(is_log, files)):
        name = next(iter(given)).replace("_", "-")
        raise OuzelError(f"--{name} is for logs such as {EXAMPLE}; leave it out")
    return given
