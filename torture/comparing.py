"""Two model files that should be the same bytes: what differs, in the words of their parts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from torture.forging import Parts


def difference(first: Path, second: Path) -> str:
    """Nothing if the files are equal byte by byte, else which parts differ, their numbers left out."""
    if first.read_bytes() == second.read_bytes():
        return ""
    try:
        one, other = Parts.of(first), Parts.of(second)
    except Exception as error:
        return f"one cannot be read: {type(error).__name__}"
    found = sorted(_paths(one.described, other.described, ""))
    for name in sorted({*one.arrays, *other.arrays}):
        a, b = one.arrays.get(name), other.arrays.get(name)
        if a is None or b is None or a.dtype != b.dtype or a.tobytes() != b.tobytes():
            found.append(f"array {re.sub(r'[0-9]+', '#', name)}")
    return ", ".join(dict.fromkeys(found)) or "the order of parts"


def _paths(one: Any, other: Any, path: str) -> set[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = {*one, *other}
        return {found for key in keys for found in _paths(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return {found for a, b in zip(one, other, strict=True) for found in _paths(a, b, f"{path}.#")}
    return set() if one == other and type(one) is type(other) else {path}
