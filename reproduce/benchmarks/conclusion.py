"""Print the last paragraph of a report, for pages that quote it: `python -m reproduce.benchmarks.conclusion NAME`."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"


def last_paragraph(text: str) -> str:
    """Return the last paragraph of a report, wrapped at 120 characters.

    >>> last_paragraph("# A title\\n\\n| a |\\n\\nWhat it says.\\n")
    'What it says.'
    """
    return textwrap.fill(text.strip().split("\n\n")[-1], 120, break_long_words=False, break_on_hyphens=False)


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    print(last_paragraph((RESULTS / f"{parser.parse_args().name}.md").read_text("utf-8")))


if __name__ == "__main__":
    main()
