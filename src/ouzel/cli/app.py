"""The commands by name, and the options that several share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="ouzel",
    help="Learn linear models from data streams, in one pass.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    rich_markup_mode=None,
)

Files = Annotated[
    list[str], typer.Argument(help='Files in order, of any format and compression; "-" is standard input.')
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the result to this .png or .svg file.")]

Format = Annotated[str | None, typer.Option("--format", help="svmlight, vw, csv, tsv, parquet, arrow, jsonl or idx.")]
Label = Annotated[str | None, typer.Option(help="Column of the label; label, target, class or y by default.")]
LabelPositive = Annotated[str | None, typer.Option(help="This label is the positive class, every other the negative.")]
Weight = Annotated[str | None, typer.Option(help="Column of importance weights.")]
Text = Annotated[list[str] | None, typer.Option(help="A column to be read as words; may be repeated.")]
Ignore = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")]
Columns = Annotated[str | None, typer.Option(help="Names of the columns, with commas, of a table without a header.")]
SkipLines = Annotated[int, typer.Option(help="Lines to leave out at the start of a table.")]
Bits = Annotated[int | None, typer.Option(help="Names of features hash to this many bits.  [default: 18]")]
Seed = Annotated[int | None, typer.Option(help="Seed of the hash of names.  [default: 0]")]
OnError = Annotated[str, typer.Option(help="At a bad line: raise, or skip and count.")]


def reading(
    format: str | None,
    label: str | None,
    label_positive: str | None,
    weight: str | None,
    text: list[str] | None,
    ignore: list[str] | None,
    columns: str | None,
    skip_lines: int,
    on_error: str,
) -> dict[str, Any]:
    """The keyword arguments of `ouzel.read` that the options stand for."""
    return {
        "format": format,
        "label": label,
        "label_positive": label_positive,
        "weight": weight,
        "text": tuple(text or ()),
        "ignore": tuple(ignore or ()),
        "columns": tuple(columns.split(",")) if columns else (),
        "skip_lines": skip_lines,
        "on_error": on_error,
    }


def _load_commands() -> None:
    """Register every command: each module does so as it is imported."""
    import ouzel.cli.predict
    import ouzel.cli.top
    import ouzel.cli.train  # noqa: F401


_load_commands()
