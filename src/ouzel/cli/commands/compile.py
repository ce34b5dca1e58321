"""`ouzel compile`: compiles kernels before they are needed, for images and read-only disks."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Annotated, Any

from ouzel.cli import options
from ouzel.cli.model_options import LEARNER
from ouzel.cli.parameters import FOLDER, option
from ouzel.errors import OuzelError
from ouzel.learners import catalogue


def run_compile(
    learner: Annotated[
        list[str] | None,
        option(f"Learner whose kernels to compile ({catalogue.DEFAULT}); may be repeated.", takes=LEARNER),
    ] = None,
    cache_dir: Annotated[
        str | None, option("Folder to fill ($OUZEL_CACHE_DIR, or the usual places).", takes=FOLDER)
    ] = None,
    cpu: Annotated[
        str | None, option("Compile for all processors of a family, such as x86-64-v3.", takes="FAMILY")
    ] = None,
    json_: options.Json = False,
) -> None:
    """Compile kernels into a folder, from which any process with OUZEL_CACHE_DIR set to it loads them.

    Each learner learns and predicts small files of every format, as a first run on real files would.

    Example: ouzel compile --cache-dir /opt/ouzel-kernels --cpu x86-64-v3 --learner auto --learner adagrad
    """
    names = [catalogue.find(name).name for name in learner or [catalogue.DEFAULT]]
    named = cache_dir or os.environ.get("OUZEL_CACHE_DIR")
    folder = str(Path(named).resolve()) if named else None
    if cpu is not None and folder is None:
        raise OuzelError("--cpu is for kernels in a folder of their own; name it with --cache-dir DIR")
    from ouzel.cli.kernel_runs import Runs, settle_family
    from ouzel.cli.ui.progress import Screen

    begun = time.perf_counter()
    if folder is not None:
        settle_family(Path(folder), cpu)
    with Screen("compiling", quiet=json_) as screen, Runs(names, folder) as runs:
        for done, (what, run) in enumerate(runs):
            screen.update(what, done, len(runs))
            run()
    found: dict[str, Any] = {"learners": names, "folder": folder, "family": cpu, "seconds": time.perf_counter() - begun}
    if folder is not None:
        kernels = [path.stat().st_size for path in Path(folder).glob("**/*.nbc")]
        found |= {"kernels": len(kernels), "bytes": sum(kernels)}
    if json_:
        print(json.dumps(found))
    elif folder is not None:
        print(f"{found['kernels']:,} kernels in {folder} ({found['bytes'] >> 20} MB), {found['seconds']:.0f} s")
        print(f"set OUZEL_CACHE_DIR={folder} where they are to be used")
    else:
        print(
            f"kernels compiled in {found['seconds']:.0f} s; they are next to the sources, or in the folder for caches"
        )
