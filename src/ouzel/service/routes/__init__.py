"""The endpoints of a service: each module has the handlers of some, and a list of them. They are thin over `Served`."""

from ouzel.service.routes import health, infer, inspect, learn, predict

ENDPOINTS = (
    *learn.ENDPOINTS,
    *predict.ENDPOINTS,
    *infer.ENDPOINTS,
    *inspect.ENDPOINTS,
    *health.ENDPOINTS,
)
