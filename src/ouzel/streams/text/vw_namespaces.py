"""What options say of the namespaces of Vowpal Wabbit text: which to leave out, and what the features of others are.

Text is changed before it is parsed, letter for letter, so that places in messages stay what they are. The namespace
without a name is called by a blank, as Vowpal Wabbit calls it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ouzel.errors import listed
from ouzel.streams.feature_space import CATEGORY, TEXT
from ouzel.streams.options import OF_COLUMNS, Options
from ouzel.streams.patterns import is_pattern
from ouzel.streams.text.lines import Parsed
from ouzel.streams.text.utf8 import checked_text

Parse = Callable[[np.ndarray, int, int, Options], Parsed]

NAMESPACE = re.compile(rb"\|([^\s|:]*)(:[^\s|]*)?([^|\n]*)")
VALUE = re.compile(rb"(\s[^\s:]+):")
NOT_A_WORD = re.compile(rb"[^A-Za-z0-9'\x80-\xff\n]")


def names_namespaces(options: Options) -> bool:
    """Whether options speak of namespaces, and no model of a table's columns has decided on them."""
    return any(getattr(options, name) for name in OF_COLUMNS) and not options.space.closed


class Namespaces:
    """A parser of Vowpal Wabbit text that goes by the options of columns, which speak of namespaces there.

    `parse` reads the text as it was changed.

    >>> from ouzel.streams.text.vw import parse_vw
    >>> Namespaces(Options(ignore=("u",), categorical=("i",)), parse_vw).changed(b"1 |u a:1 |i b:2 c |t d:3")
    b'1 |u     |i b=2 c |t d:3'
    """

    def __init__(self, options: Options, parse: Parse) -> None:
        self.options = options
        self._parse = parse
        self.met: set[str] = set()

    def parse(self, data: np.ndarray, start: int, stop: int, options: Options) -> Parsed:
        """The examples in whole lines of text, `data[start:stop]` (uint8)."""
        data, start, stop, _, not_utf8 = checked_text(data, start, stop, options)
        text = np.array(bytearray(self.changed(bytes(data[start:stop]))), np.uint8)
        parsed = self._parse(text, 0, len(text), options)
        return parsed if parsed.problem is not None else parsed._replace(problem=not_utf8)

    def changed(self, text: bytes) -> bytes:
        """The text as it is to be parsed, of the same length."""
        return NAMESPACE.sub(self._changed, text)

    def unknown(self, name: str) -> list[str]:
        """A line for people if an option names a namespace that was not met."""
        named = [column for option in OF_COLUMNS for column in getattr(self.options, option)]
        odd = [column for column in dict.fromkeys(named) if not is_pattern(column) and column not in self.met]
        return [f"{name}: has no namespace {listed(odd)}; it has {listed(sorted(self.met))}"] if odd else []

    def _changed(self, found: re.Match[bytes]) -> bytes:
        name = found[1].decode() or " "
        self.met.add(name)
        if not self.options.wants(name):
            return b"|" + found[1] + b" " * (len(found[0]) - 1 - len(found[1]))
        kind = self.options.kind_of(name)
        features = found[3]
        if kind == CATEGORY:
            features = VALUE.sub(rb"\1=", features)
        elif kind == TEXT:
            features = NOT_A_WORD.sub(b" ", features).lower()
        return b"|" + found[1] + (found[2] or b"") + features
