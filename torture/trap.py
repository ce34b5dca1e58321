"""A module that model files name where they should name nothing that runs: importing it, or calling it, is noted."""

SPRUNG: list[str] = ["imported"]


def spring(*_: object, **__: object) -> list[str]:
    """Note a call."""
    SPRUNG.append("called")
    return []
