"""Files, identifiers and first lines of docstrings use the words of the field, and no private ones."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.checks.test_house_rules import EXPERIMENTS, FILES, PACKAGE, ROOT

PRIVATE = {"told", "telling", "asked", "beside", "held", "noted", "met", "putting", "making", "door", "doors"}
PHRASES = re.compile(r"\bso many\b|\bwhat becomes of\b|^(?:Of|What|Which|How)\b", re.IGNORECASE)
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
OF_THE_FIELD = re.compile(r"held[_ -]out")  # of a holdout
STORED = {
    ("analytics/deltoids/relative_deltoids.py", "held"),
    ("analytics/explanation/attribute_counts.py", "held"),
}
"""Names of arrays in files of models, which older files have."""

TO_DO = {
    "files.py",
    "kernels",
    "layout.py",
    "learners",
    "model",
    "ranges.py",
    "reproduce",
    "sketches",
    "terms",
}
"""Packages whose names are still to be given; the list may only shrink."""


def private(text: str) -> set[str]:
    """The private words in a text or an identifier."""
    return {word.lower() for word in WORDS.findall(OF_THE_FIELD.sub("", text))} & PRIVATE


def identifiers(tree: ast.Module) -> Iterator[str]:
    """The names that a file gives: to functions, classes, arguments, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname


def first_lines(tree: ast.Module) -> Iterator[str]:
    """The first lines of the docstrings of a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield (ast.get_docstring(node) or "").partition("\n")[0]


def offences(place: str, source: str) -> list[str]:
    """The names and first lines of a file that a stranger would not search for."""
    tree = ast.parse(source)
    names = {name for name in identifiers(tree) if private(name) and (place, name) not in STORED}
    lines = {line for line in first_lines(tree) if private(line) or PHRASES.search(line)}
    return sorted([*names, *lines, *([place] if private(place) else [])])


FOUND: dict[str, dict[str, list[str]]] = {}
for path in FILES + EXPERIMENTS:
    place = path.relative_to(PACKAGE if path in FILES else ROOT)
    FOUND.setdefault(place.parts[0], {})[place.as_posix()] = offences(place.as_posix(), path.read_text())


@pytest.mark.parametrize("room", sorted(set(FOUND) - TO_DO))
def test_names_of_a_finished_package_are_those_of_the_field(room):
    assert {place: found for place, found in FOUND[room].items() if found} == {}


@pytest.mark.parametrize("room", sorted(TO_DO))
def test_a_package_without_private_words_leaves_the_list(room):
    assert any(FOUND[room].values()), f"take {room} off the list of packages to do"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("told = 1", "told"),
        ("def f(beside): pass", "beside"),
        ("class HeldNames: pass", "HeldNames"),
        ("class A:\n    noted: int = 0", "noted"),
        ("self.was_met = 1", "was_met"),
        ('def f():\n    """So many rows.\n\n    More.\n    """', "So many rows."),
        ('"""Of which features a stream has names."""', "Of which features a stream has names."),
        ('def f():\n    """Return the rows that were asked for."""', "Return the rows that were asked for."),
    ],
)
def test_a_private_word_is_found(source, found):
    assert offences("a.py", source) == [found]


def test_words_of_the_field_and_later_lines_are_let_through():
    assert offences("a.py", 'held_out = method = 1\n\ndef f():\n    """Return rows.\n\n    Of so many.\n    """') == []
    assert offences("streams/doors.py", "") == ["streams/doors.py"]
