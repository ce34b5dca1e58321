"""Problem responses: JSON objects of RFC 9457 with one sentence for people."""

from __future__ import annotations

from http import HTTPStatus

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from ouzel.errors import OuzelError
from ouzel.service.limits import BusyError, Refused
from ouzel.service.predictor import FollowingError
from ouzel.service.schemas import Problem
from ouzel.service.served import UnknownExampleError
from ouzel.service.shadowing import BehindError
from ouzel.service.writer import StoppedError

TYPE = "application/problem+json"


class ProblemError(Exception):
    """An error that becomes the response to a request: a status and a sentence."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None, **more: object) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers, self.more = status, detail, headers or {}, more


def json_response(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a value as a JSON response; numbers that are not finite become null."""
    return Response(msgspec.json.encode(value), status, headers, "application/json")


def refused(result: Refused, **more: object) -> ProblemError:
    """Return the problem of a refused line: 422, with the sentence of the readers and its place."""
    place = {name: value for name, value in (("field", result.field), ("column", result.column)) if value is not None}
    return ProblemError(422, result.error, None, **place, **more)


def response_to(result: object) -> Response:
    """Return the result of one example as a JSON response; raise the problem of a refused one."""
    if isinstance(result, Refused):
        raise refused(result)
    return json_response(result)


def as_problem(error: Exception) -> ProblemError:
    """Return the problem of an error."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, BusyError):
        return ProblemError(429, str(error), {"Retry-After": "1"})
    if isinstance(error, BehindError):
        return ProblemError(503, str(error), {"Retry-After": "5"})
    if isinstance(error, StoppedError):
        return ProblemError(503, str(error), {"Retry-After": "5"})
    if isinstance(error, FollowingError):
        return ProblemError(409, str(error))
    if isinstance(error, UnknownExampleError):
        return ProblemError(404, str(error))
    if isinstance(error, OuzelError):
        return ProblemError(422, str(error))
    return ProblemError(500, "the service has made a mistake; its log says more")


async def answer_problem(request: Request, error: Exception) -> Response:
    """Return the response to a request that raised an error."""
    return problem_response(as_problem(error))


def problem_response(problem: ProblemError) -> Response:
    """Return a problem as a response."""
    found = Problem(HTTPStatus(problem.status).phrase, problem.status, problem.detail)
    content = {**msgspec.structs.asdict(found), **problem.more}
    content = {name: value for name, value in content.items() if name in problem.more or value != ""}
    return Response(msgspec.json.encode(content), problem.status, problem.headers, TYPE)
