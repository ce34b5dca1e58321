"""Modules of kernels in plain Python, with a bug planted, to see whether tests find it."""

import re
import sys
from pathlib import Path
from types import ModuleType

DECORATORS = ("force_inline", "inline_source", "kernel")


def interpreted(module: ModuleType, old: str = "", new: str = "") -> ModuleType:
    """A module in plain Python, a part of its text replaced, which stands there once."""
    text = Path(module.__file__ or "").read_text()
    assert text.count(old) == 1 or not old, f"{old!r} stands {text.count(old)} times in {module.__name__}"
    text = re.sub(rf"^@(?:{'|'.join(DECORATORS)})\n", "", text, flags=re.MULTILINE)
    found = ModuleType("planted")
    sys.modules["planted"] = found  # where a NamedTuple looks for its names
    exec(compile(text.replace(old, new) if old else text, str(module.__file__), "exec"), vars(found))
    return found
