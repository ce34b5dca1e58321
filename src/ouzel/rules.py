"""What values in JSON must be, each checked against a rule before anything is made of it.

A rule says in words what a value is, for the one line that refuses another. Whole numbers are never true or false,
nothing is infinite or not a number, text can be printed.

>>> check({"bits": 18}, {"bits": whole(1, 31)})
>>> check({"bits": 1e99}, {"bits": whole(1, 31)})
Traceback (most recent call last):
ouzel.errors.OuzelError: bits is not a whole number from 1 to 31; got 1e+99
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NamedTuple

from ouzel.errors import OuzelError
from ouzel.layout import MOST_COUNT


class Rule(NamedTuple):
    """What a value must be."""

    holds: Callable[[Any], bool]
    words: str


def whole(least: int = 0, most: int = MOST_COUNT) -> Rule:
    """A whole number of a range."""
    words = f"a whole number from {least} to {most}" if most < MOST_COUNT else f"a whole number, {least} or more"
    return Rule(lambda value: type(value) is int and least <= value <= most, words)


def one_of(*known: Any) -> Rule:
    """One of some values."""
    return Rule(lambda value: isinstance(value, str) and value in known, " or ".join(map(repr, known)))


def list_of(rule: Rule, most: int = MOST_COUNT) -> Rule:
    """A list of what another rule holds of."""
    return Rule(
        lambda value: isinstance(value, list) and len(value) <= most and all(map(rule.holds, value)),
        f"a list of which each is {rule.words}",
    )


def pair_of(first: Rule, second: Rule) -> Rule:
    """A list of two."""
    return Rule(
        lambda value: isinstance(value, list) and len(value) == 2 and first.holds(value[0]) and second.holds(value[1]),
        f"a pair of {first.words} and {second.words}",
    )


def either(*rules: Rule) -> Rule:
    """What one of some rules holds of."""
    return Rule(lambda value: any(rule.holds(value) for rule in rules), " or ".join(rule.words for rule in rules))


def _printable(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


text = Rule(_printable, "text")
flag = Rule(lambda value: isinstance(value, bool), "true or false")
number = Rule(lambda value: type(value) is int or (type(value) is float and isfinite(value)), "a finite number")
nothing = Rule(lambda value: value is None, "null")
anything = Rule(lambda value: True, "anything")
table = Rule(lambda value: isinstance(value, dict), "a table")
label = either(text, flag, number)


def check(stored: Any, rules: Mapping[str, Rule], what: str = "the description") -> None:
    """Refuse a table whose values are not what the rules of the same names say."""
    if not isinstance(stored, dict) or set(stored) != set(rules):
        names = reprlib.repr(sorted(stored)) if isinstance(stored, dict) else reprlib.repr(stored)
        raise OuzelError(f"{what} has {names}; expected {', '.join(rules)}")
    for name, rule in rules.items():
        if not rule.holds(stored[name]):
            raise OuzelError(f"{name} is not {rule.words}; got {reprlib.repr(stored[name])}")
