"""The options in a command line of Vowpal Wabbit, with their values."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ouzel.cli.vowpal_wabbit import FOREIGN, Option, by_name, find
from ouzel.errors import OuzelError, suggest

LIKENESS = 0.85  # of a name that is suggested in place of an unknown one


@dataclass
class Given:
    """Option of Vowpal Wabbit in a command line, with its values."""

    option: Option
    name: str
    values: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"`{' '.join([self.name, *self.values])}` {FOREIGN}"

    @property
    def arguments(self) -> list[str]:
        """The arguments here that stand for the option."""
        return [word for value in self.values or [""] for word in self.option.translated(value, self.name)]


def split(arguments: Sequence[str]) -> list[str]:
    """Split a quoted command line; words with blanks among others stay whole."""
    if len(arguments) != 1 or len(arguments[0].split()) < 2 or Path(arguments[0]).exists():
        return list(arguments)
    try:
        return shlex.split(arguments[0])
    except ValueError as error:
        raise OuzelError(f"{arguments[0]!r} is not a command line: {str(error).lower()}") from None


def parsed(arguments: Sequence[str]) -> Iterator[Given]:
    """Yield the options of a command line, with their values; a word without an option is a file."""
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            yield Given(by_name()["-d"], "-d", [word])
            continue
        name, sign, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
        known = find(name)
        if known is None:
            name = word.partition("=")[0]
            hint = suggest(name, by_name(), LIKENESS).removeprefix(". ").strip()
            unknown = f"is not in the table of options {FOREIGN}; leave it out. {hint}".strip(". ")
            yield Given(Option(here=unknown, meaning="unknown"), name)
            continue
        argument = known.argument_of(name)
        if not argument and sign:
            if word.startswith("--"):
                raise OuzelError(f"`{name}` {FOREIGN} takes no value; got {value!r}")
            rest.insert(0, f"-{value}")  # -kc is -k -c
        if argument and not sign and not rest:
            known.translated("", name)
            raise OuzelError(f"`{name}` {FOREIGN} takes {argument}, which is missing")
        values = [value if sign else rest.pop(0)] if argument else []
        while argument and known.many and rest and not rest[0].startswith("-"):
            values.append(rest.pop(0))
        yield Given(known, name, values)
