"""Vowpal Wabbit's options and their equivalents here: answers of the command line, and a page of documentation.

The options are data: vowpal_wabbit.toml. A new option is one entry, or one more name of an entry. `make vowpal-wabbit`
writes docs/vowpal-wabbit.md of them; a test compares the two.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ouzel.errors import OuzelError

TABLE = Path(__file__).with_suffix(".toml")
FOREIGN = "of Vowpal Wabbit"
HEAD = """# Coming from Vowpal Wabbit

Ouzel reads Vowpal Wabbit's text as it is (`ouzel train data.vw`), with tags, importances, namespaces and their scales;
names hash with MurmurHash3, too, though not to the same ids. `ouzel vw` prints the commands for a command line of
Vowpal Wabbit, which may be quoted; `ouzel vw --run` runs them, too. A line that begins with # is about an option that
changes nothing, or without which another model is learnt. An option of another kind of model ends with status 2 and the
reason. `make vowpal-wabbit` writes this page from the code.

```text
$ ouzel vw -d train.vw -l 0.5 --loss_function logistic -b 22 -q ab --passes 1 -f model
# `--learning-rate` of auto is 1 by default, and `-l` of Vowpal Wabbit 0.5
ouzel train train.vw --model model --bits 22 --learning-rate 0.5 --loss logistic --cross 'a*:b*' --passes 1
$ ouzel vw -t -i model -d test.vw -p out.csv --holdout_off
# changes nothing:
# `--holdout_off` of Vowpal Wabbit is not needed here: nothing is held out without `--holdout-every N`
ouzel predict model test.vw --output out.csv
```

## Units

- The squared loss of Vowpal Wabbit is (prediction - label)^2, and here half of that: its mean loss is twice ours. The
  logistic, hinge and quantile losses are the same.
- Both predict each example before they learn it. With several passes the average loss of Vowpal Wabbit is over all of
  them, or over the examples that are held out; here `mean loss` is of the first pass, and `by pass` shows each.
- With two passes or more Vowpal Wabbit holds out every tenth example, and may stop early; here `--holdout-every 10`
  holds out.
- While it learns, Vowpal Wabbit writes predictions from before each example is learnt; `ouzel predict` writes those of
  the learnt model.
- By the logistic loss `--ftrl` and `--adaptive` predict the same here and there, with the same rate; the other learners
  are of another kind.
- Vowpal Wabbit knows a namespace by its first letter. Here namespaces have whole names, so that n-grams of two
  namespaces with one first letter stay apart, and a pattern crosses different namespaces; `--cross user:user` crosses
  one with itself.
