"""Options of commands that read logs, such as Kafka topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ouzel.cli.panels import values
from ouzel.errors import OuzelError
from ouzel.flags import flag_of
from ouzel.streams.formats.catalogue import MESSAGE_FORMATS
from ouzel.streams.sources.addresses import BY_SCHEME, EXAMPLE, is_log, is_remote, with_query

if TYPE_CHECKING:
    from ouzel.service.feed import Plan

SCHEMES = ", ".join(f"{scheme}://…" for scheme in BY_SCHEME)
Begin = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="WHERE", help="Of a log: start at its beginning, its end, or a time (2026-11-20T08:00)."
    ),
]
Follow = Annotated[bool, typer.Option("--follow", help="Of a log: at its end wait for more messages, like tail -f.")]
Until = Annotated[
    str | None,
    typer.Option(
        metavar="WHEN", help="Of a log: stop at 'lag 0' (its end), 'offset N', 'examples N' (in total), or a time."
    ),
]
OnGap = Annotated[
    str | None, typer.Option(help="On messages of a log that were deleted: raise, or skip (and count them).")
]
Quarantine = Annotated[
    str | None, typer.Option(metavar="FILE", help="With --on-error skip: write skipped messages to this file.")
]
LabelsOf = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="Of a log: another log with its labels, which come later and are joined on the message key."
    ),
]
Within = Annotated[
    int | None,
    typer.Option(
        "--join-window", metavar="N", help="With --labels: further messages that one waits for its label (10000)."
    ),
]
By = Annotated[
    str | None,
    typer.Option("--join-key", metavar="FIELD", help="With --labels: join on this field instead of the message key."),
]
Sql = Annotated[
    str | None, typer.Option("--sql", metavar="SELECT", help="Read the result of this query instead of files.")
]
Database = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="Database of --sql: postgresql://…, sqlite:///file, duckdb:///file, adbc+DRIVER://…"
    ),
]
Cursor = Annotated[
    str | None,
    typer.Option(
        metavar="COL", help="Column of --sql that only grows; its rows are read in this order, like those of a log."
    ),
]

LABELS_APART = (
    "--feed learns messages that hold their labels; where these come in a log of their own, learn with "
    "`ouzel train URL --labels URL --model m --resume m --follow`, or have the labels sent to the service's /v1/label"
)


@dataclass(frozen=True)
class Querying:
    """Options of a query to a database."""

    sql: Sql = None
    database: Database = None
    cursor: Cursor = None


@dataclass(frozen=True)
class Following:
    """Options of the reading of a log."""

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
    """Options of the logs that a service learns from."""

    feed: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help=f"A log to learn from: {SCHEMES}; may be repeated."),
    ] = None
    feed_begin: Annotated[
        str,
        typer.Option(
            "--feed-from", metavar="WHERE", help="Of a new --feed: beginning, end, or a time (2026-11-20T08:00)."
        ),
    ] = "beginning"
    feed_format: Annotated[
        str | None,
        typer.Option(
            help=f"Format of messages: {', '.join(MESSAGE_FORMATS)}; by default detected from the first ones."
        ),
    ] = None
    feed_anew: Annotated[
        bool,
        typer.Option("--feed-reset", help="Start over in a --feed that was deleted and made again under its old name."),
    ] = False
    on_gap: OnGap = None
    later_labels: Annotated[str | None, typer.Option("--labels", hidden=True)] = None

    def plans(self) -> list[Plan]:
        """Return the plans of the feeds; raise an OuzelError where one is impossible."""
        from ouzel.service.feed import plans_of

        if self.later_labels is not None:
            raise OuzelError(LABELS_APART)
        return plans_of(self.feed, self.feed_begin, self.feed_format, self.feed_anew, self.on_gap)


def sources_of(files: Sequence[str] | None, querying: Querying) -> list[str]:
    """Return the files of a command, or the query to a database that replaces them."""
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
    """Refuse to learn in rounds from a log or a database, or with checkpoints by time."""
    if seconds:
        raise OuzelError("learning in rounds saves by examples; give --checkpoint-every a number of them")
    if any(map(is_remote, sources)):
        raise OuzelError("a log or a database is learnt by one process; leave out --workers and --cluster")


def of_logs(following: Following, files: Sequence[str]) -> dict[str, Any]:
    """Return the options that were given as keywords of the library; refuse them where no log is read."""
    given = {name: value for name, value in values(following).items() if value is not None and value is not False}
    if "within" in given and "labels" not in given:
        raise OuzelError("--join-window goes with --labels: the log that labels come from")
    if given and not any(map(is_log, files)):
        flag = flag_of(next(iter(given)))
        raise OuzelError(f"{flag} is for logs such as {EXAMPLE}; leave it out")
    return given
