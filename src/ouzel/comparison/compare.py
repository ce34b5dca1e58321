"""Comparison of learners and settings: `ouzel.compare`, and the run that it shares with the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ouzel.comparison.confidence import Difference
from ouzel.comparison.contestant import enter, is_contestant
from ouzel.comparison.grid import Candidate, candidates, learner_names
from ouzel.comparison.one_pass import Entry
from ouzel.comparison.one_pass import compare as compare_stream
from ouzel.comparison.recovery import recovery_error
from ouzel.comparison.results import (
    errors_of_files,
    marked_table_of_files,
    name_of,
    table_of_orders,
    table_of_reading,
    title_of,
)
from ouzel.comparison.shuffles import Summary, compare_orders, join
from ouzel.comparison.tables import Table, write_table
from ouzel.errors import OuzelError
from ouzel.evaluation.formatting import figure
from ouzel.evaluation.notebook import line_for
from ouzel.streams.block import Block
from ouzel.streams.block_stream import as_stream
from ouzel.streams.groups import Groups

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Comparison:
    """Results of a comparison; printing it shows the table."""

    entries: tuple[Entry, ...]  # of one reading
    summaries: tuple[Summary, ...]  # of random orders
    title: str = ""
    files: Mapping[str, Comparison] = field(default_factory=dict)  # with `each`, by the names of the files
    reference: Entry | None = None  # without a budget, to measure the recovery of its `top` heaviest weights against
    top: int = 0

    @property
    def table(self) -> Table:
        """Table with titles, cells, records for programs, and a note on the marks."""
        if self.files:
            return marked_table_of_files(self._results())
        if self.summaries:
            return table_of_orders(self.summaries)
        return table_of_reading(self.entries, self._recovered, {"top": self.top} if self.top else {})

    @cached_property
    def _recovered(self) -> dict[int, float | None] | None:
        """Recovery errors by the identity of the entry, if there is a reference."""
        if self.reference is None:
            return None
        return {id(entry): recovery_error(entry.model, self.reference.model, self.top) for entry in self.entries}

    @property
    def best(self) -> Any:
        """The trained `Model` with the lowest error of one pass, or another library's object that has it."""
        if self.files:
            raise OuzelError("a comparison on each file has no best model; that of a file is files[name].best")
        if not self.entries:
            raise OuzelError("random orders leave no model; compare without shuffles, or train the best one")
        model = min(self.entries, key=lambda entry: entry.figure).model
        return getattr(model, "own", model)

    def difference(self, one: str, other: str) -> Difference | None:
        """Return how much larger the error rate of one candidate is than that of another, by their names in plots.

        The confidence interval holds with 95 % for all pairs, however often it is looked at while a stream goes on.
        It is None of numbers, of rankings, of random orders, and where importances are not all 1.

        >>> import ouzel
        >>> stream = ouzel.blocks_from([({"sun": 1.0}, "dry"), ({"cloud": 1.0}, "wet")] * 500)
        >>> low, high = compare("ogd,adagrad", stream).difference("adagrad", "ogd")
        >>> low < 0.0 < high
        True
        """
        named = {name_of(entry.candidate): entry for entry in self.entries}
        for name in (one, other):
            if name not in named:
                raise OuzelError(f"{name}: is not compared here; {', '.join(named) or 'one reading'} can be")
        return named[one].above(named[other])

    def to_json(self) -> list[dict[str, Any]]:
        """Return settings and results of every candidate, of random orders the values of each; with `each`, by file."""
        if self.files:
            return [{"file": file, "results": results} for file, results in self._results().items()]
        found = [found.to_json() for found in self.summaries or self.entries]
        for entry, result in zip(self.entries, found, strict=False):
            difference = entry.above(min(self.entries, key=lambda entry: entry.figure))
            result |= {} if difference is None else {"above_best": list(difference)}
        if self._recovered is not None:
            errors = self._recovered.values()
            return [row | {"recovery_error": error, "top": self.top} for row, error in zip(found, errors, strict=True)]
        return found

    def to_pandas(self) -> Any:
        """Return a data frame with one row per candidate of the table."""
        import pandas as pd

        return pd.DataFrame.from_records(self.table.records)

    def write(self, path: str, columns_as: str = "files") -> None:
        """Write the table to a .csv, .md or .tex file.

        With `each`, its columns are the files, or with `columns_as` "learners" the learners, as papers have them.
        """
        write_table(self.table if columns_as == "files" else self.table.turned("file"), path)

    def plot(self, path: str | None = None) -> Figure:
        """Draw the error against the varied setting, or over the stream; or the regret over the stream, and its bounds.

        With `each` it is a diagram of critical differences between mean ranks. Writes an .svg, .png or .pdf file if one
        is named, and returns a figure of matplotlib, which a notebook shows.
        """
        from ouzel.comparison.plots import draw_comparison, draw_cumulative, draw_ranks, draw_regret

        if self.files:
            return draw_ranks(errors_of_files(self._results()), path)
        if self.summaries:
            return draw_cumulative({name_of(entry.candidate): entry for entry in self.summaries}, path, self.title)
        if any(entry.regret for entry in self.entries):
            return draw_regret(self.entries, path, self.title)
        return draw_comparison(self.entries, path, self.title, self._recovered, self.reference)

    def _results(self) -> dict[str, list[dict[str, Any]]]:
        return {file: found.to_json() for file, found in self.files.items()}

    def __repr__(self) -> str:
        found = self.table
        widths = [max(map(len, column)) for column in zip(found.titles, *found.cells, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) if k else cell.ljust(width) for k, (cell, width) in enumerate(line)).rstrip()
            for line in (list(zip(row, widths, strict=True)) for row in (found.titles, *found.cells))
        ]
        return "\n".join([*lines, found.note])

    def _repr_html_(self) -> str:
        from ouzel.evaluation import html_tables

        found = self.table
        return html_tables.table(found.titles, found.cells, found.note)


