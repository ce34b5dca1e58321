"""A user's interruption that has something to say. (Typer keeps KeyboardInterrupt to itself.)"""

from __future__ import annotations


class Interrupted(Exception):  # noqa: N818 it is no error
    """What was saved before the command was stopped."""
