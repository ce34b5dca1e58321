"""Put pages that list everything after those that explain, in the search of the site.

MkDocs calls `on_page_markdown` for each page; the theme's search multiplies the score of a page by its `boost`.
"""

from __future__ import annotations

from typing import Any

LISTS = ("commands", "json", "settings", "design", "reference", "developer/")
"""Beginnings of the addresses of pages of reference, and of those for who develops Ouzel."""
BOOST = 0.5


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Lower the rank of a page that lists everything."""
    if page.url.startswith(LISTS):
        page.meta["search"] = {"boost": BOOST}
    return markdown
