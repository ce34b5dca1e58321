"""Vowpal Wabbit's options and their equivalents here: answers of the command line, and a page of documentation.

The options are data: vowpal_wabbit.toml. `make vowpal-wabbit` writes docs/vowpal-wabbit.md of them; a test compares
the two.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ouzel.errors import OuzelError

TABLE = Path(__file__).with_suffix(".toml")
HEAD = """# Coming from Vowpal Wabbit

Ouzel reads Vowpal Wabbit's text as it is (`ouzel train data.vw`), with tags, importances, namespaces and their scales;
names hash with MurmurHash3, too, though not to the same ids. What Vowpal Wabbit says with options is said by the
command here: `ouzel train` learns, `ouzel predict` predicts, `ouzel top` shows weights. An option of Vowpal Wabbit that
Ouzel does not have is answered by its line of this table. `make vowpal-wabbit` writes this page from the code.

`ouzel vw` prints the commands for a command line of Vowpal Wabbit, with a line for each option that has no equivalent,
or is not needed; `ouzel vw --run` runs them, too.

```text
$ ouzel vw -d train.vw -l 0.5 --loss_function logistic -b 22 -q ab --passes 1 -f model
ouzel train train.vw --model model --bits 22 --learning-rate 0.5 --loss logistic --cross 'a*:b*' --passes 1
$ ouzel vw -t -i model -d test.vw -p out.csv --holdout_off
# `--holdout_off` of Vowpal Wabbit is not needed here: nothing is held out without `--holdout-every N`
ouzel predict model test.vw --output out.csv
```

| Vowpal Wabbit | here |
| --- | --- |
"""


def namespaces(letters: str) -> str:
    """Return the namespaces that begin with these letters, as a cross.

    >>> namespaces("ab"), namespaces("a::")
    ('a*:b*', 'a*:*:*')
    """
    return ":".join(map(namespace, letters))


def namespace(letter: str) -> str:
    """Return the pattern of the namespaces that begin with a letter.

    >>> namespace("a"), namespace(":")
    ('a*', '*')
    """
    return "*" if letter == ":" else f"{letter}*"


def whole(text: str) -> str:
    """Return a whole number as it is written; raise ValueError on others."""
    int(text)
    return text


def number(text: str) -> str:
    """Return a number as it is written; raise ValueError on others."""
    float(text)
    return text


def ngram(text: str) -> str:
    """Return n-grams of all namespaces, or of those that begin with a letter.

    >>> ngram("2"), ngram("a3")
    ('2', 'a*=3')
    """
    return f"{namespace(text[0])}={whole(text[1:])}" if text[:1].isalpha() else whole(text)


TYPES: dict[str, tuple[Callable[[str], str], str]] = {
    "text": (str, "text"),
    "file": (str, "a file"),
    "int": (whole, "a whole number"),
    "float": (number, "a number"),
    "namespace": (namespace, "the first letter of namespaces"),
    "namespaces": (namespaces, "the first letters of namespaces, such as ab"),
    "ngram": (ngram, "a number of words, such as 2, or a2 of one namespace"),
}
"""What an argument may be: its function raises ValueError on others, and returns what stands for it here."""


class Option(NamedTuple):
    """Option of Vowpal Wabbit with its equivalent here, an entry of the table."""

    names: tuple[str, ...]
    here: str  # the end of the sentence "`-q ab` of Vowpal Wabbit …"
    argument: str = ""  # in capitals, "" if it takes none
    type: str = "text"  # of the argument, one of `TYPES`
    values: Mapping[str, str] = {}  # where the argument is one of a list: what each is called here
    to: tuple[str, ...] | None = None  # arguments of a command here, {} for the value; () if none is needed
    command: str = "train"  # the command that `to` are arguments of
    when: str = ""  # the only option, with its argument, that it counts with; others leave it without effect

    def translated(self, value: str = "", name: str = "") -> list[str]:
        """Return the arguments that stand for the option here; raise `OuzelError` where nothing does.

        Errors call it by the `name` that was given, or the first of its names.

        >>> find("-q").translated("ab"), find("--holdout_off").translated()
        (['--cross', 'a*:b*'], [])
        """
        given = f"`{' '.join([name or self.names[0], *([value] if value else [])])}` of Vowpal Wabbit"
        if self.to is None:
            raise OuzelError(f"{given} {self.here}")
        if self.argument and not value:
            raise OuzelError(f"{given} takes {self.argument}, which is missing; it {self.here}")
        if self.values and value not in self.values:
            raise OuzelError(f"{given} is not here; use one of {', '.join(self.values)}")
        convert, expected = TYPES[self.type]
        try:
            converted = self.values[value] if self.values else convert(value)
        except ValueError:
            raise OuzelError(f"{given} takes {expected}; got {value!r}") from None
        return [part.replace("{}", converted) for part in self.to]


@lru_cache(1)
def options() -> tuple[Option, ...]:
    """Return all options, in the order of the table: of those that contradict each other the last one counts."""
    entries = tomllib.loads(TABLE.read_text(encoding="utf-8"))["option"]
    return tuple(Option(**{field: _frozen(value) for field, value in entry.items()}) for entry in entries)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def find(name: str) -> Option | None:
    """Return the option of Vowpal Wabbit with this name; None if there is none.

    >>> find("--bit_precision").to, find("--xyzzy")
    (('--bits', '{}'), None)
    """
    return next((option for option in options() if name in option.names), None)


def answer(option: str, arguments: Sequence[str]) -> str | None:
    """Return the answer to an unknown option among the arguments; None if it is not one of Vowpal Wabbit's.

    >>> answer("-f", ["train", "a.vw", "-f", "a.model"])
    '`-f a.model` of Vowpal Wabbit is `--model MODEL` here'
    """
    found = find(option)
    if found is None:
        return None
    place = next(k for k, given in enumerate(arguments) if _stands_in(option, given))
    argument = arguments[place + 1 : place + 2] if found.argument and arguments[place] == option else []
    return f"`{' '.join([arguments[place], *argument])}` of Vowpal Wabbit {found.here}"


def _stands_in(option: str, given: str) -> bool:
    """Return whether an argument is an option, possibly with its value: `-b18`, `--oaa=3`."""
    return given == option or given.startswith(f"{option}=" if option.startswith("--") else option)


def page() -> str:
    """Return the page as Markdown."""
    return HEAD + "".join(f"| {_written(option)} | {option.here} |\n" for option in options())


def _written(option: Option) -> str:
    return ", ".join(f"`{name} {option.argument}`" if option.argument else f"`{name}`" for name in option.names)


if __name__ == "__main__":
    print(page(), end="")
