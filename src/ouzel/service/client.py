"""A client of a service: what its routes offer, as methods."""

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

if TYPE_CHECKING:
    from ouzel.streams.label_values import Label

LINES = find("jsonl").media_types[0]
AT_ONCE = 2000  # lines of a stream in one request
TRIES, FIRST_WAIT = 6, 0.2  # seconds, doubled each time
PASSING = (408, 429, 503)  # statuses that another try may not have

Example = Mapping[str, Any]


class Client:
    """A model of a service, by the service's address; the first model unless one is named.

    What is learnt is sent with a key of its own, and sent again with it if the connection breaks or the service is busy
    or restarting: it is learnt once. Whatever the service refuses is an OuzelError with its sentence.

        with ouzel.Client("http://localhost:8000") as client:
            client.learn({"label": "late", "distance": 7.5})
            client.predict({"distance": 3.1})["prediction"]
    """

    def __init__(
        self, address: str, *, token: str | None = None, model: str | None = None, timeout: float = 60.0
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            self._client = httpx.Client(base_url=address, headers=headers, timeout=timeout)
        except httpx.InvalidURL as error:
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
        """Learn one example, with its label; what was predicted of it before.

        One of the same id is learnt once; the id may be its member `_id` as well.
        """
        key = id if id is not None or "_id" in example else uuid.uuid4().hex
        headers = {} if key is None else {"Idempotency-Key": key}
        return self._json("POST", "learn", json=example, headers=headers)

    def learn_many(self, examples: Iterable[Example]) -> Iterator[dict[str, Any]]:
        """Learn examples as they come; a summary of every so many: what was learnt, repeated, refused, and why."""
        return self.learn_lines(json.dumps(example).encode() for example in examples)

    def learn_lines(self, lines: Iterable[bytes], kind: str = LINES) -> Iterator[dict[str, Any]]:
        """The same of lines of text, of a format by its media type."""
        run, lines = uuid.uuid4().hex, iter(lines)
        for number, part in enumerate(iter(lambda: list(islice(lines, AT_ONCE)), [])):
            headers = {"Content-Type": kind, "Idempotency-Key": f"{run}:{number}"}
            content = b"\n".join(line.rstrip(b"\n") for line in part)
            yield self._json("POST", "learn?answers=summary", content=content, headers=headers)

    def predict(self, example: Example | Sequence[Example]) -> Any:
        """What the model says of an example, or of each of several."""
        return self._json("POST", "predict", json=example if isinstance(example, Mapping) else list(example))

    def label(self, id: str, label: Label) -> dict[str, Any]:
        """Learn an example that was predicted with a member `_id`, now that its label is known."""
        return self._json("POST", "label", json={"id": id, "label": label})

    def explain(self, example: Example) -> dict[str, Any]:
        """What each feature of an example adds to the margin."""
        return self._json("POST", "explain", json=example)

    def top(self, n: int = 20) -> list[dict[str, Any]]:
        """The most important features of each class."""
        return self._json("GET", f"top?n={n}")

    def model(self) -> dict[str, Any]:
        """Settings and figures."""
        return self._json("GET", "model")

    def snapshot(self, path: str | Path, *, now: bool = True) -> None:
        """Write the model to a file, for `ouzel.load`: as it is now, which needs the scope admin, or as it was last."""
        if now:
            self._json("POST", "snapshot")
        response = self._ask("GET", "snapshot")
        with write_atomically(path) as file:
            file.write(response.content)

    def _json(self, method: str, path: str, **more: Any) -> Any:
        return self._ask(method, path, **more).json()

    def _ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The answer to a request, which is sent again while it may succeed."""
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
                if response.status_code not in PASSING or not left:
                    raise OuzelError(f"{self._client.base_url}: {_detail(response)}")
            time.sleep(wait)
            wait *= 2
        raise AssertionError("the last try returns or raises")


def _detail(response: httpx.Response) -> str:
    """The sentence of a problem."""
    try:
        return str(response.json()["detail"])
    except (ValueError, LookupError, TypeError):
        return f"answers {response.status_code}; is it a service of Ouzel?"
