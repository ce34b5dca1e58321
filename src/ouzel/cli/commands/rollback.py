"""`ouzel rollback`: takes a served model back to an earlier example of its log."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

from ouzel.cli import options
from ouzel.cli.parameters import FOLDER, argument, option
from ouzel.errors import OuzelError


def rollback(
    data: Annotated[str, argument("Folder of the service.", FOLDER)],
    *,
    example: Annotated[
        int | None, option("Go back to the model that had learnt this number of examples of the log.")
    ] = None,
    name: Annotated[str, option("Name of the model, and of its folder within DIR.", takes="NAME")] = "model",
    json_: options.Json = False,
) -> None:
    """Take a served model back to an earlier example; without --example, list the snapshots to go back to.

    Stop the service first. The examples that came later leave the log for a file beside it: `ouzel send` learns them
    again. The messages of logs that feed the service are not read again.

    Example: ouzel rollback shop --example 120000
    """
    from ouzel.files import locked
    from ouzel.service.example_log import Log
    from ouzel.service.folder import LOG, Folder, learnt_of

    folder = Folder(Path(data, name))
    if not folder.begun:
        raise OuzelError(
            f"{folder.path}: has no model; give the folder of a service, and the name of its model with --name"
        )
    with locked(folder.base):
        log = Log(folder.path / LOG)
        try:
            end = log.last()
            file = None if example is None else folder.rolled_back(log, example)
            first, last = log.first(), log.last()
        finally:
            log.close()
    snapshots = [(learnt_of(path), path.stat().st_mtime) for path in folder.snapshots()]
    if json_:
        listed = [{"examples": learnt, "written": written} for learnt, written in snapshots]
        removed = {"removed": end - last, "file": None if file is None else str(file)}
        print(json.dumps({"model": name, "first": first, "last": last, **removed, "snapshots": listed}))
        return
    if file is not None:
        print(f"{folder.path}: ends with example {last:,}; the {end - last:,} later ones are in {file}")
        return
    print(f"{folder.path}: " + (f"log of examples {first:,} to {last:,}" if last else "nothing learnt yet"))
    for learnt, written in snapshots:
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(written))
        print(f"  snapshot after {learnt:,} examples, written {at}")
