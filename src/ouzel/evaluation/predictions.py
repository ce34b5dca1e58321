"""Predictions of a model for a block, as columns for people or files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from ouzel.errors import OuzelError
from ouzel.files import write_atomically
from ouzel.model import contributions
from ouzel.model.answers import Answers
from ouzel.model.intervals import intervals_about, labels_in_sets
from ouzel.model.model import Model
from ouzel.streams.block import Block
from ouzel.streams.formats.catalogue import FORMATS, Format, by_file_name
from ouzel.streams.labels import Label, labels_in, text_of


class Predictions(Answers):
    """Answers as columns of a table, the names of classes in their headings."""

    def columns(self, only: str | None) -> dict[str, np.ndarray]:
        """The columns of a table: all of them, or only "labels", "margins" or "probabilities"."""
        if self.labels is None:
            return {"score": self.margins[:, 0]}
        found = {"label": self.labels} if only in (None, "labels") else {}
        if only in (None, "margins"):
            found |= self._spread("margin", self.margins)
        if only in (None, "probabilities"):
            if self.probabilities is not None:
                columns = self.probabilities if len(self.classes) != 2 else self.probabilities[:, 1:]
                found |= self._spread("probability", columns)
            elif only is not None:
                raise OuzelError("this model's loss gives no probabilities; train with", loss="logistic")
        return found

    def _spread(self, name: str, values: np.ndarray) -> dict[str, np.ndarray]:
        """One column, or one a class."""
        if values.shape[1] == 1:
            return {name: values[:, 0]}
        return {f"{name}:{label}": values[:, k] for k, label in enumerate(self.classes)}


def intervals_of(model: Model, block: Block, level: float, as_text: bool) -> dict[str, Any]:
    """Return the columns `low` and `high`, or `set`: settled intervals, or labels as a list, as text between bars."""
    margins, groups = model.margins(block), model.preparation.group_keys(model, block)
    if model.task.numbers:
        low, high = intervals_about(model, margins, level, True, groups).T
        return {"low": low, "high": high}
    found = np.empty(block.rows, object)
    for row, labels in enumerate(labels_in_sets(model, margins, level, True, groups)):
        found[row] = "|".join(map(str, labels)) if as_text else labels
    return {"set": found}


def predictions_of(model: Model, block: Block) -> Predictions:
    """Predictions of a block by a model that has learnt something."""
    return Predictions(*model.answers(block))


def reasons(model: Model, block: Block, most: int) -> np.ndarray:
    """Return the `most` largest contributions to each margin, or to the largest of it, (n,) lists for people.

    Entries have name, value and contribution; see `model.contributions.reasons`.
    """
    found = np.empty(block.rows, object)
    for row, entries in enumerate(contributions.reasons(model, block, most)):
        found[row] = entries
    return found


def explanations_of(model: Model, block: Block, most: int) -> dict[str, np.ndarray]:
    """Return what adds most to each margin, or to the largest, for programs: (n,) lists by column, value and pair.

    `all_else` is what is left of the margin beside the columns.
    """
    kinds = {"why": "columns", "why_values": "features", "why_pairs": "pairs"}
    found: dict[str, np.ndarray] = {name: np.empty(block.rows, object) for name in kinds}
    others = np.zeros(block.rows)
    summed = contributions.AVERAGE, contributions.REST
    for row, classes in enumerate(contributions.explained(model, block, most)):
        chosen = max(classes, key=lambda entry: entry["margin"]) if classes else {kind: [] for kind in kinds.values()}
        for name, kind in kinds.items():
            entries = [entry for entry in chosen[kind] if entry["name"] not in summed]
            average = [entry for entry in chosen[kind] if entry["name"] == contributions.AVERAGE]
            found[name][row] = entries + average if len(entries) < most else entries
        listed = sum(entry["contribution"] for entry in found["why"][row])
        others[row] = chosen["margin"] - listed if classes else 0.0
    return {"why": found.pop("why"), "all_else": others, **found}


class Identity:
    """Return the columns before the predictions of each row: its number, and its tag and label if it has them.

    The first block tells which of the two there are. A label of another kind than those that the model predicts,
    such as a name where they are numbers, is left out, and counted.
    """

    def __init__(self, model: Model) -> None:
        self.others = 0  # labels of another kind
        known = model.classes.known
        self._kind: type = float if model.task.numbers or model.task.groups else str
        if known and are_alike(known):
            self._kind = type(known[0]) if len({*map(type, known)}) == 1 else float
        self._kept: set[str] | None = None

    def columns(self, block: Block) -> dict[str, Any]:
        """`row`, from 1; `id`; and `actual`, the label."""
        assert block.numbers is not None
        labelled = not np.isnan(block.labels).all()
        if self._kept is None:
            has = {"row": True, "id": block.tags is not None, "actual": labelled}
            self._kept = {name for name in has if has[name]}
        nothing = np.full(block.rows, None)
        found = {"row": block.numbers + 1, "id": nothing if block.tags is None else block.tags}
        if "actual" in self._kept:
            found["actual"] = np.array([self._shown(label) for label in labels_in(block)] + [None], object)[:-1]
        return {name: values for name, values in found.items() if name in self._kept}

    def _shown(self, label: Label | None) -> Label | None:
        """A label as one that the model predicts."""
        if label is None or self._kind is str:
            return None if label is None else text_of(label)
        if isinstance(label, str) or self._kind(label) != label:
            self.others += 1
            return None
        return self._kind(label)


def are_alike(labels: Iterable[Label]) -> bool:
    """Whether labels make a column of one type: truth values, or numbers of which whole ones fit in 64 bits.

    >>> are_alike([1, 2.5]), are_alike([True, 2]), are_alike(["a", 1]), are_alike([10**20])
    (True, False, False, False)
    """
    kinds = {*map(type, labels)}
    fits = all(abs(label) < 2**63 for label in labels if type(label) is int)
    return fits and (kinds == {bool} or kinds <= {int, float})


def check_ending(path: str | Path) -> Format:
    """The table format that the ending of a file's name says, or an error that lists those there are."""
    format = by_file_name(path)
    if format is None or not format.is_table:
        endings = ", ".join(ending[1:] for known in FORMATS.values() if known.is_table for ending in known.suffixes)
        raise OuzelError(f"{path}: predictions are written as {endings}, by the ending of the file's name")
    return format


