"""Small real data sets as CSV files, of those that scikit-learn comes with: nothing is fetched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

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


class Written(NamedTuple):
    """A file that was written, and what it holds."""

    file: str
    rows: int
    columns: int  # beside the label
    label: str
    classes: list[str] | None  # None where the label is a number


def write_samples(folder: str | Path) -> list[Written]:
    """Write every sample to the folder, which is made if need be; raises OuzelError where it cannot be written.

    The same version of scikit-learn gives the same bytes: rows are in a random order of a fixed seed, as a stream is,
    for scikit-learn sorts some of them by class.

    >>> import tempfile
    >>> write_samples(tempfile.mkdtemp())[0].classes
    ['setosa', 'versicolor', 'virginica']
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OuzelError(f"{folder}: cannot be made a folder ({error.strerror}); name another one") from None
    return [_write(sample, Path(folder)) for sample in SAMPLES]


def _write(sample: Sample, folder: Path) -> Written:
    """Write one sample as a table with a header, the label last."""
    import numpy as np
    from sklearn import datasets

    data = getattr(datasets, f"load_{sample.loader}")(**sample.settings)
    order = np.random.default_rng(0).permutation(len(data.target))
    columns = [re.sub(r"[^\w/]+", "_", name).strip("_") for name in data.feature_names]
    names = [str(name) for name in data.target_names] if "target_names" in data else None
    labels = [names[number] for number in data.target[order]] if names else data.target[order].astype(int).tolist()
    path = folder / f"{sample.loader}.csv"
    with write_atomically(path) as file:
        file.write((",".join([*columns, sample.label]) + "\n").encode())
        for values, label in zip(data.data[order].tolist(), labels, strict=True):
            file.write((",".join([*(repr(value).removesuffix(".0") for value in values), str(label)]) + "\n").encode())
    return Written(str(path), len(order), len(columns), sample.label, names)
