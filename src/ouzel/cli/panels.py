"""Help in which options stand under headings: what one looks for among sixty is found by what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperCommand

from ouzel.cli.parameters import Sparing

FEW = 14  # options, up to which there is one list
OWN = "Options"  # heading of those that stand nowhere below
PANELS: dict[str, str] = {
    "Learner": "learner learners task loss learning_rate l1 l2 budget sketch_size epsilon set_ step_sizes grid pairs "
    "most_classes no_intercept raw_targets standardize forget",
    "Saving and going on": "model resume again checkpoint_every passes holdout_every cache save_best",
    "Report": "top reference plot table live only explain output to json_",
    "Files": "format columns skip_lines delimiter on_error limit",
    "Columns": "label label_positive weight id id_ group query column text categorical numeric dates ignore keep "
    "missing",
    "Features": "crosses ngrams skips bins hinges bits seed",
    "Logs": "begin follow until on_gap labels within by quarantine with_key with_headers",
    "Databases": "sql database cursor",
    "Many machines": "workers cluster merge_every lanes",
}
"""Headings in their order, and what stands below them, by the parameters of commands."""

OF_SERVE: dict[str, str] = {
    "Models": "data name also shadow begin_ model",
    "Learner": PANELS["Learner"],
    "Columns": PANELS["Columns"],
    "Features": PANELS["Features"],
    "A log that feeds it": "feed feed_begin feed_format feed_anew on_gap with_key with_headers",
    "Address and access": "host port tokens new_token scopes certificate key limit",
    "Readers of one machine": "workers readers_port",
    "Disk": "snapshot_every keep_log log",
    "Following another service": "follow follow_every token",
}
"""The same of `ouzel serve`, some of whose options have the names of others."""


class Command(Sparing, TyperCommand):
    """A command whose help groups its options."""

    def sections(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Arguments, and options under their headings: how each is written, and what it is."""
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
        """Write them for a screen."""
        for heading, lines in self.sections(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(lines)


def panels_of(panels: Mapping[str, str]) -> dict[str, str]:
    """The heading of each option.

    >>> panels_of({"Files": "format columns"})
    {'format': 'Files', 'columns': 'Files'}
    """
    return {name: heading for heading, names in panels.items() for name in names.split()}
