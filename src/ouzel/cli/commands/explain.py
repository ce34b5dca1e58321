"""`ouzel explain`: attributes that outliers have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from ouzel.cli import options
from ouzel.cli.commands import analysis
from ouzel.cli.parameters import COLUMN, choice, only, option
from ouzel.cli.ui.outputs import titled
from ouzel.errors import DataError, OuzelError
from ouzel.streams.read import open_source

if TYPE_CHECKING:
    from ouzel.analytics.explanation.explained import Explained

SIDES = "high", "low", "both"
TRUE_FROM = {"high": "true risk from", "low": "1 / true risk from", "both": "true risk, or 1 / it, from"}


def explain(
    files: options.Files,
    *,
    outlier: Annotated[
        str | None,
        option("Rows to explain: 'amount > p80', 'amount > 1000', 'kind = x'.", takes="CONDITION"),
    ] = None,
    outlier_column: Annotated[
        str | None, option("Or the column that is true, yes or above 0 for rows to explain.", takes=COLUMN)
    ] = None,
    attributes: Annotated[str | None, option("Columns to explain by; by default all.", takes="A,B,…")] = None,
    order: Annotated[int, option("1 for attributes, 2 for pairs of attributes, too.")] = 1,
    top: Annotated[int, option("Number of attributes to show.", panel="Report")] = 20,
    side: Annotated[
        str, option("Risks above (high) or below (low) those of other rows, or both.", takes=choice(*SIDES))
    ] = "high",
    min_support: Annotated[
        int | None, option("Minimum rows of an attribute; by default as many as chance does not explain.")
    ] = None,
    budget: analysis.Budget = "1MB",
    unbalanced: Annotated[bool, option("Weight all rows equally, however rare outliers are, as in the paper.")] = False,
    exact: Annotated[bool, option("Also count exactly, for true risks and recall.")] = False,
    format: options.Format = None,
    label_positive: Annotated[
        str | None,
        option("The label of the rows to explain; by default those above 0.", takes="LABEL", panel="Columns"),
    ] = None,
    columns: Annotated[options.Reading, only("label", "ignore", options.Lines)],
    learning: analysis.Learning,
    common: analysis.Common,
) -> None:
    """Find the attributes (column=value) that make a row likely to be an outlier, with their relative risks.

    No model is needed. Why a model predicts what it does: `ouzel predict --explain` and, in Python, `model.explain`.

    Example: ouzel explain expenses.csv --outlier 'amount > p80'
    """
    common.check(top=top, min_support=min_support or 0)
    if sum(given is not None for given in (outlier, outlier_column, columns.label)) > 1:
        raise OuzelError("--outlier, --outlier-column and --label exclude one another; give one of them")
    from ouzel.analytics.explanation.conditions import Condition
    from ouzel.analytics.explanation.explained import Explained
    from ouzel.analytics.explanation.explainer import StreamingExplainer
    from ouzel.analytics.explanation.rows import Rule
    from ouzel.analytics.plots import draw_explanation

    rule = Rule(None if outlier is None else Condition(outlier), outlier_column or columns.label, label_positive)
    explainer = StreamingExplainer(budget, order=order, balanced=not unbalanced, **common.settings(learning))
    explained = Explained(explainer, rule, exact)
    named = [name.strip() for name in attributes.split(",")] if attributes else []
    sources = [open_source(file) for file in files]
    with analysis.watching(files[0], sources, lambda: f"{explainer.model.examples:,} rows", common.json_) as progress:
        explained.over(sources, format, common.reading(replace(columns, label=None)), named, progress)
    if not explainer.rows.sum() and not explained.interrupted:
        raise DataError(f"{', '.join(files)}: there are no rows in it; there is nothing to explain")
    explained.rule.check_numbers()
    if min_support is None:
        min_support = explainer.least_support(side)
    analysis.report(explainer, common, explained, draw_explanation, _print_table, titled(files), top, side, min_support)


def _print_table(explained: Explained, top: int, side: str, min_support: int) -> None:
    from ouzel.cli.ui.tables import console_for_tables, show_named
    from ouzel.evaluation.formatting import factor, size

    console = console_for_tables()
    rows = []
    for row in explained.table(top, side, min_support):
        exact = not row["missed"]
        cells = [
            factor(row["risk"]),
            analysis.interval(row["risk_low"], row["risk_high"], exact, factor),
            f"{row['support']:,}" if exact else f"{row['support']:,} to {row['support'] + row['missed']:,}",
            f"{row['since']:,}",
        ]
        if explained.exact:
            cells += [factor(row["true_risk"]), f"{row['rows']:,}", f"{row['outliers']:,}"]
        rows.append([*cells, row["attribute"]])
    true = ("true risk", "rows", "outliers") if explained.exact else ()
    show_named(console, ["risk", "interval", "support", "counted since row", *true, "attribute"], rows)
    if explained.exact:
        console.print()
        titles = [TRUE_FROM[side], "attributes", "recall"]
        recalls = explained.recalls(side, min_support)
        console.print(analysis.recall_table(titles, [list(row.values()) for row in recalls]))
    explainer = explained.explainer
    inliers, outliers = explainer.rows.tolist()
    stopped = "stopped; " if explained.interrupted else ""
    console.print(f"\n{stopped}{inliers + outliers:,} rows, {outliers:,} of them outliers{_threshold(explained)}")
    if explained.rule.left_out:
        console.print(f"{explained.rule.left_out:,} rows left out, for want of what decides")
    for column, (values, seen) in explained.rule.near_unique.items():
        console.print(
            f"{column} has {values:,} values in the first {seen:,} rows, so that each says little: --ignore {column}"
        )
    ranked = len(explainer.found(min_support=min_support).slots)
    console.print(f"in {size(explainer.bytes_used)}, {ranked:,} attributes of {min_support:,} rows or more")
    unranked = explainer.unranked(min_support)
    if unranked:
        console.print(f"{unranked:,} more are not ranked: less than half of their rows may have been counted")
    if explained.exact:
        found, correlation, ranks = explained.correlation(side, min_support)
        console.print(
            f"correlation of log risks with true ones over {found:,} attributes ({side}): {correlation:.3f}, "
            f"of ranks {ranks:.3f}"
        )


def _threshold(explained: Explained) -> str:
    condition = explained.rule.condition
    if condition is None or condition.quantile is None:
        return ""
    return f" ({condition.column} {condition.sign} {condition.threshold:.6g} at the end)"
