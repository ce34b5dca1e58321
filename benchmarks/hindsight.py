"""How far linear learners come on streams that change: the best of many, each with several half-lives, in hindsight.

A default is not told which that is. River's figure is that of the better of its logistic and softmax regressions behind
its scaler, as in `defaults.py`. A learner that cannot forget takes part without.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np
from default_peers import ours, river
from default_sets import STREAMS, sets

HALF_LIVES = (None, 250, 500, 1000, 2000, 5000)
LEARNERS: list[tuple[str, dict[str, Any]]] = [
    ("auto", {}),
    *((name, {"standardize": True}) for name in ("arow", "arow-full", "scw1-full", "ons", "ons-invariant")),
    *((name, {"standardize": True}) for name in ("son-oja", "son-fd")),
    *(("adagrad", {"standardize": True, "learning_rate": rate}) for rate in (0.1, 0.3, 1.0)),
    *(("ogd", {"standardize": True, "learning_rate": rate}) for rate in (0.01, 0.03, 0.1)),
]


def main() -> None:
    """Print for each stream the error of `auto`, of River and of the best, and which that is."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    ratios = []
    print(f"{'stream':<18} {'auto':>7} {'River':>7} {'best':>7}  which")
    for one in sets(Path(), [*STREAMS]):
        found = {}
        for (name, settings), half_life in itertools.product(LEARNERS, HALF_LIVES):
            how = settings if half_life is None else settings | {"forget": half_life}
            found[name, *how.items()] = ours(name, **how)(one.task, one.block)
        peer = min(river(softmax)(one.task, one.block) for softmax in (False, True))
        which = min((key for key in found if not np.isnan(found[key])), key=found.__getitem__)
        ratios.append(found[which] / peer)
        said = " ".join(str(part) for part in which)
        print(f"{one.name:<18} {found['auto',]:>7.4f} {peer:>7.4f} {found[which]:>7.4f}  {said}", flush=True)
    print(f"best / River, geometric mean: {np.exp(np.mean(np.log(ratios))):.3f}")


if __name__ == "__main__":
    main()
