"""`ouzel predict`: apply a model to files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ouzel.cli import app as shared
from ouzel.cli.app import app
from ouzel.errors import OuzelError

KINDS = ("labels", "margins", "probabilities")


@app.command(epilog="Example:  ouzel predict a9a.ouzel new.svm --output-kind probabilities > p.txt")
def predict(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    files: shared.Files,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file, .parquet or text.")] = None,
    output_kind: Annotated[str, typer.Option(help="labels, margins or probabilities.")] = "labels",
    json: shared.Json = False,
    format: shared.Format = None,
    label: shared.Label = None,
    label_positive: shared.LabelPositive = None,
    weight: shared.Weight = None,
    text: shared.Text = None,
    ignore: shared.Ignore = None,
    columns: shared.Columns = None,
    skip_lines: shared.SkipLines = 0,
    on_error: shared.OnError = "raise",
) -> None:
    """Predict every example of some files, a line each; nothing is learnt."""
    from ouzel.cli.predicting import outcomes, write_lines, write_parquet
    from ouzel.persistence import load_model
    from ouzel.streams.reading import read

    if output_kind not in KINDS:
        raise OuzelError(f"--output-kind must be one of {', '.join(KINDS)}; got {output_kind!r}")
    known = load_model(model)[0]
    if known.learner.name and not known.examples:
        raise OuzelError(f"{model}: has learnt no example yet")
    given: dict[str, Any] = shared.reading(
        format, label, label_positive, weight, text, ignore, columns, skip_lines, on_error
    )
    stream = read(files, bits=known.bits, seed=known.seed, unlabelled=True, **given)
    found = outcomes(known, stream, output_kind)
    if output is not None and output.suffix == ".parquet":
        write_parquet(found, output)
    else:
        write_lines(found, output, json)
