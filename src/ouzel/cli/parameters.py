"""Parameters whose values need no conversion, or none to speak of, are not converted by Typer.

Typer has pydantic convert every value, also text and those that were not given; importing it takes longer than Typer
itself.
"""

from __future__ import annotations

from functools import partial
from typing import Any


class Sparing:
    """A command, or a group of them, with such parameters: to be derived from first, before Typer's class."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters."""
        return [_sparing(param) for param in super().get_params(ctx)]  # type: ignore[misc]


def _sparing(param: Any) -> Any:
    if "process_value" not in vars(param):
        param.process_value = partial(_value, param, param.process_value)
    return param


def _value(param: Any, convert: Any, ctx: Any, given: Any) -> Any:
    """The value of a parameter, converted if need be."""
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
