"""Generator of docs/json.md: what each command prints with --json, member by member.

`make json` runs it; a test compares what it writes with the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ouzel.cli.schemas.commands import OTHERWISE, SCHEMAS
from ouzel.cli.schemas.words import Schema

HEAD = """# The JSON of commands

What each command prints with `--json`. `ouzel schema COMMAND` prints it as a [JSON schema](https://json-schema.org), by
which other programs check what they read; the tests check real output by the same ones. A number that is not finite is
a string (`"inf"`, `"nan"`). Members in *italics* are there sometimes. `ouzel predict` prints one object a line.
`make json` writes this page from the code.
"""


def page() -> str:
    """Return the page as Markdown."""
    parts = [HEAD]
    for command, schema in SCHEMAS.items():
        parts.append("\n".join([f"## ouzel {command}", "", *_lines(schema)]) + "\n")
    parts.append("## Commands without it\n")
    parts.append("".join(f"- `ouzel {command}` {instead}.\n" for command, instead in OTHERWISE.items()))
    return "\n".join(parts)


def _lines(schema: Schema, depth: int = 0) -> Iterator[str]:
    """Yield lines that describe a value: one per member, with those of its entries below."""
    margin = "    " * depth
    for number, choice in enumerate(schema.get("anyOf", [])):
        yield f"{margin}- {'' if not number else 'or '}{_kind(choice)}"
        yield from _lines(choice, depth + 1)
    inner = schema.get("items") or schema.get("additionalProperties")
    if isinstance(inner, dict) and ("properties" in inner or "anyOf" in inner or "items" in inner) and not depth:
        yield f"{margin}- {'each entry' if 'items' in schema else 'each member'}: {_kind(inner)}"
        yield from _lines(inner, depth + 1)
    for name, member in schema.get("properties", {}).items():
        shown = f"`{name}`" if name in schema["required"] else f"*`{name}`*"
        about = f": {member['description']}" if member.get("description") else ""
        yield f"{margin}- {shown} ({_kind(member)}){about}"
        within = member.get("items", member)
        if "properties" in within:
            yield from _lines(within, depth + 1)
    for pattern, member in schema.get("patternProperties", {}).items():
        yield f"{margin}- *names like `{pattern}`* ({_kind(member)}): {member['description']}"


def _kind(schema: Schema) -> str:
    """Return the types of a value in words."""
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    kind: Any = schema["type"]
    if kind == "array":
        return f"array of {_kind(schema['items'])}"
    return kind if isinstance(kind, str) else " or ".join(kind)


if __name__ == "__main__":
    print(page(), end="")
