"""Run the commands that stand in the pages, and write anew what they print and draw.

A block ```console of a page holds commands, each behind `$ ` (their further lines behind `> `), and what they print.
The commands of a page run one after another in a folder of their own, which holds nothing but the `examples` of the
checkout; `ouzel demo --write` writes data sets. `...` stands for what changes from run to run, as in doctest.
Python of a page (`>>>`) that draws a picture is run in the same folder; what it prints the tests of doctest compare.
`python docs/console.py` writes the pages and docs/images anew; the tests compare.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parent
DRAWS = re.compile(r"^(?:>>>|\.\.\.) .*\.plot\(\"[\w-]+\.png\"\)$", re.MULTILINE)
BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ (?P<command>.*\n(?:> ?.*\n)*)(?P<printed>(?:(?!\$ ).*\n)*)", re.MULTILINE)
SECONDS = re.compile(r" +\d+\.\d{3}( ± \d+\.\d{3})?$", re.MULTILINE)
CHANGING = [
    (re.compile(r" +seconds$", re.MULTILINE), "  seconds"),  # as wide as the figures below
    (re.compile(r"^( *seconds ).*$", re.MULTILINE), r"\1 ..."),  # of a training
    (
        re.compile(r"^.*  seconds\n(.+\n)+", re.MULTILINE),
        lambda table: SECONDS.sub("  ...", table[0]),
    ),  # of a comparison
    (re.compile(r"\d+(?= seconds in all)"), "..."),  # of the demonstration
]


def pages() -> list[Path]:
    """The pages that have commands and what they print, or Python that draws."""
    texts = {page: page.read_text() for page in sorted(DOCS.rglob("*.md")) if page.stem != "commands"}
    return [page for page, text in texts.items() if "```console\n$ " in text or DRAWS.search(text)]


def rerun(text: str, folder: Path, *programs: Path) -> str:
    """The page with what its commands print now, where it says otherwise; programs of these folders come first."""
    (folder / "examples").symlink_to(DOCS.parent.resolve() / "examples")

    def again(found: re.Match[str]) -> str:
        printed = run(found["command"], folder, *programs)
        same = doctest.OutputChecker().check_output(found["printed"], printed, doctest.ELLIPSIS)
        return found[0] if same else f"$ {found['command']}{printed}"

    if DRAWS.search(text):
        (folder / "page.md").write_text(text)
        run("python -m doctest -o ELLIPSIS page.md", folder, *programs)
    return BLOCK.sub(lambda block: COMMAND.sub(again, block[0]), text)


def environment(*programs: Path) -> dict[str, str]:
    """What a command finds: programs of these folders first, then those that lie beside Python's."""
    path = os.pathsep.join([*map(str, programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    in_order = {"PYTHONUNBUFFERED": "1"}  # answers and remarks, as on a terminal
    return {**os.environ, **in_order, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}


def run(command: str, folder: Path, *programs: Path) -> str:
    """What a command prints, but for what changes every time; the error if it fails and prints nothing."""
    command = re.sub(r"^> ?", "", command, flags=re.MULTILINE)
    asked = ["bash", "-c", command]
    ran = subprocess.run(asked, cwd=folder, env=environment(*programs), capture_output=True, text=True)
    said = ran.stdout.strip("\n") or (ran.stderr.strip("\n") if ran.returncode else "")
    printed = "".join(f"{line.rstrip()}\n" for line in said.splitlines())
    for changing, instead in CHANGING:
        printed = changing.sub(instead, printed)
    return printed


def write(names: Sequence[str]) -> None:
    """Write these pages and their pictures anew, or all of them."""
    for page in pages():
        if names and page.stem not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(rerun(page.read_text(), Path(folder)))
            for image in Path(folder).glob("*.png"):
                shutil.copy(image, DOCS / "images" / image.name)
        print(f"{page.name}: run")


if __name__ == "__main__":
    write(sys.argv[1:])