"""
MEANINGS = {
    "translated": "Translated",
    "nothing": "Changes nothing that is learnt",
    "model": "Makes another model, linear all the same; `ouzel vw` leaves it out with a line",
    "kind": "Makes another kind of model; `ouzel vw` ends with status 2",
}
"""What an option may mean here, with the heading of the page."""


def letters(text: str) -> list[str]:
    r"""Return letters, of which Vowpal Wabbit may write any as \xHH.

    >>> letters("ab"), letters(r"\x61:")
    (['a', 'b'], ['a', ':'])
    """
    found = list(re.sub(r"\\x([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), text))
    if not found:
        raise ValueError
    return found


def namespace(letter: str) -> str:
    """Return the pattern of the namespaces that begin with a letter.

    >>> namespace("a"), namespace(":"), namespace("*")
    ('a*', '*', '[*]*')
    """
    return "*" if letter == ":" else f"[{letter}]*" if letter in "*?[" else f"{letter}*"


def crosses(text: str, count: int = 0) -> list[str]:
    """Return the namespaces that begin with these letters, as crosses; raise ValueError unless there are `count`.

    A letter that comes twice, or with a colon for all, crosses the namespace of that name with itself, too.

    >>> crosses("ab"), crosses("aa"), crosses("a:")
    (['a*:b*'], ['a*:a*', 'a:a'], ['a*:*', 'a:a'])
    """
    found = letters(text)
    if len(found) != count if count else len(found) < 2:
        raise ValueError
    named = [letter for letter in found if letter != ":"]
    itself = named * 2 if len(found) == 2 and len(named) == 1 else found
    plain = not set(itself) & set(":*?[") and len(set(itself)) < len(itself)
    return [":".join(map(namespace, found)), *([":".join(itself)] if plain else [])]


def crosses_within(text: str) -> bool:
    """Return whether Vowpal Wabbit crosses features of a namespace with each other.

    >>> crosses_within("ab"), crosses_within("aa"), crosses_within("a:")
    (False, True, True)
    """
    found = letters(text)
    return ":" in found or len(set(found)) < len(found)


def whole(text: str) -> list[str]:
    """Return a whole number as it is written; raise ValueError on others."""
    int(text)
    return [text]


def number(text: str) -> list[str]:
    """Return a number as it is written; raise ValueError on others."""
    float(text)
    return [text]


def of_namespace(text: str) -> list[str]:
    """Return the words of n-grams, or those they may skip: of all namespaces, or of those that begin with a letter.

    >>> of_namespace("2"), of_namespace("a3")
    (['2'], ['a*=3'])
    """
    return whole(text) if text.isdigit() else [f"{namespace(text[:1])}={whole(text[1:])[0]}"]


def weights(text: str) -> list[str]:
    """Return classes and their weights; raise ValueError on others.

    >>> weights("1:2,-1:0.5")
    ['1=2,-1=0.5']
    """
    pairs = [part.rpartition(":") for part in text.split(",")]
    if not all(name for name, _, _ in pairs):
        raise ValueError
    return [",".join(f"{name}={number(weight)[0]}" for name, _, weight in pairs)]


TYPES: dict[str, tuple[Callable[[str], list[str]], str]] = {
    "text": (lambda text: [text], "text"),
    "file": (lambda text: [text], "a file"),
    "int": (whole, "a whole number"),
    "float": (number, "a number"),
    "letters": (lambda text: list(map(namespace, letters(text))), "the first letters of namespaces"),
    "namespaces": (crosses, "the first letters of two namespaces or more, such as ab"),
    "pair": (lambda text: crosses(text, 2), "the first letters of two namespaces, such as ab"),
    "triple": (lambda text: crosses(text, 3), "the first letters of three namespaces, such as abc"),
    "names": (lambda text: [text.replace("|", "*")], "names of namespaces, such as user|item"),
    "ngram": (of_namespace, "a number of words, such as 2, or a2 of one namespace"),
    "skips": (of_namespace, "a number of words, such as 1, or a1 of one namespace"),
    "weights": (weights, "classes and their weights, such as 1:2,-1:0.5"),
}
"""What an argument may be: its function raises ValueError on others, and returns what stands for it here."""
CROSSES = ("pair", "triple", "namespaces")
"""Types of arguments that are crosses by letters."""


class Option(NamedTuple):
    """Option of Vowpal Wabbit with its equivalent here, an entry of the table."""

    here: str  # the end of the sentence "`-q ab` of Vowpal Wabbit …"
    meaning: str  # one of `MEANINGS`
    names: tuple[str, ...] = ()  # those that take an argument, if any does
    switches: tuple[str, ...] = ()  # those that take none
    argument: str = ""  # in capitals, "" if none takes one
    type: str = "text"  # of the argument, one of `TYPES`
    many: bool = False  # whether all words up to the next option are arguments
    values: Mapping[str, str] = {}  # where the argument is one of a list: what each is called here
    to: tuple[str, ...] = ()  # arguments of a command here, {} for the value
    command: str = "train"  # the command that `to` are arguments of; "lines" for how many of a file are read
    when: str = ""  # the option, with its argument if one counts, that it has an effect with

    @property
    def all_names(self) -> tuple[str, ...]:
        """All names, those that take an argument first."""
        return self.names + self.switches

    def argument_of(self, name: str) -> str:
        """Return what a name takes, "" if nothing.

        >>> find("--lda").argument_of("--lda"), find("--lda").argument_of("--metrics")
        ('VALUE', '')
        """
        return self.argument if name in self.names else ""

    def translated(self, value: str = "", name: str = "") -> list[str]:
        """Return the arguments that stand for the option here; raise `OuzelError` where nothing does.

        Errors call it by the `name` that was given, or the first of its names.

        >>> find("-q").translated("ab"), find("--holdout_off").translated()
        (['--cross', 'a*:b*'], [])
        """
        name = name or self.all_names[0]
        text = f"`{' '.join(filter(None, [name, value]))}` {FOREIGN}"
        if self.meaning in ("model", "kind"):
            raise OuzelError(f"{text} {self.here}")
        if self.meaning == "nothing":
            return []
        if self.argument_of(name) and not value:
            raise OuzelError(f"{text} takes {self.argument}, which is missing; it {self.here}")
        if self.values and value not in self.values:
            raise OuzelError(f"{text} is not here; use one of {', '.join(self.values)}")
        convert, expected = TYPES[self.type]
        try:
            converted = [self.values[value]] if self.values else convert(value) if self.argument_of(name) else [""]
        except ValueError:
            raise OuzelError(f"{text} takes {expected}; got {value!r}") from None
        return [part.replace("{}", argument) for argument in converted for part in self.to]


@lru_cache(1)
def options() -> tuple[Option, ...]:
    """Return all options, in the order of the table: of those that contradict each other the last one counts."""
    entries = tomllib.loads(TABLE.read_text(encoding="utf-8"))["option"]
    return tuple(Option(**{field: _frozen(value) for field, value in entry.items()}) for entry in entries)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@lru_cache(1)
def by_name() -> dict[str, Option]:
    """Return the options by each of their names."""
    return {name: option for option in options() for name in option.all_names}


def find(name: str) -> Option | None:
    """Return the option of Vowpal Wabbit with this name; None if there is none.

    >>> find("--bit_precision").to, find("--xyzzy")
    (('--bits', '{}'), None)
    """
    return by_name().get(name)


def answer(option: str, arguments: Sequence[str]) -> str | None:
    """Return the answer to an unknown option among the arguments; None if it is not one of Vowpal Wabbit's.

    An option may be written with hyphens for its underscores.

    >>> answer("-f", ["train", "a.vw", "-f", "a.model"])
    '`-f a.model` of Vowpal Wabbit is `--model MODEL` here'
    """
    name = option if find(option) is not None else f"--{option.removeprefix('--').replace('-', '_')}"
    found = find(name)
    if found is None:
        return None
    place = next(k for k, given in enumerate(arguments) if _stands_in(option, given))
    argument = arguments[place + 1 : place + 2] if found.argument_of(name) and arguments[place] == option else []
    return f"`{' '.join([arguments[place], *argument])}` {FOREIGN} {found.here}"


def _stands_in(option: str, given: str) -> bool:
    """Return whether an argument is an option, possibly with its value: `-b18`, `--oaa=3`."""
    return given == option or given.startswith(f"{option}=" if option.startswith("--") else option)


def page() -> str:
    """Return the page as Markdown."""
    tables = [
        f"\n## {heading}\n\n| Vowpal Wabbit | here |\n| --- | --- |\n"
        + "".join(f"| {_written(option)} | {option.here} |\n" for option in options() if option.meaning == meaning)
        for meaning, heading in MEANINGS.items()
    ]
    return HEAD + "".join(tables)


def _written(option: Option) -> str:
    """Return the names of an option, with its argument unless it is refused anyway."""
    shown = [(name, option.meaning != "kind" and option.argument_of(name)) for name in option.all_names]
    return ", ".join(f"`{name} {argument}`" if argument else f"`{name}`" for name, argument in shown)


if __name__ == "__main__":
    print(page(), end="")
