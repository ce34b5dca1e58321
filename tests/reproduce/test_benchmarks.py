"""Public benchmarks run, and each part of them computes what its name says."""

import builtins
import csv
import io
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from ouzel.errors import OuzelError
from reproduce import find
from reproduce.benchmarks import (
    change_points,
    conclusion,
    drift,
    drift_streams,
    one_against_all,
    peers,
    published,
    river_page,
    river_sets,
)
from reproduce.benchmarks.published import Measure
from reproduce.provenance import DataFolder
from reproduce.running import run

ROOT = Path(__file__).parents[2]

pytest.importorskip("river", reason="its sets and streams are measured on")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "needs", "said"),
    [
        ("river", "elec2.csv.xz", "| place of Ouzel"),
        ("capymoa", "electricity.csv.xz", "DEMS"),
        ("one-against-all", "heart.svm.xz", "| segment"),
        ("drift", "heart.svm.xz", "| Sine | gradual"),
    ],
)
def test_an_experiment_leaves_a_table_and_a_plot(name, needs, said, data, tmp_path):
    find(name).load()(DataFolder(data(needs).parent), tmp_path, quick=True)

    assert said in re.sub(" +", " ", (tmp_path / f"{name}.md").read_text())
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


def test_the_page_of_river_is_read_column_by_column():
    columns = published.page()

    assert len(columns[Measure("Elec2", "accuracy")]) == 18
    assert len(columns[Measure("ImageSegments", "accuracy")]) == 14
    assert len(columns[Measure("TrumpApproval", "MAE")]) == 17
    assert columns[Measure("SMTP", "F1")]["k-Nearest Neighbors"] == 0.666667
    assert columns[Measure("ChickWeights", "RMSE")]["[baseline] Mean predictor"] == 71.1144


def test_the_place_of_the_default_counts_those_that_are_better():
    shares = river_page.Column(Measure("Elec2", "accuracy"), {"a": 0.9, "b": 0.8, "c": 0.7}, {river_page.DEFAULT: 0.8})
    errors = river_page.Column(
        Measure("ChickWeights", "MAE"), {"a": 9.0, "b": 8.0, "c": 7.0}, {river_page.DEFAULT: 7.5}
    )

    assert (shares.rank, shares.best) == (2, "a")
    assert (errors.rank, errors.best) == (2, "c")
    assert shares.losses(shares.published) == pytest.approx([0.1, 0.2, 0.3])
    assert errors.losses(errors.published) == [9.0, 8.0, 7.0]


def test_f1_is_of_the_class_named_last():
    class Found:
        confusion = [[90, 4], [3, 6]]  # noqa: RUF012 - of a report

    assert river_page.f1(Found()) == pytest.approx(2 * 6 / (2 * 6 + 4 + 3))


def test_a_set_of_river_is_written_as_a_table_in_its_own_order():
    text = io.StringIO()
    river_sets.write_csv([({"a": 1, "b": 0.5}, True), ({"a": 2, "b": 0.25}, False)], csv.writer(text))

    assert text.getvalue().split() == ["a,b,label", "1,0.5,True", "2,0.25,False"]


def test_sets_that_river_fetches_are_at_hand_only_then():
    assert river_sets.is_available("Phishing")
    assert river_sets.is_available("Keystroke") == river_sets.river_datasets().Keystroke().is_downloaded


