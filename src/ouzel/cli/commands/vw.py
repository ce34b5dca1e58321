"""`ouzel vw`: prints the `ouzel` commands for a command line of Vowpal Wabbit, and runs them with --run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from itertools import islice
from typing import Annotated, Any

from typer.exceptions import Exit

from ouzel.cli.parameters import argument, option
from ouzel.cli.vowpal_wabbit_commands import Translation, translated
from ouzel.streams.formats.catalogue import by_file_name

SETTINGS = {"ignore_unknown_options": True, "help_option_names": ["--help"]}  # -h may be one of letters, as in -qah
BAD_INPUT = 2  # exit status
PROGRAMS = ("head", "tail")  # in the commands, beside `ouzel`


def vw(
    arguments: Annotated[
        list[str], argument("Options of Vowpal Wabbit, and files; or all of them, quoted.", "VW-OPTIONS")
    ],
    run: Annotated[bool, option("Run the commands.")] = False,
) -> None:
    """Print the commands that do what a command line of Vowpal Wabbit does.

    A line that begins with # is of an option that changes nothing, or without which another model is learnt. An option
    of another kind of model, or an unknown one, ends with status 2 and a line on stderr.

    Example: ouzel vw -d train.vw --loss_function logistic -b 22 -q ab -f model
    """
    if arguments == ["-h"]:
        _run(["vw", "--help"])
        return
    found = translated(arguments)
    if found.refused:
        print("\n".join(f"ouzel: {line}" for line in found.refused), file=sys.stderr)
        raise Exit(BAD_INPUT)
    lines = [f"# {line}" for line in remarks(found)] + [written(command) for command in found.commands]
    print("\n".join(lines), file=sys.stderr if run else sys.stdout, flush=True)
    if run:
        for command in found.commands:
            _run(command)


def remarks(found: Translation) -> list[str]:
    """Return the lines on options, those that change nothing apart from those without which another model is learnt.

    >>> remarks(Translation(nothing=["`-k` is not needed"], notes=["labels are numbers"]))
    ['changes nothing:', '`-k` is not needed', 'labels are numbers']
    """
    another, nothing = [["another model:"] * bool(found.another), ["changes nothing:"] * bool(found.nothing)]
    return [*another, *found.another, *nothing, *found.nothing, *found.notes]


def written(command: Sequence[str]) -> str:
    """Return a command as a shell takes it; a file that no table is written to is one of standard output.

    >>> written(["predict", "m", "t.vw", "--output", "p.txt"]), written(["top", "m", "--output", "w.csv"])
    ('ouzel predict m t.vw > p.txt', 'ouzel top m --output w.csv')
    >>> written(["head", "-n", "9", "t.vw", "--output", "t.first-9.vw"])
    'head -n 9 t.vw > t.first-9.vw'
    """
    words, output = _redirected(command)
    program = [] if words[0] in PROGRAMS else ["ouzel"]
    return shlex.join([*program, *words]) + (f" > {shlex.quote(output)}" if output else "")


def _redirected(command: Sequence[str]) -> tuple[list[str], str]:
    """Split off the output of a command where it is not a table; return the command and the output."""
    place = command.index("--output") if "--output" in command else len(command)
    output = "".join(command[place + 1 : place + 2])
    format = by_file_name(output)
    if not output or (format is not None and format.is_table and command[0] not in PROGRAMS):
        return list(command), ""
    return [*command[:place], *command[place + 2 :]], output


def _run(command: Sequence[str]) -> None:
    """Run a command; leave with its status if it fails."""
    from ouzel.cli.app import answered

    words, output = _redirected(command)
    if words[0] in PROGRAMS:
        _cut(words[0], int(words[2]), words[3], output)
        return
    with open(output, "w") if output else nullcontext() as file:
        into: Any = nullcontext() if file is None else redirect_stdout(file)
        with into:
            status = answered(words)
    if status:
        raise Exit(status)


def _cut(program: str, count: int, source: str, output: str) -> None:
    """Copy the first lines of a file, or those from a line on, as `head` and `tail` do."""
    with open(source, "rb") as lines, open(output, "wb") as copy:
        copy.writelines(islice(lines, count) if program == "head" else islice(lines, count - 1, None))
