"""The words of a text."""

from __future__ import annotations

import re

WORD = re.compile(rb"[A-Za-z0-9'\x80-\xff]+")  # as `cells.read_tokens` parts text


def tokens(text: str) -> list[str]:
    """The words of a text in lower case, as tables have them: letters, digits and apostrophes.

    >>> tokens("It's 2 o'clock.")
    ["it's", '2', "o'clock"]
    """
    return [word.lower().decode() for word in WORD.findall(text.encode())]
