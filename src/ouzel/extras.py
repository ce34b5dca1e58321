"""Packages that come as extras: what needs one says so in one line, before any work is done."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ouzel.errors import OuzelError


def missing(use: str, package: str, extra: str) -> OuzelError:
    """The error of what needs a package that is not there.

    >>> str(missing("the service", "uvicorn", "serve"))
    'the service needs uvicorn: pip install "ouzel[serve]"'
    """
    return OuzelError(f'{use} needs {package}: pip install "ouzel[{extra}]"')


def need(module: str, use: str, extra: str) -> Any:
    """Import a module of an extra.

    >>> need("json", "drawing", "plot").loads("1")
    1
    >>> need("no_such_package", "drawing", "plot")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: drawing needs no_such_package: pip install "ouzel[plot]"
    """
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise missing(use, module.split(".")[0], extra) from None
