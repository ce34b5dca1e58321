"""Export of a model for other programs, to a file of the kind that its ending says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ouzel.errors import OuzelError
from ouzel.exporting import onnx_file
from ouzel.exporting.device import header
from ouzel.files import check_place
from ouzel.model.model import Model

PREFIX = "ouzel"


def export(model: Any, path: str | Path, prefix: str = PREFIX) -> list[str]:
    """Write a model, or an estimator that has learnt, for other programs; return the names of what the file gives.

    `.onnx`: a graph that takes `ids` (n, k) int64, the features of each example, -1 where it has fewer than k, and
    `values` (n, k) float32. It gives `label` (n,), `margin` (n,) or (n, classes) and, if the loss has them,
    `probability` (n, classes), classes in order; of numbers `prediction` (n,); of rankings `score` (n,). Features that
    the model has not learnt count for nothing. Recalibrated models give recalibrated probabilities. The ids of names
    stand in a second file, `path`.json, with the classes, and how crosses, n-grams and bins are made, which are inputs
    like any other. What the graph says is compared with what the model says, on examples made for that, before it is
    written.

    `.h`: a header of C99 without dependencies, the names of which begin with a `prefix`; its functions are returned.
    `awm`, `adagrad` and `ftrl-proximal` go on learning in it.

    A learner whose predictions are not made of weights in that way (`sop`, `ons-invariant`, `aioli`) is refused by an
    OuzelError.

    Examples
    --------
    >>> import ouzel, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.onnx")
    >>> model = ouzel.OnlineClassifier("adagrad").fit([[1.0, 0.0], [0.0, 1.0]] * 5, ["dry", "wet"] * 5)
    >>> ouzel.export(model, path)
    ['label', 'margin', 'probability']
    >>> sorted(file.name for file in path.parent.iterdir())
    ['model.onnx', 'model.onnx.json']
    >>> ouzel.export(model, path.with_suffix(".h"), prefix="rain")[:2]
    ['rain_margins', 'rain_predict']
    """
    model = model if isinstance(model, Model) else getattr(model, "model_", None)
    if model is None or not model.examples:
        raise OuzelError("a model is exported when it has learnt something; train it first")
    path = Path(path)
    check_place(path)
    if is_header(path):
        if model.calibrate:
            raise OuzelError("a header of C has no recalibrated probabilities; train without", calibrate=True)
        return header.write(model, path, prefix).functions
    if path.suffix.lower() != ".onnx":
        raise OuzelError(f"{path}: a model is exported to a file that ends in .onnx, or in .h for C")
    return onnx_file.write(model, path)


def is_header(path: Path) -> bool:
    """Whether a file is one of C, by its ending."""
    return path.suffix.lower() == ".h"
