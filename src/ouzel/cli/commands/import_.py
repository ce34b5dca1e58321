"""`ouzel import`: takes back what a model has learnt on a device."""

from __future__ import annotations

import json
from typing import Annotated

from ouzel.cli import options
from ouzel.cli.parameters import FILE, argument


def run_import(
    model: options.ModelFile,
    state: Annotated[str, argument("What the `save` of its header wrote on the device.", FILE)],
    output: Annotated[str, argument("The model file to write.", "OUT")],
    json_: options.Json = False,
) -> None:
    """Write a model file of what a device has learnt, which predicts and learns on like any other.

    MODEL is the file that the device's header was made of by `ouzel export`. Names, classes and moments of features are
    those of MODEL.

    Example: ouzel import gateway.ouzel state.bin back.ouzel
    """
    from ouzel.exporting.device.dump import resume
    from ouzel.model import persistence

    learnt, notes = persistence.load_notes(model)
    examples = resume(learnt, state)
    persistence.save(learnt, output, notes)
    if json_:
        print(json.dumps({"model": model, "state": state, "output": output, "examples": examples}))
        return
    print(f"{examples:,} examples that the device has learnt are in {output}, beside those of {model}")
