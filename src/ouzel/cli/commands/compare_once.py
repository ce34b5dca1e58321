"""The table and the plot of a comparison in one reading."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from ouzel.cli.commands.contest import Contest
from ouzel.cli.ui.formatting import figure, size
from ouzel.cli.ui.progress import Screen
from ouzel.errors import OuzelError
from ouzel.evaluation.comparison.compare import Entry, best_of_rows, compare
from ouzel.evaluation.comparison.grid import Candidate
from ouzel.evaluation.comparison.recovery import recovery_error
from ouzel.learners import catalogue
from ouzel.plotting.axes import Line, draw_lines, draw_panels
from ouzel.plotting.curves import draw_curves
from ouzel.streams.groups import Groups
from ouzel.streams.read import read

BLANK = "\N{NO-BREAK SPACE}"  # in the place of a mark: a plain one would be cut off


def compare_once(contest: Contest, top: int, reference: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Compare in one reading; show the table, draw the plot, return what --json prints."""
    standard: list[Candidate] = []
    if top:
        fields = catalogue.find(reference).settings._fields
        fixed = {name: value for name, value in given.items() if name in fields}
        standard = [Candidate(reference, None, None, None, fixed)]
    with (
        Screen(f"{len(contest.chosen)} candidates", quiet=contest.quiet) as screen,
        read(contest.files, format=contest.format, **contest.reading) as stream,
    ):
        screen.stream = stream
        found = compare(
            [*standard, *contest.chosen],
            Groups(stream) if contest.model.get("task") == "ranking" else stream,
            jobs=contest.jobs,
            on_progress=lambda entries: screen.stand(entries[0].scores),
            on_refusal=screen.say,
            **contest.model,
        )
        for line in stream.remarks:
            screen.say(line)
    if top and found[0].candidate is not standard[0]:
        raise OuzelError(f"--reference {reference} cannot hold the features of this stream; name another")
    best = found[0] if top else None
    entries = found[len(standard) :]
    recovered = {id(entry): None if best is None else recovery_error(entry.model, best.model, top) for entry in entries}
    if not contest.quiet:
        _print_table(entries, recovered, top)
        if best is not None:
            print(f"recovery: of the {top} heaviest weights, against {reference} (error {figure(best.figure)})")
    if contest.plot is not None:
        _draw(entries, recovered, best, contest.plot)
    extra = {"top": top} if top else {}
    return [entry.to_json() | ({"recovery_error": recovered[id(entry)], **extra} if top else {}) for entry in entries]


def _print_table(entries: list[Entry], recovered: dict[int, float | None], top: int) -> None:
    rows = best_of_rows(entries)
    least = min(row[0].figure for row in rows)
    first = entries[0]
    candidates = [entry.candidate for entry in entries]
    stepped, sparse, budgeted = (
        any(getattr(candidate, name) is not None for candidate in candidates) for name in ("step", "l1", "budget")
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("learner", no_wrap=True)
    if stepped:
        table.add_column("best step", max_width=18)
    for name, wanted in (("l1", sparse), ("budget", budgeted)):
        if wanted:
            table.add_column(name, justify="right", no_wrap=True)
    table.add_column("rmse" if first.model.task.numbers else "error", justify="right", no_wrap=True)
    table.add_column("loss", justify="right", no_wrap=True)
    table.add_column("recovery" if top else "non-zeros", justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    for row in rows:
        entry = row[0]
        candidate = entry.candidate
        mark = "*" if entry.figure == least else BLANK
        cells = [candidate.learner]
        if stepped:
            cells.append(", ".join(step_name(tied.candidate.step) for tied in row))
        if sparse:
            cells.append("-" if candidate.l1 is None else f"{candidate.l1:g}")
        if budgeted:
            cells.append("-" if candidate.budget is None else size(candidate.budget))
        last = figure(recovered[id(entry)]) if top else "-" if entry.nonzeros is None else f"{entry.nonzeros:,}"
        loss = f"{figure(entry.scores.mean_loss)}{'!' if entry.warnings else BLANK}"
        cells += [f"{figure(entry.figure)}{mark}", loss, last, f"{entry.seconds:.3f}"]
        table.add_row(*cells)
    console = Console(highlight=False)
    console.print(table)
    console.print(f"\n* the best of {len(entries)} candidates over {first.scores.examples:,} examples")
    if any(row[0].warnings for row in rows):
        console.print("! diverged: far worse than a prediction without features; try smaller steps")


def _draw(entries: list[Entry], recovered: dict[int, float | None], reference: Entry | None, path: str) -> None:
    """The plot that fits what was varied; recovery stands beside the error."""
    candidates = [entry.candidate for entry in entries]
    y = "progressive rmse" if entries[0].model.task.numbers else "progressive error rate"
    best = [row[0] for row in best_of_rows(entries)]
    if reference is not None and any(entry.budget for entry in candidates):
        errors = _lines(best, _kilobytes, lambda entry: entry.figure)
        budgets = [entry.budget / 1024 for entry in candidates if entry.budget]
        errors[reference.candidate.learner] = ([min(budgets), max(budgets)], [reference.figure] * 2)
        lines = _lines(best, _kilobytes, lambda entry: recovered[id(entry)])
        draw_panels({"recovery error": lines, y: errors}, path, x="budget in KB", log_x=True)
    elif any(entry.budget for entry in candidates):
        lines = _lines(best, _kilobytes, lambda entry: entry.figure)
        draw_lines(lines, path, x="budget in KB", y=y, log_x=True)
    elif any(entry.l1 for entry in candidates):
        lines = _lines(best, lambda entry: entry.nonzeros or None, lambda entry: entry.figure)
        draw_lines(lines, path, x="weights that are not zero", y=y, log_x=True)
    elif any(entry.step for entry in candidates):
        lines = _lines(entries, lambda entry: entry.candidate.step, lambda entry: entry.figure)
        draw_lines(lines, path, x="step size", y=y, log_x=True)
    else:
        draw_curves({entry.candidate.learner: entry.curve.points for entry in entries}, path, entries[0].model.task)


def _kilobytes(entry: Entry) -> float | None:
    budget = entry.candidate.budget
    return None if budget is None else budget / 1024


def _lines(entries: list[Entry], x: Any, y: Any) -> dict[str, Line]:
    """A line a learner, through what `x` and `y` say of each entry; those without an `x` are left out."""
    lines: dict[str, Line] = {}
    for entry in entries:
        if x(entry) is not None:
            xs, ys = lines.setdefault(entry.candidate.learner, ([], []))
            value = y(entry)
            xs.append(x(entry))  # type: ignore[attr-defined]
            ys.append(value if value is None or value < float("inf") else None)  # type: ignore[attr-defined]
    return lines


def step_name(step: float | None) -> str:
    """A step size as people write it.

    >>> step_name(0.125), step_name(0.3), step_name(None)
    ('2^-3', '0.3', '-')
    """
    if step is None:
        return "-"
    mantissa, _, power = float(step).hex().partition("p")
    return f"2^{int(power)}" if mantissa.rstrip("0").endswith("x1.") else f"{step:g}"
