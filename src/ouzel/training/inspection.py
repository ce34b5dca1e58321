"""Description of a model file, read from its header and its notes without loading arrays."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from ouzel.errors import OuzelError
from ouzel.evaluation.formatting import WIDTH, figures, fitting, settings, size
from ouzel.evaluation.progressive import Run
from ouzel.evaluation.report import as_json
from ouzel.files import as_path
from ouzel.layout import bytes_of
from ouzel.model.model import Model
from ouzel.model.persistence import load_description
from ouzel.model.settings import in_words
from ouzel.streams.labels import Label
from ouzel.training.source_records import Record

MOST_LINES = 8  # lines of one fact shown to people
FIGURES = (
    *("error_rate", "mean_loss", "log_loss", "auc", "rmse", "mae", "r2", "deviance"),
    *("average_precision", "f1", "precision_at_1", "baseline"),
)
"""Figures shown to people."""


@dataclass(frozen=True, repr=False)
class ModelInfo:
    """Description of a model by its file."""

    file: str
    bytes: int  # of the file
    format: int
    version: str | None  # of the Ouzel that wrote it; None for older formats
    learner: str
    analysis: str | None  # whose sketch it is, if that of an analysis
    parameters: dict[str, Any]  # of the analysis
    task: str
    settings: dict[str, Any]  # all, as users write them
    changed: dict[str, Any]  # those that are not the learner's defaults
    options: dict[str, Any]  # of the model: intercept, bits, seed, …
    classes: list[Label]
    classes_closed: bool  # whether further classes are refused
    known_by: str | None  # of features: name, number or column
    columns: dict[str, str]  # of a table, with their kinds
    derived: dict[str, list[str]]  # crosses, ngrams, bins, hinges
    reading: dict[str, Any]  # how the stream was read
    examples: int
    unlabelled: int
    figures: dict[str, float]  # of progressive validation by the last run, if stored
    examples_of_figures: int | None  # that this run has learnt in its first pass, if stored
    sources: list[dict[str, Any]]  # name, examples and digest of each
    memory: int  # bytes of the states
    slots: int | None  # capacity of the states; None within a byte budget
    touched: int | None  # slots stored in the file; None if all are

    def to_json(self) -> dict[str, Any]:
        """Return JSON values; a number that JSON cannot represent becomes a string."""
        return {name: as_json(value) for name, value in self.__dict__.items()}

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Names and lines of the same facts for people."""
        facts = [] if self.analysis is None else [("analysis", self.analysis)]
        given = [_option(name, value) for name, value in self.parameters.items() if value != ""]
        facts += [("" if place else "parameters", line) for place, line in enumerate(_lines(given, "   "))]
        facts.append(("learner", "   ".join(filter(None, [self.learner, settings(self.changed)]))))
        facts += self._options()
        if self.analysis is None:  # else those of its sketch
            facts += [("task", self.task), *self._classes()]
        facts.append(("examples", f"{self.examples:,}" + self._left_out()))
        facts += self._figures()
        if self.analysis is None:
            facts.append(("features", self._features()))
        columns = [f"{name} ({kind or 'nothing so far'})" for name, kind in self.columns.items()]
        for place, line in enumerate(_lines(columns)):
            facts.append(("" if place else "columns", line))
        facts += [(name, ", ".join(fitting(made, WIDTH - 18, ", "))) for name, made in self.derived.items() if made]
        for record in self.sources[:MOST_LINES]:
            facts.append(
                ("learnt from", f"{record['name']}   {record['examples']:,} examples   {record['digest']:.16}")
            )
        facts.append(("file", f"{size(self.bytes)}   format {self.format}{self._version()}"))
        facts.append(("memory", size(self.memory) + self._touched()))
        return facts

    def __repr__(self) -> str:
        return "\n".join([self.file, *(f"  {name:<13}{value}" for name, value in self.facts)])

    def _repr_html_(self) -> str:
        from ouzel.evaluation import html_tables

        return html_tables.facts(self.file, "", self.facts)

    def _options(self) -> list[tuple[str, str]]:
        """Lines of the options that are not defaults, and of those of reading."""
        usual = signature(Model).parameters
        options = {name: value for name, value in self.options.items() if value != usual[name].default}
        return [
            ("" if place else name, line)
            for name, given in (("options", options), ("reading", self.reading))
            for place, line in enumerate(_lines([_option(*pair) for pair in given.items()], "   "))
        ]

    def _classes(self) -> list[tuple[str, str]]:
        names = fitting(list(map(str, self.classes)), WIDTH - 25, ", ")
        more = " …" if len(self.classes) > len(names) else ""
        return [("classes", f"{len(self.classes)}: {', '.join(names)}{more}")] if self.classes else []

    def _left_out(self) -> str:
        return f"   {self.unlabelled:,} without a label" if self.unlabelled else ""

    def _figures(self) -> list[tuple[str, str]]:
        shown = figures(self.figures, *FIGURES)
        if shown and self.examples_of_figures is not None:
            shown.insert(0, f"of {self.examples_of_figures:,} examples")
        return [("" if place else "progressive", line) for place, line in enumerate(_lines(shown, "   "))]

    def _features(self) -> str:
        hashed = f", hashed to {self.options['bits']} bits" if self.known_by == "name" else ""
        return f"known by {self.known_by}{hashed}" if self.known_by else "none yet"

    def _version(self) -> str:
        return "" if self.version is None else f"   written by Ouzel {self.version}"

    def _touched(self) -> str:
        if self.slots is None:
            return "   with hash functions and work space, which a budget does not count"
        return f"   {self.slots:,} slots" + ("" if self.touched is None else f", {self.touched:,} of them touched")


