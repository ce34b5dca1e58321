"""The endpoints of a service: each module has the handlers of some, and lists of them. They are thin over `Served`."""

from ouzel.service.routes import inspect, learn, predict

ENDPOINTS = (*learn.ENDPOINTS, *predict.PREDICT, *predict.INFER, *inspect.INSPECT, *inspect.HEALTH)
