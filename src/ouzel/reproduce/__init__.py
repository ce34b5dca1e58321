"""The papers' tables and figures, by name: `ouzel reproduce NAME`."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from ouzel.errors import OuzelError


class Experiment(NamedTuple):
    """Where an experiment lies: its `function(data, output, quick=False, paths=())` writes NAME.md and NAME.png."""

    module_name: str  # below ouzel.reproduce
    function: str
    summary: str

    def load(self) -> Callable[..., Any]:
        """The function, its module imported on first use."""
        found: Callable[..., Any] = getattr(
            importlib.import_module(f"ouzel.reproduce.{self.module_name}"), self.function
        )
        return found


EXPERIMENTS: dict[str, Experiment] = {}
"""Every experiment by its public name."""


def find(name: str) -> Experiment:
    """The experiment of that name."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    close = difflib.get_close_matches(name, EXPERIMENTS, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise OuzelError(f"there is no experiment {name!r}; {hint}`ouzel reproduce` lists them")
