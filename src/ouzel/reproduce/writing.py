"""What an experiment leaves behind: NAME.md with its table and an honest paragraph, and NAME.png."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ouzel.evaluation.plots import COLOURS


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, columns aligned for reading as plain text.

    >>> print(markdown_table(["set", "error"], [["a9a", "0.15"]]))
    | set | error |
    | --- | ----- |
    | a9a | 0.15  |
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [head, ["-" * max(width, 3) for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def write_report(output: Path, name: str, title: str, table: str, paragraph: str, command: str) -> None:
    """Write NAME.md and print it; `command` is what makes it again."""
    text = f"# {title}\n\n`{command}`\n\n{table}\n\n{' '.join(paragraph.split())}\n"
    (output / f"{name}.md").write_text(text)
    print(text)


def signed(difference: float, digits: int = 3) -> str:
    """A difference with its sign, a proper minus."""
    return f"{difference:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def draw_bars(path: Path, groups: Sequence[str], series: Mapping[str, Sequence[float]], y: str) -> None:
    """Bars of each series beside one another, group by group."""
    figure = Figure(figsize=(max(6.4, 1.3 * len(groups)), 4.0), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(series)
    for number, (label, values) in enumerate(series.items()):
        left = np.arange(len(groups)) - 0.4 + width * (number + 0.5)
        axes.bar(left, values, width * 0.92, label=label, color=COLOURS[number % len(COLOURS)])
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, ncols=2)
    figure.savefig(path, dpi=150)
