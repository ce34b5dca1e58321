"""`ouzel plot`: draws what a column adds to the prediction of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from ouzel.cli import options
from ouzel.cli.parameters import COLUMN, FILE, option
from ouzel.errors import OuzelError


def plot(
    model: options.ModelFile,
    effect: Annotated[
        str | None, option("The column, of numbers or words, or a pair: 'age*hours'.", takes=COLUMN)
    ] = None,
    output: Annotated[str, option("The picture to write: .png, .svg or .pdf.", "-o", takes=FILE)] = "effect.png",
    json_: options.Json = False,
) -> None:
    """Draw the effect of a column: the curve that its numbers add to the margin, or a bar for each word.

    The default learner gives a column a slope, and a curve for what a line does not fit. Of several classes there is a
    line a class, of the ten that the column moves most. A pair of columns is drawn as a heat map of what it adds beyond
    its two columns. Bars of words are what each adds to the average example, by any learner without a byte budget.

    Example: ouzel plot adult.ouzel --effect age -o age.svg
    """
    if effect is None:
        raise OuzelError("--effect needs the name of a column; `ouzel top` lists them")
    options.check_plot(output)
    from ouzel.cli.ui.outputs import write_outputs
    from ouzel.evaluation.effects import WordEffect
    from ouzel.evaluation.effects import effect as effect_of
    from ouzel.model import persistence

    learnt = persistence.load_notes(model)[0]
    try:
        found = effect_of(learnt, effect)
    except OuzelError as error:
        raise OuzelError(f"{model}: {error}") from None

    def answer() -> dict[str, Any]:
        if isinstance(found, WordEffect):
            about = {"columns": list(found.columns), "classes": found.classes, "words": found.words}
            return {
                "model": model,
                "plot": output,
                **about,
                "values": found.values.tolist(),
                "shares": found.shares.tolist(),
            }
        values = found.values.reshape(len(found.values), -1, len(found.slopes))
        arrays = {"values": values.tolist(), "slopes": found.slopes.tolist(), "mean": found.mean}
        edges = [own.tolist() for own in found.edges]
        about = {"columns": list(found.columns), "classes": found.classes, "edges": edges}
        return {"model": model, "plot": output, **about, **arrays}

    title = f"{' × '.join(found.columns)} in {Path(model).name}, {learnt.examples:,} examples"
    draw = (output, "picture drawn in", lambda path: found.plot(path, title))
    write_outputs([draw], answer if json_ else None, lambda: None)
