"""Export of a model to an ONNX file, with a JSON file that says how features become its inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.exporting.answers import Output, answer
from ouzel.exporting.expressions import expression_of
from ouzel.exporting.graph import OPSET, VERSION, margins_of
from ouzel.exporting.inputs import padded, probes
from ouzel.exporting.nodes import Graph
from ouzel.exporting.rule import rule_of
from ouzel.files import check_place, write_atomically
from ouzel.model.model import Model
from ouzel.streams.block import Block

CLOSE = 1e-5  # to what the model itself says, which is rounded to single precision on its way
MOST_BYTES = 2**31 - 2**20  # of a file of this format
NEEDED = 'exporting needs the onnx package: pip install "ouzel[onnx]"'


def export(model: Any, path: str | Path) -> list[str]:
    """Write a model, or an estimator that has learnt, as an ONNX graph; return the names of what the graph gives.

    The graph takes `ids` (n, k) int64, the features of each example, -1 where it has fewer than k, and `values` (n, k)
    float32. It gives `label` (n,), `margin` (n,) or (n, classes) and, if the loss has them, `probability`
    (n, classes), classes in order; of numbers `prediction` (n,); of rankings `score` (n,). Features that the model has
    not learnt count for nothing. The ids of names stand in a second file, `path`.json, with the classes, and how
    crosses, n-grams and bins are made, which are inputs like any other.

    What the graph says is compared with what the model says, on examples made for that, before it is written. A
    learner whose predictions are not made of weights in that way (`sop`, `ons-invariant`) is refused: OuzelError.

    Examples
    --------
    >>> import ouzel, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.onnx")
    >>> model = ouzel.OnlineClassifier("adagrad").fit([[1.0, 0.0], [0.0, 1.0]] * 5, ["dry", "wet"] * 5)
    >>> ouzel.export(model, path)
    ['label', 'margin', 'probability']
    >>> sorted(file.name for file in path.parent.iterdir())
    ['model.onnx', 'model.onnx.json']
    """
    model = model if isinstance(model, Model) else getattr(model, "model_", None)
    if model is None or not model.examples:
        raise OuzelError("a model is exported when it has learnt something; train it first")
    if model.calibrate:
        raise OuzelError("recalibrated probabilities are not exported yet; train without", calibrate=True)
    path = Path(path)
    if path.suffix.lower() != ".onnx":
        raise OuzelError(f"{path}: a model is exported to a file that ends in .onnx")
    rule_path = path.with_name(f"{path.name}.json")
    for place in (path, rule_path):
        check_place(place)
    graph, outputs = _graph_of(model)
    made = _made(graph, outputs, model)
    _compare(made, model, outputs)
    with write_atomically(rule_path) as file:
        file.write(json.dumps(rule_of(model, outputs), indent=1, ensure_ascii=False).encode() + b"\n")
    with write_atomically(path) as file:
        file.write(made.SerializeToString())
    return [output.name for output in outputs]


def _graph_of(model: Model) -> tuple[Graph, list[Output]]:
    try:
        import onnx  # noqa: F401
    except ModuleNotFoundError:
        raise OuzelError(NEEDED) from None
    expression = expression_of(model)
    if expression.weights.nbytes > MOST_BYTES:
        raise OuzelError(
            f"{expression.weights.nbytes / 2**30:.0f} GiB of weights are more than an ONNX file holds (2 GiB)"
        )
    graph = Graph()
    return graph, answer(graph, model, margins_of(graph, expression))


def _made(graph: Graph, outputs: list[Output], model: Model) -> Any:
    """The graph as ONNX has it, checked by its own rules."""
    from onnx import TensorProto, checker, helper

    from ouzel import __version__

    kinds = {np.float64: TensorProto.DOUBLE, np.int64: TensorProto.INT64, str: TensorProto.STRING}
    inputs = [
        helper.make_tensor_value_info("ids", TensorProto.INT64, ["examples", "features"]),
        helper.make_tensor_value_info("values", TensorProto.FLOAT, ["examples", "features"]),
    ]
    given = [
        helper.make_tensor_value_info(
            output.name, kinds[output.kind], ["examples", output.columns] if output.columns else ["examples"]
        )
        for output in outputs
    ]
    made = helper.make_model(
        helper.make_graph(graph.nodes, model.learner.name, inputs, given, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=VERSION,
        producer_name="ouzel",
        producer_version=__version__,
    )
    helper.set_model_props(made, {"ouzel": json.dumps(rule_of(model, outputs))})
    checker.check_model(made)
    return made


def _compare(made: Any, model: Model, outputs: list[Output]) -> None:
    """Refuse a learner whose predictions the graph does not give."""
    from onnx.reference import ReferenceEvaluator

    block = probes(model)
    with np.errstate(all="ignore"):  # of exponentials that a sigmoid then leaves out
        answers = ReferenceEvaluator(made).run(None, padded(block))
    found = dict(zip([output.name for output in outputs], answers, strict=True))
    for name, expected in _predicted(model, block).items():
        if not np.allclose(found[name], expected, rtol=0.0, atol=CLOSE * (1.0 + np.abs(expected).max())):
            raise OuzelError(
                f"{model.learner.name} predicts otherwise than by weights of the features, which is all that an "
                "exported model can do; learn with another learner, such as auto or adagrad"
            )


def _predicted(model: Model, block: Block) -> dict[str, np.ndarray]:
    """Return what the model predicts for each numeric output of the graph."""
    answers = model.answers(block)
    if model.task.groups or model.task.numbers:
        return {"score" if model.task.groups else "prediction": answers.predicted}
    margins = answers.margins if answers.margins.shape[1] > 1 else answers.margins[:, 0]
    shares = {} if answers.probabilities is None else {"probability": answers.probabilities}
    return {"margin": margins, **shares}
