"""What notebooks show of results."""

import pickle

import pytest

import ouzel

EXAMPLES = [({"sun": 1.0, "<b>": 2.0}, "dry"), ({"cloud": 1.0}, "wet")] * 50


@pytest.fixture(scope="module")
def model():
    found = ouzel.OnlineClassifier("adagrad")
    for features, label in EXAMPLES:
        found.learn_one(features, label)
    return found


def results(model, folder):
    model.save(folder / "model")
    return {
        "report": ouzel.progressive_validation(ouzel.OnlineClassifier("ogd"), ouzel.blocks_from(EXAMPLES)),
        "comparison": ouzel.compare("ogd,adagrad", ouzel.blocks_from(EXAMPLES)),
        "test": ouzel.evaluate(model, ouzel.blocks_from(EXAMPLES)),
        "info": ouzel.info(folder / "model"),
        "why": model.explain_one(EXAMPLES[0][0]),
        "learners": ouzel.list_learners(),
    }


def test_every_result_is_a_table_whose_text_is_no_markup(model, tmp_path):
    for name, result in results(model, tmp_path).items():
        html = result._repr_html_()
        assert html.count("<table>") == html.count("</table>") >= 1, name
        assert "<b><" not in html.replace("<p><b>", "")
    assert "&lt;b&gt;" in model.explain_one(EXAMPLES[0][0])._repr_html_()


def test_explanations_are_lists_as_before(model):
    found = model.explain_one(EXAMPLES[0][0])

    assert isinstance(found, list)
    assert found == pickle.loads(pickle.dumps(found)) == list(found)
    assert found[0]["class"] == "wet"


def test_plots_are_figures_that_a_notebook_shows_and_files_where_they_are_named(model, tmp_path):
    pytest.importorskip("matplotlib")
    for name, result in results(model, tmp_path).items():
        if name in ("report", "comparison", "test"):
            figure = result.plot()
            assert figure._repr_png_().startswith(b"\x89PNG"), name
            assert figure.axes
            result.plot(str(tmp_path / f"{name}.svg"))
            assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")
