"""The examples in the README and the documentation run, and say what they say."""

import ast
import doctest
import importlib
import inspect
import itertools
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_a_page_hold(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages write models and pictures

    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)

    assert result.failed == 0


def test_the_readme_runs_as_it_stands(capsys):
    for code in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL):
        exec(compile(code, "README.md", "exec"), {})

    assert "569 examples, error 0." in capsys.readouterr().out


def test_the_page_of_commands_says_what_their_help_says():
    from ouzel.cli.commands_page import page

    assert (ROOT / "docs" / "commands.md").read_text() == page(), "run `make commands`"


def test_the_page_of_settings_says_what_is_declared():
    from ouzel.cli.settings_page import page

    assert (ROOT / "docs" / "settings.md").read_text() == page(), "run `make settings`"


def test_named_estimators_are_those_of_the_catalogue():
    from ouzel.cli.estimator_modules import files

    other = [str(path.relative_to(ROOT)) for path, text in files() if path.read_text() != text]

    assert other == [], "run `make estimators`"


def test_the_page_for_people_from_vowpal_wabbit_is_the_table_that_answers_them():
    from ouzel.cli.vowpal_wabbit import page

    assert (ROOT / "docs" / "vowpal-wabbit.md").read_text() == page(), "run `make vowpal-wabbit`"


@pytest.mark.parametrize("page", ["from-river", "from-scikit-learn", "from-libol", "which-learner"])
def test_what_a_page_of_tables_names_is_there(page):
    import ouzel
    from ouzel.learners.catalogue import LEARNERS

    text = (ROOT / "docs" / f"{page}.md").read_text()
    learners = set(re.findall(r'Online\w+\("([\w-]+)"', text))
    if page in ("from-libol", "which-learner"):
        rows = [row.split("|")[2] for row in text.splitlines() if row.count("|") == 5 and not row.startswith("| you")]
        learners |= {name for row in rows for name in re.findall(r"`([a-z][\w-]+)`", row)}
    for call in re.findall(r"`(ouzel\.\w+\([^`…]*\))`", text):
        if "model" not in call and "path" not in call and "(X" not in call:
            eval(re.sub(r"=([A-Z])\)", "=1.0)", call), {"ouzel": ouzel})

    assert set(re.findall(r"\bouzel\.([A-Za-z_]\w+)", text)) <= set(ouzel.__all__)
    assert learners <= set(LEARNERS)


def test_every_page_is_in_the_menu():
    yaml = pytest.importorskip("yaml")

    def pages_of(entry):
        return [entry] if isinstance(entry, str) else [page for some in entry for page in pages_of(some)]

    def values(entry):
        return [values(some) for part in entry for some in part.values()] if isinstance(entry, list) else entry

    menu = pages_of(values(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))

    assert sorted(menu) == sorted(str(page.relative_to(ROOT / "docs")) for page in PAGES)


def test_search_puts_pages_that_list_everything_after_those_that_explain():
    order = runpy.run_path(str(ROOT / "docs" / "search_order.py"))["on_page_markdown"]
    boosts = {}
    for page in PAGES:
        url = f"{page.relative_to(ROOT / 'docs').with_suffix('')}/"
        meta = {}
        assert order("text", page=SimpleNamespace(url=url, meta=meta)) == "text"
        boosts[url] = meta.get("search", {}).get("boost", 1)

    assert all(boosts[url] < 1 for url in ("commands/", "json/", "settings/", "design/", "reference/models/"))
    assert all(boosts[url] == 1 for url in ("streams/", "evaluation/", "how-to/hyperparameters/", "tutorials/text/"))


@pytest.mark.parametrize("name", ["ouzel.streams.options:Options", "ouzel.streams.logs.reading:Reading"])
def test_every_option_of_reading_is_told_in_the_reference(name):
    module, kind = name.split(":")
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind)
    told = [after for field, after in itertools.pairwise(body) if isinstance(field, ast.AnnAssign)]

    assert f"::: {module}" in (ROOT / "docs" / "reference" / "streams.md").read_text()
    assert told
    assert all(isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) for after in told)


def test_every_learner_has_a_card():
    from ouzel.learners.catalogue import LEARNERS

    headings = re.findall(r"^## (.*)$", (ROOT / "docs" / "learners.md").read_text(), re.MULTILINE)

    assert set(LEARNERS) - {name for heading in headings for name in heading.split(", ")} == set()
