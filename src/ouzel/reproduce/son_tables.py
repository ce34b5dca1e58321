"""Tables 2, 3 and 4 and figure 4 of the sketched Newton paper: real sets, one pass each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ouzel.evaluation.plots import draw_lines
from ouzel.reproduce.son_runs import Pass, best_pass, one_pass, sketched
from ouzel.reproduce.son_sets import SETS, names_and_blocks
from ouzel.reproduce.writing import draw_bars, markdown_table, signed, write_report
from ouzel.streams.block import Block

STEPS = [2.0**k for k in range(-20, 11)]
SIZE = 10
SMALL = ("australian", "breast-cancer", "heart", "w1a")  # what `quick` runs
MOST_FEATURES = 1000  # of a set whose eigenvalues are worked out

TABLE_2 = {  # FD-SON, Oja-SON, per cent
    "australian": (16.0, 15.8),
    "breast-cancer": (5.3, 3.7),
    "diabetes": (35.4, 32.8),
    "mushrooms": (0.5, 0.2),
    "splice": (22.6, 22.9),
}
TABLE_3 = {  # Oja-SON with m = 0 and 10, then both with the diagonal; AdaGrad
    "20news": (0.121338, 0.121338, 0.049590, 0.049590, 0.068020),
    "a9a": (0.204447, 0.195203, 0.155953, 0.155953, 0.156414),
    "australian": (0.366667, 0.366667, 0.162319, 0.157971, 0.289855),
    "breast-cancer": (0.374817, 0.374817, 0.036603, 0.036603, 0.358712),
    "census": (0.093610, 0.062038, 0.051479, 0.051439, 0.069629),
    "covtype": (0.042304, 0.042312, 0.050827, 0.050818, 0.045507),
    "diabetes": (0.433594, 0.433594, 0.329427, 0.328125, 0.391927),
    "heart": (0.477778, 0.388889, 0.244444, 0.244444, 0.362963),
    "ijcnn1": (0.046826, 0.046826, 0.034536, 0.034645, 0.036913),
    "magic04": (0.000263, 0.000263, 0.000158, 0.000158, 0.000210),
    "mnist": (0.062336, 0.062336, 0.040031, 0.039182, 0.046561),
    "mushrooms": (0.003323, 0.002339, 0.002462, 0.002462, 0.001969),
    "rcv1": (0.055976, 0.052694, 0.052764, 0.052766, 0.050938),
    "splice": (0.343000, 0.343000, 0.294000, 0.229000, 0.301000),
    "w1a": (0.001615, 0.001615, 0.004845, 0.004845, 0.003633),
}
TABLE_4 = {
    "a9a": 0.90,
    "australian": 0.85,
    "breast-cancer": 5.38,
    "diabetes": 5.13,
    "heart": 4.36,
    "ijcnn1": 0.57,
    "magic04": 11.48,
    "mushrooms": 0.91,
    "splice": 8.23,
}
COLUMNS = {
    "m = 0": ("son-oja", {"sketch_size": 0, "diagonal": 0.0}),
    "m = 10": ("son-oja", {"sketch_size": SIZE, "diagonal": 0.0}),
    "diagonal, m = 0": ("son-oja", {"sketch_size": 0}),
    "diagonal, m = 10": ("son-oja", {"sketch_size": SIZE}),
    "AdaGrad": ("adagrad", {}),
    "diagonal, FD, m = 10": ("son-fd", {"sketch_size": SIZE}),
}


def _chosen(names: Sequence[str], quick: bool) -> list[str]:
    return [name for name in names if not quick or name in SMALL]


def _steps(quick: bool) -> list[float]:
    return STEPS[::3] if quick else STEPS


def _exponent(step: float) -> str:
    return f"2^{round(np.log2(step))}"


def table_2(data: Path, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Both sketches side by side, ten directions, with the diagonal."""
    name, lines, errors = "son-table-2", [], []
    for label, block in names_and_blocks(data, _chosen(list(TABLE_2), quick), paths):
        published = TABLE_2.get(label, (None, None))
        for learner, title, theirs in zip(("son-fd", "son-oja"), ("FD-SON", "Oja-SON"), published, strict=True):
            ours = best_pass(learner, _steps(quick), block, sketch_size=SIZE)
            errors.append((label, title, 100 * ours.error))
            shown = ("-", "-") if theirs is None else (f"{theirs:.1f}", signed(100 * ours.error - theirs, 1))
            lines.append([label, title, shown[0], f"{100 * ours.error:.1f}", shown[1], _exponent(ours.step)])
    table = markdown_table(["set", "learner", "published %", "ours %", "difference", "step size"], lines)
    title = "Sketched Newton, table 2: Frequent Directions and Oja's sketch"
    write_report(output, name, title, table, REMARKS_2, f"ouzel reproduce {name}")
    groups = list(dict.fromkeys(label for label, _, _ in errors))
    series = {kind: [error for _, title, error in errors if title == kind] for kind in ("FD-SON", "Oja-SON")}
    draw_bars(output / f"{name}.png", groups, series, "error, %")


