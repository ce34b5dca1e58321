"""Types of what commands print with --json: of the whole output, or of each line for `predict`."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from ouzel import schemas
from ouzel.cli.schemas.analyses import Deltoids, Explain, Pmi
from ouzel.cli.schemas.comparisons import Entry, OfFile, Orders, OrdersOfFile
from ouzel.cli.schemas.serving import RolledBack, Sent
from ouzel.cli.schemas.training import (
    OPEN,
    Figures,
    Prediction,
    Seconds,
    Status,
    Tested,
    Trained,
)
from ouzel.schemas import (
    Classes,
    Count,
    Figure,
    Kind,
    Learner,
    Result,
    Schema,
    Settings,
    Task,
    about,
)


class Top(schemas.Top, kw_only=True, forbid_unknown_fields=True):
    """The most important features of a class."""

    eigenvalues: Annotated[list[float], about("of the sketch, largest first")] | UnsetType = UNSET
    condition_number: Annotated[Figure, about("of the metric")] | UnsetType = UNSET


class Source(Result):
    """A stream that was learnt."""

    name: Annotated[str, about("without folders")]
    examples: Annotated[Count, about("learnt of it")]
    digest: Annotated[str, about("of these")]


class Info(Result):
    """The description of a model file."""

    file: Annotated[str, about("as it was named")]
    bytes: Annotated[Count, about("of the file")]
    format: Annotated[Count, about("of model files")]
    version: Annotated[str | None, about("of the Ouzel that wrote it; null of older formats")]
    learner: Learner
    analysis: Annotated[str | None, about("what the model is the sketch of, if it is that of an analysis")]
    parameters: Annotated[Settings, about("of the analysis, if it is one")]
    task: Task
    settings: Annotated[Settings, about("of the learner, all")]
    changed: Annotated[Settings, about("those that are not its defaults")]
    options: Annotated[Settings, about("intercept, bits, seed, …")]
    classes: Classes
    classes_closed: Annotated[bool, about("whether no other class is taken")]
    known_by: Annotated[str | None, about("what features are known by: name, number or column")]
    columns: Annotated[dict[str, str], about("of a table, and what each holds")]
    derived: Annotated[dict[str, list[str]], about("features made of others: crosses, ngrams, bins, hinges")]
    reading: Annotated[Settings, about("how the stream was read")]
    examples: Annotated[Count, about("learnt")]
    unlabelled: Annotated[Count, about("left out for want of a label")]
    figures: Annotated[Figures, about("of progressive validation by the last run, if the file holds them")]
    examples_of_figures: Annotated[Count | None, about("that this run has learnt in its first pass, if the file says")]
    sources: Annotated[list[Source], about("that were learnt")]
    memory: Annotated[Count, about("bytes of the states")]
    slots: Annotated[Count | None, about("that the states have room for; null within a byte budget")]
    touched: Annotated[Count | None, about("of these in the file; null if it holds them all")]


class Converted(Result):
    """The file that `ouzel convert` wrote."""

    examples: Annotated[Count, about("written")]
    skipped: Annotated[Count, about("bad lines left out")]
    bytes: Annotated[Count, about("of the file")]
    output: Annotated[str, about("the file")]
    seconds: Seconds


class Exported(Result):
    """The graph, or the header, that `ouzel export` wrote."""

    model: Annotated[str, about("the model file")]
    output: Annotated[str, about("the graph, or the header")]
    rule: Annotated[str | None, about("what says how names become ids; null of a header, which does it")]
    outputs: Annotated[list[str], about("what the graph gives, or the functions of the header")]


class Imported(Result):
    """The examples that `ouzel import` took back from a device."""

    model: Annotated[str, about("the model file that the device's header was made of")]
    state: Annotated[str, about("what the device had saved")]
    output: Annotated[str, about("the model file written")]
    examples: Annotated[int, about("examples that the device has learnt")]


class Drawn(Result):
    """The effect of a column, or of a pair, on the margins of a model."""

    model: Annotated[str, about("the model file")]
    plot: Annotated[str, about("the picture drawn")]
    columns: Annotated[list[str], about("one, or the two of a pair")]
    classes: Annotated[Classes, about("which each margin speaks for; none of numbers")]
    values: Annotated[
        list[list[Any]],
        about(
            "what is added to each margin, by interval of the first column, then of the second; one where there is "
            "none; by word of a column of words"
        ),
    ]
    words: Annotated[list[str], about("of a column of words")] | UnsetType = UNSET
    shares: Annotated[list[float], about("of examples that have each word")] | UnsetType = UNSET
    edges: (
        Annotated[list[list[float]], about("of each column of numbers, rising; a number on an edge is above it")]
        | UnsetType
    ) = UNSET
    slopes: (
        Annotated[list[float], about("of the line that is added to that, for each margin; 0 of a pair")] | UnsetType
    ) = UNSET
    mean: Annotated[float, about("of the column, where the line is 0")] | UnsetType = UNSET


class Compiled(Result):
    """The kernels that `ouzel compile` compiled."""

    learners: Annotated[list[str], about("whose kernels were compiled")]
    folder: Annotated[str | None, about("where they are; null for the usual places")]
    family: Annotated[str | None, about("of processors")]
    seconds: Seconds
    kernels: Annotated[Count, about("in the folder")] | UnsetType = UNSET
    bytes: Annotated[Count, about("of them")] | UnsetType = UNSET


class Setting(Result):
    """A setting of a learner."""

    takes: Annotated[str, about("its range")]
    about: Annotated[str, schemas.about("what it is")]


class Described(Result):
    """The description of a learner."""

    name: Annotated[str, about("of the learner that was named")]
    summary: Annotated[str, about("in a line")]
    settings: Annotated[Settings, about("their defaults")]
    ranges: Annotated[dict[str, Setting], about("of each setting")]


class Shown(Result):
    """A stream of the demonstration."""

    stream: Annotated[str, about("its title")]
    results: Annotated[list[Entry], about("the best of each learner")]


class Demo(Result):
    """The results of the demonstration."""

    streams: Annotated[list[Shown], about("in the order shown")]
    plot: Annotated[str, about("the picture drawn")]
    seconds: Seconds


class Sample(Result):
    """A data set that was written."""

    file: Annotated[str, about("written")]
    rows: Annotated[Count, about("of the file, without its header")]
    columns: Annotated[Count, about("beside the label; of svmlight, the largest number that a feature may have")]
    label: Annotated[str | None, about("the column that is the label; null where there is none")]
    classes: Annotated[list[str] | None, about("of the label; null where it is a number, or there is none")]


class Experiment(Result):
    """An experiment that can be run."""

    name: Annotated[str, about("as the command takes it")]
    summary: Annotated[str, about("in a line")]
    report: Annotated[str, about("whether there is one, and whether it is of this code")]


class Reproduced(Result):
    """The files of an experiment that was run."""

    name: Annotated[str, about("of an experiment that was run")]
    files: Annotated[list[str], about("report and picture")]


KINDS: dict[str, Kind] = {
    "train": (Trained, Status), "predict": Prediction, "test": dict[str, Tested],
    "top": list[Top], "info": Info, "compare": (list[Entry], list[Orders], list[OfFile], list[OrdersOfFile]),
    "convert": Converted, "export": Exported, "import": Imported, "plot": Drawn, "compile": Compiled,
    "learners": (Described, dict[str, str]),
    "explain": Explain, "deltoids": Deltoids, "pmi": Pmi, "send": Sent, "rollback": RolledBack,
    "demo": (Demo, list[Sample]),
    "reproduce": (list[Experiment], Reproduced),
}  # fmt: skip
OTHERWISE = {
    "serve": "speaks JSON over HTTP, of which `GET /openapi.json` has the schemas; "
    "the command itself prints lines for people, or with `--log json` an object a line: `event`, `level`, `timestamp` "
    "and what the event is about",
    "schema": "prints a JSON schema, which is JSON as it is",
}
"""Commands without --json that have an alternative."""


def schema_of(command: str) -> Schema:
    """Return the schema of what a command prints, ready for a validator.

    >>> schema_of("convert")["title"]
    'ouzel convert --json'
    """
    lines = " (each line)" if command == "predict" else ""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"ouzel {command} --json{lines}",
        **schemas.schema_of(KINDS[command], OPEN),
    }
