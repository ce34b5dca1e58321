"""Learners and losses from outside, imported because a person names their module; a model file never does that."""

from __future__ import annotations

import importlib
import os
import sys
from importlib.metadata import entry_points
from typing import Any

from ouzel.errors import OuzelError
from ouzel.learners import catalogue

GROUP = "ouzel.learners"  # of entry points: a learner's name = the module that registers it


def import_module(name: str) -> Any:
    """A module by its name, of an installed package or in the current folder; an OuzelError if that fails."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        return importlib.import_module(name)
    except OuzelError:
        raise
    except Exception as error:
        raise OuzelError(f"cannot import {name}: {' '.join(str(error).split()) or type(error).__name__}") from error


def member(text: str, what: str) -> Any:
    """What `module:name` says; `what` it is to be stands in the error."""
    module, _, name = text.rpartition(":")
    home = import_module(module)
    if not hasattr(home, name):
        raise OuzelError(f"{module} has no {name}; expected {what} of it as module:name")
    return getattr(home, name)


def learner_named(text: str) -> str:
    """The name of a learner that a person has named: `name`, or `module:name`, whose module is imported.

    A name that is not in the catalogue is looked for among the entry points of installed packages.
    """
    module, colon, name = text.rpartition(":")
    if colon:
        import_module(module)
    elif name not in catalogue.LEARNERS:
        for point in entry_points(group=GROUP, name=name):
            import_module(point.module)
    return catalogue.find(name).name


def loss_named(text: str) -> Any:
    """The loss that a person has named: `name`, as it is, or `module:Class`, of which one is made."""
    return member(text, "a loss")() if ":" in text else text
