"""`ouzel demo`: trains three learners on three built-in streams and draws their curves, or writes small data sets."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from ouzel.cli import options
from ouzel.cli.parameters import FOLDER, option

if TYPE_CHECKING:
    from ouzel.comparison.one_pass import Entry
    from ouzel.streams.block import Block

LEARNERS = ("ogd", "adagrad", "son-oja")
CONDITION = 200
PICTURE = "ouzel-demo.png"  # in the working folder, if no other place is given
ROWS = 500  # examples a block: often enough for the live line


class Show(NamedTuple):
    """One stream of the demo, with the settings of its learners."""

    title: str
    blocks: Iterator[Block]
    steps: str  # range of step sizes
    settings: dict[str, Any]
    sketch: dict[str, float]  # further settings of the sketched Newton method


def demo(
    plot: Annotated[str, option("Draw the learning curves to this file.", takes="PNG|SVG")] = PICTURE,
    write: Annotated[
        str | None, option("Train nothing, and write small data sets to this folder.", takes=FOLDER)
    ] = None,
    json_: options.Json = False,
) -> None:
    """Train three learners on three built-in streams, and show which one wins.

    With --write it writes iris, wine, breast cancer, digits and diabetes, the real sets of scikit-learn, and simulated
    clicks, prices, payments, stories, addresses and network flows.

    Example: ouzel demo
    """
    if write is not None:
        return _write(write, quiet=json_)
    from ouzel.plotting.axes import check_plot_path, draw_panels

    check_plot_path(plot)
    begun = time.perf_counter()
    if not json_:
        print("Three streams, read once. Every example is predicted, then learnt; below are the")
        print("shares of wrong predictions, each learner with the best of several step sizes.\n")
        print(f"{'':<34}" + "".join(f"{name:>10}" for name in LEARNERS))
    shows = {show.title: _best(show, quiet=json_) for show in _shows()}
    panels = {title: {c.candidate.learner: _line(c) for c in best} for title, best in shows.items()}
    draw_panels(panels, plot, x="examples", y="progressive error rate")
    seconds = time.perf_counter() - begun
    if json_:
        from ouzel.evaluation.report import as_json

        streams = [{"stream": title, "results": [c.to_json() for c in best]} for title, best in shows.items()]
        print(json.dumps(as_json({"streams": streams, "plot": plot, "seconds": seconds})))
        return
    winners = Counter(min(best, key=lambda c: c.figure).candidate.learner for best in shows.values())
    winner, times = winners.most_common(1)[0]
    _, adagrad, sketched = next(iter(shows.values()))
    print(f"\n{winner} wins {times} of {len(shows)}. On the ill-conditioned stream a sketch of ten directions, with")
    print(f"--set diagonal=no, makes {sketched.figure / adagrad.figure:.2f} times the mistakes of AdaGrad.")
    drawn = Path(plot).absolute() if plot == PICTURE else plot
    print(f"Curves drawn in {drawn}; {seconds:.0f} seconds in all. Next: ouzel train FILE")


def _write(folder: str, quiet: bool) -> None:
    """Write the samples, and list them: as JSON if `quiet`."""
    from ouzel.cli.samples import write_samples

    written = write_samples(folder)
    if quiet:
        print(json.dumps([sample._asdict() for sample in written]))
        return
    for sample in written:
        kind = f"{len(sample.classes)} classes" if sample.classes else "a number"
        label = f"label {sample.label} ({kind})" if sample.label else "no label"
        print(f"{sample.file}: {sample.rows:,} rows, {sample.columns:,} columns, {label}")
    sample = written[2]
    print(f"Next: ouzel train {sample.file} --label {sample.label}")


def _best(show: Show, quiet: bool) -> list[Entry]:
    """Find the best step size of each learner, and print their row unless `quiet`."""
    from ouzel.cli.ui.progress import Screen
    from ouzel.comparison.grid import candidates, parse_range
    from ouzel.comparison.one_pass import compare

    steps = parse_range(show.steps)
    chosen = candidates(LEARNERS[:2], steps=steps, settings=show.settings)
    chosen += candidates(LEARNERS[2:], steps=steps, settings={**show.settings, **show.sketch})
    with Screen(show.title, quiet=quiet) as screen:
        found = compare(
            chosen,
            show.blocks,
            on_progress=lambda now: screen.show_scores(now[0].scores),
            task="classification",
            standardize=False,  # features as they are, as in the paper
        )
    best = [min((c for c in found if c.candidate.learner == name), key=lambda c: c.figure) for name in LEARNERS]
    if quiet:
        return best
    least = min(entry.figure for entry in best)
    cells = (f"{c.figure:.4f}{'*' if c.figure == least else ' '}" for c in best)
    print(f"{show.title:<34}" + "".join(f"{cell:>10}" for cell in cells), flush=True)
    return best


def _line(entry: Entry) -> tuple[list[int], list[float]]:
    """Points of the progressive error from 64 examples on, where it has settled a little."""
    points = [point for point in entry.curve.points if point.examples >= 64]
    return [point.examples for point in points], [point.error_rate for point in points]


def _shows() -> Iterator[Show]:
    import numpy as np
    from sklearn.datasets import load_breast_cancer, load_digits

    from ouzel.streams.memory import blocks_from

    random = np.random.default_rng(0)
    examples, labels = _ill_conditioned(random)
    newton = {"diagonal": 0.0, "largest": 1.0}
    square = {"loss": "squared"}
    yield Show(
        f"ill-conditioned (condition {CONDITION})",
        blocks_from(examples, labels, block_rows=ROWS),
        "2^-14:2^0",
        square,
        newton,
    )
    for title, data in (("breast cancer", load_breast_cancer()), ("handwritten digits", load_digits())):
        order = random.permutation(len(data.target))
        scaled = data.data[order] / np.maximum(np.abs(data.data).max(axis=0), 1.0)
        yield Show(title, blocks_from(scaled, data.target[order], block_rows=ROWS), "2^-4:2^4", {}, {})


def _ill_conditioned(random: Any, examples: int = 10_000, features: int = 100) -> tuple[Any, Any]:
    """Make the stream of Luo, Agarwal, Cesa-Bianchi & Langford (2016), section 5.1: ten directions stretched."""
    import numpy as np

    white = random.standard_normal((examples, features))
    basis = np.linalg.qr(random.standard_normal((features, features)))[0]
    spectrum = np.concatenate([np.ones(features - 10), np.linspace(1, CONDITION, 11)[1:]])
    labels = np.sign(white @ random.standard_normal(features))
    return ((white * np.sqrt(spectrum)) @ basis.T).astype(np.float32), labels
