"""The papers' tables and figures, by name: `ouzel reproduce NAME`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from ouzel.errors import OuzelError, suggest


class Experiment(NamedTuple):
    """Where an experiment lies: its `function(data, output, quick=False, paths=())` writes NAME.md and NAME.png."""

    module_name: str  # below reproduce
    function: str
    summary: str

    def load(self) -> Callable[..., Any]:
        """The function, its module imported on first use."""
        found: Callable[..., Any] = getattr(importlib.import_module(f"reproduce.{self.module_name}"), self.function)
        return found


EXPERIMENTS: dict[str, Experiment] = {
    "adagrad-table-1": Experiment("adagrad.table_1", "run", "AdaGrad: error and sparsity on four categories of RCV1"),
    "adagrad-table-2": Experiment("adagrad.table_2", "run", "AdaGrad: ranking by pairs"),
    "adagrad-table-3": Experiment("adagrad.table_3", "run", "AdaGrad: mixed norms on MNIST with Gaussian kernels"),
    "adagrad-table-4": Experiment("adagrad.table_4", "run", "AdaGrad: error against training data on census income"),
    "adagrad-figure-7": Experiment("adagrad.figure_7", "run", "AdaGrad: test error against sparsity on RCV1"),
    "wm-figure-3": Experiment("wm_sketch.recovery", "figure_3", "WM-Sketch: error of the heaviest weights at 8 KB"),
    "wm-figure-4": Experiment("wm_sketch.recovery", "figure_4", "WM-Sketch: error of the heaviest weights by budget"),
    "wm-figure-5": Experiment("wm_sketch.recovery", "figure_5", "WM-Sketch: error of the heaviest weights by penalty"),
    "wm-figure-6": Experiment("wm_sketch.errors", "figure_6", "WM-Sketch: online error rate by budget"),
    "wm-figure-7": Experiment("wm_sketch.errors", "figure_7", "WM-Sketch: time of the methods within a budget"),
    "elementwise-ons-tables": Experiment(
        "elementwise.tables", "run", "element-wise Newton: mistakes, updates and time beside LIBOL's learners"
    ),
    "elementwise-ons-readings": Experiment(
        "elementwise.readings", "run", "element-wise Newton: readings of its formulas side by side"
    ),
    "libol-variance": Experiment("elementwise.libol_variance", "run", "LIBOL's own multiclass rules beside ours"),
    "wm-figure-8": Experiment(
        "wm_sketch.explanation", "figure_8", "WM-Sketch: relative risks of attributes of expenditures"
    ),
    "wm-figure-9": Experiment(
        "wm_sketch.explanation", "figure_9", "WM-Sketch: correlation of weights and relative risks"
    ),
    "wm-figure-10": Experiment(
        "wm_sketch.deltoids", "run", "WM-Sketch: recall of relative deltoids in network traffic"
    ),
    "wm-table-3": Experiment("wm_sketch.pmi", "table_3", "WM-Sketch: pairs of words by mutual information"),
    "wm-figure-11": Experiment("wm_sketch.pmi", "figure_11", "WM-Sketch: pairs retrieved by width and regularisation"),
    "son-figure-1": Experiment(
        "sketched_newton.figures", "figure_1", "sketched Newton: error against condition number"
    ),
    "son-figure-2": Experiment("sketched_newton.figures", "figure_2", "sketched Newton: error of Oja's eigenvalues"),
    "son-figure-4": Experiment(
        "sketched_newton.tables", "figure_4", "sketched Newton: error against examples on splice"
    ),
    "son-table-2": Experiment(
        "sketched_newton.tables", "table_2", "sketched Newton: Frequent Directions and Oja's sketch"
    ),
    "son-table-3": Experiment(
        "sketched_newton.tables", "table_3", "sketched Newton: real sets, with and without sketch"
    ),
    "son-table-4": Experiment(
        "sketched_newton.tables", "table_4", "sketched Newton: eigenvalues by Oja's rule on real sets"
    ),
    "rfd-son-alpha": Experiment(
        "later_methods.robust_directions", "run", "RFD-SON: error against alpha, compared with Frequent Directions"
    ),
    "aioli-scale": Experiment(
        "later_methods.improper_logistic", "run", "AIOLI: regret against the size of the best weights"
    ),
    "sketched-adagrad-losses": Experiment(
        "later_methods.sketched_adagrad", "run", "S-AdaGrad: losses of it and other learners, and by directions"
    ),
    "river": Experiment("benchmarks.river_page", "run", "River's benchmark page compared with the default"),
    "capymoa": Experiment("benchmarks.capymoa", "run", "CapyMOA's electricity figures compared with the default"),
    "one-against-all": Experiment(
        "benchmarks.one_against_all", "run", "Vowpal Wabbit's one against all on OpenML, compared with the default"
    ),
    "drift": Experiment(
        "benchmarks.drift", "run", "abrupt and gradual change: the default beside River's linear models and forests"
    ),
}
"""Every experiment by its public name."""


def find(name: str) -> Experiment:
    """The experiment of that name."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    raise OuzelError(f"there is no experiment {name!r}{suggest(name, EXPERIMENTS)}`ouzel reproduce` lists them")
