"""Endpoints that predict: one example or many, explanations, and tensors of the Open Inference Protocol.

Endpoints of the Open Inference Protocol, version 2, of KServe and Triton: tensors in, tensors out.

A tensor of shape [n] or [n, 1] is the feature of its name for n examples; a tensor of shape [n, d] has the features 0
to d - 1, which have no names.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from ouzel.service.batching import SMALL, WouldBlockError
from ouzel.service.endpoint import JSON, LINES, MODEL, Endpoint
from ouzel.service.formats import JSON_LINES
from ouzel.service.gate import body_of
from ouzel.service.limits import Refused
from ouzel.service.problems import ProblemError, json_response, refused, response_to
from ouzel.service.routes.bodies import check_json, decoded, is_array, kind_of, objects_of, plain, wrong_kind
from ouzel.service.schemas import Answer, Explained, Features, Infer, Inferred, Metadata, Tensor
from ouzel.service.served import Served
from ouzel.service.submission import Result
from ouzel.streams.block import ROWS

FEW = 16  # examples that are predicted in the loop


async def predict(request: Request, served: Served) -> Response:
    """One object is answered by one, an array by an array, lines by lines."""
    kind = kind_of(request)
    lines = kind in JSON_LINES.media_types
    if kind != JSON and not lines:
        raise wrong_kind(kind, JSON, LINES)
    body = await body_of(request, served.limits)
    if lines:
        return await served.answer(len(body), partial(_predict_lines, served, body))
    if is_array(body):
        return await served.answer(len(body), partial(_predict_array, served, body))
    if len(body) > SMALL:
        (result,) = await served.answer(len(body), partial(predict_all, served, [body]))
    else:
        result = await served.batcher.submit(body)
    return response_to(result)


async def explain(request: Request, served: Served) -> Response:
    """One object: what each of its features adds to the margin of each class."""
    check_json(request)
    body = await body_of(request, served.limits)
    return await served.background.run(len(body), partial(_explain, served, body))


def predict_all(served: Served, texts: list[bytes], now: bool) -> list[Result]:
    """Predict lines, a block at a time; with `now`, raise WouldBlockError if they are many."""
    check_count(served, len(texts))
    if now and len(texts) > FEW:
        raise WouldBlockError
    results: list[Result] = []
    for start in range(0, len(texts), ROWS):
        results += served.predict(texts[start : start + ROWS], now)
    return results


def check_count(served: Served, count: int) -> None:
    """Refuse too many examples in one request: answers can take many times the bytes of short examples."""
    most = served.limits.examples
    if count > most:
        raise ProblemError(413, f"found {count:,} examples; expected at most {most:,} in a request: send several")


def _predict_lines(served: Served, body: bytes, now: bool) -> Response:
    check_count(served, body.count(b"\n"))  # before they are split
    results = predict_all(served, [line for line in body.split(b"\n") if line.strip()], now)
    return Response(b"".join(msgspec.json.encode(plain(result)) + b"\n" for result in results), media_type=LINES)


def _predict_array(served: Served, body: bytes, now: bool) -> Response:
    return json_response([plain(result) for result in predict_all(served, objects_of(body), now)])


def _explain(served: Served, body: bytes) -> Response:
    line = served.parse(body)
    if isinstance(line, Refused):
        raise refused(line)
    (answer,) = served.predict([line.text])
    if isinstance(answer, Refused):
        raise refused(answer)
    return json_response({**answer, "classes": served.owner.explain(line.example)})


PREDICT = (
    Endpoint(
        "POST",
        "/v1/predict",
        predict,
        "Predict examples",
        {200: {JSON: (Answer, list[Any]), LINES: None}},
        "predict",
        bodies={JSON: (Features, list[Features]), LINES: str},
    ),
    Endpoint(
        "POST",
        "/v1/explain",
        explain,
        "Explain a prediction",
        {200: {JSON: Explained}},
        "predict",
        bodies={JSON: Features},
    ),
)


NUMBERS = ("BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64")
MOST = 4096  # examples of one request


async def infer(request: Request, served: Served) -> Response:
    """Predict the examples that tensors hold."""
    if kind_of(request):  # clients of the protocol may leave it out
        check_json(request)
    body = await body_of(request, served.limits)
    return await served.answer(len(body), partial(_infer, served, body))


def _infer(served: Served, body: bytes, now: bool) -> Response:
    expected = (
        '{"inputs": [{"name": …, "shape": […], "datatype": …, "data": […]}]}, with as much data as the shape says'
    )
    content = decoded(body, Infer, expected)
    columns: dict[str, list[object]] = {}
    for tensor in content.inputs:
        columns |= _columns(tensor)
    counts = {len(column) for column in columns.values()}
    if len(counts) != 1:
        raise ProblemError(422, "expected inputs of one number of examples, their first dimension", field="inputs")
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    results = predict_all(served, [json.dumps(row).encode() for row in rows], now)
    for place, result in enumerate(results):
        if isinstance(result, Refused):
            raise ProblemError(422, f"example {place}: {result.error}", field=result.field)
    name = content.id
    answer = {"model_name": served.name, "outputs": _outputs([r for r in results if isinstance(r, dict)])}
    return json_response({**answer, "id": name} if isinstance(name, str) else answer)


async def metadata(request: Request, served: Served) -> Response:
    """Metadata of a model, by the protocol."""
    numbers = served.owner.model.task.numbers
    outputs = [{"name": "prediction", "datatype": "FP64" if numbers else "BYTES", "shape": [-1]}]
    return json_response({"name": served.name, "versions": [], "platform": "ouzel", "inputs": [], "outputs": outputs})


def _columns(tensor: Tensor) -> dict[str, list[object]]:
    """Return the features of a tensor, by name."""
    name, shape, kind, data = tensor.name, tensor.shape, tensor.datatype, tensor.data
    wrong = ProblemError(422, "expected an input of a shape of one or two numbers, and as much data", field="inputs")
    if not 1 <= len(shape) <= 2 or not all(0 < size <= 1 << 20 for size in shape):
        raise wrong
    if kind not in (*NUMBERS, "BYTES") or shape[0] > MOST:
        raise ProblemError(422, f"expected a datatype of the protocol, and at most {MOST} examples", field="inputs")
    width = shape[1] if len(shape) == 2 else 1
    flat = [item for row in data for item in (row if isinstance(row, list) else [row])]
    if len(flat) != shape[0] * width or not all(isinstance(item, (str, int, float, bool)) for item in flat):
        raise wrong
    if width == 1:
        return {name: flat}
    return {str(place): flat[place::width] for place in range(width)}


def _outputs(results: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the tensors of predictions, and of probabilities if there are any."""
    predictions = [result["prediction"] for result in results]
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in predictions)
    if not numbers:
        predictions = ["" if value is None else str(value) for value in predictions]
    kind = "FP64" if numbers else "BYTES"
    outputs: list[dict[str, object]] = [
        {"name": "prediction", "datatype": kind, "shape": [len(predictions)], "data": predictions}
    ]
    shares = [result.get("probabilities") for result in results]
    if shares and isinstance(shares[0], dict):
        names = list(shares[0])
        flat = [share[name] for share in shares if isinstance(share, dict) for name in names]
        parameters = {"classes": names}
        shape = [len(results), len(names)]
        outputs.append(
            {"name": "probability", "datatype": "FP64", "shape": shape, "data": flat, "parameters": parameters}
        )
    return outputs


INFER = (
    Endpoint(
        "POST",
        f"/v2/models/{MODEL}/infer",
        infer,
        "Predict tensors, by the Open Inference Protocol",
        {200: {JSON: Inferred}},
        "predict",
        bodies={JSON: Infer},
    ),
    Endpoint("GET", f"/v2/models/{MODEL}", metadata, "A model, by the protocol", {200: {JSON: Metadata}}, "predict"),
)
