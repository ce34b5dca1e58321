"""Endpoints for operators: health, metrics, models, and the promotion of a shadow."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ouzel.service.endpoint import JSON, OF_MODEL, Endpoint
from ouzel.service.problems import json_response
from ouzel.service.schemas import Listed, Promoted, Status
from ouzel.service.service import Service


async def health(request: Request, service: Service) -> Response:
    """Whether the process answers."""
    return json_response({"status": "ok"})


async def ready(request: Request, service: Service) -> Response:
    """Whether it learns as well: 503 while it does not, with the reason."""
    failures = {name: served.failure for name, served in service.models.items() if served.failure is not None}
    if service.ending:
        return json_response({"status": "ending"}, 503)
    return json_response(
        {"status": "failing", "failures": failures} if failures else {"status": "ok"}, 503 if failures else 200
    )


async def metrics(request: Request, service: Service) -> Response:
    """Counters in Prometheus' text format."""
    service.measure()
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def models(request: Request, service: Service) -> Response:
    """The models there are, and their figures; one of them is meant by paths without a name."""
    shadow = None if service.shadowing is None else service.shadowing.shadow.name
    found = [
        {"name": name, "first": name == service.first_name, "shadow": name == shadow, **served.figures()}
        for name, served in service.models.items()
    ]
    return json_response(found)


async def promote(request: Request, service: Service) -> Response:
    """Have a shadow, once it has caught up, take the place of the model that it follows."""
    await service.promote(request.path_params["model"])
    return json_response({"first": service.first_name})


ALIVE, READY = {200: {JSON: Status}}, {200: {JSON: Status}, 503: {JSON: Status}}
ENDPOINTS = (
    Endpoint("GET", "/v1/models", models, "The models", {200: {JSON: list[Listed]}}, "predict", of_model=False),
    Endpoint(
        "POST",
        f"{OF_MODEL}/promote",
        promote,
        "Promote a shadow",
        {200: {JSON: Promoted}},
        "admin",
        of_model=False,
        problems=(422,),
    ),
    Endpoint("GET", "/health", health, "Whether it answers", ALIVE, of_model=False),
    Endpoint("GET", "/v2/health/live", health, "The same", ALIVE, of_model=False),
    Endpoint("GET", "/ready", ready, "Whether it learns", READY, of_model=False),
    Endpoint("GET", "/v2/health/ready", ready, "The same", READY, of_model=False),
    Endpoint("GET", "/metrics", metrics, "Counters", {200: {"text/plain": None}}, "predict", of_model=False),
)