def table_3(data: Path, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """With and without the diagonal, without and with a sketch, and AdaGrad."""
    name, lines, found = "son-table-3", [], {}
    for label, block in names_and_blocks(data, _chosen(list(TABLE_3), quick), paths):
        published = (*TABLE_3.get(label, (None,) * 5), None)
        for (column, (learner, settings)), theirs in zip(COLUMNS.items(), published, strict=True):
            ours = best_pass(learner, _steps(quick), block, **settings)
            found[label, column] = ours.error
            shown = ("-", "-") if theirs is None else (f"{theirs:.4f}", signed(ours.error - theirs, 4))
            lines.append([label, column, shown[0], f"{ours.error:.4f}", shown[1], _exponent(ours.step)])
        print(f"{label}: " + "  ".join(f"{column} {found[label, column]:.4f}" for column in COLUMNS), flush=True)
    groups = list(dict.fromkeys(label for label, _ in found))
    table = markdown_table(["set", "learner", "published", "ours", "difference", "step size"], lines)
    notes = "; ".join(f"{label}: {SETS[label].note}" for label in groups if label in SETS and SETS[label].note)
    title = "Sketched Newton, table 3: error on real sets"
    write_report(output, name, title, table, f"{REMARKS_3} Sets: {notes}.", f"ouzel reproduce {name}")
    draw_bars(output / f"{name}.png", groups, {c: [found[g, c] for g in groups] for c in COLUMNS}, "error")


def eigenvalue_error(found: Pass, block: Block) -> float:
    """The largest relative error of a pass's ten eigenvalues, against those of what it had sketched."""
    vectors = sketched(block, found.margins, diagonal=True)
    true = np.linalg.eigvalsh(vectors.T @ vectors / block.rows)[::-1][:SIZE]
    estimate = np.sort(found.model.module.eigenvalues(found.model.states[0]))[::-1][: len(true)]
    kept = true > 1e-12 * true[0]
    return float(np.max(np.abs(estimate - true)[kept] / true[kept]))


def table_4(data: Path, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """How well Oja's rule knew the eigenvalues of what it sketched."""
    name, lines, groups, series = "son-table-4", [], [], {"published": [], "ours": []}
    for label, block in names_and_blocks(data, _chosen(list(TABLE_4), quick), paths):
        if block.indices.max() >= MOST_FEATURES:
            print(f"{label}: left out, it has more than {MOST_FEATURES} features")
            continue
        best = best_pass("son-oja", _steps(quick), block, sketch_size=SIZE)
        ours, theirs = eigenvalue_error(best, block), TABLE_4.get(label)
        shown = ("-", "-") if theirs is None else (f"{theirs:.2f}", signed(ours - theirs, 2))
        lines.append([label, shown[0], f"{ours:.2f}", shown[1], _exponent(best.step)])
        groups.append(label)
        series["published"].append(theirs or 0.0)
        series["ours"].append(ours)
    table = markdown_table(["set", "published", "ours", "difference", "step size"], lines)
    title = "Sketched Newton, table 4: largest relative error of ten eigenvalues by Oja's rule"
    write_report(output, name, title, table, REMARKS_4, f"ouzel reproduce {name}")
    draw_bars(output / f"{name}.png", groups, series, "largest relative error")


def figure_4(data: Path, output: Path, quick: bool = False, paths: Sequence[Path] = ()) -> None:
    """Error against examples for several sizes of sketch on splice, or on the first file given."""
    name, sizes = "son-figure-4", (0, 1, 5, SIZE)
    label, block = names_and_blocks(data, ["splice"] if not paths else [], paths)[0]
    passes = [best_pass("son-oja", _steps(quick), block, sketch_size=size) for size in sizes]
    at = np.unique(np.geomspace(10, block.rows, 60).astype(int))
    lines = {
        f"m = {size}": (at.tolist(), found.curve(block.labels)[at - 1].tolist())
        for size, found in zip(sizes, passes, strict=True)
    }
    published = dict.fromkeys(sizes) if paths else {0: 0.294, 1: None, 5: None, SIZE: 0.229}
    rows = []
    for size, found in zip(sizes, passes, strict=True):
        theirs = published[size]
        shown = ("-", "-") if theirs is None else (f"{theirs:.3f}", signed(found.error - theirs))
        rows.append([f"m = {size}", shown[0], f"{found.error:.3f}", shown[1], _exponent(found.step)])
    table = markdown_table(["sketch", "published, table 3", "ours", "difference", "step size"], rows)
    spectrum = np.linalg.eigvalsh(_outer(block))[::-1]
    remarks = f"{REMARKS_4B} The two largest eigenvalues of what m = 10 sketched: {spectrum[0]:.2f}, {spectrum[1]:.2f}."
    title = f"Sketched Newton, figure 4: error against examples on {label}"
    write_report(output, name, title, table, remarks, f"ouzel reproduce {name}")
    draw_lines(lines, str(output / f"{name}.png"), x="examples", y="error rate so far")


def _outer(block: Block) -> np.ndarray:
    """The mean outer product of what a pass with ten directions sketches."""
    vectors = sketched(block, one_pass("son-oja", 1.0, block, sketch_size=SIZE).margins, diagonal=True)
    return vectors.T @ vectors / block.rows


REMARKS_2 = "-"
REMARKS_3 = "-"
REMARKS_4 = "-"
REMARKS_4B = "-"
