"""`ouzel serve`: serves a model that predicts while it learns."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, ClassVar

from ouzel.cli import model_options, options
from ouzel.cli.log_options import Feeding
from ouzel.cli.parameters import FILE, FLOAT, FOLDER, Kind, choice, only, option
from ouzel.errors import OuzelError
from ouzel.extras import missing

NAME = "NAME"
SECONDS = FLOAT._replace(name="SECONDS", expected="a number of seconds")


def port_of(text: str) -> int:
    """Return the number of a port; ValueError if it is none."""
    number = int(text)
    if not 1 <= number <= LAST_PORT:
        raise ValueError(text)
    return number


LAST_PORT = 65535
PORT = Kind("PORT", port_of, f"a port from 1 to {LAST_PORT}")
SCOPES = Kind("SCOPES", words=lambda: ("predict", "learn", "admin"), listed=True)


@dataclass(frozen=True)
class Models:
    """Options of the models that are served."""

    panel: ClassVar = "Models"
    data: Annotated[str | None, option("Folder of the service: models, their logs and snapshots.", takes=FOLDER)] = None
    name: Annotated[str, option("Name of the model, and of its folder within DIR.", takes=NAME)] = "model"
    extra_model: Annotated[list[str] | None, option("Another model of DIR to serve; may be repeated.", takes=NAME)] = (
        None
    )
    shadow: Annotated[
        str | None, option("Another model of DIR, which learns what the first one learns.", takes=NAME)
    ] = None
    shadow_on_alarm: Annotated[
        bool,
        option("Let the shadow begin, untrained, when the first model's errors next rise; it is made if DIR has none."),
    ] = False
    init: Annotated[bool, option("Create the model in DIR, and exit.")] = False
    model: Annotated[str | None, option("Start with this model, if DIR has none.", "-m", takes=FILE)] = None

    @property
    def names(self) -> list[str]:
        """Names of all models, the first one first; an OuzelError refuses one that names no folder, or two alike."""
        names = [self.name, *(self.extra_model or []), *([self.shadow] if self.shadow else [])]
        for name in names:
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
                raise OuzelError(f"--name takes letters, digits, - and _, at most 64; got {name!r}")
        if twice := sorted(name for name in set(names) if names.count(name) > 1):
            raise OuzelError(f"the model {twice[0]!r} is named twice; --name, --extra-model and --shadow name one each")
        return names


@dataclass(frozen=True)
class Access:
    """Options of the address of a service, and of who may use it."""

    panel: ClassVar = "Address and access"
    host: Annotated[str, option("Address to listen on; any but this machine's own needs --tokens.", takes="HOST")] = (
        "127.0.0.1"
    )
    port: Annotated[int, option("Port to listen on.", takes=PORT)] = 8000
    tokens: Annotated[
        str | None, option("File with the tokens of clients and their scopes; see --new-token.", takes=FILE)
    ] = None
    new_token: Annotated[str | None, option("Print a new token and its line for --tokens, and exit.", takes=NAME)] = (
        None
    )
    scopes: Annotated[str, option("Scopes of --new-token: predict, learn, admin.", takes=SCOPES)] = "predict,learn"
    certificate: Annotated[str | None, option("Certificate for TLS.", takes="PEM")] = None
    key: Annotated[str | None, option("Its private key.", takes="PEM")] = None
    limit: Annotated[
        list[str] | None,
        option("Limits of requests: body=16MB, line=1MB, features, queue, …; see docs/service.md.", takes="NAME=VALUE"),
    ] = None


@dataclass(frozen=True)
class Disk:
    """Options of what a service writes."""

    panel: ClassVar = "Disk"
    snapshot_every: Annotated[float, option("Seconds between snapshots of the model.", takes=SECONDS)] = 60.0
    keep_log: Annotated[
        int | None,
        option("Retention: keep this number of the last examples of the log, and what snapshots need (all)."),
    ] = None
    log: Annotated[str, option("Format of the log on standard error.", takes=choice("text", "json", "none"))] = "text"


@dataclass(frozen=True)
class Replication:
    """Options of copies of models, and of further processes that answer."""

    panel: ClassVar = "Replication"
    follow: Annotated[
        str | None, option("Serve copies of the models of another service, which learns them.", takes="URL")
    ] = None
    follow_every: Annotated[float, option("Seconds between polls for a new snapshot.", takes=SECONDS)] = 5.0
    token: Annotated[str | None, option("File with a token of the service that --follow names.", takes=FILE)] = None
    workers: Annotated[
        int,
        option(
            "Processes that answer from snapshots: on --port with --follow, else on --readers-port.",
            panel="Worker processes",
        ),
    ] = 0
    readers_port: Annotated[
        int | None,
        option("Port of --workers next to a process that learns (--port + 1).", takes=PORT, panel="Worker processes"),
    ] = None


def serve(
    *,
    models: Models,
    learner: model_options.Learner = None,
    learning: Annotated[
        model_options.Learning, only("loss", "learning_rate", "l1", "l2", "budget", "derived_budget", "set_")
    ],
    preparation: Annotated[
        model_options.Preparation, only("standardize", "class_weight", "interval", "interval_by", "calibrate")
    ],
    columns: Annotated[
        options.Reading,
        only(options.Labels, options.Kinds, options.Derived, "missing", options.Hashing, options.Messages),
    ],
    feeding: Feeding,
    access: Access,
    disk: Disk,
    replication: Replication,
    check: Annotated[bool, option("Check all options and files, and exit.")] = False,
) -> None:
    """Serve a model over HTTP: it predicts and learns, and never loses what it has acknowledged.

    Example: ouzel serve --data shop --learner adagrad --port 8000
    """
    try:
        from ouzel.service.feed import check_messages
        from ouzel.service.folder import Folder, begin, check_folders
        from ouzel.service.limits import limits_of
        from ouzel.service.server import Place, serve
        from ouzel.service.server import follow as follow_models
        from ouzel.service.service import promoted
        from ouzel.service.shadowing import adapt_shadow
        from ouzel.service.tokens import make_token, read_token
    except ModuleNotFoundError as error:
        raise missing("the service", str(error.name), "serve") from None
    if access.new_token is not None:
        token, line = make_token(access.new_token, [scope.strip() for scope in access.scopes.split(",")])
        print(line)
        print(f"the token, which is shown this once: {token}", file=sys.stderr)
        return
    options.check_counts(keep_log=disk.keep_log, workers=replication.workers or None)
    plans = feeding.plans()
    place = Place(
        *(access.host, access.port, access.tokens, access.certificate, access.key, disk.log),
        *(limits_of(access.limit or []), disk.snapshot_every, disk.keep_log, plans),
        *(replication.workers, replication.readers_port, replication.follow_every),
    )
    names = models.names
    if replication.follow is not None:
        if plans:
            raise OuzelError("--feed is for the service that learns; give it to the one that is followed")
        read = None if replication.token is None else read_token(replication.token)
        follow_models(replication.follow, names, place, read)
        return
    if models.data is None:
        raise OuzelError("name the folder of the service: --data DIR")
    place.check()
    folders = [Folder(Path(models.data, each)) for each in names]
    if models.shadow_on_alarm and models.shadow is None:
        raise OuzelError("--shadow-on-alarm needs the name of a model; add --shadow NAME")
    made = [folder for folder in folders[1:] if models.shadow_on_alarm and folder.name == models.shadow]
    for folder in folders[1:]:
        if not folder.begun and folder not in made:
            raise OuzelError(f"{folder.path}: there is no model; make it with --name {folder.name} --init")
    settings, reading = learning.settings, columns.keywords()
    given = {name: preparation.prepared[name] for name in ("class_weight", "interval", "interval_by", "calibrate")}
    if preparation.standardize is not None:
        given["standardize"] = preparation.standardize
    check_messages(plans, reading)
    first = promoted(Path(models.data))
    if first is not None and first not in names:
        remark = f"{models.data}: {first}, which was promoted, is not served; add --extra-model {first}"
        print(remark, file=sys.stderr)
    if check:
        new = [folder for folder in made if not folder.begun]
        kept = [folder for folder in folders if folder not in new]
        sound = check_folders(kept, models.model, learner, settings, reading, given)
        waiting = (f"{folder.path}: a new model like that of {folders[0].path}, at its next alarm" for folder in new)
        for remark in chain(place.sound_parts(), sound, waiting):
            print(remark)
        leader, *others = sorted(folders, key=lambda folder: folder.name != first)
        for folder in others:
            if folder.name == models.shadow and folder.begun and leader.begun:
                said = adapt_shadow(folder, leader, write=False)
                print(said or f"{folder.path}: reads what {leader.path} reads")
        return
    if not models.init:
        place.check_address()  # before a model begins, which would outlive a service that cannot
    print(begin(folders[0], models.model, learner, settings, reading, given), file=sys.stderr)
    if models.init:
        return
    for folder in made:
        if not folder.begun:
            folder.begin_anew(folders[0])
    serve(sorted(folders, key=lambda folder: folder.name != first), place, models.shadow, models.shadow_on_alarm)
