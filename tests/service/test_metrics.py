"""What a service counts, while requests go on."""

import threading

import pytest

pytest.importorskip("starlette")

from ouzel.service.metrics import Metrics


def test_percentiles_are_told_while_routes_are_answered_for_the_first_time():
    metrics, failed = Metrics(), []

    def look():
        try:
            while not ended.is_set():
                metrics.percentiles()
        except RuntimeError as error:
            failed.append(error)

    ended = threading.Event()
    looking = threading.Thread(target=look)
    looking.start()
    for k in range(3000):
        metrics.request("GET", f"/v1/{k % 1500}", 200, 0.25)
    ended.set()
    looking.join()

    assert not failed
    assert metrics.percentiles()["/v1/7"] == {"p50": 250.0, "p90": 250.0, "p99": 250.0}
