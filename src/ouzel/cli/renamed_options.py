"""Other names of options: former ones, still accepted with a line, and those of other programs, which are not."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

from ouzel.flags import flag_of

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

ELSEWHERE: dict[str, tuple[str, ...]] = {
    "--checkpoint": ("--model",),
    "--learning_rate": ("--learning-rate",),
    "--out": ("--output", "--model"),
    "--output": ("--model", "--plot"),
    "--save": ("--model", "--output", "--plot"),
    "--save-model": ("--model",),
    "--target": ("--label",),
    "--target-column": ("--label",),
    "--y": ("--label",),
}
"""Names that other programs have, each with the options here of which a command has one."""

COMMANDS_ELSEWHERE = {
    "evaluate": "test",
    "fit": "train",
    "learn": "train",
    "score": "test",
    "tune": "compare",
    "weights": "top",
}
"""Names that commands have in other programs."""


def named_elsewhere(option: str, command: str, known: Collection[str]) -> str | None:
    """Say what an option of another library, or of Python, is called here; None if it is not known.

    >>> named_elsewhere("--lr", "train", {"--learning-rate"}), named_elsewhere("--save", "train", {"--model"})
    ('--lr is called --learning-rate here', '--save is called --model here')
    >>> named_elsewhere("--verbose", "train", ())
    '--verbose is not needed here, for progress is shown at a terminal and in notebooks'
    """
    from ouzel.model.settings import CALLED, OTHER_NAMES

    keyword = option.lstrip("-").replace("-", "_")
    here = (*ELSEWHERE.get(option, ()), *((flag_of(CALLED[keyword]),) if keyword in CALLED else ()))
    new = next((name for name in here if name in known), None)
    if new is not None:
        return f"{option} is called {new} here"
    if keyword in CALLED or keyword not in OTHER_NAMES:
        return None
    about = OTHER_NAMES[keyword]
    return f"{option} is not needed here, {about}" if about.startswith("for ") else f"{option} is not here, {about}"


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
