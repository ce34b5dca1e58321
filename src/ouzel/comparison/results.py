"""Results of a comparison as a table: for one pass, for random orders, for several files."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ouzel.comparison.confidence import LEVEL as CONFIDENCE
from ouzel.comparison.confidence import Difference
from ouzel.comparison.grid import Candidate
from ouzel.comparison.one_pass import Entry, best_of_rows
from ouzel.comparison.shuffles import Summary
from ouzel.comparison.significance import LEVEL, against_best, critical_difference, mean_ranks
from ouzel.comparison.tables import Table
from ouzel.errors import OuzelError
from ouzel.evaluation.formatting import NAMES, figure, size
from ouzel.evaluation.ranking import RARE

ABOVE = "above the best"
LEAST = "* the best of a file"  # what a note says of stars for the least error
TESTED = (
    "* better than every other on its file, = the lowest mean there and those not worse for certain "
    f"(a paired t-test, p < {LEVEL:g} by Holm's correction)"
)

Results = Mapping[str, list[dict[str, Any]]]
"""What a comparison found on each file, by its title: the results of candidates as JSON has them."""


def name_of(candidate: Candidate) -> str:
    """A candidate in a few words.

    >>> name_of(Candidate("awm", 0.5, None, 8192.0, {}))
    'awm step 2^-1 8.0 KB'
    """
    parts = [candidate.learner]
    if candidate.step is not None:
        parts.append(f"step {step_name(candidate.step)}")
    if candidate.l1 is not None:
        parts.append(f"l1 {candidate.l1:g}")
    if candidate.budget is not None:
        parts.append(size(candidate.budget))
    parts += [f"{name} {shown(value)}" for name, value in candidate.varied.items()]
    return " ".join(parts)


def shown(value: Any) -> str:
    """A value of a setting.

    >>> shown(10.0), shown("hinge"), shown(None)
    ('10', 'hinge', '-')
    """
    return "-" if value is None else value if isinstance(value, str) else f"{value:g}"


def step_name(step: float | None) -> str:
    """A step size as people write it.

    >>> step_name(0.125), step_name(0.3), step_name(None)
    ('2^-3', '0.3', '-')
    """
    if step is None:
        return "-"
    mantissa, _, power = float(step).hex().partition("p")
    return f"2^{int(power)}" if mantissa.rstrip("0").endswith("x1.") else f"{step:g}"


def table_of_reading(
    entries: Sequence[Entry], recovered: Mapping[int, float | None] | None = None, extra: Mapping[str, Any] = {}
) -> Table:
    """The best of each learner, penalty and budget; `recovered` are recovery errors by the identity of the entry."""
    rows = best_of_rows(entries)
    least = min(row[0].figure for row in rows)
    best = next(row[0] for row in rows if row[0].figure == least)
    above = {id(row[0]): row[0].above(best) for row in rows}
    compared = any(difference is not None for difference in above.values())
    first, levels = entries[0], max((entry.levels for entry in entries), key=len)
    figures = {id(row[0]): row[0].scores.figures() for row in rows}
    rare = any((of["rare_share"] or 1.0) < RARE for of in figures.values())
    stepped, sparse, budgeted = (
        any(getattr(entry.candidate, name) is not None for entry in entries) for name in ("step", "l1", "budget")
    )
    regrets = [row[0].regret for row in rows]
    against, bounded = any(regrets), any(one is not None and one.bound is not None for one in regrets)
    wanted = {"best step": stepped, "l1": sparse, "budget": budgeted}
    wanted |= {name: True for entry in entries for name in entry.candidate.varied}
    titles = ["learner", *(name for name, is_wanted in wanted.items() if is_wanted)]
    titles += [
        NAMES["rmse" if first.model.task.numbers else "error_rate"],
        *((ABOVE,) if compared else ()),
        NAMES["mean_loss"],
        *(["regret"] if against else []),
        *(["bound"] if bounded else []),
        *(NAMES[name] for name in ("average_precision", "f1") if rare),
        *(title for level in levels for title in (f"coverage of {level:g}", "size")),
        "recovery" if recovered else "non-zeros",
    ]
    cells, records = [], []
    for row in rows:
        entry = row[0]
        chosen = entry.candidate
        settings = {
            "best step": ", ".join(step_name(tied.candidate.step) for tied in row),
            "l1": "-" if chosen.l1 is None else f"{chosen.l1:g}",
            "budget": "-" if chosen.budget is None else size(chosen.budget),
            **{name: shown(chosen.varied.get(name)) for name in wanted if name not in ("best step", "l1", "budget")},
        }
        last = figure(recovered[id(entry)]) if recovered else "-" if entry.nonzeros is None else f"{entry.nonzeros:,}"
        cells.append(
            [
                chosen.learner,
                *(settings[name] for name, is_wanted in wanted.items() if is_wanted),
                f"{figure(entry.figure)}{'*' if entry.figure == least else ''}",
                *((_above(above[id(entry)], entry is best),) if compared else ()),
                f"{figure(entry.scores.mean_loss)}{'!' if entry.warnings else ''}",
                *((figure(entry.regret.total) if entry.regret else "-",) if against else ()),
                *((figure(entry.regret.bound) if entry.regret else "-",) if bounded else ()),
                *(figure(figures[id(entry)][name]) for name in ("average_precision", "f1") if rare),
                *_coverage(entry, levels),
                last,
                f"{entry.seconds:.3f}",
            ]
        )
        found = entry.to_json() | ({"recovery_error": recovered[id(entry)], **extra} if recovered else {})
        found = {name: value for name, value in found.items() if not isinstance(value, (dict, list))}
        difference = above[id(entry)]
        if difference is not None:
            found |= {"above_best_low": difference.low, "above_best_high": difference.high}
        records.append({**found, **chosen.varied})
    note = f"* the best of {len(entries)} candidates over {first.scores.examples:,} examples"
    if compared:
        note += f"\n{ABOVE}: how much larger the error rate is ({100 * CONFIDENCE:g} % confidence, any time)"
    if against:
        from ouzel.comparison.regret import note_on

        note += f"\n{note_on([row[0] for row in rows])}"
    if rare and first.scores.rare_class is not None:
        shown_class = first.model.classes.known[first.scores.rare_class]
        note += f"\naverage precision and F1 of the rare class, {shown_class}"
    if any(row[0].warnings for row in rows):
        note += "\n! no better than a constant, or diverged; try smaller steps, --standardize or the learner auto"
    return Table([*titles, "seconds"], cells, records, note)


def _above(difference: Difference | None, is_best: bool) -> str:
    return "" if is_best else "-" if difference is None else str(difference)


def _coverage(entry: Entry, levels: tuple[float, ...]) -> list[str]:
    """Return the coverage and the size of intervals or sets of each level, as cells."""
    kept = {one["level"]: one for one in entry.intervals}
    return [figure(kept[level][name]) if level in kept else "-" for level in levels for name in ("coverage", "size")]


def table_of_orders(found: Sequence[Summary]) -> Table:
    """Means and standard deviations over random orders, and which candidates are worse than the best for certain."""
    orders = len(found[0].mistakes)
    chances = against_best(np.array([entry.last["error"] for entry in found])) if orders > 1 else np.ones(len(found))
    best = int(np.argmin([entry.row()["error"][0] for entry in found]))
    alone = len(found) > 1 and bool((np.delete(chances, best) < LEVEL).all())
    error = NAMES["rmse" if found[0].task.numbers else "error_rate"]
    cells, records = [], []
    for place, (entry, chance) in enumerate(zip(found, chances, strict=True)):
        row = entry.row()
        mark = ("*" if alone else "=") if place == best else "=" if chance >= LEVEL else ""
        cells.append(
            [
                name_of(entry.candidate),
                f"{row['error'][0]:.4f} ± {row['error'][1]:.4f}{mark if len(found) > 1 else ''}",
                f"{row['updates'][0]:,.0f} ± {row['updates'][1]:,.0f}",
                f"{row['seconds'][0]:.3f} ± {row['seconds'][1]:.3f}",
            ]
        )
        record: dict[str, Any] = {"learner": name_of(entry.candidate), "orders": orders}
        for name, (mean, spread) in row.items():
            record |= {name: mean, f"{name}_sd": spread}
        records.append({**record, "p_best_is_better": float(chance)})
    note = f"± is the standard deviation (n - 1) over {orders} random order{'s' if orders > 1 else ''}"
    if orders > 1 and len(found) > 1:
        test = f"a paired t-test, p < {LEVEL:g} by Holm's correction"
        note = (
            f"* better than every other ({test}); {note}"
            if alone
            else f"= the lowest mean, and those not worse for certain ({test}); {note}"
        )
    return Table(["learner", error, "updates", "seconds"], cells, records, note)


def table_of_files(
    errors: Mapping[str, Mapping[str, float]], spreads: Mapping[str, Mapping[str, float]] | None = None
) -> Table:
    """Errors by file and candidate, a column a file, and mean ranks; of candidates that every file has a figure of.

    `spreads` are the errors' standard deviations over random orders, if there were any.
    """
    names = [name for name in next(iter(errors.values())) if all(name in column for column in errors.values())]
    figures = np.array([[errors[file][name] for file in errors] for name in names])
    ranks = mean_ranks(figures)
    least = figures.min(axis=0)
    around = {file: (spreads or {}).get(file, {}) for file in errors}
    cells, records = [], []
    for name, row, rank in zip(names, figures.tolist(), ranks, strict=True):
        shown = [f"{figure(value)}{_spread(around[file], name)}" for file, value in zip(errors, row, strict=True)]
        marks = ["*" if value == low else "" for value, low in zip(row, least, strict=True)]
        cells.append([name, *(f"{cell}{mark}" for cell, mark in zip(shown, marks, strict=True)), f"{rank:.2f}"])
        deviations = {f"{file}_sd": column[name] for file, column in around.items() if name in column}
        records.append({"learner": name, **dict(zip(errors, row, strict=True)), **deviations, "mean_rank": float(rank)})
    note = LEAST
    if any(around.values()):
        note += "; ± is the standard deviation (n - 1) over random orders"
    if len(names) > 1 and len(errors) > 1:
        apart = critical_difference(len(names), len(errors))
        note += f"; mean ranks differ (Nemenyi's test, 5 %) where they are {apart:.2f} apart"
    return Table(["learner", *errors, "mean rank"], cells, records, note)


def _spread(column: Mapping[str, float], name: str) -> str:
    return f" ± {figure(column[name])}" if name in column else ""


def marked_table_of_files(found: Results) -> Table:
    """Return a table of errors, one column per file, of each learner with its best step there, and mean ranks.

    Of random orders there are standard deviations, and the marks of a paired test; else a star for the least error.
    """
    results = [result for column in found.values() for result in column]
    numbers = {any("rmse" in result for result in column) for column in found.values()}
    if len(numbers) > 1:
        raise OuzelError("some files are of classes and some of numbers; compare them apart")
    best = {file: _best(column) for file, column in found.items()}
    orders = {file: {name: of["error"] for name, of in row.items() if "error" in of} for file, row in best.items()}
    spreads = {file: {name: error["sd"] for name, error in row.items()} for file, row in orders.items()}
    values = {file: {name: error["values"] for name, error in row.items()} for file, row in orders.items()}
    table = marked(table_of_files(errors_of_files(found), spreads), values)
    if any(result["step"] is not None for result in results):
        table = table._replace(note=f"{table.note}; of each learner the step that was best on the file")
    return table


def errors_of_files(found: Results) -> dict[str, dict[str, float]]:
    """Return the errors by file and learner, each with its best step on the file."""
    return {file: {name: _error(of) for name, of in _best(column).items()} for file, column in found.items()}


def marked(table: Table, orders: dict[str, dict[str, list[float]]]) -> Table:
    """Replace the marks of the lowest error by those of a paired test, where there are several random orders."""
    learners = [row[0] for row in table.cells]
    errors = [np.array([column[name] for name in learners]) for column in orders.values() if column]
    if not errors or errors[0].shape[1] < 2 or len(learners) < 2:
        return table
    marks = zip(*map(_marks, errors), strict=True)
    cells = [
        [name, *(f"{cell.rstrip('*')}{mark}" for cell, mark in zip(row, of, strict=True)), rank]
        for (name, *row, rank), of in zip(table.cells, marks, strict=True)
    ]
    return table._replace(cells=cells, note=table.note.replace(LEAST, TESTED))


def _marks(errors: np.ndarray) -> list[str]:
    """Return the mark of each candidate of `errors` (k, orders)."""
    better = against_best(errors) < LEVEL
    alone = int(better.sum()) == len(errors) - 1
    return ["" if worse else "*" if alone else "=" for worse in better]


def title_of(file: str | Path, taken: Container[str]) -> str:
    """Return the file's name, or its path if another has that name.

    >>> title_of("data/heart.svm.xz", []), title_of("more/heart.svm", ["heart"])
    ('heart', 'more/heart.svm')
    """
    name = Path(file).name.split(".")[0]
    return str(file) if not name or name in taken else name


def _best(results: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the result of each learner's best step."""
    best: dict[str, dict[str, Any]] = {}
    for result in results:
        candidate = Candidate(*(result[name] for name in Candidate._fields))
        name = name_of(candidate._replace(step=None))
        if name not in best or _error(result) <= _error(best[name]):
            best[name] = result
    return best


def _error(result: Mapping[str, Any]) -> float:
    error = result["error"]["mean"] if "error" in result else result.get("rmse", result.get("error_rate"))
    return float("inf") if error is None else float(error)