def info(path: str | Path) -> ModelInfo:
    """Describe a model file: its learner, settings, classes, columns, figures and sizes.

    Only the header and the notes of the file are read: neither are arrays loaded, nor is their digest checked. Files of
    analyses are model files, too. Anything else is refused in one line: OuzelError.

    Examples
    --------
    >>> import ouzel, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.ouzel")
    >>> ouzel.OnlineClassifier("adagrad").fit([[1.0, 0.0], [0.0, 1.0]] * 5, ["dry", "wet"] * 5).save(path)
    >>> found = ouzel.info(path)
    >>> found.learner, found.classes, found.examples, found.touched
    ('adagrad', ['dry', 'wet'], 10, 3)
    """
    model, notes, stored = load_description(path)
    layouts = model.layouts()
    slots = None if model.budgeted else model.capacity
    given, defaults = in_words(model.settings), in_words(type(model.settings)())
    scores, examples_of_figures = _figures_in(path, model, notes)
    options = ("intercept", "bits", "seed", "pairs", "scale_targets", "standardize", "forget", "class_weight")
    return ModelInfo(
        file=str(path),
        bytes=as_path(path).stat().st_size,
        format=stored.format,
        version=stored.version,
        learner=model.learner.name,
        analysis=notes.get("analysis"),
        parameters=_parameters_in(path, notes),
        task=model.task.name,
        settings=given,
        changed={name: value for name, value in given.items() if value != defaults.get(name)},
        options={name: getattr(model, name) for name in options}
        | {"interval": list(model.interval) or None, "interval_by": model.interval_by, "calibrate": model.calibrate},
        classes=model.classes.in_order(),
        classes_closed=model.classes.closed,
        known_by=_known_by(model),
        columns=dict(model.space.kinds),
        derived={name: list(some) for name, some in model.space.derived._asdict().items()},
        reading=notes.get("reading", {}),
        examples=model.examples,
        unlabelled=model.unlabelled,
        figures=scores,
        examples_of_figures=examples_of_figures,
        sources=_sources_in(notes),
        memory=sum(map(bytes_of, layouts)) + model.preparation.nbytes(model.capacity),
        slots=slots,
        touched=None if slots is None else stored.touched(layouts, slots),
    )


def _parameters_in(path: str | Path, notes: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of an analysis from its notes."""
    found = notes.get("parameters", {}) if "analysis" in notes else {}
    if not isinstance(found, dict):
        raise OuzelError(f"{path}: what it notes of its parameters makes no sense; make it again")
    return found


def _option(name: str, value: object) -> str:
    """Format an option for people.

    >>> _option("ignore", ["id", "day"]), _option("forget", 100.0), _option("standardize", True)
    ('ignore=id,day', 'forget=100', 'standardize=yes')
    >>> _option("class_weight", {"yes": 5.0, "no": 1.0})
    'class_weight=yes=5,no=1'
    """
    if isinstance(value, bool):
        return f"{name}={'yes' if value else 'no'}"
    if isinstance(value, dict):
        value = [f"{label}={weight:g}" for label, weight in value.items()]
    return f"{name}={','.join(map(str, value))}" if isinstance(value, list) else settings({name: value})


def _known_by(model: Model) -> str | None:
    space = model.space
    return "column" if space.width is not None else "name" if space.named else "number" if space.numbered else None


def _figures_in(path: str | Path, model: Model, notes: dict[str, Any]) -> tuple[dict[str, float], int | None]:
    """Return the figures of the first pass from the notes of a training, and of how many examples they are."""
    stored_run = notes.get("run", {})
    if not stored_run:
        return {}, None
    try:
        run = Run(model, passes=stored_run["passes"], holdout_every=stored_run["holdout_every"])
        run.restore(stored_run["progress"])
    except (OuzelError, LookupError, TypeError, ValueError) as error:
        raise OuzelError(f"{path}: what it notes of its run makes no sense ({error}); train it again") from None
    found = {name: value for name, value in run.scores.figures().items() if value is not None}
    return found, run.examples if "examples" in stored_run["progress"] else None


def _sources_in(notes: dict[str, Any]) -> list[dict[str, Any]]:
    stored_run = notes.get("run", {})
    records = [record for kind in ("earlier", "sources") for record in Record.from_json(stored_run.get(kind, []))]
    return [{name: getattr(record, name) for name in ("name", "examples", "digest")} for record in records]


def _lines(parts: list[str], between: str = ", ") -> list[str]:
    """Join parts to lines that fit the screen, at most `MOST_LINES`."""
    lines: list[str] = []
    while parts and len(lines) < MOST_LINES:
        some = fitting(parts, WIDTH - 18, between)
        parts = parts[len(some) :]
        lines.append(between.join(some) + (f" and {len(parts)} more" if parts and len(lines) + 1 == MOST_LINES else ""))
    return lines
