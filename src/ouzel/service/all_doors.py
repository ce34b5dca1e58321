"""All that a service can be asked."""

from __future__ import annotations

from ouzel.service.doors import Door
from ouzel.service.routes import answering, learning, looking, running
from ouzel.service.routes.bodies import JSON, LINES

ANY = {"type": "object"}
DOORS = [
    Door("POST", "/v1/learn", learning.learn, "Learn examples", {200: (JSON, None)}, "learn"),
    Door("POST", "/v1/label", learning.label, "Label a predicted example", {200: (JSON, None)}, "learn"),
    Door("POST", "/v1/predict", answering.predict, "Predict examples", {200: (JSON, None)}, "predict"),
    Door("GET", "/v1/model", looking.model, "Settings and figures", {200: (JSON, ANY)}, "predict"),
    Door("GET", "/v1/snapshot", looking.snapshot, "The last snapshot", {200: (looking.MODEL_FILE, None)}, "predict"),
    Door("POST", "/v1/snapshot", looking.take_snapshot, "Take a snapshot", {200: (JSON, ANY)}, "admin"),
    Door("GET", "/v1/log", looking.export, "The log", {200: (LINES, None)}, "admin"),
    Door("GET", "/v1/quarantine", looking.quarantine, "What was refused", {200: (JSON, None)}, "admin"),
    Door("GET", "/v1/models", running.models, "The models", {200: (JSON, None)}, "predict", of_model=False),
    Door("GET", "/health", running.health, "Whether it answers", {200: (JSON, ANY)}, of_model=False),
    Door("GET", "/ready", running.ready, "Whether it learns", {200: (JSON, ANY), 503: (JSON, ANY)}, of_model=False),
    Door("GET", "/metrics", running.metrics, "Counters", {200: ("text/plain", None)}, "predict", of_model=False),
]
