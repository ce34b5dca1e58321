"""Generator of docs/commands.md: the help of each command, with options under the same headings.

`make commands` runs it; a test compares what it writes with the page.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer

from ouzel.cli.app import application

HEAD = """# Command line: every command and option

Every command with all its options, as `ouzel COMMAND --help` has them. `make commands` writes this page from the code.

```console
$ ouzel [OPTIONS] COMMAND [ARGS]...
```
"""


def page() -> str:
    """Return the page as Markdown."""
    program: Any = typer.main.get_command(application())
    first = typer.Context(program, info_name="ouzel")
    options = [record for param in program.get_params(first) if (record := param.get_help_record(first))]
    named = [(name, command.get_short_help_str(100)) for name, command in program.commands.items()]
    parts = [HEAD, f"## Options\n\n{_listed(options)}", f"## Commands\n\n{_listed(named)}"]
    parts += [_of(name, command) for name, command in program.commands.items()]
    return "\n".join(parts)


def _of(name: str, command: Any) -> str:
    """Return the section of a command."""
    ctx = typer.Context(command, info_name=name)
    usage = f"```console\n$ ouzel {' '.join([name, *command.collect_usage_pieces(ctx)])}\n```\n"
    parts = [f"## ouzel {name}\n\n{command.help}\n", usage]
    parts += [f"**{heading}**\n\n{_listed(lines)}" for heading, lines in command.sections(ctx).items()]
    return "\n".join(parts)


def _listed(records: Iterable[tuple[str, str]]) -> str:
    return "".join(f"* `{written}`: {about}\n" for written, about in records)


if __name__ == "__main__":
    print(page(), end="")
