"""Tokenisers of text: words, punctuation, whitespace, a regular expression, or a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow

from ouzel.analytics.sketch import ALL_BITS, slots_of_text
from ouzel.errors import OuzelError
from ouzel.learners.plugins import member
from ouzel.sketches.hashing import MOST_ID
from ouzel.streams.tables.cells import read_tokens, words_of

PATTERNS = {"punctuation": r"\w+(?:'\w+)*|[^\w\s]", "whitespace": r"\S+"}
OUTER = re.compile(r"(?<!\w)'+|'+(?!\w)")  # apostrophes that do not stand within a word: quotation marks
NOTHING = np.empty(0, np.uint8)
FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*$")

Tokenise = Callable[[Sequence[str], int], "Tokens"]


class Tokens(NamedTuple):
    """Documents as tokens: document i ends before position `ends[i]`."""

    slots: np.ndarray  # (n,) uint32
    ends: np.ndarray  # (documents,) int64
    name_of: Callable[[int], str]  # of a position

    @classmethod
    def of_sequences(cls, documents: Sequence[Sequence[str]], seed: int) -> Tokens:
        """Make tokens of documents that are sequences of tokens."""
        names = [token for document in documents for token in document]
        parts = [name.encode() for name in names]
        ends = np.cumsum([len(part) for part in parts], dtype=np.uint64)
        starts = np.concatenate([np.zeros(1, np.uint64), ends])[: len(ends)]
        slots = slots_of_text(np.frombuffer(b"".join(parts), np.uint8), starts, ends, seed)
        return cls(slots, np.cumsum([len(document) for document in documents], dtype=np.int64), names.__getitem__)

    @classmethod
    def of_text(cls, text: str, tokenise: Tokenise) -> list[str]:
        """Tokenise one text."""
        found = tokenise([text], 0)
        return [found.name_of(k) for k in range(len(found.slots))]


def label_of(how: Any) -> str:
    """Return the name of a user's tokeniser, a function or `module:function`; empty for a built-in one."""
    if isinstance(how, str):
        return how if FUNCTION.match(how) else ""
    return f"{getattr(how, '__module__', '')}:{getattr(how, '__qualname__', type(how).__qualname__)}"


def tokeniser(how: str | Callable[[str], Iterable[str]]) -> Tokenise:
    """Return the function that tokenises texts by a seed of the hash; import `module:function`.

    >>> found = tokeniser("word")(["The U.S. said: 'don't'"], 0)
    >>> [found.name_of(k) for k in range(len(found.slots))]
    ['the', 'u', 's', 'said', "don't"]
    """
    if not isinstance(how, str):
        return _by(_called(how, how))
    if how == "word":
        return _words
    if FUNCTION.match(how):
        return _by(_called(member(how, "a function"), how))
    try:
        pattern = re.compile(PATTERNS.get(how, how))
    except (re.error, OverflowError, RecursionError) as error:
        raise OuzelError(
            f"tokens are word, punctuation, whitespace, module:function or a regular expression; got {how!r} ({error})"
        ) from None
    if pattern.groups > 1:
        raise OuzelError(f"a regular expression for tokens has at most one group; {how!r} has {pattern.groups}")
    if how == "punctuation":
        return _by(lambda text: pattern.findall(text.lower()))
    return _by(pattern.findall)


def _words(texts: Sequence[str], seed: int) -> Tokens:
    """Tokenise words, letters, digits and inner apostrophes in lower case, by a kernel."""
    array = pyarrow.array([OUTER.sub(" ", text) if "'" in text else text for text in texts], pyarrow.large_string())
    words, whole = words_of(array), np.zeros(len(array), np.uint8)
    ends, ids, starts, stops, text = read_tokens(words, NOTHING, len(words.data), np.uint32(seed), ALL_BITS, whole)

    def name_of(k: int) -> str:
        return bytes(text[int(starts[k]) : int(stops[k])]).decode("utf-8", "replace")

    return Tokens(np.minimum(ids, np.uint32(MOST_ID)) + np.uint32(1), ends[1:], name_of)


def _by(function: Callable[[str], Sequence[str]]) -> Tokenise:
    def tokenise(texts: Sequence[str], seed: int) -> Tokens:
        return Tokens.of_sequences([[token for token in function(text) if token] for text in texts], seed)

    return tokenise


def _called(found: Any, how: Any) -> Callable[[str], Sequence[str]]:
    """Wrap a function so that its tokens are text."""
    if not callable(found):
        raise OuzelError(f"tokens: {how!r} is not a function")
    return lambda text: [str(token) for token in found(text)]


def shortened(name: str, longest: int) -> str:
    """Shorten a name to a number of bytes."""
    if len(name.encode()) <= longest:
        return name
    return name.encode()[: longest - 3].decode("utf-8", "ignore") + "…"
