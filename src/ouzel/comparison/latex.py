"""Tables as LaTeX that a PDF takes as they are: the rules of booktabs, the best values in bold, a caption, a label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ouzel.errors import OuzelError

WIDEST = 65  # characters of a row that fit a line
SPECIAL = {character: rf"\{character}" for character in "&%$#_{}"}
SPECIAL |= {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\^{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "[": "{[}",
}
SPECIAL |= {"±": r"$\pm$", "\N{MINUS SIGN}": "$-$", "×": r"$\times$", "≤": r"$\le$", "≥": r"$\ge$", "·": r"$\cdot$"}
SPECIAL |= {"[": "{[}", "µ": r"$\mu$", "\N{GREEK SMALL LETTER MU}": r"$\mu$", "–": "--", "…": r"\dots{}"}
SPECIAL |= {"→": r"$\to$", "⁻": "$^-$", **{mark: f"$^{n}$" for n, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}}
POWER = re.compile(r"(\d+)\^(-?\d+)")
NUMBER = re.compile(r"(\d[\d,]*)?\.?\d+(e-?\d+)?")  # with a sign it is a difference


def latex(
    titles: Sequence[str], rows: Sequence[Sequence[str]], caption: str, label: str, best: str | None = None
) -> str:
    r"""Return a `table`: cells that end in * are bold, and with `best`, lowest-in-row say, so are the best numbers.

    >>> print(latex(["set", "ogd", "adagrad"], [["a_1", "0.2", "0.1*"]], "Errors.", "errors"))
    \begin{table}
    \centering
    \caption{Errors.}
    \label{tab:errors}
    \begin{tabular}{lrr}
    \toprule
    set & ogd & adagrad \\
    \midrule
    a\_1 & 0.2 & \textbf{0.1} \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    chosen = _best(rows, best) if best else set()
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{escaped(' '.join(caption.split()))}}}"]
    lines += [rf"\label{{tab:{label}}}", rf"\begin{{tabular}}{{l{'r' * (len(titles) - 1)}}}", r"\toprule"]
    lines += [_line(map(escaped, titles)), r"\midrule"]
    lines += [_line(_cell(cell, (i, j) in chosen) for j, cell in enumerate(row)) for i, row in enumerate(rows)]
    wide = sum(max(map(len, column)) + 2 for column in zip(titles, *rows, strict=True)) > WIDEST
    if wide:  # made as narrow as the line; \resizebox is of the package graphicx
        lines[4] = rf"\resizebox{{\linewidth}}{{!}}{{{lines[4]}"
    return "\n".join([*lines, r"\bottomrule", rf"\end{{tabular}}{'}' * wide}", r"\end{table}"])


def of_report(text: str, label: str, best: str | None = None) -> str:
    """Return all tables of a report in Markdown as LaTeX: its title is the caption, its last paragraph a comment.

    >>> text = of_report("# Errors\\n\\n| set | error |\\n| --- | --- |\\n| a | **0.1** |\\n\\nOne pass.\\n", "e")
    >>> text.splitlines()[0], text.splitlines()[4], text.splitlines()[-4]
    ('% One pass.', '\\\\caption{Errors.}', 'a & \\\\textbf{0.1} \\\\\\\\')
    """
    paragraphs = [part for part in text.split("\n\n") if part.strip()]
    title = paragraphs[0].removeprefix("# ").strip()
    found = [part for part in paragraphs if part.startswith("|")]
    if not found:
        raise OuzelError(f"{title}: the report has no table")
    said = [part for part in paragraphs[1:] if not part.startswith(("|", "`", "#", "!", "Made from"))]
    tables = []
    for number, part in enumerate(found):
        head, _, *rows = ([cell.strip() for cell in line.strip()[1:-1].split("|")] for line in part.splitlines())
        caption = f"{title}, continued." if number else f"{title}."
        tables.append(latex(head, rows, caption, f"{label}-{number + 1}" if number else label, best))
    return "\n\n".join([*(f"% {part.strip()}" for part in said[-1:]), *tables])


def escaped(text: str) -> str:
    r"""Return text as LaTeX prints it.

    >>> escaped("10 % of a_b, 2^-3 ± 1")
    '10 \\% of a\\_b, $2^{-3}$ $\\pm$ 1'
    """
    parts = POWER.split(text)
    found = []
    for k in range(0, len(parts), 3):
        found.append("".join(SPECIAL.get(character, character) for character in parts[k]))
        found += [f"${parts[k + 1]}^{{{parts[k + 2]}}}$"] if k + 2 < len(parts) else []
    return "".join(found)


def _cell(cell: str, is_best: bool) -> str:
    bold = cell.endswith("*") or is_best
    plain = cell.replace("**", "").rstrip("*")
    if plain.endswith("="):
        return f"{escaped(plain[:-1])}$^{{=}}$"
    return rf"\textbf{{{escaped(plain)}}}" if bold else escaped(plain)


def _line(cells: Iterator[str]) -> str:
    return " & ".join(cells) + r" \\"


def _best(rows: Sequence[Sequence[str]], best: str) -> set[tuple[int, int]]:
    """Return the places of the lowest or highest number of each row or column, and of all that are equal to it."""
    which, _, line_of = best.split("-")
    lines: dict[int, dict[tuple[int, int], float]] = {}
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            plain = cell.replace("*", "").strip()
            if NUMBER.fullmatch(plain):
                lines.setdefault(i if line_of == "row" else j, {})[i, j] = float(plain.replace(",", ""))
    choose = min if which == "lowest" else max
    return {place for line in lines.values() for place, number in line.items() if number == choose(line.values())}
