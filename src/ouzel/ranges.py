"""What a setting, or JSON in a file, may be: said once, by its type, and checked once, where the value enters.

A field of a NamedTuple or dataclass, or an argument of a function, says what it takes and what it is:

>>> from typing import NamedTuple
>>> class Settings(NamedTuple):
...     learning_rate: Annotated[float, Range(1e-30, 1e9), "step size"] = 0.1
...     averaging: Annotated[float, SWITCH, "whether weights are those of the mean iterate"] = 0.0
>>> checked(Settings, {"learning_rate": "0.5", "averaging": "yes"}, "of wm")
{'learning_rate': 0.5, 'averaging': 1.0}
>>> checked(Settings, {"learning_rate": float("nan")}, "of wm")
Traceback (most recent call last):
ouzel.errors.OuzelError: learning_rate of wm must be a number from 1e-30 to 1e9; got nan

The command line, the estimators, the analyses and the files of models all come here; kernels may trust what they get.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import reprlib
import typing
from collections.abc import Callable, Mapping
from math import inf, isfinite, isnan
from operator import call
from types import NoneType
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar

from ouzel.errors import OuzelError
from ouzel.numerals import as_size, is_number

P = ParamSpec("P")
T = TypeVar("T")

EXPONENT = re.compile(r"e\+?(-?)0*")  # as in 1e+09 and 1e-06
LEAST = 1e-150


class Range(NamedTuple):
    """Numbers between two bounds, both included unless `above` or `below` leaves one out; infinity only as a bound.

    What is so little above 0 that its inverse or its square would not be a number counts as 0.

    `each` are the bytes of memory that a unit takes at least: no more units than this machine's memory holds are taken.
    """

    low: float = 0.0
    high: float = inf
    above: bool = False
    below: bool = False
    whole: bool = False
    each: int = 0
    size: bool = False  # in bytes, and may be said as "8KB"

    def number(self, value: Any) -> float:
        """The number that a value says; a ValueError if it says none, or one out of range."""
        number = parse_bytes(value) if self.size else float(value)
        number = 0.0 if 0.0 < number < LEAST else number
        inside = (self.low < number if self.above else self.low <= number) and (
            number < self.high if self.below else number <= self.high
        )
        if not inside or (self.whole and not number.is_integer()) or (self.each and number * self.each > memory()):
            raise ValueError(value)
        return number

    def text(self, here: bool = False) -> str:
        """The range in words; `here`, with the end that this machine's memory sets."""
        kind = "whole number" if self.whole else "number"
        kind = "size in bytes, such as 8KB," if self.size else kind
        high = min(self.high, memory() // self.each) if self.each and here else self.high
        if -inf < self.low and high < inf and not (self.above or self.below):
            limit = " (what this machine's memory holds)" if high != self.high else ""
            return f"a {kind} from {_short(self.low)} to {_short(high)}{limit}"
        first = f"above {_short(self.low)}" if self.above else f"of {_short(self.low)} or more"
        last = f"{'below' if self.below else 'of at most'} {_short(high)}"
        bounds = [first] if self.low > -inf else []
        bounds += [last] if high < inf else []
        more = ", as memory allows" if self.each else "" if len(bounds) == 2 else "; infinity is allowed"
        return f"a {kind} {' and '.join(bounds)}{more}"


class Choice(NamedTuple):
    """One of a few words, the first of which stands for the number 0 within a kernel, the next for 1, and so on."""

    words: tuple[str, ...]

    def number(self, value: Any) -> float:
        """The number that a word stands for, or that number itself; a ValueError if it is neither."""
        if isinstance(value, str) and value in self.words:
            return float(self.words.index(value))
        number = float(value)
        if number not in range(len(self.words)):
            raise ValueError(value)
        return number

    def text(self, here: bool = False) -> str:
        """The words."""
        return " or ".join(filter(None, (", ".join(self.words[:-1]), self.words[-1])))


class Setting(NamedTuple):
    """What an annotation says of a setting."""

    takes: Range | Choice | None
    kind: Any  # the type that a checked value has
    about: str  # one line, what it is
    optional: bool = False  # None may stand for no value


SWITCH = Choice(("no", "yes"))
STRENGTH = Range(0.0, 1e9)  # of a penalty
MOST_COUNT = 10**15  # floats tell whole numbers apart up to nine times that
DIRECTIONS = Range(0, 4096, whole=True)  # of a sketch: its work grows with their square
MOST_SEED = 2**32 - 1

COUNT = Range(0, MOST_COUNT, whole=True)
Count = Annotated[int, COUNT]
Positive = Annotated[int, Range(1, MOST_COUNT, whole=True)]
Seed = Annotated[int, Range(0, MOST_SEED, whole=True), "seed of the hash functions and of random numbers"]
MOST_BITS = 31
Bits = Annotated[int, Range(1, MOST_BITS, whole=True), "names of features hash to so many bits"]
Size = Annotated[int, Range(1, whole=True, each=4), "numbers kept"]
Directions = Annotated[int, DIRECTIONS, "directions that a sketch keeps"]
HalfLife = Annotated[float, Range(0.0, 1e15), "half-life of what the learner has accumulated, in examples; 0: none"]
Passes = Annotated[int, Range(1, 1_000_000, whole=True), "passes over the stream"]


@functools.cache
def declared(source: Any) -> dict[str, Setting]:
    """What the annotations of a class or function say of its fields or arguments, by name.

    >>> declared(Range)["low"]
    Setting(takes=None, kind=<class 'float'>, about='', optional=False)
    """
    try:
        hints = typing.get_type_hints(source, include_extras=True)
    except (NameError, TypeError):
        if source.__module__.partition(".")[0] == __name__.partition(".")[0]:
            raise
        return {}  # of a user's own class, whose annotations cannot be looked up, nothing is known
    return {name: _setting(hint) for name, hint in hints.items() if name != "return"}


def _setting(hint: Any) -> Setting:
    """What one annotation says; that of an optional value is the same."""
    if typing.get_origin(hint) is not Annotated:
        parts = typing.get_args(hint)
        inner = [part for part in parts if typing.get_origin(part) is Annotated]
        return _setting(inner[0])._replace(optional=NoneType in parts) if inner else Setting(None, hint, "")
    kind, *notes = typing.get_args(hint)
    takes = [note for note in notes if isinstance(note, (Range, Choice))]
    about = [note for note in notes if isinstance(note, str)]
    return Setting(takes[-1] if takes else None, kind, about[-1] if about else "")


def check(name: str, takes: Range | Choice, value: Any, owner: str = "") -> float:
    """The number that a value says, or an error of one line: whose setting it is, what it takes, what was given.

    >>> check("passes", Range(1, 9, whole=True), 2.5)
    Traceback (most recent call last):
    ouzel.errors.OuzelError: passes must be a whole number from 1 to 9; got 2.5
    """
    try:
        return takes.number(value)
    except (TypeError, ValueError, OverflowError):
        shown = value if isinstance(value, str) and is_number(value) else _given(value)
        whose = f"{owner} " if owner else ""
        raise OuzelError(f"{whose}must be {takes.text(here=True)}; got {shown}", subject=name) from None


def checked(source: Any, values: Mapping[str, Any], owner: str = "") -> dict[str, Any]:
    """The values, those that `source` declares a range for checked and of the declared type."""
    known = declared(source)
    found = dict(values)
    for name, value in values.items():
        setting = known.get(name)
        if setting is not None and setting.takes is not None and not (value is None and setting.optional):
            found[name] = setting.kind(check(name, setting.takes, value, owner))
    return found


def ranged(function: Callable[P, T]) -> Callable[P, T]:
    """A function whose arguments are checked by what its annotations declare, before it is called.

    >>> @ranged
    ... def sample(size: Positive) -> int:
    ...     return size
    >>> sample(0)
    Traceback (most recent call last):
    ouzel.errors.OuzelError: size must be a whole number from 1 to 1e15; got 0
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def within(*arguments: P.args, **named: P.kwargs) -> T:
        bound = signature.bind(*arguments, **named)
        bound.apply_defaults()
        bound.arguments.update(checked(function, bound.arguments))
        return function(*bound.args, **bound.kwargs)

    return within


def parse_bytes(size: str | float) -> float:
    """Bytes of a size such as "8KB" or "1.4MB" (1 KB is 1,024 bytes); a number is taken as bytes.

    >>> parse_bytes("8KB")
    8192.0
    """
    if not isinstance(size, str):
        return float(size)
    found = as_size(size)
    if isnan(found):
        raise OuzelError(f"a size is a number of bytes such as 8KB or 1.4MB; got {size!r}")
    return found


class Stored(NamedTuple):
    """What JSON in a file must be, to be of a type, and that in words."""

    holds: Callable[[Any], bool]
    words: str


MOST_STORED = 2**53  # up to which floats count by ones, too
STORED = {
    str: Stored(lambda v: isinstance(v, str) and not any("\ud800" <= letter <= "\udfff" for letter in v), "text"),
    bool: Stored(lambda v: isinstance(v, bool), "true or false"),
    int: Stored(lambda v: type(v) is int and 0 <= v <= MOST_STORED, "a whole number, 0 or more"),
    float: Stored(lambda v: type(v) is int or (type(v) is float and isfinite(v)), "a finite number"),
    NoneType: Stored(lambda v: v is None, "null"),
    Any: Stored(lambda v: True, "anything"),
}
Label = str | bool | float
Table = dict[str, Any]


@functools.cache
def stored_as(kind: Any) -> Stored:
    """What JSON must be to be of a type: true is no number, numbers are finite; a Range bounds the length of a list."""
    kind, *notes = typing.get_args(kind) if typing.get_origin(kind) is Annotated else (kind,)
    takes: Any = next((note for note in notes if isinstance(note, (Range, Choice))), None)
    origin, parts = typing.get_origin(kind), [stored_as(part) for part in typing.get_args(kind)]
    holds = [part.holds for part in parts]
    if origin is tuple:
        words = f"a {'pair' if len(parts) == 2 else 'row'} of {' and '.join(part.words for part in parts)}"
        return Stored(lambda v: isinstance(v, list) and len(v) == len(parts) and all(map(call, holds, v)), words)
    if origin is list:
        most = takes.high if takes else inf
        words = f"a list of which each is {parts[0].words}"
        return Stored(lambda v: isinstance(v, list) and len(v) <= most and all(map(holds[0], v)), words)
    if origin is dict:
        return Stored(lambda v: isinstance(v, dict) and all(map(holds[1], v.values())), "a table")
    if parts:
        return Stored(lambda v: any(held(v) for held in holds), " or ".join(part.words for part in parts))
    if isinstance(takes, Choice):
        return Stored(lambda v: isinstance(v, str) and v in takes.words, takes.text())
    if takes:
        return Stored(lambda v: type(v) is int and takes.low <= v <= takes.high, takes.text())
    return STORED[kind]


def check_stored(stored: Any, kinds: Mapping[str, Any], what: str = "the description") -> None:
    """Refuse a table of a file whose values are not of the types of the same names."""
    if not isinstance(stored, dict) or set(stored) != set(kinds):
        names = reprlib.repr(sorted(stored)) if isinstance(stored, dict) else reprlib.repr(stored)
        raise OuzelError(f"{what} has {names}; expected {', '.join(kinds)}")
    for name, kind in kinds.items():
        if not stored_as(kind).holds(stored[name]):
            raise OuzelError(f"{name} is not {stored_as(kind).words}; got {reprlib.repr(stored[name])}")


@functools.cache
def memory() -> int:
    """Bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _short(number: float) -> str:
    """A bound in as few characters as say it exactly.

    >>> _short(1e9), _short(4096.0), _short(0.999999999), _short(2**53)
    ('1e9', '4,096', '0.999999999', '9,007,199,254,740,992')
    """
    if abs(number) < 1e9 and number == int(number):
        return f"{int(number):,}"
    short = f"{number:g}"
    if float(short) != number:
        return f"{number:,}"
    return EXPONENT.sub(r"e\1", short)


def _given(value: Any) -> str:
    """A value as an error shows it: short, and in one line."""
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
