"""Tables in LaTeX: a PDF takes all that reports and comparisons have, and the best values are bold."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.comparison.latex import escaped, latex, of_report
from ouzel.comparison.tables import Table, write_table

RESULTS = Path(__file__).parents[2] / "reproduce" / "results"
REPORTS = sorted(RESULTS.glob("*.md"))


def body(text):
    return re.search(r"\\midrule\n(.*)\n\\bottomrule", text, re.DOTALL)[1].splitlines()


@pytest.mark.parametrize(
    ("best", "bold"),
    [
        ("lowest-in-row", ["0.2", "0.1", "0.1"]),
        ("highest-in-row", ["0.3", "0.4"]),
        ("lowest-in-column", ["0.2", "0.1", "0.1"]),
        ("highest-in-column", ["0.4", "0.3"]),
        (None, []),
    ],
)
def test_the_best_are_bold_all_that_are_equal_and_no_difference(best, bold):
    rows = [["a", "0.2", "0.3", "−0.1"], ["b", "0.4", "0.1", "+0.3"], ["c", "–", "0.1", ""]]
    if best and best.endswith("row"):
        rows[2] = ["c", "–", "0.1", ""]

    found = latex(["set", "one", "two", "difference"], rows, "", "t", best)

    chosen = re.findall(r"\\textbf\{(.*?)\}", found)
    if best == "highest-in-row":
        bold = [*bold, "0.1"]  # alone in its row
    assert sorted(chosen) == sorted(bold)


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_no_character_of_a_cell_means_anything_to_latex(text):
    found = escaped(text)

    plain = re.sub(
        r"\\(textbackslash|textasciitilde|\^)\{\}|\\[&%$#_{}]|\$[<>|]\$|\{\[\}|\$\d+\^\{-?\d+\}\$", "", found
    )
    assert not set(plain) & set("\\&%$#_{}~^<>|[")


def test_a_comparison_is_written_with_its_marks_as_bold_and_its_note_as_caption(tmp_path):
    cells = [["ogd", "0.2000 ± 0.0100="], ["adagrad", "0.1000 ± 0.0100*"]]
    write_table(Table(["learner", "error rate"], cells, [], "* the best\n= not worse"), str(tmp_path / "errors.tex"))

    text = (tmp_path / "errors.tex").read_text()
    assert r"adagrad & \textbf{0.1000 $\pm$ 0.0100} \\" in text
    assert r"ogd & 0.2000 $\pm$ 0.0100$^{=}$ \\" in text
    assert r"\label{tab:errors}" in text
    assert r"\caption{Bold: the best; = not worse}" in text


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.stem)
def test_every_report_has_a_table_whose_rows_are_as_long_as_its_head(report):
    for table in of_report(report.read_text(), report.stem, "lowest-in-row").split("\n\n"):
        if table.startswith("% "):
            continue
        columns = re.search(r"\\begin\{tabular\}\{(l?r*)\}", table)[1]
        for line in body(table):
            assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1, line


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_a_pdf_takes_the_tables_of_all_reports(tmp_path):
    tables = "\n\\clearpage\n".join(of_report(report.read_text(), report.stem) for report in REPORTS)
    packages = r"\usepackage[T1]{fontenc}\usepackage{booktabs}\usepackage{graphicx}"
    text = rf"\documentclass{{article}}{packages}\begin{{document}}{tables}\end{{document}}"
    (tmp_path / "all.tex").write_text(text)

    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "all.pdf").exists()
    too_wide = re.findall(r"Overfull \\hbox \((\d+)", done.stdout)
    assert not [points for points in too_wide if int(points) > 30]