class Watch(NamedTuple):
    """Callbacks of a comparison, for a screen."""

    on_progress: Callable[[list[Entry]], None] | None = None  # after each block
    on_order: Callable[[int], None] | None = None  # after each random order
    on_wait: Callable[[list[str]], None] | None = None  # with the learners that a block takes long
    on_refusal: Callable[[str], None] | None = None  # with a reason for which candidates are left out
    on_best: Callable[[int, int], None] | None = None  # examples whose best fixed weights are sought next, of how many


UNWATCHED = Watch()


def compare(
    learners: str | Sequence[Any],
    source: str | Path | Sequence[str | Path] | Iterable[Block] | Mapping[str, Iterable[Block]],
    *,
    step_sizes: str | Sequence[float] = (),
    l1: str | Sequence[float] = (),
    budgets: str | Sequence[str | float] = (),
    grid: Mapping[str, Sequence[Any]] = {},
    settings: dict[str, Any] | None = None,
    shuffles: int = 0,
    each: bool = False,
    jobs: int = 1,
    delay: int | str = 0,
    regret: bool = False,
    **options: Any,
) -> Comparison:
    """Compare learners with all choices of their settings on the same stream, by progressive errors.

    A notebook shows how far the stream is learnt, and who leads.

    Parameters
    ----------
    learners : names in the catalogue, or "ogd,adagrad"; "all", "all-multiclass" and "all-budgeted" stand for several.
        Among them may be learners of other libraries: objects with River's `learn_one` and `predict_one`, or
        scikit-learn's `partial_fit` and `predict`, which are copied and left as they are
    source : a file or several, or blocks such as `ouzel.read(...)` and `ouzel.blocks_from(...)` give; with `each` also
        blocks by their names, `{"heart": ouzel.read(...)}`
    step_sizes, l1, budgets : values to try of each learner that has such a setting; or a range, "2^-3:2^6"
    grid : values to try of any settings by name, `{"sketch_size": [5, 10]}`, of each learner that has them
    settings : further settings, for those that have them
    shuffles : number of random orders, in memory, instead of one pass
    each : compare on each file separately: one column of errors per file, and mean ranks
    jobs : learners that run at the same time
    delay : examples after which labels come, in one pass, or a time such as "2h", by the times that rows are named by
    regret : give every entry its regret against the best fixed weights in hindsight, and the table a column of it; all
        examples are kept in memory
    options : of every `Model`: intercept, standardize, forget, class_weight, bits, seed, task, classes

    Examples
    --------
    >>> import ouzel
    >>> stream = ouzel.blocks_from([({"sun": 1.0}, "dry"), ({"cloud": 1.0}, "wet")] * 50)
    >>> found = compare("ogd,adagrad", stream)
    >>> [(row["learner"], row["error_rate"]) for row in found.to_json()]
    [('ogd', 0.02), ('adagrad', 0.02)]
    """
    options |= {"shuffles": shuffles, "jobs": jobs, "delay": delay, "regret": regret}
    if each:
        given = {"step_sizes": step_sizes, "l1": l1, "budgets": budgets, "grid": grid, "settings": settings}
        return _on_each(learners, source, **given, **options)
    names: list[str] = []
    for learner in [learners] if isinstance(learners, str) or is_contestant(learners) else learners:
        names += learner_names(learner) if isinstance(learner, str) else [enter(learner, taken=names)]
    chosen = candidates(names, steps=step_sizes, l1=l1, budgets=budgets, settings=settings, grid=grid)
    title = ""
    source = [source] if isinstance(source, (str, Path)) else source
    if isinstance(source, Sequence) and source and all(isinstance(part, (str, Path)) for part in source):
        from ouzel.streams.read import read

        title = ", ".join(Path(str(part)).name for part in source)
        source = read([str(part) for part in source])
    line = None if shuffles else line_for(source)  # type: ignore[arg-type]

    def show_best(done: int, rows: int) -> None:
        if line is not None:
            line.tell(rows, f"best fixed weights of the first {done:,}")

    def show(entries: list[Entry]) -> None:
        if line is not None:
            best = min(entries, key=lambda entry: entry.figure)
            line.tell(best.scores.examples, f"least error {figure(best.figure)}, of {name_of(best.candidate)}")

    watch = Watch(on_progress=show, on_best=show_best)
    return run(chosen, source, title=title, watch=watch, **options)  # type: ignore[arg-type]


