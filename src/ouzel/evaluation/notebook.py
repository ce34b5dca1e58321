"""Progress in a notebook: a line below the cell that is drawn anew while a stream is learnt. Elsewhere, nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from html import escape
from typing import Any

from ouzel.streams.block import Block
from ouzel.streams.block_stream import BlockStream, as_stream

EVERY = 0.25  # seconds between two drawings, at least


class Line:
    """A bar, where the size of the stream is known, and a few words."""

    def __init__(self, stream: BlockStream, display: Any, html: Any) -> None:
        self.stream, self.html = stream, html
        self.begun, self.next = time.monotonic(), 0.0
        self.shown = display(html(""), display_id=True)

    def tell(self, examples: int, words: str, last: bool = False) -> None:
        """Say where the stream stands, if it is time."""
        now = time.monotonic()
        if now < self.next and not last:
            return
        self.next = now + EVERY
        size, position = self.stream.size, self.stream.position
        done = f'<progress value="{size if last else min(position, size)}" max="{size}"></progress> ' if size else ""
        rate = examples / max(now - self.begun, 1e-9)
        self.shown.update(self.html(f"{done}{examples:,} examples, {rate:,.0f} a second, {escape(words)}"))


def line_for(blocks: Iterable[Block] | None) -> Line | None:
    """A line in the notebook that this runs in; None if it does not run in one."""
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import HTML, display

    return Line(as_stream(() if blocks is None else blocks), display, HTML)
