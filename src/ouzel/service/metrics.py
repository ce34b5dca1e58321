"""Metrics of a service for Prometheus, and the latencies of its last requests for the page."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence

import numpy as np
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ouzel.service.limits import Answer, Refused

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)
HOURS = (60.0, 600.0, 3600.0, 6 * 3600.0, 86400.0, 7 * 86400.0)
RECENT = 2000  # requests
RATE_OVER = 60  # seconds


class PerSecond:
    """Counter of events in each of the last seconds."""

    def __init__(self) -> None:
        self._counts: deque[tuple[int, int]] = deque(maxlen=RATE_OVER + 1)

    def add(self, count: int = 1) -> None:
        """Count events now."""
        second, before = int(time.time()), 0
        if self._counts and self._counts[-1][0] == second:
            before = self._counts.pop()[1]
        self._counts.append((second, before + count))

    def rate(self) -> float:
        """Return the events per second over the last minute or less."""
        now, counts = int(time.time()), list(self._counts)
        past = sum(count for second, count in counts if now - RATE_OVER <= second < now)
        return past / max(1, min(RATE_OVER, now - counts[0][0])) if counts else 0.0


class Metrics:
    """The metrics of one process and all its models."""

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
        self.dropped = Counter(
            "ouzel_unlabelled_dropped",
            "Examples that were dropped before their label came, by the limit that they made room for",
            ["model", "limit"],
            registry=registry,
        )
        self.state = Gauge(
            "ouzel_model", "What a model is at, by name of the figure", ["model", "figure"], registry=registry
        )
        self.feeds = Gauge(
            "ouzel_feed",
            "Where a model stands in a log that feeds it, by name of the figure",
            ["model", "feed", "figure"],
            registry=registry,
        )
        self.latencies: dict[str, deque[float]] = {}
        self._by_request: dict[tuple[str, str, int], tuple[Counter, Histogram, deque[float]]] = {}  # looked up once
        self.streams = 0  # of events, that are open
        open_streams = Gauge("ouzel_event_streams", "Streams of events that are open", registry=registry)
        open_streams.set_function(lambda: self.streams)
        self._learnt, self._answered = PerSecond(), PerSecond()
        self._adding_route = threading.Lock()

    def group(self, model: str, results: Sequence[Answer | Refused], more: int = 0) -> None:
        """Count the results of a group of lines, and `more` examples that were learnt."""
        refused = sum(isinstance(result, Refused) for result in results)
        repeated = sum(isinstance(result, dict) and "repeated" in result for result in results)
        learnt = len(results) - refused - repeated + more
        for outcome, count in (("learnt", learnt), ("refused", refused), ("repeated", repeated)):
            if count:
                self.examples.labels(model, outcome).inc(count)
        self.groups.labels(model).inc()
        self._learnt.add(learnt)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        known = self._by_request.get((method, route, status))
        if known is None:
            with self._adding_route:
                latencies = self.latencies.setdefault(route, deque(maxlen=RECENT))
            known = self.requests.labels(method, route, str(status)), self.seconds.labels(route), latencies
            self._by_request[method, route, status] = known
        count, histogram, latencies = known
        count.inc()
        histogram.observe(seconds)
        latencies.append(seconds)
        self._answered.add()

    def rates(self) -> dict[str, float]:
        """Return examples learnt and requests answered per second, over the last minute or less."""
        return {"examples": self._learnt.rate(), "requests": self._answered.rate()}

    def percentiles(self) -> dict[str, dict[str, float]]:
        """Return the 50th, 90th and 99th percentile of the latency of each route, in milliseconds."""
        found = {}
        with self._adding_route:  # requests continue meanwhile
            recent = {route: list(seconds) for route, seconds in self.latencies.items()}
        for route, seconds in recent.items():
            half, most, nearly_all = np.percentile(seconds or [0.0], [50, 90, 99]) * 1000.0
            found[route] = {"p50": float(half), "p90": float(most), "p99": float(nearly_all)}
        return found

    def text(self) -> bytes:
        """Return the metrics in the text format of Prometheus."""
        return generate_latest(self.registry)
