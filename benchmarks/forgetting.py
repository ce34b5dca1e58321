"""What `forget` does on a stream that changes: error before and after, by half-life, and a picture of it.

The rule is linear in ten features and noisy, and is turned to its opposite in the middle.
"""

from __future__ import annotations

import argparse

import numpy as np

import ouzel
from ouzel.plotting.axes import draw_panels

EXAMPLES = 20_000
HALF_LIVES = (0.0, 100.0, 500.0, 2500.0)  # 0: nothing is forgotten
LEARNERS: tuple[str, ...] = (
    "auto",
    "ogd",
    "adagrad",
    "adagrad-rda",
    "ftrl-proximal",
    "ons",
    "son-oja",
    "sop",
    "arow",
    "narow",
)
LEARNERS += ("nherd", "scw1", "scw2", "arow-full", "scw1-full", "wm", "awm")
SHOWN = ("adagrad", "son-oja", "arow")
WINDOW = 250


def flipped(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """X (n, 10) and classes (n,)."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(EXAMPLES, 10)).astype(np.float32)
    scores = X @ random.normal(size=10) + random.normal(size=EXAMPLES)
    scores[EXAMPLES // 2 :] *= -1.0
    return X, (scores > 0).astype(float)


def mistakes(learner: str, half_life: float, seeds: int) -> np.ndarray:
    """The share (n,) of runs that are wrong at each example."""
    found = np.zeros(EXAMPLES)
    for seed in range(seeds):
        X, y = flipped(seed)
        model = ouzel.Model(learner, classes=[0, 1], forget=half_life)
        margins = np.concatenate([model.learn(block).margins for block in ouzel.blocks_from(X, y)])
        found += ((margins > 0) != y) / seeds
    return found


def main() -> None:
    """Print a line a learner, and draw three of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--plot", default="docs/images/forgetting.png")
    given = parser.parse_args()
    half, panels = EXAMPLES // 2, {}
    print("| learner | " + " | ".join(f"{h:g}" if h else "never" for h in HALF_LIVES) + " |")
    print("| --- |" + " ---: |" * len(HALF_LIVES))
    for learner in LEARNERS:
        runs = {half_life: mistakes(learner, half_life, given.seeds) for half_life in HALF_LIVES}
        shown = [f"{run[:half].mean():.3f} / {run[half:].mean():.3f}" for run in runs.values()]
        print(f"| `{learner}` | {' | '.join(shown)} |", flush=True)
        if learner in SHOWN:
            xs = np.arange(WINDOW, EXAMPLES + 1, WINDOW).tolist()
            panels[learner] = {
                (f"half-life {half_life:g}" if half_life else "nothing forgotten"): (
                    xs,
                    run.reshape(-1, WINDOW).mean(axis=1).tolist(),
                )
                for half_life, run in runs.items()
            }
    draw_panels(panels, given.plot, x="examples", y=f"error of {WINDOW} examples")


if __name__ == "__main__":
    main()
