"""Generator of the named estimators: a class for every learner of the catalogue, its settings as parameters.

`make estimators` runs it; a test compares what it writes with the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import fill

import ouzel
from ouzel.cli.estimator_families import BASES, Family, Parameter, families

PACKAGE = Path(__file__).absolute().parents[1]
PAGE = PACKAGE.parents[1] / "docs" / "reference" / "named-estimators.md"
WRITTEN = '"""{} Written by `make estimators`."""\n\nfrom __future__ import annotations\n\n'
HOMES = {"Classifier": "classifier", "Regressor": "regressor", "Ranker": "ranking"}
GENERAL = ("OnlineClassifier", "OnlineRegressor", "OnlineRanker")
MARK = "    # the named estimators, by `make estimators`\n"
COMMON = {
    "classification": "class_weight, interval, calibrate, fit_intercept, standardize, forget : these and others: see "
    "`OnlineClassifier`",
    "ranking": "pairs, standardize, forget, passes, bits, seed : these and columns: see `OnlineRanker`",
}
EXAMPLES = {
    "classification": """
    >>> model = {name}({given})
    >>> model.fit([[0.0, 1.0], [1.0, 0.0]] * 3, ["wet", "dry"] * 3).predict([[1.0, 0.0]]).tolist()
    ['dry']
""",
    "regression": """
    >>> model = {name}({given}).fit([[0.0], [1.0], [2.0]] * 50, [0.0, 1.0, 2.0] * 50)
    >>> bool(model.predict([[2.0]]) > model.predict([[0.0]]))
    True
""",
    "ranking": """
    >>> X, relevance, query = [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [0.0, 3.0]], [1, 0, 1, 0], [7, 7, 8, 8]
    >>> {name}({given}).fit(X, relevance, qid=query).score(X, relevance, qid=query)
    1.0
""",
}
INDEX = """# Estimators of single learners

Every learner has a class of its own, with its settings in the signature. What the three general
[estimators](estimators.md) have besides, they have as well. `make estimators` writes this page, and the classes.
"""


def module_text(name: str, members: list[Family]) -> str:
    """Return the source of a module with the classes of some families."""
    body = "".join(_class(family, task) for family in members for task in family.tasks)
    bases = {BASES[task] for family in members for task in family.tasks}
    mixins = sorted({family.base for family in members} - {"Named"})
    named = [word for word in ("Learners", "Named", "Term") if re.search(rf"\b{word}\b", body)]
    typing = [word for word in ("ClassVar", "Literal") if f"{word}[" in body]
    imports = {f"ouzel.estimators.{HOMES[base]}": [base] for base in bases} | {"ouzel.estimators.named": named}
    imports |= {"ouzel.estimators.mixins": mixins}
    lines = ["from dataclasses import dataclass"]
    lines += [f"from typing import {', '.join(typing)}"] if typing else []
    lines += [""] + [f"from {home} import {', '.join(words)}" for home, words in sorted(imports.items()) if words]
    return WRITTEN.format(f"Named estimators, {name}.") + "\n".join(lines) + "\n" + body


def _class(family: Family, task: str) -> str:
    """Return the source of the class of a family for a task."""
    name, parameters = family.name + BASES[task], family.parameters(task)
    first = next(iter(family.learners.values()))
    lines = ["", "", "@dataclass(kw_only=True, eq=False, repr=False)", f"class {name}({family.base}, {BASES[task]}):"]
    lines += _documentation(family, task, parameters)
    given = 'budget="1KB"' if any(parameter.name == "budget" for parameter in parameters) else ""
    lines += [
        "",
        "    Examples",
        "    --------",
        EXAMPLES[task].strip("\n").format(name=name, given=given),
        '    """',
        "",
    ]
    lines += [f'    learner = "{first.name}"']
    if family.choices:
        lines += [f"    choices = {_tuple(family.choices)}", _learners(family)]
    fields = [f"    {parameter.name}: {parameter.kind} = {parameter.default}" for parameter in parameters]
    return "\n".join([*lines, *([""] if fields else []), *fields]) + "\n"


