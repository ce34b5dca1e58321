"""Tables that notebooks show of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from ouzel.evaluation.formatting import figure


class Records(list[dict[str, Any]]):
    """Dictionaries with the same keys, which a notebook shows as a table.

    >>> print(Records([{"name": "ogd", "weight": 0.25}])._repr_html_())
    <table><thead><tr><th>name</th><th>weight</th></tr></thead><tbody><tr><td>ogd</td><td>0.2500</td></tr></tbody></table>
    """

    def _repr_html_(self) -> str:
        titles = list(dict.fromkeys(name for record in self for name in record))
        return table(titles, [[shown(record.get(name)) for name in titles] for record in self])


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> str:
    """Return rows of cells under their titles, and a note below."""
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def facts(title: str, about: str, lines: Iterable[tuple[str, str]]) -> str:
    """Return lines of names and what they are, under a title in bold and a few words about it."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in lines)
    return f"<p><b>{escape(title)}</b> {escape(about)}</p><table>{rows}</table>"


def shown(value: Any) -> str:
    """Return a value as a cell.

    >>> shown(0.12345), shown(["a", "b"]), shown(None)
    ('0.1235', 'a, b', '-')
    """
    if isinstance(value, (list, tuple)):
        return ", ".join(map(shown, value))
    return figure(value) if value is None or isinstance(value, float) else str(value)
