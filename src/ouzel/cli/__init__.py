"""The command `ouzel`: thin commands over the library. Each imports what it needs when it runs."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; an `OuzelError` is one line on standard error and exit status 2."""
    from ouzel.cli.app import app
    from ouzel.errors import OuzelError

    try:
        app()
    except OuzelError as error:
        sys.stdout.flush()
        print(f"ouzel: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        print("ouzel: stopped; what was written before is whole, nothing else was", file=sys.stderr)
        sys.exit(130)
