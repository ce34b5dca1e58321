"""Families of named estimators: which learners of the catalogue are one class, and what its parameters are.

Names, defaults, types and meanings are those of the learners' settings; what the catalogue does not know stands in
`ouzel/estimators/families.toml`. A learner of no family there is one of its own.
"""

from __future__ import annotations

import re
import sys
import tomllib
from inspect import getdoc
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from ouzel.learners.catalogue import LEARNERS, Learner
from ouzel.model.settings import described
from ouzel.numerals import as_size, size_in_words
from ouzel.ranges import SWITCH, Choice, Range, declared
from ouzel.terms.losses import Squared
from ouzel.terms.names import FAMILIES

TABLE = Path(__file__).absolute().parents[1] / "estimators" / "families.toml"
BASES = {"classification": "Classifier", "regression": "Regressor", "ranking": "Ranker"}
FOLDERS = {"auto": "auto_rate", "budget": "budgeted"}  # of learners: modules of estimators with other names
NEVER = {"sketch_seed"}  # the seed of an estimator is that of its sketch
SOURCE = re.compile(r'[A-Z][^.]*? (?:et al\. )?\(\d{4}\), "[^"]*"')


class Parameter(NamedTuple):
    """Parameter of a class: as it stands in the signature, and what it is."""

    name: str
    kind: str
    default: str
    about: str


class Family(NamedTuple):
    """Learners that are one estimator, an entry of the table."""

    name: str
    module: str
    learners: dict[tuple[str | bool, ...], Learner]  # by the values of the choices
    choices: dict[str, str]
    title: str
    tasks: tuple[str, ...]
    base: str
    omit: frozenset[str]
    about: dict[str, str]
    defaults: dict[str, dict[str, Any]]  # by task

    @classmethod
    def of(cls, entry: dict[str, Any]) -> Family:
        """Return the family that an entry of the table describes."""
        given = entry["learners"]
        names = {"": given} if isinstance(given, str) else given
        learners = {tuple(map(_value, key.split())): LEARNERS[name] for key, name in names.items()}
        first = next(iter(learners.values()))
        return cls(
            name=entry["name"],
            module=entry["module"],
            learners=learners,
            choices=entry.get("choices", {}),
            title=entry.get("title") or title_of(first),
            tasks=tuple(entry.get("tasks", tasks_of(first))),
            base=entry.get("base", "Named"),
            omit=frozenset(entry.get("omit", ())) | NEVER,
            about=entry.get("about", {}),
            defaults={task: entry.get(task, {}) for task in BASES},
        )

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return [self.name + BASES[task] for task in self.tasks]

    def parameters(self, task: str) -> list[Parameter]:
        """Return the parameters of the class for a task, those that pick the learner first."""
        found = {name: self._choice(place, name) for place, name in enumerate(self.choices)}
        defaults: dict[str, Any] = {"loss": "squared"} if task == "regression" else {}
        of_loss = getattr(next(iter(self.learners.values())).settings, "defaults_of", None)
        if of_loss is not None:
            defaults |= dict.fromkeys(of_loss(Squared()), "None")  # which the loss decides
        defaults |= self.defaults[task]
        presets = {name for learner in self.learners.values() for name, _ in learner.preset}
        for learner in self.learners.values():
            for name in described(learner):
                if name not in self.omit | found.keys() and not (name in presets and _is_switch(learner, name)):
                    found[name] = _parameter(learner, name, defaults, self.about.get(name, ""))
        own = [
            Parameter(name, *_typed(defaults[name]), self.about.get(name, ""))
            for name in defaults
            if name not in found and name != "loss"
        ]
        return [*found.values(), *own]

    def _choice(self, place: int, name: str) -> Parameter:
        values = list(dict.fromkeys(chosen[place] for chosen in self.learners))
        if isinstance(values[0], bool):
            return Parameter(name, "bool", repr(values[0]), self.choices[name])
        words = ", ".join(f'"{value}"' for value in values)
        return Parameter(name, f"Literal[{words}]", f'"{values[0]}"', f"{self.choices[name]}; one of {words}")


