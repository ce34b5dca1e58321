"""Client of a service: a method for each of its routes."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx

from ouzel.errors import OuzelError
from ouzel.files import write_atomically
from ouzel.streams.formats.catalogue import find
from ouzel.streams.values import BadValueError, json_value

if TYPE_CHECKING:
    from ouzel.streams.labels import Label

LINES = find("jsonl").media_types[0]
AT_ONCE = 2000  # lines of a stream in one request
TRIES, FIRST_WAIT = 6, 0.2  # seconds, doubled after each try
TRANSIENT = (408, 429, 503)  # statuses after which another try may succeed
UNAUTHORIZED, NOT_FOUND = 401, 404

Example = Mapping[str, Any]


class Client:
    """A model of a service, by the service's address; the first model unless one is named.

    Examples to learn are sent with a key, and sent again with the same key if the connection breaks or the service is
    busy or restarting: they are learnt once. What the service refuses raises an OuzelError with its sentence.

        with ouzel.Client("http://localhost:8000") as client:
            client.learn({"label": "late", "distance": 7.5})
            client.predict({"distance": 3.1})["prediction"]
    """

    def __init__(
        self, address: str, *, token: str | None = None, model: str | None = None, timeout: float = 60.0
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        address = with_scheme(address)
        try:
            self._client = httpx.Client(base_url=address, headers=headers, timeout=timeout)
        except (httpx.InvalidURL, TypeError) as error:
            raise OuzelError(
                f"{address}: is not an address ({error}); give one such as http://localhost:8000"
            ) from None
        self._root = "/v1" if model is None else f"/v1/models/{model}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def learn(self, example: Example, *, id: str | None = None) -> dict[str, Any]:
        """Learn one example, with its label; return the prediction made before it was learnt.

        An example with the same id is learnt once; the id may also be its member `_id`.
        """
        members = as_json(example)
        key = id if id is not None or "_id" in members else uuid.uuid4().hex
        headers = {} if key is None else {"Idempotency-Key": key}
        return self._json("POST", "learn", json=members, headers=headers)

    def learn_many(self, examples: Iterable[Example]) -> Iterator[dict[str, Any]]:
        """Learn examples as they come; yield a summary of each request: how many were learnt, repeated, refused."""
        return self.learn_lines(json.dumps(as_json(example)).encode() for example in examples)

    def learn_lines(self, lines: Iterable[bytes], kind: str = LINES) -> Iterator[dict[str, Any]]:
        """Learn lines of text in the format of a media type; yield a summary of each request."""
        run, lines = uuid.uuid4().hex, iter(lines)
        for number, part in enumerate(iter(lambda: list(islice(lines, AT_ONCE)), [])):
            headers = {"Content-Type": kind, "Idempotency-Key": f"{run}:{number}"}
            content = b"\n".join(line.rstrip(b"\n") for line in part)
            yield self._json("POST", "learn?answers=summary", content=content, headers=headers)

    def predict(self, example: Example | Sequence[Example]) -> Any:
        """Return the prediction for an example, or a list of those for several."""
        return self._json(
            "POST", "predict", json=as_json(example) if isinstance(example, Mapping) else [*map(as_json, example)]
        )

    def label(self, id: str, label: Label) -> dict[str, Any]:
        """Learn the example that was predicted with the member `_id`, now that its label is known."""
        return self._json("POST", "label", json=as_json({"id": id, "label": label}))

    def explain(self, example: Example) -> dict[str, Any]:
        """Return the contribution of each feature of an example to the margin."""
        return self._json("POST", "explain", json=as_json(example))

    def top(self, n: int = 20) -> list[dict[str, Any]]:
        """Return the most important features of each class."""
        return self._json("GET", f"top?n={n}")

    def model(self) -> dict[str, Any]:
        """Return settings and figures of the model."""
        return self._json("GET", "model")

    def snapshot(self, path: str | Path, *, now: bool = True) -> None:
        """Write the model to a file for `ouzel.load`: as it is now (scope admin), or as in its last snapshot."""
        if now:
            self._json("POST", "snapshot")
        response = self._request("GET", "snapshot")
        with write_atomically(path) as file:
            file.write(response.content)

    def _json(self, method: str, path: str, **more: Any) -> Any:
        return self._request(method, path, **more).json()

    def _request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Send a request, again while it may succeed; return the response."""
        wait = FIRST_WAIT
        for left in reversed(range(TRIES)):
            try:
                response = self._client.request(method, f"{self._root}/{path}", **more)
            except httpx.HTTPError as error:
                if not left:
                    raise OuzelError(
                        f"{self._client.base_url}: cannot be reached ({error}); is the service there?"
                    ) from None
            else:
                if response.is_success:
                    return response
                if response.status_code == UNAUTHORIZED:
                    raise OuzelError(
                        f"{self._client.base_url}: asks for a token that it knows; give one with", token="…"
                    )
                if response.status_code == NOT_FOUND and "/v1" in self._client.base_url.path:
                    raise OuzelError(
                        f"{self._client.base_url}: not found; give the address without /v1 and what follows"
                    )
                if response.status_code not in TRANSIENT or not left:
                    raise OuzelError(f"{self._client.base_url}: {_detail(response)}")
            time.sleep(wait)
            wait *= 2
        raise AssertionError("the last try returns or raises")


def with_scheme(address: str) -> str:
    """Return the address of a service, with http:// if it has no scheme.

    >>> with_scheme("localhost:8000"), with_scheme("https://shop.example")
    ('http://localhost:8000', 'https://shop.example')
    """
    return address if not isinstance(address, str) or "://" in address else f"http://{address}"


def as_json(example: Example) -> dict[str, Any]:
    """An example as JSON, its values as `learn_one` takes them; OuzelError names a member that has none.

    >>> from datetime import date
    >>> as_json({"label": "late", "at": date(2024, 1, 31)})
    {'label': 'late', 'at': '2024-01-31'}
    """
    if not isinstance(example, Mapping):
        raise OuzelError(
            f"found a {type(example).__name__} in place of an example; expected a dictionary such as "
            '{"distance": 7.5}; learn_many and predict take lists of them'
        )
    found = {}
    for name, value in example.items():
        try:
            found[str(name)] = member = json_value(value)
            json.dumps(member, allow_nan=False)
        except (ValueError, TypeError) as error:
            expected = error.expected if isinstance(error, BadValueError) else "expected a finite number"
            raise OuzelError(f"member {name!r} is {value!r}; {expected}") from None
    return found


def _detail(response: httpx.Response) -> str:
    """Return the sentence of a problem."""
    try:
        return str(response.json()["detail"])
    except (ValueError, LookupError, TypeError):
        return f"answers {response.status_code}; is it a service of Ouzel?"
