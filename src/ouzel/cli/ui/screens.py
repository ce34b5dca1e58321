"""Which screen a training has."""

from __future__ import annotations

from ouzel.cli.ui.progress import Screen


def screen_of(title: str, quiet: bool, live: bool) -> Screen:
    """A table that grows, or with `live` one screen that redraws."""
    if not live:
        return Screen(title, quiet=quiet)
    from ouzel.cli.ui.dashboard import Dashboard

    return Dashboard(title, quiet=quiet)
