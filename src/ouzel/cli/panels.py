"""Commands for Typer: groups of options as one parameter, lazy conversion, and help that has options under headings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

from typer.core import TyperCommand
from typer.exceptions import TyperException


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command for Typer, with each group of options expanded to its options."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type] = {}
    options: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            options += _options_of(hints[name])
        else:
            options.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def call(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{option.name: given.pop(option.name) for option in fields(group)})
        command(**given)

    del call.__wrapped__  # or its parameters would be read, not these
    call.__signature__ = Signature(options)  # type: ignore[attr-defined]
    call.__annotations__ = {option.name: option.annotation for option in options}
    return call


def values(group: Any) -> dict[str, Any]:
    """Return the options of a group by name."""
    return {option.name: getattr(group, option.name) for option in fields(group)}


def _options_of(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            option.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if option.default is MISSING else option.default,
            annotation=hints[option.name],
        )
        for option in fields(group)
    ]


class LazyConversion:
    """Mixin of commands and groups whose values are converted only if they need it; it must come before Typer's class.

    Typer has pydantic convert every value, also text and those that were not given; importing it takes longer than
    Typer itself.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, lazily converted."""
        return [_lazily_converted(param) for param in super().get_params(ctx)]  # type: ignore[misc]


def _lazily_converted(param: Any) -> Any:
    if "process_value" not in vars(param):
        param.process_value = partial(_value, param, param.process_value)
    return param


def _value(param: Any, convert: Any, ctx: Any, given: Any) -> Any:
    """Return the value of a parameter, converted if needed."""
    kind = param.type_descriptor.annotation
    many = param.multiple or param.nargs == -1
    if given is None and not param.required:
        value: Any = () if many else None
    elif type(given) is kind or (kind == list[str] and isinstance(given, tuple) and given):
        value = list(given) if many else given
    elif kind is int and isinstance(given, str) and given.isdecimal():
        value = int(given)
    else:
        return convert(ctx, given)
    return value if param.callback is None else param.callback(ctx, param, value)


FEW = 14  # options, up to which there is one list
OWN = "Options"  # heading of options that are in no list below
PANELS: dict[str, str] = {
    "Learner": "learner learners task loss learning_rate l1 l2 budget sketch_size epsilon set_ step_sizes grid pairs "
    "most_classes no_intercept raw_targets standardize forget",
    "Saving and resuming": "model resume relearn checkpoint_every passes holdout_every cache save_best",
    "Report": "top reference plot table live only explain output save_to json_",
    "Files": "format columns skip_lines delimiter on_error limit",
    "Columns": "label label_positive weight id id_ group query column text categorical numeric dates ignore keep "
    "missing",
    "Features": "crosses ngrams skips bins hinges bits seed",
    "Logs": "begin follow until on_gap labels within by quarantine with_key with_headers",
    "Databases": "sql database cursor",
    "Distributed training": "workers cluster merge_every lanes",
}
"""Headings in their order, with the parameters of commands below each."""

OF_SERVE: dict[str, str] = {
    "Models": "data name extra_model shadow init model",
    "Learner": PANELS["Learner"],
    "Columns": PANELS["Columns"],
    "Features": PANELS["Features"],
    "Logs to learn from": "feed feed_begin feed_format feed_anew on_gap with_key with_headers",
    "Address and access": "host port tokens new_token scopes certificate key limit",
    "Worker processes": "workers readers_port",
    "Disk": "snapshot_every keep_log log",
    "Replication": "follow follow_every token",
}
"""Headings of `ouzel serve`, some of whose options mean something else than those of other commands."""


class Command(LazyConversion, TyperCommand):
    """A command whose help groups its options, and which accepts the former names of some."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; where an option is unknown by its name, once more under its new one."""
        try:
            return super().parse_args(ctx, list(args))
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
        records = [(param, record) for param, record in shown if record is not None]
        options = [(param.name, record) for param, record in records if param.param_type_name == "option"]
        arguments = [record for param, record in records if param.param_type_name == "argument"]
        headings = panels_of(OF_SERVE if self.name == "serve" else PANELS) if len(options) > FEW else {}
        sections: dict[str, list[Any]] = {"Arguments": arguments, OWN: []}
        sections |= {heading: [] for heading in headings.values()}
        for name, record in options:
            sections[headings.get(name, OWN)].append(record)
        if len(sections[OWN]) == 1:  # --help alone
            sections[OWN] = sections.pop(OWN)
        return {heading: lines for heading, lines in sections.items() if lines}

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections to a formatter of help."""
        for heading, lines in self.sections(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(lines)


def panels_of(panels: Mapping[str, str]) -> dict[str, str]:
    """Heading of each option.

    >>> panels_of({"Files": "format columns"})
    {'format': 'Files', 'columns': 'Files'}
    """
    return {name: heading for heading, names in panels.items() for name in names.split()}
