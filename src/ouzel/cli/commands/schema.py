"""`ouzel schema`: prints the JSON schemas of what commands print with --json."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

from ouzel.cli.parameters import Kind, argument
from ouzel.errors import OuzelError, suggest


def commands() -> Iterable[str]:
    """Return the names of commands with a schema."""
    from ouzel.cli.schemas.commands import KINDS

    return KINDS


COMMAND = Kind("COMMAND", words=commands)


def schema(
    command: Annotated[
        str | None,
        argument("A command; without one, those that have a schema are listed.", COMMAND),
    ] = None,
) -> None:
    """Print the JSON schema of what a command prints with --json, or for `predict` of each line.

    Example: ouzel schema train
    """
    from ouzel.cli.app import COMMANDS
    from ouzel.cli.schemas.commands import KINDS, OTHERWISE, schema_of

    if command is None:
        print("\n".join(KINDS))
        return
    if command in COMMANDS and command not in KINDS:
        raise OuzelError(f"{command} has no schema: it {OTHERWISE.get(command, 'prints no JSON')}")
    if command not in KINDS:
        raise OuzelError(f"{command!r} has no schema{suggest(command, KINDS)}Known: {', '.join(KINDS)}")
    print(json.dumps(schema_of(command), indent=1))
