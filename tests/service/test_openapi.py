"""The OpenAPI document is true: requests made of it are answered as it says."""

import os
import re
from collections import Counter
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from ouzel.service.endpoint import MODEL
from ouzel.service.folder import Folder, begin
from ouzel.service.routes import ENDPOINTS
from tests.service.killing import Running

WITHOUT_END = "/events$"
QUICK = settings(
    max_examples=8,
    database=None,
    derandomize=True,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
FUZZ = settings(QUICK, max_examples=100, derandomize=False)  # other requests in every run


def test_every_endpoint_is_described(client):
    paths = client.get("/openapi.json").json()["paths"]

    assert {(endpoint.path, endpoint.method.lower()) for endpoint in ENDPOINTS} <= {
        (path, method) for path, found in paths.items() for method in found
    }
    assert all(found["responses"] for methods in paths.values() for found in methods.values())


def test_the_page_of_the_service_names_every_path():
    page = (Path(__file__).parents[2] / "docs" / "service.md").read_text()
    paths = {endpoint.path.replace(MODEL, "NAME") for endpoint in ENDPOINTS}

    assert sorted(path for path in paths if not re.search(rf"{path}\b", page)) == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="services are forked")
@pytest.mark.parametrize("many", [QUICK, pytest.param(FUZZ, marks=pytest.mark.long)], ids=["some", "many"])
def test_requests_made_of_the_document_are_answered_as_it_says(tmp_path, many):
    """No 5xx, no traceback, and no status, media type or shape that is not in the document."""
    import schemathesis  # takes half a second, here alone
    from schemathesis import checks

    said = [checks.not_a_server_error, checks.status_code_conformance]
    said += [checks.content_type_conformance, checks.response_schema_conformance]
    folder = Folder(tmp_path / "model")
    begin(folder, None, "adagrad", {}, {})
    running = Running(folder)
    httpx.post(f"{running.address}/v1/learn", json=[{"label": k % 2, "x": k} for k in range(10)])
    statuses: Counter[int] = Counter()
    try:
        schema = schemathesis.openapi.from_url(f"{running.address}/openapi.json").exclude(path_regex=WITHOUT_END)
        for found in schema.get_all_operations():
            operation = found.ok()
            for case in cases(operation, schemathesis.GenerationMode, many):
                response = case.call()
                case.validate_response(response, checks=said)
                statuses[response.status_code] += 1
        assert httpx.get(f"{running.address}/ready").status_code == 200
    finally:
        running.end()

    assert statuses[200] > 40
    assert statuses[422] > 10


def cases(operation, kinds, many):
    """Some requests of an operation, sound and unsound."""
    kept = []
    for mode in (kinds.POSITIVE, kinds.NEGATIVE):

        @many
        @given(case=operation.as_strategy(generation_mode=mode))
        def gather(case):
            kept.append(case)

        try:
            gather()
        except Exception as error:  # what cannot be made wrong: a request without parameters
            if "nothing" not in repr(error).lower() and "Unsatisfiable" not in type(error).__name__:
                raise
    return kept
