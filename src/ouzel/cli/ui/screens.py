"""Choice of the screen of a training."""

from __future__ import annotations

from ouzel.cli.ui.progress import Screen


def screen_of(title: str, quiet: bool, live: bool) -> Screen:
    """Return a screen with a growing table, or with `live` the dashboard."""
    if not live:
        return Screen(title, quiet=quiet)
    from ouzel.cli.ui.dashboard import Dashboard

    return Dashboard(title, quiet=quiet)