def test_without_river_one_line_says_what_to_do(tmp_path, monkeypatch):
    given = builtins.__import__

    def without(name, *rest):
        if name.split(".")[0] == "river":
            raise ImportError(name)
        return given(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OuzelError, match="River is not installed, whose sets these are; run `pip install river`"):
        run("drift", tmp_path, tmp_path, quick=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", drift_streams.WIDTHS)
@pytest.mark.parametrize("name", drift_streams.concepts())
def test_a_stream_is_of_the_first_concept_and_then_of_the_second(name, change):
    before, _ = drift_streams.concepts()[name]()
    pairs = (
        drift_streams.generate(name, change, examples=60)
        if change == "abrupt"
        else drift_streams.generate(name, change)
    )

    again = drift_streams.generate(name, change, examples=len(pairs))
    assert pairs == again
    if change == "gradual":
        expected = [float(value) for value in next(iter(before))[0].values()]
        assert list(pairs[0][0].values()) == expected
        assert len(pairs) == drift_streams.EXAMPLES


def test_peers_are_stored_for_every_stream():
    version, found = peers.load_stored()

    assert version.count(".") == 2
    assert set(found) == {f"{name}, {change}" for name in drift_streams.concepts() for change in drift_streams.WIDTHS}
    for of_stream in found.values():
        assert set(of_stream) == set(drift.PEERS)
        for peer in of_stream.values():
            assert len(peer.mistakes) == drift_streams.EXAMPLES // drift_streams.WINDOW
            assert 0.0 < peer.error < 0.6
            assert peer.seconds > 0.0


@pytest.mark.parametrize("name", ["linear", "HAT"])
def test_what_is_stored_is_what_river_does(name):
    """Of a short beginning: whole streams take minutes."""
    version, found = peers.load_stored()
    if version != pytest.importorskip("river").__version__:
        pytest.skip(f"figures of River {version}: `python -m reproduce.benchmarks.peers` makes them anew")
    pairs = drift_streams.generate("SEA", "gradual")[: 2 * drift_streams.WINDOW]

    assert peers.windowed_mistakes(peers.models(2)[name](), pairs) == found["SEA, gradual"][name].mistakes[:2]


def test_mistakes_are_counted_window_by_window_before_learning():
    class Last:
        answer = None

        def predict_one(self, x):
            return self.answer

        def learn_one(self, x, y):
            self.answer = y

    pairs = [({}, number // 300) for number in range(2 * drift_streams.WINDOW)]

    assert peers.windowed_mistakes(Last(), pairs) == [1, 1]


def test_a_series_is_predicted_from_the_values_before():
    series = change_points.Series("numbers", np.arange(40.0), [10])

    X, y = series.rows()
    assert X[0].tolist() == [4.0, 3.0, 2.0, 1.0, 0.0]
    assert y[:2].tolist() == [5.0, 6.0]
    assert np.flatnonzero(series.after()).tolist() == list(range(5, 25))  # steps 10 to 29
    assert change_points.LEARNERS["last value"](X, y).tolist() == X[:, 0].tolist()


def test_series_of_several_columns_name_the_one_that_is_predicted(tmp_path):
    data = DataFolder(tmp_path)

    assert change_points.series_of(data, "Apple").name == "Apple, Close"
    assert change_points.series_of(data, "Apple").marked == []
    occupancy = change_points.series_of(data, "Occupancy")
    assert (occupancy.name, len(occupancy.values), occupancy.marked[0]) == ("Occupancy, V1", 509, 1)
    assert {path.name for path in data.used} == {"apple.csv", "occupancy.csv"}


def test_one_class_stands_against_the_rest(data):
    block = one_against_all.load(
        DataFolder(data("vowel.svm.xz").parent), one_against_all.DataSet(("vowel.svm.xz",), positive=2.0)
    )

    assert sorted(set(block.labels.tolist())) == [-1.0, 1.0]
    assert (block.labels > 0).sum() == 48


def test_every_set_against_all_has_a_published_figure():
    assert set(one_against_all.SETS) < set(published.ONE_AGAINST_ALL)


def test_tables_of_pages_are_written_by_their_commands():
    tables = runpy.run_path(str(ROOT / "docs" / "tables.py"))
    page = "a\n\n<!-- $ python -c 'print(1)' -->\n<!-- end -->\n\n<!-- $ python -c 'print(2)' -->\nold\n<!-- end -->\n"

    found = tables["anew"](page, "print(1)")
    assert found == page.replace("(1)' -->\n", "(1)' -->\n\n1\n\n", 1)
    with pytest.raises(SystemExit, match="no_module"):
        tables["printed"]("python -m no_module")


@pytest.mark.parametrize("name", ["river", "capymoa", "one-against-all", "drift"])
def test_the_page_quotes_the_report(name):
    report = (ROOT / "reproduce" / "results" / f"{name}.md").read_text()

    quoted = conclusion.last_paragraph(report)
    assert f"conclusion {name} -->\n\n{quoted}\n\n<!-- end -->" in (ROOT / "docs" / "benchmarks.md").read_text(), (
        "run `python docs/tables.py conclusion`"
    )


@pytest.mark.parametrize("table", ["versions", "classes", "numbers", "seconds", "streams"])
def test_the_page_of_the_default_has_the_figures_that_are_kept(table, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    defaults = runpy.run_path(str(ROOT / "benchmarks" / "defaults.py"))

    printed = "\n".join(defaults["SECTIONS"][table](defaults["kept"](defaults["KEPT"])))
    assert f"--table {table} -->\n\n{printed}\n\n<!-- end -->" in (ROOT / "docs" / "defaults.md").read_text(), (
        "run `python docs/tables.py defaults.py`"
    )


def test_the_ratio_to_a_peer_is_of_the_orders_that_both_have_seen(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tables = runpy.run_path(str(ROOT / "benchmarks" / "default_tables.py"))
    figures = {"auto": {"1": 0.2, "2": 0.4, "0": 0.9}, "ARF": {"1": 0.1}, "VW coin": {"mean": 0.6}, "AMF": {"1": None}}

    found = {"figures": figures}
    assert tables["cell"](found, "ARF", False) == (0.1, pytest.approx(2.0))
    assert tables["cell"](found, "VW coin", False) == (0.6, pytest.approx(0.5))
    assert np.isnan(tables["cell"](found, "AMF", False)).all()
