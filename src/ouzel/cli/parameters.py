"""Lazy conversion of parameters: Typer converts only values that need it.

Typer has pydantic convert every value, also text and those that were not given; importing it takes longer than Typer
itself.
"""

from __future__ import annotations

from functools import partial
from typing import Any


class LazyConversion:
    """Mixin of commands and groups with such parameters; it must come before Typer's class."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, lazily converted."""
        return [_lazily_converted(param) for param in super().get_params(ctx)]  # type: ignore[misc]


def _lazily_converted(param: Any) -> Any:
    if "process_value" not in vars(param):
        param.process_value = partial(_value, param, param.process_value)
    return param


def _value(param: Any, convert: Any, ctx: Any, given: Any) -> Any:
    """Return the value of a parameter, converted if needed."""
    kind = param.type_descriptor.annotation
    many = param.multiple or param.nargs == -1
    if given is None and not param.required:
        value: Any = () if many else None
    elif type(given) is kind or (kind == list[str] and isinstance(given, tuple) and given):
        value = list(given) if many else given
    elif kind is int and isinstance(given, str) and given.isdecimal():
        value = int(given)
    else:
        return convert(ctx, given)
    return value if param.callback is None else param.callback(ctx, param, value)
