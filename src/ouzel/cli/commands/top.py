"""`ouzel top`: the most important features of a model, and the spectrum of its sketch."""

from __future__ import annotations

import json
import sys
import textwrap
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ouzel.cli import options
from ouzel.cli.parameters import FILE, choice, option
from ouzel.errors import OuzelError, printable
from ouzel.files import check_place
from ouzel.ranges import COUNT, check

if TYPE_CHECKING:
    from ouzel.model.answers import Feature
    from ouzel.model.model import Model

SORTED_BY = ("importance", "weight")


def top(
    model: options.ModelFile,
    n: Annotated[int, option("Number of features to show.", "-n")] = 20,
    all_: Annotated[bool, option("Show all features whose weights are not zero.")] = False,
    output: Annotated[
        str | None,
        option("Write the table to this file: csv, tsv, jsonl, parquet, arrow.", "-o", takes=FILE),
    ] = None,
    save_to: Annotated[
        str | None,
        option("Write it to a table of a database, replacing that: sqlite:///w.db#weights.", takes="URL#TABLE"),
    ] = None,
    direction: Annotated[
        int | None, option("Show the direction of the sketch with this number instead of the weights.")
    ] = None,
    sort: Annotated[
        str,
        option("Rank features by importance, |weight| × standard deviation, or by |weight|.", takes=choice(*SORTED_BY)),
    ] = "importance",
    json_: options.Json = False,
) -> None:
    """Show the columns, the features and the pairs of columns that matter most to a model.

    The importance of a column is how far the margin moves where its values are exchanged among examples. That of a
    feature, such as a word of a column, is |weight| × its standard deviation, with its curve where it has one. That of
    a pair is how far what only both columns add moves the margin. Learners of a byte budget do not know the standard
    deviations; there features are ranked by |weight|. For a Newton method it also shows
    the eigenvalues of the sketch and the condition number; of `ons`, for two classes, a 95 % interval of each weight.

    For a file of `ouzel pmi` it shows the pairs that pmi lists, with their PMI.

    Example: ouzel top a9a.ouzel --all -o weights.csv
    """
    check("-n", COUNT, n)
    from ouzel.cli.ui.column_tables import ROWS, TWO_SCALES, columns_to_show, pairs_to_show
    from ouzel.evaluation.formatting import feature_lines, importance_lines, named
    from ouzel.evaluation.predictions import as_tables, check_ending, write_predictions
    from ouzel.model import persistence
    from ouzel.model.answers import Feature
    from ouzel.model.importance import as_json, column_importance, heaviest, most_important
    from ouzel.model.weight_errors import weight_intervals
    from ouzel.streams.sources.databases import check_table, write_table

    if save_to is not None:
        check_table(save_to)
    if output is not None:
        check_ending(output)
        check_place(Path(output))
    learnt, notes = persistence.load_notes(model, analyses=True)
    n = learnt.capacity if all_ else n
    states = states_shown(learnt)
    listed = _pairs(model, notes.get("analysis"), n)
    if listed is not None:
        columns: list[tuple[Any, list[Feature]]] = [(None, listed)]
    else:
        columns = named((heaviest if sort == "weight" or direction is not None else most_important)(learnt, n))
    spectra = [spectrum_of(learnt, state) for state in states]
    if direction is not None:
        directions = [direction_of(learnt, state, direction, n) for state in states]
        columns = [
            (label, list(starmap(Feature, column))) for (label, _), column in zip(columns, directions, strict=True)
        ]
    if all_:
        columns = [(label, [feature for feature in column if feature.weight != 0.0]) for label, column in columns]
    if output is not None or save_to is not None:
        rows = [(label, *feature) for label, column in columns for feature in column]
        given = zip(*rows, strict=True) if rows else ([], [], [], [])
        table = dict(zip(("class", "feature", "weight", "importance"), map(list, given), strict=True))
        if output is not None:
            print(f"{write_predictions([table], output):,} weights written to {output}", file=sys.stderr)
        if save_to is not None:
            count = write_table(save_to, as_tables([table]), replace=True)
            print(f"{count:,} weights written to {save_to.rpartition('#')[2]}", file=sys.stderr)
        return
    ends_of_weights = [
        [] if listed or direction is not None else weight_intervals(learnt, column) for _, column in columns
    ]
    if json_:
        rest = (
            {"intervals": ends, **more} if any(ends) else more
            for ends, more in zip(ends_of_weights, spectra, strict=True)
        )
        is_plain = listed is None and direction is None
        entries = as_json(learnt, columns, n) if is_plain else _without_columns(columns)
        print(json.dumps([{**entry, **more} for entry, more in zip(entries, rest, strict=True)]))
        return
    plain = listed is None and direction is None
    ranked = [by_importance for _, by_importance in column_importance(learnt)] if plain else []
    of_table = columns_to_show(learnt, columns, ranked) if plain else [[]] * len(columns)
    pairs = pairs_to_show(learnt, ranked) if plain else [[]] * len(columns)
    for number, ((label, column), found) in enumerate(zip(columns, spectra, strict=True)):
        if label is not None:
            print(("\n" if number else "") + f"for {printable(label)}")
        if direction is not None:
            print(f"direction {direction} of the sketch")
        for line in [*importance_lines("column", of_table[number], ROWS), ""] if of_table[number] else ():
            print(line)
        for line in feature_lines(column, intervals=ends_of_weights[number]):
            print(line)
        for line in ["", *importance_lines("pair", pairs[number], ROWS)] if pairs[number] else ():
            print(line)
        for line in spectrum_lines(found):
            print(line)
    if any(of_table):
        print(f"\n{TWO_SCALES}")


