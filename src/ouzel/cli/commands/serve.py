"""`ouzel serve`: serves a model that predicts while it learns."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ouzel.cli import arguments, options
from ouzel.cli.log_options import Feeding
from ouzel.errors import OuzelError

NEEDED = "the service needs more than the library; install it with: pip install 'ouzel[serve]'"


def serve(
    *,
    data: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of the service: models, their logs and snapshots.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the model, and of its folder within DIR.")] = "model",
    extra_model: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Another model of DIR to serve; may be repeated.")
    ] = None,
    shadow: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Another model of DIR, which learns what the first one learns."),
    ] = None,
    init: Annotated[bool, typer.Option("--init", help="Create the model in DIR, and exit.")] = False,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="FILE", help="Start with this model, if DIR has none.")
    ] = None,
    learner: Annotated[str | None, typer.Option(help="Start with a new model of this learner (auto).")] = None,
    loss: options.Loss = None,
    learning_rate: options.LearningRate = None,
    l1: options.L1 = None,
    l2: options.L2 = None,
    budget: options.Budget = None,
    set_: options.Setting = None,
    labels: options.Labels,
    kinds: options.Kinds,
    missing: options.Missing = None,
    hashing: options.Hashing,
    feeding: Feeding,
    messages: options.Messages,
    host: Annotated[str, typer.Option(help="Address to listen on; any but this machine's own needs --tokens.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8000,
    tokens: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File with the tokens of clients and their scopes; see --new-token."),
    ] = None,
    new_token: Annotated[
        str | None, typer.Option(metavar="NAME", help="Print a new token and its line for --tokens, and exit.")
    ] = None,
    scopes: Annotated[str, typer.Option(help="Scopes of --new-token: predict, learn, admin.")] = "predict,learn",
    certificate: Annotated[str | None, typer.Option(metavar="PEM", help="Certificate for TLS.")] = None,
    key: Annotated[str | None, typer.Option(metavar="PEM", help="Its private key.")] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Limits of requests: body=16MB, line=1MB, features, queue, …; see docs/service.md.",
        ),
    ] = None,
    snapshot_every: Annotated[
        float, typer.Option(metavar="SECONDS", help="Seconds between snapshots of the model.")
    ] = 60.0,
    keep_log: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Retention: keep the last N examples of the log, and what snapshots need (all)."
        ),
    ] = None,
    log: Annotated[str, typer.Option(help="Format of the log on standard error: text, json or none.")] = "text",
    follow: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Serve copies of the models of another service, which learns them."),
    ] = None,
    follow_every: Annotated[
        float, typer.Option(metavar="SECONDS", help="Seconds between polls for a new snapshot.")
    ] = 5.0,
    workers: Annotated[
        int,
        typer.Option(
            metavar="N", help="Processes that answer from snapshots: on --port with --follow, else on --readers-port."
        ),
    ] = 0,
    readers_port: Annotated[
        int | None, typer.Option(metavar="PORT", help="Port of --workers next to a process that learns (--port + 1).")
    ] = None,
    token: Annotated[
        str | None, typer.Option(metavar="FILE", help="File with a token of the service that --follow names.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Check all options and files, and exit.")] = False,
) -> None:
    """Serve a model over HTTP: it predicts and learns, and never loses what it has acknowledged.

    Example: ouzel serve --data shop --learner adagrad --port 8000
    """
    try:
        from ouzel.service.feed import check_messages
        from ouzel.service.folder import Folder
        from ouzel.service.init import begin
        from ouzel.service.limits import limits_of
        from ouzel.service.server import Place, serve
        from ouzel.service.server import follow as follow_models
        from ouzel.service.service import promoted
        from ouzel.service.tokens import make_token, read_token
    except ModuleNotFoundError as error:
        raise OuzelError(f"{NEEDED} (there is no {error.name})") from None
    if new_token is not None:
        token, line = make_token(new_token, [scope.strip() for scope in scopes.split(",")])
        print(line)
        print(f"the token, which is shown this once: {token}", file=sys.stderr)
        return
    arguments.check_counts(keep_log=keep_log, workers=workers or None)
    plans = feeding.plans()
    place = Place(
        *(host, port, tokens, certificate, key, log, limits_of(limit or []), snapshot_every, keep_log, plans),
        *(workers, readers_port, follow_every),
    )
    names = [_checked(each) for each in [name, *(extra_model or []), *([shadow] if shadow else [])]]
    if follow is not None:
        if plans:
            raise OuzelError("--feed is for the service that learns; give it to the one that is followed")
        follow_models(follow, names, place, None if token is None else read_token(token))
        return
    if data is None:
        raise OuzelError("name the folder of the service: --data DIR")
    place.check()
    folders = [Folder(Path(data, each)) for each in names]
    for folder in folders[1:]:
        if not folder.begun:
            raise OuzelError(f"{folder.path}: there is no model; make it with --name {folder.name} --init")
    settings: dict[str, Any] = arguments.settings_given(
        set_, loss=loss, learning_rate=learning_rate, l1=l1, l2=l2, budget=budget
    )
    reading = arguments.reading_options(labels, kinds, hashing, messages, missing=missing)
    check_messages(plans, reading)
    if check:
        from ouzel.service.init import check_all

        for remark in check_all(folders, place, model, learner, settings, reading):
            print(remark)
        return
    print(begin(folders[0], model, learner, settings, reading), file=sys.stderr)
    if init:
        return
    first = promoted(Path(data))
    serve(sorted(folders, key=lambda folder: folder.name != first), place, shadow)


def _checked(name: str) -> str:
    """Check the name of a model, which names a folder and a file and is part of an address."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
        raise OuzelError(f"--name takes letters, digits, - and _, at most 64; got {name!r}")
    return name
