"""Options of commands that read logs, such as Kafka topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from ouzel.cli.parameters import COLUMN, FILE, choice, option, values
from ouzel.errors import OuzelError
from ouzel.flags import flag_of
from ouzel.streams.formats.catalogue import MESSAGE_FORMATS
from ouzel.streams.sources.addresses import BY_SCHEME, EXAMPLE, is_log, is_remote, with_query

if TYPE_CHECKING:
    from ouzel.service.feed import Plan

SCHEMES = ", ".join(f"{scheme}://…" for scheme in BY_SCHEME)
ON_GAP = choice("raise", "skip", checked=False)
URL = "URL"
OnGap = Annotated[
    str | None, option("On messages of a log that were deleted: raise, or skip (and count them).", takes=ON_GAP)
]

LABELS_APART = (
    "--feed learns messages that hold their labels; where these come in a log of their own, learn with "
    "`ouzel train URL --labels URL --model m --resume m --follow`, or have the labels sent to the service's /v1/label"
)


@dataclass(frozen=True)
class Querying:
    """Options of a query to a database."""

    panel: ClassVar = "Databases"
    sql: Annotated[str | None, option("Read the result of this query instead of files.", takes="SELECT")] = None
    database: Annotated[
        str | None,
        option("Database of --sql: postgresql://…, sqlite:///file, duckdb:///file, adbc+DRIVER://…", takes=URL),
    ] = None
    cursor: Annotated[
        str | None,
        option("Column of --sql that only grows; its rows are read in this order, like those of a log.", takes=COLUMN),
    ] = None


@dataclass(frozen=True)
class Following:
    """Options of the reading of a log."""

    panel: ClassVar = "Logs"
    begin: Annotated[
        str | None,
        option("Of a log: start at its beginning, its end, or a time (2026-11-20T08:00).", takes="WHERE"),
    ] = None
    follow: Annotated[bool, option("Of a log: at its end wait for more messages, like tail -f.")] = False
    until: Annotated[
        str | None,
        option("Of a log: stop at 'lag 0' (its end), 'offset N', 'examples N' (in total), or a time.", takes="WHEN"),
    ] = None
    on_gap: OnGap = None
    labels: Annotated[
        str | None,
        option("Of a log: another log with its labels, which come later and are joined on the message key.", takes=URL),
    ] = None
    within: Annotated[int | None, option("With --labels: further messages that one waits for its label (10000).")] = (
        None
    )
    by: Annotated[
        str | None, option("With --labels: join on this field instead of the message key.", takes="FIELD")
    ] = None
    quarantine: Annotated[
        str | None, option("With --on-error skip: write skipped messages to this file.", takes=FILE)
    ] = None


@dataclass(frozen=True)
class Feeding:
    """Options of the logs that a service learns from."""

    panel: ClassVar = "Logs"
    feed: Annotated[list[str] | None, option(f"A log to learn from: {SCHEMES}; may be repeated.", takes=URL)] = None
    feed_begin: Annotated[
        str,
        option("Of a new --feed: beginning, end, or a time (2026-11-20T08:00).", "--feed-from", takes="WHERE"),
    ] = "beginning"
    feed_format: Annotated[
        str | None,
        option(
            f"Format of messages: {', '.join(MESSAGE_FORMATS)}; by default detected from the first ones.",
            takes=choice(*MESSAGE_FORMATS, name="FORMAT", checked=False),
        ),
    ] = None
    feed_anew: Annotated[
        bool,
        option("Start over in a --feed that was deleted and made again under its old name.", "--feed-reset"),
    ] = False
    on_gap: OnGap = None
    later_labels: Annotated[str | None, option("Not of a service.", "--labels", takes=URL, hidden=True)] = None

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
                "Missing argument 'FILE': files (- is standard input), "
                f"a log such as {EXAMPLE}, or a query with --sql; see `ouzel train --help`"
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
        instead = ", or name the column of labels with --label" if flag == "--labels" else ""
        raise OuzelError(f"{flag} is for logs such as {EXAMPLE}; leave it out{instead}")
    return given
