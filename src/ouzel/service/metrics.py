"""What a service counts, as Prometheus reads it; and the latencies of its last requests, for the page."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

import numpy as np
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ouzel.service.answers import Answer
from ouzel.service.reading import Refused

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)
HOURS = (60.0, 600.0, 3600.0, 6 * 3600.0, 86400.0, 7 * 86400.0)
RECENT = 2000  # requests
RATE_OVER = 60  # seconds


class Metrics:
    """The counters of one process, of all its models."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.examples = Counter(
            "ouzel_examples", "Examples by what became of them", ["model", "outcome"], registry=registry
        )
        self.predicted = Counter("ouzel_predictions", "Examples predicted", ["model"], registry=registry)
        self.groups = Counter(
            "ouzel_commits", "Groups of examples, a sync of the disk each", ["model"], registry=registry
        )
        self.requests = Counter("ouzel_requests", "Requests answered", ["method", "route", "status"], registry=registry)
        self.seconds = Histogram(
            "ouzel_request_seconds", "Seconds from request to answer", ["route"], buckets=SECONDS, registry=registry
        )
        self.label_lag = Histogram(
            "ouzel_label_lag_seconds", "Seconds from prediction to label", ["model"], buckets=HOURS, registry=registry
        )
        self.state = Gauge(
            "ouzel_model", "What a model is at, by name of the figure", ["model", "figure"], registry=registry
        )
        self.latencies: dict[str, deque[float]] = {}
        self._per_second: deque[tuple[int, list[int]]] = deque(maxlen=RATE_OVER + 1)

    def group(self, model: str, results: Sequence[Answer | Refused], requests: int) -> None:
        """Count what became of a group's lines."""
        refused = sum(isinstance(result, Refused) for result in results)
        repeated = sum(isinstance(result, dict) and "repeated" in result for result in results)
        learnt = len(results) - refused - repeated
        for outcome, count in (("learnt", learnt), ("refused", refused), ("repeated", repeated)):
            if count:
                self.examples.labels(model, outcome).inc(count)
        self.groups.labels(model).inc()
        self._now()[0] += learnt

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)
        self.latencies.setdefault(route, deque(maxlen=RECENT)).append(seconds)
        self._now()[1] += 1

    def rates(self) -> dict[str, float]:
        """Examples learnt and requests answered a second, over the last whole minute or less."""
        now = int(time.time())
        past = [counts for second, counts in self._per_second if now - RATE_OVER <= second < now]
        first = next((second for second, _ in self._per_second), now)
        span = max(1, min(RATE_OVER, now - first))
        return {
            name: sum(counts[place] for counts in past) / span for place, name in enumerate(("examples", "requests"))
        }

    def percentiles(self) -> dict[str, dict[str, float]]:
        """Milliseconds within which half, 90 % and 99 % of the last requests of each route were answered."""
        found = {}
        for route, seconds in self.latencies.items():
            half, most, nearly_all = np.percentile(np.array(seconds), [50, 90, 99]) * 1000.0
            found[route] = {"p50": float(half), "p90": float(most), "p99": float(nearly_all)}
        return found

    def text(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self.registry)

    def _now(self) -> list[int]:
        second = int(time.time())
        if not self._per_second or self._per_second[-1][0] != second:
            self._per_second.append((second, [0, 0]))
        return self._per_second[-1][1]
