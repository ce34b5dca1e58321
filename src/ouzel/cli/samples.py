"""Small data sets as files: real ones that scikit-learn comes with, and simulated ones. Nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ouzel.cli import simulated, simulated_text
from ouzel.cli.simulated import Columns, Simulation
from ouzel.errors import OuzelError
from ouzel.files import write_atomically


class Sample(NamedTuple):
    """A data set of scikit-learn, and what its label is called here."""

    loader: str  # `sklearn.datasets.load_…`, and the name of the file
    label: str
    settings: dict[str, Any]  # of the loader


SAMPLES = (
    Sample("iris", "species", {}),
    Sample("wine", "cultivar", {}),
    Sample("breast_cancer", "diagnosis", {}),
    Sample("digits", "digit", {}),
    Sample("diabetes", "progression", {"scaled": False}),
)
SIMULATED = (
    Simulation("simulated_clicks.csv", "clicked", simulated.clicks),
    Simulation("simulated_prices.csv", "price", simulated.prices),
    Simulation("simulated_payments.csv", "fraud", simulated.payments),
    Simulation("simulated_stories.tsv", "topic", simulated_text.stories),
    Simulation("simulated_addresses.svm", "label", simulated.addresses),
    Simulation("simulated_flows_monday.csv", None, simulated.monday),
    Simulation("simulated_flows_tuesday.csv", None, simulated.tuesday),
)
SEPARATORS = {".csv": ",", ".tsv": "\t", ".svm": " "}


class Written(NamedTuple):
    """A file that was written, and what it holds."""

    file: str
    rows: int
    columns: int  # beside the label; of svmlight, the largest number that a feature may have
    label: str | None  # None where there is none
    classes: list[str] | None  # None where the label is a number, or there is none


def write_samples(folder: str | Path) -> list[Written]:
    """Write every sample to the folder, which is made if need be; raises OuzelError where it cannot be written.

    The same versions of NumPy and scikit-learn give the same bytes. Rows of real sets are in a random order of a fixed
    seed, as a stream is, for scikit-learn sorts some of them by class.

    >>> import tempfile
    >>> write_samples(tempfile.mkdtemp())[0].classes
    ['setosa', 'versicolor', 'virginica']
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OuzelError(f"{folder}: cannot be made a folder ({error.strerror}); name another one") from None
    return [_write(Path(folder) / name, columns, label) for name, columns, label in _tables()]


def _tables() -> Iterator[tuple[str, Columns, str | None]]:
    """The name, the columns and the label of every file."""
    import numpy as np

    for sample in SAMPLES:
        yield f"{sample.loader}.csv", _real(sample), sample.label
    for number, simulation in enumerate(SIMULATED):
        yield simulation.file, simulation.make(np.random.default_rng(number)), simulation.label


def _real(sample: Sample) -> Columns:
    """The columns of a data set of scikit-learn, the label last."""
    import numpy as np
    from sklearn import datasets

    data = getattr(datasets, f"load_{sample.loader}")(**sample.settings)
    order = np.random.default_rng(0).permutation(len(data.target))
    names = [re.sub(r"[^\w/]+", "_", name).strip("_") for name in data.feature_names]
    labels = data.target_names[data.target] if "target_names" in data else data.target.astype(int)
    return {**dict(zip(names, data.data[order].T.tolist(), strict=True)), sample.label: labels[order].tolist()}


def _write(path: Path, columns: Columns, label: str | None) -> Written:
    """Write a table with a header, or, without one, the labels and features of svmlight."""
    separator, sparse = SEPARATORS[path.suffix], path.suffix == ".svm"
    with write_atomically(path) as file:
        if not sparse:
            file.write((separator.join(columns) + "\n").encode())
        for row in zip(*columns.values(), strict=True):
            file.write((separator.join(_cell(value) for value in row) + "\n").encode())
    values = columns.get(label or "", [])
    classes = sorted({str(value) for value in values})
    return Written(
        str(path),
        len(next(iter(columns.values()))),
        simulated.WORDS if sparse else len(columns) - bool(label),
        label,
        classes if values and not isinstance(values[0], float) and len(classes) <= 20 else None,
    )


def _cell(value: object) -> str:
    """A value as text: numbers in full, but whole ones without a point."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
