"""The command line. Each command is one file; nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `ouzel` with the arguments of the process."""
    from ouzel.cli.app import run

    sys.exit(run(sys.argv[1:]))
