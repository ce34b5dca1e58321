"""Live line of a terminal: how far a stream is, its state, and the time left."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


def live_line(console: Console) -> Progress:
    """Return a live line on a terminal, which disappears at its end; its task has the field `standing`."""
    columns = TextColumn("{task.description}"), BarColumn(12), TextColumn("{task.fields[standing]}"), _TimeLeft()
    return Progress(*columns, console=console, transient=True)


class _TimeLeft(ProgressColumn):
    """Column with the remaining time, if the size of the stream is known."""

    def __init__(self) -> None:
        super().__init__()
        self.remaining = TimeRemainingColumn(compact=True)

    def render(self, task: Task) -> Text:
        return self.remaining.render(task) if task.total else Text("")