def _without_columns(columns: list[tuple[Any, list[Feature]]]) -> list[dict[str, Any]]:
    """Return what is no feature of a model, such as the components of a direction, as JSON has features."""
    return [
        {
            "class": label,
            "columns": [],
            "features": [[str(feature.name), feature.weight] for feature in column],
            "importances": [feature.importance for feature in column],
            "pairs": [],
        }
        for label, column in columns
    ]


def _pairs(path: str, analysis: str | None, n: int) -> list[Feature] | None:
    """Return the pairs of a file of `ouzel pmi`, with their PMI; None for any other file."""
    from ouzel.analytics.pmi.streaming_pmi import StreamingPMI
    from ouzel.model import persistence
    from ouzel.model.answers import Feature

    if analysis != StreamingPMI.kind:
        return None
    found = persistence.load_parts(path, StreamingPMI.of_parts).estimates(n)  # no text is read: no tokeniser is needed
    return [Feature(f"{pair.first} {pair.second}", pair.pmi) for pair in found]


def states_shown(model: Model) -> list[Any]:
    """Return the states in the order of the shown classes; a state of all classes is repeated for each."""
    if len(model.states) == 1:
        return model.states * model.columns
    return [model.states[k] for k in model.classes.order()]


def spectrum_of(model: Model, state: Any) -> dict[str, Any]:
    """Return the eigenvalues of the sketch, largest first, and the condition number of the metric, if it has them."""
    import numpy as np

    from ouzel.learners.protocol import Conditioned, Spectral

    module, found = model.module, {}
    if isinstance(module, Spectral) and model.examples:
        found["eigenvalues"] = np.sort(module.eigenvalues(state))[::-1].tolist()
    if isinstance(module, Conditioned):
        found["condition_number"] = module.condition_number(state, model.settings)
    return found


def spectrum_lines(found: dict[str, Any]) -> list[str]:
    """Return the lines of a spectrum."""
    from ouzel.evaluation.formatting import figure

    lines = []
    if "eigenvalues" in found:
        shown = " ".join(f"{value:.3g}" for value in found["eigenvalues"])
        lines += textwrap.wrap(f"eigenvalues of the sketch: {shown or 'none'}", 79, subsequent_indent="  ")
    if "condition_number" in found:
        lines.append(f"effective condition number: {figure(found['condition_number'])}")
    return lines


def direction_of(model: Model, state: Any, number: int, n: int) -> list[tuple[str, float]]:
    """Return the n largest (feature, component) of a direction of the sketch; number 1 has the largest eigenvalue."""
    import numpy as np

    from ouzel.learners.protocol import Spectral
    from ouzel.model.answers import heaviest_slots

    module = model.module
    if not isinstance(module, Spectral):
        raise OuzelError(f"--direction is for a model with a sketch, such as son-oja; this is {model.learner.name}")
    order = np.argsort(-module.eigenvalues(state), kind="stable")
    if not 1 <= number <= len(order):
        raise OuzelError(f"--direction takes a number from 1 to {len(order)}, the sketch's size; got {number}")
    slots, components = heaviest_slots(module.directions(state)[order[number - 1], : model.dimension], n)
    return [(str(model.feature_name(int(slot) - 1)), float(part)) for slot, part in zip(slots, components, strict=True)]
