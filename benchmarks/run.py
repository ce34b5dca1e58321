"""Run every benchmark, one after the other: `make bench`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
NOT_MEASURES = {"run.py", "text.py", "zipf_rows.py", "errors.py"}  # what the benchmarks import, and the check of digits


def main() -> None:
    """Each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="../shared/data")
    data = str(Path(parser.parse_args().data).resolve())
    for script in sorted(HERE.glob("*.py")):
        if script.name in NOT_MEASURES:
            continue
        print(f"\n== {script.stem}", flush=True)
        takes_data = 'add_argument("--data"' in script.read_text()
        subprocess.run([sys.executable, str(script), *(["--data", data] if takes_data else [])], check=False)


if __name__ == "__main__":
    main()
