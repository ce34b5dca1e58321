"""Finds the papers' experiments: the package `reproduce` of a checkout, next to `src/`; no wheel has it."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from ouzel.errors import OuzelError

PACKAGE = Path(__file__).absolute().parents[1]
FOLDER = PACKAGE.parents[1] / "reproduce"
RESULTS = FOLDER / "results"


def in_checkout() -> bool:
    """Return whether this package is that of a checkout, which has the experiments."""
    return PACKAGE.parent.name == "src" and (FOLDER / "__init__.py").is_file()


def load_experiments() -> None:
    """Make `reproduce` importable: that of this checkout, wherever the process runs; raise `OuzelError` elsewhere."""
    if not in_checkout():
        raise OuzelError(
            "the papers' experiments are in the source checkout, in its folder reproduce/, and not in an installed "
            "package; run `pip install -e .` in the checkout, and then `ouzel reproduce`"
        )
    place = FOLDER / "__init__.py"
    if getattr(sys.modules.get("reproduce"), "__file__", None) == str(place):
        return
    spec = spec_from_file_location("reproduce", place, submodule_search_locations=[str(FOLDER)])
    assert spec is not None
    assert spec.loader is not None
    sys.modules["reproduce"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)


def experiment_names() -> list[str]:
    """Return the names of all experiments; none outside a checkout."""
    if not in_checkout():
        return []
    load_experiments()
    from reproduce import EXPERIMENTS

    return sorted(EXPERIMENTS)
