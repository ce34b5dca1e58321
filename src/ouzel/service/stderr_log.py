"""The log of a service for people (text) or machines (JSON lines), on standard error; no feature is ever in it."""

from __future__ import annotations

import sys

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor

from ouzel.errors import OuzelError

KINDS = ("text", "json", "none")


def logger(kind: str) -> FilteringBoundLogger:
    """What writes the log: an event and its figures a line."""
    if kind not in KINDS:
        raise OuzelError(f"--log takes {', '.join(KINDS)}; got {kind!r}")
    as_line: Processor = structlog.processors.JSONRenderer()
    if kind == "text":
        as_line = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=12)
    log: FilteringBoundLogger = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info if kind == "json" else _as_it_is,
            as_line,
        ],
        wrapper_class=structlog.make_filtering_bound_logger("critical" if kind == "none" else "debug"),
    ).bind()  # once, and not for every request
    return log


def _as_it_is(_: object, __: str, event: EventDict) -> EventDict:
    return event