def write_predictions(parts: Iterable[dict[str, Any]], path: str | Path) -> int:
    """Write columns of predictions, one part or more, in one step at the end; return how many rows.

    The format goes by the ending of the file's name.
    """
    format = check_ending(path)
    tables = as_tables(parts)
    first = next(tables)
    rows = 0
    with write_atomically(path) as file, _writer(format, file, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)
            rows += table.num_rows
    return rows


def as_tables(parts: Iterable[dict[str, Any]]) -> Iterator[Any]:
    """Columns of predictions as Arrow tables of one schema, that of the first."""
    import pyarrow

    schema = None
    for part in map(_storable, parts):
        schema = schema or _schema(pyarrow.table(part))
        yield pyarrow.table(part, schema=schema)


def _storable(part: dict[str, Any]) -> dict[str, Any]:
    """Columns of which each has values of one type: labels that are not alike are text."""
    found = dict(part)
    for name in ("label", "class"):
        given = part.get(name, ())
        labels = [] if isinstance(given, np.ndarray) and given.dtype != object else list(given)
        if any(isinstance(label, (str, bool, int)) for label in labels) and not are_alike(labels):
            found[name] = [None if label is None else text_of(label) for label in labels]
    return found


def _schema(first: Any) -> Any:
    """The schema of all parts; a column that has nothing in the first is text."""
    import pyarrow

    kinds = [pyarrow.string() if pyarrow.types.is_null(kind) else kind for kind in first.schema.types]
    return pyarrow.schema(list(zip(first.schema.names, kinds, strict=True)))


def _writer(format: Format, file: Any, schema: Any) -> Any:
    """Return a writer of tables of a schema to a file."""
    if format.is_delimited:
        from pyarrow import csv

        options = csv.WriteOptions(delimiter=format.delimiter or ",", quoting_style="needed")
        return csv.CSVWriter(file, schema, write_options=options)
    return format.module.writer(file, schema) if format.is_columnar else JsonLines(file)


class JsonLines:
    """Tables as lines of JSON, an object a row."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write_table(self, table: Any) -> None:
        """Write the rows of a table."""
        self.file.write("".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode())
