"""`ouzel plot`: draws what a column adds to the prediction of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from ouzel.cli import options
from ouzel.cli.parameters import COLUMN, FILE, option
from ouzel.errors import OuzelError


def plot(
    model: options.ModelFile,
    effect: Annotated[str | None, option("The column of numbers, or a pair: 'age*hours'.", takes=COLUMN)] = None,
    output: Annotated[str, option("The picture to write: .png, .svg or .pdf.", "-o", takes=FILE)] = "effect.png",
    json_: options.Json = False,
) -> None:
    """Draw the effect of a column of numbers: the curve that it adds to the margin, over the density of the numbers.

    The default learner gives a column a slope, and a curve for what a line does not fit. Of several classes there is a
    line a class, of the ten that the column moves most. A pair of columns is drawn as a heat map of what it adds beyond
    its two columns.

    Example: ouzel plot adult.ouzel --effect age -o age.svg
    """
    if effect is None:
        raise OuzelError("--effect needs the name of a column; `ouzel top` lists them")
    options.check_plot(output)
    from ouzel.cli.ui.outputs import write_outputs
    from ouzel.evaluation.effects import effect as effect_of
    from ouzel.model import persistence

    learnt = persistence.load_notes(model)[0]
    try:
        found = effect_of(learnt, effect)
    except OuzelError as error:
        raise OuzelError(f"{model}: {error}") from None

    def answer() -> dict[str, Any]:
        values = found.values.reshape(len(found.values), -1, len(found.slopes))
        arrays = {"values": values.tolist(), "slopes": found.slopes.tolist(), "mean": found.mean}
        edges = [own.tolist() for own in found.edges]
        about = {"columns": list(found.columns), "classes": found.classes, "edges": edges}
        return {"model": model, "plot": output, **about, **arrays}

    title = f"{' × '.join(found.columns)} in {Path(model).name}, {learnt.examples:,} examples"
    draw = (output, "picture drawn in", lambda path: found.plot(path, title))
    write_outputs([draw], answer if json_ else None, lambda: None)
