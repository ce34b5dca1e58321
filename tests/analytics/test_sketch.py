"""`top` and `info` show the file of an analysis; commands that predict or learn refuse it."""

import pytest

import ouzel as library
from ouzel.cli.app import answered

REFUSED = "holds an explanation, which predicts nothing; `ouzel top` shows what it found"


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    table = tmp_path_factory.mktemp("analysis") / "t.csv"
    table.write_text("word,y\n" + "".join(f"{'ab'[k % 2]},{k % 2}\n" for k in range(60)))
    path = table.with_name("m.ouzel")
    assert answered(["explain", str(table), "--label", "y", "--model", str(path)]) == 0
    return table, path


@pytest.mark.parametrize(
    "command",
    [
        ["predict", "{model}", "{table}"],
        ["test", "{model}", "{table}", "--label", "y"],
        ["train", "{table}", "--resume", "{model}"],
        ["export", "{model}", "{table}.h"],
    ],
)
def test_what_predicts_or_learns_refuses_the_file_of_an_analysis(analysis, capsys, command):
    table, model = analysis
    capsys.readouterr()

    assert answered([part.format(model=model, table=table) for part in command]) == 2

    assert REFUSED in capsys.readouterr().err


def test_loading_the_file_of_an_analysis_as_an_estimator_is_refused(analysis):
    with pytest.raises(library.OuzelError, match="holds an explanation, which predicts nothing"):
        library.load(analysis[1])

    assert library.StreamingExplainer.load(analysis[1]).rows.sum() == 60


def test_top_and_info_show_the_file_of_an_analysis(analysis, capsys):
    capsys.readouterr()

    assert answered(["top", str(analysis[1])]) == answered(["info", str(analysis[1])]) == 0

    assert "word=b" in capsys.readouterr().out
