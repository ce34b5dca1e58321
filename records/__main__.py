"""`python -m records`: write the record of a checkout, compare one with it, and time two checkouts side by side."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

TODAY = Path(__file__).with_name("today.json")


def main() -> int:
    """Run the command of the arguments."""
    parser = argparse.ArgumentParser(prog="python -m records", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, help in (("write", "write the record"), ("compare", "say what differs from it")):
        command = commands.add_parser(name, help=help)
        command.add_argument("file", type=Path, nargs="?", default=TODAY)
        command.add_argument("--only", metavar="PATTERN", help="cases of these names, such as read/*/csv/* or awm")
        if name == "write":
            command.add_argument("--whole", action="store_true", help="keep every text, so that compare shows both")
        else:
            command.add_argument(
                "--without", metavar="PART", action="append", default=[], help="a part that may differ, such as space"
            )
            command.add_argument("--most", type=int, default=40, help="cases to print (40)")
    command = commands.add_parser("figures", help="time this checkout, or two in turn")
    command.add_argument("--against", metavar="PYTHON", help="the Python of another checkout's environment")
    command.add_argument("--rounds", type=int, default=3)
    command.add_argument("--only", metavar="PATTERN", help="figures of these names")
    command.add_argument("--write", type=Path, metavar="FILE", help="keep the medians here, as JSON")
    command.add_argument("--compile", action="store_true", help="also seconds of a first run with no kernel compiled")
    given = parser.parse_args()
    os.environ["COLUMNS"] = "80"  # of what commands print, wherever this runs
    if given.command == "figures":
        from records.figures import figures

        return figures(given.against, given.rounds, given.only, given.write, given.compile)
    from records import running

    if given.command == "write":
        return running.write(given.file, given.only, given.whole)
    return running.compare(given.file, given.only, given.most, given.without)


if __name__ == "__main__":
    sys.exit(main())
