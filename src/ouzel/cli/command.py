"""Commands whose help groups options under headings, and the group of all of them, imported when they are needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from typer.core import CompletionItem, TyperCommand, TyperGroup  # type: ignore[attr-defined]
from typer.exceptions import TyperException

from ouzel.cli.parameters import Converting, with_words

FEW = 14  # options, up to which there is one list
_FLAG = re.compile(r"--[a-z-]+")
OWN = "Options"  # heading of options without another
HEADINGS = (
    *("Models", "Learner", "Saving and resuming", "Report", "Files", "Columns", "Features", "Logs", "Databases"),
    *("Distributed training", "Address and access", "Worker processes", "Disk", "Replication"),
)
"""Headings of the help, in their order; a declaration of an option names one of them."""
COMMON = (
    *("--learner", "--learners", "--task", "--loss", "--learning-rate", "--half-life", "--model", "--resume"),
    *("--passes", "--label", "--categorical", "--format", "--output", "--only", "--plot", "--json"),
    *("--host", "--port", "--tokens", "--snapshot-every"),
)
"""Options that most users need, which `-h` lists where there are many; `--help` lists all."""
SHORT = "ouzel.short_help"  # in the notes of a context: `-h` was given


class Command(Converting, TyperCommand):
    """A command whose help groups its options, and which accepts the former names of some."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; where an option is unknown by its name, once more under its new one."""
        ctx.meta[SHORT] = "-h" in args and "--help" not in args
        try:
            return super().parse_args(ctx, with_words(self.get_params(ctx), args))
        except TyperException as error:
            from ouzel.cli.renamed_options import renamed

            known = {name for param in self.get_params(ctx) for name in param.opts}
            given = renamed(getattr(error, "option_name", ""), args, known)
            if given is None:
                raise
        return self.parse_args(ctx, given)

    def sections(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Arguments, and options under their headings, each with how it is written and its help."""
        shown = [(param, param.get_help_record(ctx)) for param in self.get_params(ctx)]
        options = [(param, record) for param, record in shown if record and param.param_type_name == "option"]
        arguments = [record for param, record in shown if record and param.param_type_name == "argument"]
        sections: dict[str, list[Any]] = {"Arguments": arguments, OWN: []}
        sections |= {heading: [] for heading in HEADINGS}
        for param, record in options:
            panel = getattr(param.type_descriptor.parameter_info, "panel", "") if len(options) > FEW else ""
            sections[panel or OWN].append(record)
        if len(sections[OWN]) == 1:  # --help alone
            sections[OWN] = sections.pop(OWN)
        return {heading: lines for heading, lines in sections.items() if lines}

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections to a formatter of help; after `-h` only the common ones of many options."""
        sections = self.sections(ctx)
        count = sum(map(len, sections.values())) - len(sections.get("Arguments", ()))
        if ctx.meta.get(SHORT) and count > FEW:
            arguments = sections.pop("Arguments", [])
            common = [
                record for lines in sections.values() for record in lines if {*_FLAG.findall(record[0])} & {*COMMON}
            ]
            sections = ({"Arguments": arguments} if arguments else {}) | {OWN: common}
            self.epilog = f"All {count} options: {ctx.command_path} --help"
        for heading, lines in sections.items():
            with formatter.section(heading):
                formatter.write_dl(lines)


class Commands(Mapping[str, Any]):
    """Commands by name; looking one up creates it."""

    def __init__(self, about: dict[str, str], make: Callable[[str], Any]) -> None:
        self.about, self._make = about, make
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            if name not in self.about:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.about)

    def __len__(self) -> int:
        return len(self.about)


class Group(Converting, TyperGroup):
    """Group of all commands; listing and completing their names imports none of them."""

    commands: Any

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands to a formatter of help."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.commands.about.items()))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[CompletionItem]:
        """Return the commands, or the options of the group, that a shell may complete to."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        about = self.commands.about
        return [CompletionItem(name, help=about[name]) for name in about if name.startswith(incomplete)]