def _documentation(family: Family, task: str, parameters: list[Parameter]) -> list[str]:
    """Return the lines before the example; those of a regressor name its classifier."""
    if task == "regression":
        return [f'    """{family.name} on numbers: parameters of `{family.name}Classifier`, losses of regression.']
    title, *more = family.title.split("\n")
    lines = [f'    """{title}', *(f"    {line}".rstrip() for line in more), "", "    Parameters", "    ----------"]
    return lines + [_said(f"{parameter.name} : {parameter.about}") for parameter in parameters] + [_said(COMMON[task])]


def _learners(family: Family) -> str:
    entries = [f"{_tuple(key)}: {_quoted(learner.name)}" for key, learner in family.learners.items()]
    line = f"    learners: ClassVar[Learners] = {{{', '.join(entries)}}}"
    if len(line) <= 120:
        return line
    return "\n".join(["    learners: ClassVar[Learners] = {", *(f"        {entry}," for entry in entries), "    }"])


def _tuple(values: Iterable[str | bool]) -> str:
    words = [_quoted(value) for value in values]
    return f"({', '.join(words)}{',' * (len(words) == 1)})"


def _quoted(value: str | bool) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _said(text: str) -> str:
    return fill(text, 116, initial_indent="    ", subsequent_indent="        ", break_on_hyphens=False)


def files() -> Iterator[tuple[Path, str]]:
    """Yield every file with its text: modules of classes, lists of public names, the page of the reference."""
    found = families()
    modules = list(dict.fromkeys(family.module for family in found))
    homes = {name: f"ouzel.estimators.{family.module}" for family in found for name in family.classes}
    for module in modules:
        members = [family for family in found if family.module == module]
        yield PACKAGE / "estimators" / f"{module}.py", module_text(module, members)
    general = dict.fromkeys(GENERAL, "ouzel.estimators.online")
    yield PACKAGE / "estimators" / "__init__.py", _names(general | homes)
    lists = PACKAGE / "__init__.py"
    head, _, rest = lists.read_text(encoding="utf-8").partition(MARK)
    entries = "".join(f'    "{name}": "{home}",\n' for name, home in homes.items())
    yield lists, head + MARK + entries + rest[rest.index("}") :]
    public = {name: home for name, home in ouzel._HOME.items() if not home.startswith("ouzel.estimators.")}
    first = {name: home for name, home in ouzel._HOME.items() if home.rpartition(".")[2] in ("online", "loading")}
    yield PACKAGE / "__init__.pyi", _stub(first | public | homes)
    yield PAGE, INDEX + "".join(f"\n::: ouzel.estimators.{module}\n" for module in modules)


def _names(homes: dict[str, str]) -> str:
    """Return the source of `ouzel.estimators`."""
    by_home: dict[str, list[str]] = {}
    for name, home in homes.items():
        by_home.setdefault(home, []).append(name)
    text = (
        '"""Estimators: the learners in the protocols of scikit-learn and River. Written by `make estimators`."""\n\n'
    )
    for home, names in sorted(by_home.items()):
        line = f"from {home} import {', '.join(sorted(names))}"
        lines = f"from {home} import (\n" + "".join(f"    {name},\n" for name in sorted(names)) + ")"
        text += f"{line if len(line) <= 120 else lines}\n"
    return text + "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(homes)) + "]\n"


def _stub(homes: dict[str, str]) -> str:
    """Return what type checkers and editors read in place of the package, which imports on first use."""
    lines = (f"from {home} import {name} as {name}\n" for name, home in homes.items())
    return "".join([*sorted(lines), "\n_HOME: dict[str, str]\n__version__: str\n__all__: list[str]\n"])


if __name__ == "__main__":
    for path, text in list(files()):  # all are made before one is written
        path.write_text(text, encoding="utf-8")
