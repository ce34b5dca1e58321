"""Running an experiment: its files are put in place when all is done, and say what they were made from."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from reproduce import find
from reproduce.provenance import DataFolder, code_digest, head, module_digests, modules_run, note

QUICK = "-quick"


def run(name: str, data: Path, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Leave NAME.md and NAME.png in `output`, or NAME-quick.md and NAME-quick.png of a small variant.

    The digest of code is that of the modules imported in this process, which should not have done anything else.
    """
    folder = DataFolder(data)
    with TemporaryDirectory() as place:
        find(name).load()(folder, Path(place), quick=quick, paths=paths)
        digests = module_digests(modules_run())
        made_from = head(code_digest(digests), folder.used | set(paths))
        for path in sorted(Path(place).iterdir()):
            final = output / f"{path.stem}{QUICK * quick}{path.suffix}"
            if path.suffix == ".md":
                title, rest = path.read_text().split("\n", 1)
                final.write_text(f"{title}{', a small variant' * quick}\n\n{made_from}\n{rest}")
                print(final.read_text())
            else:
                shutil.copyfile(path, final)
    if not quick:
        note(output, name, digests)
