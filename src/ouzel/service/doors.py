"""A door is one thing that a service can be asked: its place, who may, what handles it, and what its document says.

Routes, the gate's scopes and the OpenAPI document are all made of the same list, so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

Handler = Callable[[Request, Any], Awaitable[Response]]
Schema = dict[str, Any]


class Door(NamedTuple):
    """One method of one path. `of_model`: there is a path for each model, and one without a name for the first."""

    method: str
    path: str
    handle: Handler
    summary: str
    answers: Mapping[int, Mapping[str, Schema | None]]  # by status and media type: a schema of JSON
    scope: str | None = None  # what a token must hold
    of_model: bool = True
    named: bool = False  # whether the path itself names the model
    bodies: Mapping[str, Schema] = {}  # by media type
    parameters: tuple[Schema, ...] = ()
    problems: tuple[int, ...] = ()  # statuses of problems beside those that any request may have
