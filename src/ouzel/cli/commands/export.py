"""`ouzel export`: exports a model for other programs, as an ONNX graph."""

from __future__ import annotations

import json
from typing import Annotated

from ouzel.cli import options
from ouzel.cli.parameters import argument


def export(
    model: options.ModelFile,
    output: Annotated[str, argument("The file to write: .onnx.", "OUT")],
    json_: options.Json = False,
) -> None:
    """Export a model as an ONNX graph, and to OUT.json the rule by which names of features become its inputs.

    The graph returns the labels, margins and probabilities of `ouzel predict`; other learners are refused.

    Example: ouzel export a9a.ouzel a9a.onnx
    """
    from ouzel.exporting.onnx_file import export as write
    from ouzel.model import persistence

    learnt = persistence.load_model(model)
    outputs = write(learnt, output)
    if json_:
        print(json.dumps({"model": model, "output": output, "rule": f"{output}.json", "outputs": outputs}))
        return
    print(f"{model} written to {output}, which gives {', '.join(outputs)}")
    print(f"how names become its inputs: {output}.json")
    derived = [name for name, given in learnt.space.derived._asdict().items() if given]
    if derived:
        print(
            f"its {', '.join(derived)} are inputs too; how they are made stands there, and `ouzel convert` makes them"
        )
