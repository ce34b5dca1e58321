"""A notebook shows how far a stream is learnt; elsewhere nothing is printed."""

import sys
import types

import pytest

import ouzel
from ouzel.evaluation import notebook

PAIRS = [({"sun": 1.0}, "dry"), ({"cloud": 1.0}, "wet")] * 50


@pytest.fixture
def cell(monkeypatch):
    """What a notebook shows below a cell: the texts, one after the other."""
    texts = []

    class Handle:
        def update(self, html):
            texts.append(html)

    interactive = types.ModuleType("IPython")
    interactive.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    display = types.ModuleType("IPython.display")
    display.display = lambda html, display_id: Handle()
    display.HTML = str
    monkeypatch.setitem(sys.modules, "IPython", interactive)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(notebook, "EVERY", 0.0)
    return texts


def test_a_validation_tells_where_it_stands(cell):
    ouzel.progressive_validation(ouzel.OnlineClassifier("ogd"), ouzel.blocks_from(PAIRS))

    assert cell[-1].startswith("100 examples, ")
    assert cell[-1].endswith("a second, error rate 0.0200")


def test_files_have_a_bar(cell, tmp_path):
    (tmp_path / "a.csv").write_text("sun,label\n" + "1,a\n2,b\n" * 50)
    with ouzel.read(tmp_path / "a.csv") as stream:
        ouzel.progressive_validation(ouzel.OnlineClassifier("ogd"), stream)

    size = (tmp_path / "a.csv").stat().st_size
    assert cell[-1].startswith(f'<progress value="{size}" max="{size}"></progress> 100 examples')


def test_a_comparison_tells_who_leads(cell):
    ouzel.compare("ogd,adagrad", ouzel.blocks_from(PAIRS))

    assert "least error 0.0200, of ogd" in cell[-1]


def test_a_comparison_tells_that_it_seeks_the_best_weights(cell):
    ouzel.compare("ogd", ouzel.blocks_from(PAIRS), regret=True)

    assert "best fixed weights of the first" in cell[-1]


def test_elsewhere_nothing_is_shown(capsys):
    ouzel.progressive_validation(ouzel.OnlineClassifier("ogd"), ouzel.blocks_from(PAIRS))

    assert notebook.line_for(None) is None
    assert capsys.readouterr() == ("", "")