def families() -> list[Family]:
    """Return all families: those of the table, then one for each learner of the catalogue that is in none."""
    table = [Family.of(entry) for entry in tomllib.loads(TABLE.read_text(encoding="utf-8"))["family"]]
    known = {learner.name for family in table for learner in family.learners.values()}
    others = [own_family(learner) for learner in LEARNERS.values() if learner.name not in known and learner.package]
    modules = [family.module for family in table]  # the classes of one stand together
    return sorted(table + others, key=lambda family: [*modules, family.module].index(family.module))


def own_family(learner: Learner) -> Family:
    """Return the family of a learner that the table does not know: its name, in the module of its folder.

    >>> own_family(LEARNERS["ftrl-proximal"]).classes, own_family(LEARNERS["ftrl-proximal"]).module
    (['FtrlProximalClassifier', 'FtrlProximalRegressor'], 'gradient')
    """
    name = "".join(part.capitalize() for part in learner.name.split("-"))
    folder = learner.module_name.split(".")[0]
    return Family.of({"name": name, "module": FOLDERS.get(folder, folder), "learners": learner.name})


def title_of(learner: Learner) -> str:
    """Return the summary of a learner, and the paper that its module names."""
    source = SOURCE.search(getdoc(sys.modules[learner.settings.__module__]) or "")
    return f"{learner.summary[:1].upper()}{learner.summary[1:]}." + (f"\n\n{source[0]}." if source else "")


def tasks_of(learner: Learner) -> tuple[str, ...]:
    """Return the tasks that a learner has classes for: of numbers where it has a choice of losses.

    >>> from ouzel.learners.catalogue import find
    >>> tasks_of(find("ogd")), tasks_of(find("perceptron"))
    (('classification', 'regression'), ('classification',))
    """
    of_classes = learner.multiclass or learner.budgeted or "loss" not in learner.settings._fields
    return ("classification",) if of_classes else ("classification", "regression")


def _is_switch(learner: Learner, name: str) -> bool:
    setting = declared(learner.settings).get(name)
    return setting is not None and setting.takes is SWITCH


def _value(text: str) -> str | bool:
    return {"true": True, "false": False}.get(text, text)


def _typed(value: Any) -> tuple[str, str]:
    """Return the type of a default, and the default, as source."""
    if value == "None":
        return "float | None", "None"
    shown = 'float("inf")' if value == inf else f'"{value}"' if isinstance(value, str) else repr(value)
    return type(value).__name__, shown


def _parameter(learner: Learner, name: str, defaults: dict[str, Any], about: str) -> Parameter:
    """Return the parameter that is a setting of a learner."""
    setting, shown = declared(learner.settings).get(name), described(learner)[name]
    takes = setting.takes if setting else None
    term = setting is not None and takes is None and name in FAMILIES
    value: Any = defaults.get(name, None if name == "penalty" else shown.default)
    if takes is SWITCH:
        kind, default = _typed(value in ("yes", True))
    elif isinstance(takes, Range) and takes.size:
        kind, default = "float | str", f'"{size_in_words(as_size(str(value)))}"'
    elif isinstance(takes, Range) and takes.whole:
        kind, default = _typed(int(value))
    elif isinstance(takes, Choice):
        kind, default = "Literal[{}]".format(", ".join(f'"{word}"' for word in takes.words)), f'"{value}"'
    elif name == "penalty":
        kind, default = "Term | None", "None"
    elif term:
        kind, default = "Term", f'"{re.sub(r"[(].*", "", value)}"'
    else:
        kind, default = _typed(value if value == "None" else float(value))
    range_ = "" if takes is SWITCH else f"; {shown.takes}, or a term" if term else f"; {shown.takes}"
    return Parameter(name, kind, default, (about or shown.about) + range_)
