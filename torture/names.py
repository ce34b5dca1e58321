"""What an input is called, and the randomness that follows from its name."""

from __future__ import annotations

from random import Random
from typing import NamedTuple


class Name(NamedTuple):
    """An input of a target: the seed that made it, and those of the mutations since.

    >>> str(Name("csv", (12, 944))), Name.parse("csv:12.944")
    ('csv:12.944', Name(target='csv', lineage=(12, 944)))
    """

    target: str
    lineage: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> Name:
        """The name that a text says."""
        target, _, seeds = text.partition(":")
        return cls(target, tuple(int(seed) for seed in seeds.split(".")))

    @property
    def generation(self) -> int:
        """How many mutations of mutations led here."""
        return len(self.lineage) - 1

    @property
    def seed(self) -> int:
        """The seed of the last step."""
        return self.lineage[-1]

    def randomness(self, purpose: str, seed: int | None = None) -> Random:
        """Random numbers for one purpose, the same for the same name."""
        return Random(f"{self.target} {purpose} {self.seed if seed is None else seed}")

    def __str__(self) -> str:
        return f"{self.target}:{'.'.join(map(str, self.lineage))}"
