"""Packages of extras are named by what needs them, before any work is done."""

import sys

import pytest

from ouzel import OnlineClassifier
from ouzel.errors import OuzelError
from ouzel.plotting.axes import check_plot_path


def hide(monkeypatch, package):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)


def test_a_picture_is_refused_before_any_work_where_nothing_can_draw_it(monkeypatch, tmp_path):
    hide(monkeypatch, "matplotlib")

    with pytest.raises(OuzelError, match=r'^drawing needs matplotlib: pip install "ouzel\[plot\]"$'):
        check_plot_path(str(tmp_path / "curve.png"))


def test_learning_needs_none_of_them(monkeypatch):
    for package in ("matplotlib", "plotext", "datasketches"):
        hide(monkeypatch, package)

    model = OnlineClassifier("perceptron").fit([[1.0], [2.0]] * 4, [0, 1] * 4)

    assert len(model.predict([[1.0]])) == 1
