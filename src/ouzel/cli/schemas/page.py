"""Generator of docs/json.md: what each command prints with --json, member by member.

`make json` runs it; a test compares what it writes with the page.
"""

from __future__ import annotations

from collections.abc import Iterator

from ouzel.cli.schemas.commands import KINDS, OTHERWISE, schema_of
from ouzel.schemas import Schema

HEAD = """# JSON output of the commands

What each command prints with `--json`. `ouzel schema COMMAND` prints it as a [JSON schema](https://json-schema.org), by
which other programs check what they read; the tests check real output by the same ones. A number that is not finite is
a string (`"inf"`, `"nan"`). Members in *italics* are there sometimes. `ouzel predict` prints one object a line.
Types that several commands print, or that [the service](service.md) answers, stand here once. `make json` writes this
page from the code.
"""


def page() -> str:
    """Return the page as Markdown."""
    parts, shown = [HEAD], set()
    for command in KINDS:
        schema = schema_of(command)
        parts.append(f"## ouzel {command}\n\nPrints {_kind(schema)}.\n")
        for name, component in schema["$defs"].items():
            if name not in shown:
                shown.add(name)
                parts.append("\n".join([f"### {name}", "", component["description"], "", *_members(component)]) + "\n")
    parts.append("## Commands without it\n")
    parts.append("".join(f"- `ouzel {command}` {instead}.\n" for command, instead in OTHERWISE.items()))
    return "\n".join(parts)


def _members(schema: Schema) -> Iterator[str]:
    """Yield a line for each member of an object."""
    for name, member in schema["properties"].items():
        shown = f"`{name}`" if name in schema["required"] else f"*`{name}`*"
        about = f": {member['description']}" if "description" in member else ""
        yield f"- {shown} ({_kind(member)}){about}"
    for pattern, member in schema.get("patternProperties", {}).items():
        yield f"- *names like `{pattern}`* ({_kind(member)}): {member['description']}"


def _kind(schema: Schema) -> str:
    """Return the types of a value in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        kinds = list(dict.fromkeys(map(_kind, schema["anyOf"])))
        return " or ".join(kind for kind in kinds if kind != "integer" or "number" not in kinds)
    if "enum" in schema:
        return "string"
    if schema.get("items"):
        return f"array of {_kind(schema['items'])}"
    if schema.get("additionalProperties"):
        return f"object of {_kind(schema['additionalProperties'])}"
    return str(schema["type"])


if __name__ == "__main__":
    print(page(), end="")
