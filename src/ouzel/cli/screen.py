"""What people see: progress while learning, then the answer. All of it goes to standard error but the answer."""

from __future__ import annotations

import sys
import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

answer = Console(highlight=False)
aside = Console(stderr=True, highlight=False)


class Display:
    """Progress of one run: a live bar on a terminal, plain lines at powers of two elsewhere, nothing if quiet."""

    def __init__(self, stream: Any, quiet: bool) -> None:
        self.stream = stream
        self.quiet = quiet
        self.live = aside.is_terminal and not quiet
        self.shown = 0
        self.begun = time.perf_counter()
        self.progress = Progress(
            TextColumn("{task.fields[what]}"), BarColumn(20), TimeElapsedColumn(), TimeRemainingColumn(), console=aside
        )

    def __enter__(self) -> Display:
        if not self.quiet:
            _announce_compiling()
        if self.live:
            self.progress.start()
            self.task = self.progress.add_task("", total=self.stream.size, what="reading …")
        elif not self.quiet:
            print(f"{'examples':>12} {'error so far':>13} {'since last':>11} {'mean loss':>10}", file=sys.stderr)
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            self.progress.stop()

    def update(self, report: Any) -> None:
        """Show where a report stands."""
        if self.live:
            rate = report.examples / max(time.perf_counter() - self.begun, 1e-9)
            what = f"{report.examples:,} examples  error {report.error_rate:.4f}  {rate:,.0f}/s"
            self.progress.update(self.task, completed=self.stream.position, what=what)
        elif not self.quiet:
            for point in report.curve[self.shown :]:
                print(
                    f"{point.examples:>12,} {point.error_rate:>13.5f} {point.recent:>11.5f} {point.mean_loss:>10.5f}",
                    file=sys.stderr,
                )
            self.shown = len(report.curve)


_announced = False


def _announce_compiling() -> None:
    """Say once that kernels are being compiled, when the first is."""
    from ouzel import _jit

    def say(_: str) -> None:
        global _announced
        if not _announced:
            _announced = True
            aside.print("compiling kernels for this machine, once …", style="dim")

    if not _jit.on_compile:
        _jit.on_compile.append(say)


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    import json

    print(json.dumps(value, allow_nan=False))
