"""The WM-Sketch paper's applications run, in their small variants, and leave their files."""

import pytest

from reproduce import find


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("wm-figure-8", "fec_expenditures_2016_sample.csv.xz"),
        ("wm-figure-9", "fec_expenditures_2016_sample.csv.xz"),
        ("wm-figure-10", "netflow_ctu.csv.xz"),
        ("wm-table-3", "reuters21578.tsv.xz"),
        ("wm-figure-11", "reuters21578.tsv.xz"),
    ],
)
def test_an_application_leaves_a_table_and_a_plot(name, needs, data, tmp_path):
    find(name).load()(data(needs).parent, tmp_path, quick=True)

    assert "| --" in (tmp_path / f"{name}.md").read_text()
    assert (tmp_path / f"{name}.png").stat().st_size > 5000
