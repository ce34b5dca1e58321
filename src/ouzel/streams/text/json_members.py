"""Lines of JSON with further members, which are put behind their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def with_members(line: bytes, members: Mapping[str, Any]) -> bytes:
    """A line that holds an object with members as its last ones, which count where a name stands twice.

    Any other line is returned as it is: what is wrong with it is said by those who read it.

    >>> with_members(b'{"x": 1}', {"label": "spam"}), with_members(b"oops", {"label": 1})
    (b'{"x": 1, "label": "spam"}', b'oops')
    """
    stripped = line.strip()
    if not members or not (stripped.startswith(b"{") and stripped.endswith(b"}")):
        return line
    inner = stripped[:-1].rstrip()
    comma = b"" if inner == b"{" else b", "
    return inner + comma + json.dumps(members, ensure_ascii=False).encode()[1:]
