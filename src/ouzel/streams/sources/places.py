"""Where files lie: paths of this machine, and addresses such as s3://bucket/day.parquet, which fsspec reads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

from ouzel.errors import DataError, OuzelError

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://")


def is_address(path: str | Path) -> bool:
    """Whether a file is told by its address.

    >>> is_address("s3://bucket/day.parquet"), is_address("day.parquet")
    (True, False)
    """
    return SCHEME.match(str(path)) is not None


def place_of(path: str | Path) -> Path:
    """The path of a file; that of an address has the methods of a path."""
    if not is_address(path):
        return Path(path)
    try:
        from upath import UPath
    except ImportError:
        raise OuzelError(f'{path}: addresses are read with universal-pathlib: pip install "ouzel[remote]"') from None
    try:
        found = UPath(str(path))
        found.exists()
    except Exception as error:  # whatever the library of a service raises
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError.at(str(path), f"cannot be reached ({reason[:200]})") from None
    return cast(Path, found)


def unbuffered(place: Path) -> Any:
    """A file opened for reading; one at an address is fetched in pieces that its library chooses."""
    return place.open("rb", buffering=0) if isinstance(place, Path) else place.open("rb")
