"""Declaration of options and arguments: one place for the name, type, help, panel and completion of each.

`option` and `argument` are for annotations. A group is a dataclass whose fields are options; `expanded` makes the
options of a group those of a command, which gets the dataclass. Typer has pydantic convert every value, and importing
that takes longer than Typer itself: `Converting` converts them here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial, wraps
from inspect import Parameter, Signature, signature
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from typer.exceptions import TyperException
from typer.models import ArgumentInfo, OptionInfo

from ouzel.errors import OuzelError, suggest
from ouzel.flags import flag_of


class Kind(NamedTuple):
    """Kind of value that a parameter takes."""

    name: str  # as the help writes it
    convert: Callable[[str], Any] = str
    expected: str = ""  # what an error says of it
    words: Callable[[], Iterable[str]] | None = None  # what a shell completes; files where there is none
    listed: bool = False  # whether several words are given, with commas
    bare: str = ""  # the word that the option stands for where no word of the kind follows it; none if it must

    def completed(self, incomplete: str) -> list[str]:
        """Return what a shell may complete a value to; nothing where it completes files."""
        if self.words is None:
            return []
        before, comma, last = incomplete.rpartition(",") if self.listed else ("", "", incomplete)
        return [f"{before}{comma}{word}" for word in self.words() if word.startswith(last)]

    def value(self, name: str, text: str) -> Any:
        """Return the value of a text; an OuzelError names the parameter."""
        try:
            return self.convert(text)
        except ValueError:
            known = tuple(self.words()) if self.words is not None else ()
            hint = suggest(text, known).rstrip(". ") if known else ""
            raise OuzelError(f"{name} takes {self.expected}; got {text!r}{hint}") from None


INTEGER = Kind("INTEGER", int, "a whole number")
FLOAT, LEVEL = Kind("FLOAT", float, "a number"), Kind("LEVEL", float, "a number")
BYTES = Kind("BYTES")  # as text, which the library checks
FILE, FOLDER, MODEL, COLUMN = Kind("FILE"), Kind("DIR"), Kind("MODEL"), Kind("COL")


def choice(*words: str, name: str = "", checked: bool = True, bare: str = "") -> Kind:
    """Return the kind of one of these words; where `checked` is false, the library says what is wrong with others.

    >>> choice("raise", "skip").name, choice("raise", "skip", name="RULE").name
    ('raise|skip', 'RULE')
    """

    def convert(text: str) -> str:
        if checked and text not in words:
            raise ValueError(text)
        return text

    return Kind(name or "|".join(words), convert, ", ".join(words), lambda: words, bare=bare)


class Option(OptionInfo):
    """Option with its kind of value, and the heading of the help that it stands under."""

    def __init__(self, about: str, flags: tuple[str, ...], takes: Kind | None, panel: str, hidden: bool) -> None:
        super().__init__(default=..., param_decls=flags or None, help=about, hidden=hidden)
        self.takes, self.panel = takes, panel


class Argument(ArgumentInfo):
    """Argument with its kind of value."""

    def __init__(self, about: str, takes: Kind) -> None:
        super().__init__(
            default=...,
            metavar=takes.name,
            autocompletion=takes.completed if takes.words else None,
            help=about,
            show_default=False,
        )
        self.takes = takes


def option(about: str, *flags: str, takes: Kind | str | None = None, panel: str = "", hidden: bool = False) -> Option:
    """Declare an option; without flags it has that of its name, without `takes` the kind of its type."""
    return Option(about, flags, Kind(takes) if isinstance(takes, str) else takes, panel, hidden)


def argument(about: str, takes: Kind | str) -> Argument:
    """Declare an argument."""
    return Argument(about, Kind(takes) if isinstance(takes, str) else takes)


def only(*chosen: str | type) -> tuple[str, ...]:
    """Annotate a group with those of its options that a command has: by name, or all of a dataclass."""
    return tuple(name for part in chosen for name in ([part] if isinstance(part, str) else _names(part)))


def values(group: Any) -> dict[str, Any]:
    """Return the options of a group by name."""
    return {name: getattr(group, name) for name in _names(type(group))}


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command for Typer, with each group of options expanded to its options."""
    groups: dict[str, tuple[type, tuple[str, ...]]] = {}
    options: list[Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in signature(command).parameters.items():
        kind, *notes = get_args(hints[name]) if get_origin(hints[name]) is Annotated else (hints[name],)
        if is_dataclass(kind):
            assert isinstance(kind, type)
            chosen = next((note for note in notes if isinstance(note, tuple)), _names(kind))
            groups[name] = kind, chosen
            options += [_field(kind, option) for option in chosen]
        else:
            options.append(_declared(name, hints[name], parameter.default, ""))

    @wraps(command)
    def call(**given: Any) -> None:
        for name, (kind, chosen) in groups.items():
            given[name] = kind(**{option: given.pop(option) for option in chosen})
        command(**given)

    del call.__wrapped__  # or its parameters would be read, not these
    call.__signature__ = Signature(options)  # type: ignore[attr-defined]
    call.__annotations__ = {option.name: option.annotation for option in options}
    return call


@cache
def _hints(group: Any) -> dict[str, Any]:
    return get_type_hints(group, include_extras=True)


def _names(group: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(group))


def _field(group: type, name: str) -> Parameter:
    """Return a field of a group as a parameter; its panel is that of the class that declares it."""
    home: Any = next(base for base in group.__mro__ if name in vars(base).get("__annotations__", {}))
    default = next(field.default for field in fields(group) if field.name == name)
    hint = _hints(home)[name]
    return _declared(name, hint, Parameter.empty if default is MISSING else default, home.panel)


def _declared(name: str, hint: Any, default: Any, panel: str) -> Parameter:
    """Return a parameter for Typer; what its declaration leaves open follows from its name and type."""
    kind, info = get_args(hint)
    base = next((part for part in get_args(kind) if NoneType in get_args(kind) and part is not NoneType), kind)
    if isinstance(info, Option):
        info = copy(info)
        given = tuple(info.param_decls or ())
        if all(len(flag) == len("-m") for flag in given) and len(name) > 1:
            info.param_decls = (flag_of(name.rstrip("_")), *given)
        info.takes = info.takes or {int: INTEGER, float: FLOAT}.get(base)
        info.panel = info.panel or panel
        if base is not bool:
            assert info.takes is not None, f"{name} takes a kind of value"
            info.metavar, info.autocompletion = info.takes.name, info.takes.completed if info.takes.words else None
        info.show_default = default is not None and default is not False
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


class Converting:
    """Mixin of commands and groups that convert parameters by their kind; it must come before Typer's class."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, converted by their kind."""
        return [_by_kind(param) for param in super().get_params(ctx)]  # type: ignore[misc]


def kind_of(param: Any) -> Kind | None:
    """Return the kind of value that a parameter of Typer takes; None of a flag."""
    return getattr(param.type_descriptor.parameter_info, "takes", None)


def with_words(params: Iterable[Any], arguments: list[str]) -> list[str]:
    """Return arguments in which options that may stand without a word have one."""
    kinds = {flag: kind for param in params for flag in param.opts if (kind := kind_of(param)) and kind.bare}
    found = []
    for place, argument in enumerate(arguments):
        kind = kinds.get(argument)
        following = arguments[place + 1] if place + 1 < len(arguments) else ""
        bare = kind is not None and kind.words is not None and following not in kind.words()
        found.append(f"{argument}={kind.bare}" if kind is not None and bare else argument)
    return found


def _by_kind(param: Any) -> Any:
    if "process_value" not in vars(param):
        param.process_value = partial(_value, param)
        if param.param_type_name == "argument":
            param.display_type_rich = lambda ctx: ""
    return param


def _value(param: Any, ctx: Any, given: Any) -> Any:
    """Return the value of a parameter, converted where it is text."""
    kind, many = kind_of(param), param.multiple or param.nargs == -1
    name = param.opts[0] if param.param_type_name == "option" else param.metavar
    if given is None or (many and not given):
        if param.required and not ctx.resilient_parsing:
            raise TyperException(f"Missing {param.param_type_name} '{name}'.")
        value: Any = () if many else None
    elif kind is None or kind.convert is str:
        value = list(given) if many else given
    elif many:
        value = [kind.value(name, text) for text in given]
    else:
        value = kind.value(name, given) if isinstance(given, str) else given
    return value if param.callback is None else param.callback(ctx, param, value)
