"""`ouzel send`: sends files to a service that learns them."""

from __future__ import annotations

import json
import sys
import time
from typing import Annotated

from typer.exceptions import Exit

from ouzel.cli import options
from ouzel.cli.parameters import FILE, option
from ouzel.errors import DataError, OuzelError
from ouzel.extras import missing

SHOWN = 5  # refused lines


def send(
    files: options.Files,
    to: Annotated[str, option("Address of the service.", takes="URL")] = "http://localhost:8000",
    name: Annotated[str | None, option("Name of the model (the first).", takes="NAME")] = None,
    token: Annotated[str | None, option("File with a token.", takes=FILE)] = None,
    format: options.Format = None,
    json_: options.Json = False,
) -> None:
    """Send files to a service, which learns them and never loses what it has acknowledged.

    If the connection breaks or the service restarts, unacknowledged examples are sent again, and learnt once. What is
    refused is said; if all examples are, the status is 1.

    Example: ouzel send orders.jsonl --to http://localhost:8000
    """
    try:
        from ouzel.service.client import Client
        from ouzel.service.formats import lines_to_send, options_of
        from ouzel.service.tokens import read_token
    except ModuleNotFoundError as error:
        raise missing("`ouzel send`", str(error.name), "serve") from None
    from ouzel.evaluation.formatting import figures

    address = next((file for file in files if file.startswith(("http://", "https://"))), None)
    if address is not None:
        raise OuzelError(f"{address}: an address, not a file; name the service with --to {address}")
    counts = dict.fromkeys(("learnt", "repeated", "refused"), 0)
    begun, shown, first = time.perf_counter(), 0, None
    with Client(to, token=None if token is None else read_token(token), model=name) as client:
        options_of_model = options_of(client.model())
        for file in files:
            lines_before = 0
            kind, lines = lines_to_send(file, format, options_of_model)
            try:
                for summary in client.learn_lines(lines, kind):
                    for refusal in summary["refusals"][: SHOWN - shown]:
                        print(f"{file}:{lines_before + refusal['line']}: {refusal['error']}", file=sys.stderr)
                        first, shown = first or refusal["error"], shown + 1
                    lines_before += summary["lines"]
                    for outcome in counts:
                        counts[outcome] += summary[outcome]
                    if summary["stopped"]:
                        raise OuzelError(f"{file}: stopped after {lines_before:,} lines: {summary['stopped']}")
            except DataError as error:
                raise _of_file(error, lines_before) from None
        seconds = time.perf_counter() - begun
        model = client.model()
    if json_:
        print(json.dumps({**counts, "reason": first, "seconds": seconds, "model": model}))
    else:
        rate = counts["learnt"] / seconds if seconds > 0.0 else 0.0
        print(f"{counts['learnt']:,} examples learnt in {seconds:.1f} s ({rate:,.0f} a second)")
        if counts["repeated"]:
            print(f"{counts['repeated']:,} had been learnt before")
        if counts["refused"]:
            print(f"{counts['refused']:,} were refused{_why(first)}")
        said = figures(model, "error_rate", "mean_loss", "baseline")
        known = f"{model['examples']:,} examples, {', '.join(said)}"
        print(f"the model: {known}" if said else "the model has learnt nothing yet")
        for warning in model["warnings"]:
            print(f"warning: {warning}")
    if counts["refused"] and not (counts["learnt"] or counts["repeated"]):
        raise Exit(1)


def _why(reason: str | None) -> str:
    """Return the end of a line on refused examples: why the first one was."""
    return "" if reason is None else f"; the first: {reason}"


def _of_file(error: DataError, lines: int) -> OuzelError:
    """Return the error of a row that cannot be read, which `ouzel train` may skip, with what to do about it here."""
    if "on_error" not in error.options:
        return error
    return OuzelError(f"{error.reason}; fix it, and send the file from example {lines + 1:,} on")
