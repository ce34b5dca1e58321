"""Former names of options, which are still accepted: hidden from the help, with one line that names the new option."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

REMOVED_IN = "0.3.0"  # the version that refuses the former names
RENAMED: dict[str, tuple[str, ...]] = {
    "--again": ("--relearn",),
    "--also": ("--extra-model",),
    "--begin": ("--from", "--init"),
    "--by": ("--join-key",),
    "--columns": ("--column-names",),
    "--each": ("--per-file",),
    "--feed-anew": ("--feed-reset",),
    "--feed-begin": ("--feed-from",),
    "--forget": ("--half-life",),
    "--hinges": ("--splines",),
    "--keep": ("--only-columns",),
    "--lanes": ("--shards",),
    "--most-classes": ("--max-classes",),
    "--pack": ("--compression",),
    "--to": ("--save-to",),
    "--within": ("--join-window",),
}
"""Each former name with its new ones; a command has one of these at most."""


def renamed(old: str, arguments: Sequence[str], known: Collection[str]) -> list[str] | None:
    """Return arguments with an unknown option under its new name; None if it never was an option of the command.

    >>> renamed("--keep", ["t.csv", "--keep", "a", "--keep=b"], {"--only-columns"})
    ['t.csv', '--only-columns', 'a', '--only-columns=b']
    >>> renamed("--keep", ["m", "--keep", "a"], {"--top"}) is None
    True
    """
    new = next((name for name in RENAMED.get(old, ()) if name in known), None)
    if new is None or old in known:
        return None
    print(f"ouzel: {old} is called {new} now; version {REMOVED_IN} will refuse the old name", file=sys.stderr)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [new + given.removeprefix(old) if given.partition("=")[0] == old else given for given in arguments[:end]]
    return [*options, *arguments[end:]]