def run(
    chosen: Sequence[Candidate],
    blocks: Iterable[Block] | Block,
    *,
    shuffles: int = 0,
    jobs: int = 1,
    delay: int | str = 0,
    regret: bool = False,
    reference: Candidate | None = None,
    top: int = 0,
    title: str = "",
    watch: Watch = UNWATCHED,
    **options: Any,
) -> Comparison:
    """Let candidates learn a stream in one pass, or in random orders; `options` are those of every model."""
    recorder = None
    if regret:
        from ouzel.comparison.regret import Recorder

        recorder = Recorder(options.get("task"), shuffles, delay)
    if delay and shuffles:
        raise OuzelError(
            "random orders are learnt with all labels at hand; compare in one pass, or leave out", delay=delay
        )
    if shuffles:
        block = blocks if isinstance(blocks, Block) else join(blocks)
        options |= {"jobs": jobs, "on_progress": watch.on_order, "on_refusal": watch.on_refusal}
        return Comparison((), tuple(compare_orders(chosen, block, shuffles, **options)), title)
    stream: Iterable[Block] = [blocks] if isinstance(blocks, Block) else blocks
    if options.get("task") == "ranking":
        stream = Groups(as_stream(stream))
    standard = [] if reference is None else [reference]
    if recorder is not None:
        stream, watch = recorder.record(stream), watch._replace(on_progress=recorder.checking(watch.on_progress))
        options["keep_margins"] = True
    options |= {"jobs": jobs, "on_progress": watch.on_progress}
    options |= {"delay": delay, "on_wait": watch.on_wait, "on_refusal": watch.on_refusal}
    entries = compare_stream([*standard, *chosen], stream, **options)
    if recorder is not None:
        recorder.add_regrets(entries[len(standard) :], watch.on_best)
    if reference is None:
        return Comparison(tuple(entries), (), title)
    if entries[0].candidate is not reference:
        raise OuzelError(f"--reference {reference.learner} cannot hold the features of this stream; name another")
    return Comparison(tuple(entries[1:]), (), title, reference=entries[0], top=top)


def _on_each(learners: Any, source: Any, **options: Any) -> Comparison:
    """Compare on each file, or on blocks by name."""
    if isinstance(source, Mapping):
        return Comparison((), (), files={name: compare(learners, blocks, **options) for name, blocks in source.items()})
    files = [source] if isinstance(source, (str, Path)) else source
    if not (isinstance(files, Sequence) and files and all(isinstance(file, (str, Path)) for file in files)):
        raise OuzelError('each takes files, or blocks by their names, such as {"heart": ouzel.read(...)}')
    found: dict[str, Comparison] = {}
    for file in files:
        found[title_of(file, found)] = compare(learners, file, **options)
    return Comparison((), (), files=found)
