"""Flags of the command line for keywords of the library, where the two are called differently.

`OuzelError` names options by them, and a test checks that the commands declare the same flags.
"""

from __future__ import annotations

FLAGS = {
    "begin": "from",
    "by": "join-key",
    "columns": "column-names",
    "each": "per-file",
    "forget": "half-life",
    "hinges": "splines",
    "keep": "only-columns",
    "lanes": "shards",
    "limits": "limit",
    "most_classes": "max-classes",
    "within": "join-window",
}


def flag_of(keyword: str) -> str:
    """The flag of the command line for a keyword.

    >>> flag_of("within"), flag_of("on_error")
    ('--join-window', '--on-error')
    """
    return f"--{FLAGS.get(keyword, keyword).replace('_', '-')}"
