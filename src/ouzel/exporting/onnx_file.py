"""A model as an ONNX file, with a JSON file that says how features become its inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.exporting.answers import Output, answer
from ouzel.exporting.comparison import check_alike
from ouzel.exporting.expressions import expression_of
from ouzel.exporting.graph import OPSET, VERSION, margins_of
from ouzel.exporting.inputs import padded, probes
from ouzel.exporting.nodes import Graph
from ouzel.exporting.recalibration import recalibrated
from ouzel.exporting.rule import rule_of
from ouzel.extras import need
from ouzel.files import check_place, write_atomically
from ouzel.model.model import Model
from ouzel.streams.block import Block

MOST_BYTES = 2**31 - 2**20  # of a file of this format


def write(model: Model, path: Path) -> list[str]:
    """Write the graph of a model, and a file of how names become its inputs; return the names of its outputs.

    What the graph says is compared with what the model says before it is written.
    """
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
    need("onnx", "exporting", "onnx")
    expression = expression_of(model)
    if expression.weights.nbytes > MOST_BYTES:
        raise OuzelError(
            f"{expression.weights.nbytes / 2**30:.0f} GiB of weights are more than an ONNX file holds (2 GiB)"
        )
    graph = Graph()
    margins, state = margins_of(graph, expression), model.preparation.recalibration
    if state is not None:
        margins = recalibrated(graph, state, model.task.joint, model.columns, margins)
    return graph, answer(graph, model, margins)


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
        check_alike(model, found[name], expected)


def _predicted(model: Model, block: Block) -> dict[str, np.ndarray]:
    """Return what the model predicts for each numeric output of the graph."""
    answers = model.answers(block)
    if model.task.groups or model.task.numbers:
        return {"score" if model.task.groups else "prediction": answers.predicted}
    margins = answers.margins if answers.margins.shape[1] > 1 else answers.margins[:, 0]
    if answers.probabilities is None or len(answers.classes) < 2:  # a graph of one class gives none
        return {"margin": margins}
    return {"margin": margins, "probability": answers.probabilities}
