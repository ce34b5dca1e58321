"""Times of a training in rounds, and the bytes that were moved for it."""

from __future__ import annotations

from typing import Any

SHOWN = ("reading", "learning", "merging", "unpacking")


class Spread:
    """Sums of seconds and bytes over the rounds.

    Seconds of reading, learning, compiling and merging are those of all workers together; `moving` is the time of
    the rounds beyond their slowest worker: sending, waiting, summing.
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(("reading", "learning", "compiling", "merging", "unpacking", "moving"), 0.0)
        self.wall = 0.0
        self.bytes = 0
        self.rounds = 0
        self.merged = 0

    def add(self, reports: list[Any], base: int, wall: float) -> None:
        """Add a round: the reports of workers, the bytes of the base, and the wall time."""
        for found in reports:
            for part, seconds in found.seconds.items():
                self.seconds[part] += seconds
            predicted = sum(part.nbytes for outcome in found.outcomes for part in outcome[:4])
            self.bytes += found.bytes + base + predicted
        self.seconds["moving"] += max(0.0, wall - max((sum(found.seconds.values()) for found in reports), default=0.0))
        self.wall += wall
        self.rounds += 1
        self.merged += len(reports)

    @property
    def facts(self) -> list[str]:
        """Lines for a screen."""
        parts = "   ".join(f"{self.seconds[part]:.2f} {part}" for part in SHOWN)
        return [
            f"  {'rounds':<13}{self.rounds:,} in {self.wall:.2f} s   {self.merged:,} states merged",
            f"  {'of workers':<13}{parts} s",
            f"  {'moved':<13}{self.bytes / 1e6:,.1f} MB   {self.seconds['moving']:.2f} s beyond the slowest worker",
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return {"rounds": self.rounds, "merged": self.merged, "bytes_moved": self.bytes, **{
            f"seconds_{part}": seconds for part, seconds in self.seconds.items()
        }, "seconds": self.wall}  # fmt: skip
