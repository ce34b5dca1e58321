"""Write tables of pages anew from the commands that print them.

A table of a page stands between `<!-- $ COMMAND -->` and `<!-- end -->`, each on a line of its own; the command runs in
the checkout. `python docs/tables.py TEXT` runs those commands that have the text in them, without one all of them;
`--check` writes nothing, and says which tables differ.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent
TABLE = re.compile(r"^<!-- \$ (?P<command>[^\n]*) -->\n(?P<printed>.*?)^<!-- end -->$", re.DOTALL | re.MULTILINE)


def printed(command: str) -> str:
    """Return the output of a command, run in the checkout and by this Python."""
    program, *arguments = shlex.split(command)
    program = sys.executable if program == "python" else program
    done = subprocess.run([program, *arguments], cwd=DOCS.parent, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr.strip() or 'failed'}")
    return f"\n{done.stdout.strip()}\n\n"


def anew(text: str, wanted: str = "") -> str:
    """A page with the tables of the commands that have this text in them written anew."""

    def again(found: re.Match[str]) -> str:
        command = found["command"]
        return f"<!-- $ {command} -->\n{printed(command)}<!-- end -->" if wanted in command else found[0]

    return TABLE.sub(again, text)


def main() -> None:
    """Write the pages that differ, or name them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wanted", nargs="?", default="", help="run commands that have this text in them")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail where a page would change")
    given = parser.parse_args()
    differ = []
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text("utf-8")
        found = anew(text, given.wanted)
        if found != text:
            differ.append(page)
            if not given.check:
                page.write_text(found, "utf-8")
    for page in differ:
        print(f"{page.relative_to(DOCS.parent)}: {'differs' if given.check else 'written'}")
    raise SystemExit(bool(differ) and given.check)


if __name__ == "__main__":
    main()
