"""Modules that are imported when they are first used: the plug of what most runs do without.

A start pays for every module that it imports. A file that needs another one seldom (a training that is not resumed, a
model that is not saved) names it here, in the place of its imports, so that one look shows what it needs and when.
Kernels cannot call what is deferred: the digest of a compiled kernel covers the modules that its own one imports.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


class DeferredModule:
    """A stand-in for a module, which imports it as soon as an attribute is looked up."""

    __slots__ = ("_module_name",)

    def __init__(self, name: str) -> None:
        self._module_name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._module_name), name)

    def __repr__(self) -> str:
        return f"<deferred module {self._module_name!r}>"


def deferred(name: str) -> Any:
    """Return a stand-in for the module of a name.

    >>> calendar = deferred("calendar")
    >>> calendar.isleap(2028)
    True
    """
    return DeferredModule(name)


def is_imported(module: Any) -> bool:
    """Return whether a deferred module has been imported, by whomever.

    >>> is_imported(deferred("ouzel.deferred")), is_imported(deferred("ouzel.no_such_module"))
    (True, False)
    """
    return object.__getattribute__(module, "_module_name") in sys.modules
