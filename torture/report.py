"""The figures of a run: as a table, as JSON, and as the table of docs/reliability.md."""

from __future__ import annotations

import json
import platform
import time
from pathlib import Path
from typing import Any

from torture.campaign import Campaign
from torture.verdicts import BROKEN

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def figures(campaign: Campaign, arguments: list[str]) -> dict[str, Any]:
    """All figures of a run, as JSON has them."""
    from ouzel import __version__

    targets = {}
    for name, tally in campaign.tallies.items():
        targets[name] = {
            "about": tally.target.about,
            "binary": tally.target.binary,
            "inputs": tally.inputs,
            "ok": tally.kinds["ok"],
            "refused": tally.kinds["refused"],
            "failures": {kind: tally.kinds[kind] for kind in BROKEN if tally.kinds[kind]},
            "kills": tally.kills,
            "seconds": round(tally.seconds, 1),
            "peak_mib": tally.peak >> 20,
            "found": {key: names[:3] for key, names in sorted(tally.failures.items())},
        }
    return {
        "command": "python -m torture " + " ".join(arguments),
        "version": __version__,
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
        "seed": campaign.seed,
        "minutes": round(campaign.elapsed / 60, 1),
        "inputs": sum(each["inputs"] for each in targets.values()),
        "binary_inputs": sum(each["inputs"] for each in targets.values() if each["binary"]),
        "kills": sum(each["kills"] for each in targets.values()),
        "failed": sum(sum(each["failures"].values()) for each in targets.values()),
        "targets": targets,
    }


def table(found: dict[str, Any]) -> str:
    """The figures for a terminal, and every kind of failure with the names of inputs that show it."""
    head = (
        f"{'target':<10} {'inputs':>9} {'ok':>9} {'refused':>9} {'failed':>7} {'kills':>6} {'a second':>8} {'MiB':>5}"
    )
    lines = [head]
    for name, each in found["targets"].items():
        rate = each["inputs"] / max(each["seconds"], 0.1)
        lines.append(
            f"{name:<10} {each['inputs']:>9,} {each['ok']:>9,} {each['refused']:>9,} "
            f"{sum(each['failures'].values()):>7,} {each['kills']:>6,} {rate:>8,.0f} {each['peak_mib']:>5,}"
        )
    lines.append(
        f"\n{found['inputs']:,} inputs, {found['binary_inputs']:,} of them bytes of Arrow, Parquet or models, and "
        f"{found['kills']:,} kills in {found['minutes']} minutes: {found['failed']:,} failures"
    )
    for name, each in found["targets"].items():
        for key, names in each["found"].items():
            lines.append(f"  {name}: {key}\n    again: python -m torture replay {names[0]}")
    return "\n".join(lines)


def in_docs(found: dict[str, Any]) -> str:
    """The figures as the page of reliability shows them."""
    lines = [
        BEGIN,
        "",
        f"`{found['command']}`, version {found['version']}, Python {found['python']}, {found['date']}, "
        f"{found['minutes']} minutes:",
        "",
        "| target | what is sent through | inputs | accepted | refused in one line | failures |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, each in found["targets"].items():
        failures = ", ".join(f"{count:,} {kind}" for kind, count in each["failures"].items()) or "0"
        inputs = f"{each['inputs']:,}" + (f" ({each['kills']:,} kills)" if each["kills"] else "")
        lines.append(f"| `{name}` | {each['about']} | {inputs} | {each['ok']:,} | {each['refused']:,} | {failures} |")
    lines += [
        "",
        f"Together {found['inputs']:,} inputs, {found['binary_inputs']:,} of them bytes of Arrow, Parquet or model "
        f"files, {found['kills']:,} kills, {found['failed']:,} failures.",
        "",
        END,
    ]
    return "\n".join(lines)


def refresh(figures_file: Path, page: Path = PAGE) -> None:
    """Write the table of the page anew from the JSON of a run."""
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(before + in_docs(json.loads(figures_file.read_text())) + after)
