"""Check of what commands print with --json, and of what the service answers alike, by their types."""

import msgspec
from jsonschema import Draft202012Validator

from ouzel.cli.schemas.commands import KINDS, schema_of


def converted(command, value):
    """What a command printed, as the first of its types that it is, each member of the very type."""
    kinds = KINDS[command]
    failed = []
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        try:
            return msgspec.convert(value, kind, strict=True)
        except msgspec.ValidationError as error:
            failed.append(f"{kind}: {error}")
    raise AssertionError(f"ouzel {command} --json: {'; '.join(failed)}")


def titles(shown):
    """The words of the titles of a table that `ouzel compare` printed, which may take several lines."""
    lines = shown.splitlines()
    last = next(place for place, line in enumerate(lines) if line.startswith("learner"))
    return {word for line in lines[: last + 1] for word in line.split()}


def check(command, value):
    """Check what a command printed by its schema as a validator reads it, too."""
    Draft202012Validator(schema_of(command)).validate(value)
    return converted(command, value)
