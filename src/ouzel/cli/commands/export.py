"""`ouzel export`: exports a model for other programs, as an ONNX graph or a header of C."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ouzel.cli import options
from ouzel.cli.parameters import Kind, argument, option

if TYPE_CHECKING:
    from ouzel.model.model import Model


def export(
    model: options.ModelFile,
    output: Annotated[str, argument("The file to write: .onnx, or .h.", "OUT")],
    prefix: Annotated[str, option("What the names of a header begin with.", takes=Kind("NAME"))] = "ouzel",
    json_: options.Json = False,
) -> None:
    """Export a model as an ONNX graph, or as a header of C for a device.

    A graph returns the labels, margins and probabilities of `ouzel predict`; OUT.json is the rule by which names of
    features become its inputs. A header of C99 needs nothing beside it. It predicts; awm, adagrad and ftrl-proximal
    also go on learning in it, and `ouzel import` takes back what they have learnt.

    Example: ouzel export a9a.ouzel a9a.onnx
    """
    from ouzel.exporting.export import export as write
    from ouzel.exporting.export import is_header
    from ouzel.model import persistence

    learnt = persistence.load_notes(model)[0]
    outputs = write(learnt, output, prefix)
    rule = None if is_header(Path(output)) else f"{output}.json"
    if json_:
        print(json.dumps({"model": model, "output": output, "rule": rule, "outputs": outputs}))
        return
    print(f"{model} written to {output}, which gives {', '.join(outputs)}")
    print(_of_header(learnt) if rule is None else f"how names become its inputs: {rule}")
    derived = [name for name, given in learnt.space.derived._asdict().items() if given]
    if derived:
        print(
            f"its {', '.join(derived)} are inputs too; how they are made "
            + ("a graph's file of rules says" if rule is None else "stands there, and `ouzel convert` makes them")
        )


def _of_header(model: Model) -> str:
    """Return the line about learning in a header."""
    from ouzel.exporting.device.learner_code import hindrance

    why = hindrance(model)
    if why is not None:
        return f"it predicts and does not learn: {why}"
    return "it goes on learning on the device, by values as they are: it scales none"
