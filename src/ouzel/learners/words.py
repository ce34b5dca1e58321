"""Settings in the words that users give: what is a number within a kernel may be a choice to a person."""

from __future__ import annotations

from typing import Any

from ouzel.errors import OuzelError
from ouzel.terms.names import name_of
from ouzel.terms.penalties import L1, ElasticNet, NoPenalty, SquaredL2

SWITCHES = {"adaptive", "aggressive", "averaging", "by_variance", "diagonal", "dual_averaging", "full", "scored"}
SWITCHES |= {"squared"}
YES = {"yes": 1.0, "no": 0.0}
BOUNDS = {"clip": 0.0, "project": 1.0}  # what Newton methods do about predictions beyond `largest`


def choices_of(kind: Any, name: str) -> dict[str, float]:
    """What may be said of a setting of the class `kind` by word, and the number it stands for."""
    if name == "bound" and "largest" in kind._fields:
        return BOUNDS
    return YES if name in SWITCHES else {}


def number_of(kind: Any, name: str, value: Any) -> Any:
    """The number that a word for a setting stands for; what is no word of it is left as it is.

    >>> from ouzel.learners.sketched_newton import Settings
    >>> number_of(Settings, "bound", "project"), number_of(Settings, "learning_rate", "0.5")
    (1.0, '0.5')
    """
    choices = choices_of(kind, name)
    if not choices or not isinstance(value, str) or value in choices:
        return choices.get(value, value) if isinstance(value, str) else value
    try:
        return float(value)
    except ValueError:
        raise OuzelError(f"setting {name!r} is {' or '.join(choices)}; got {value!r}") from None


def in_words(settings: Any) -> dict[str, float | str]:
    """Settings as a user may give them again: choices and terms by name, a penalty by its strengths.

    >>> from ouzel.learners.sketched_newton import Settings
    >>> words = in_words(Settings())
    >>> words["loss"], words["bound"], words["diagonal"], words["sketch_size"]
    ('logistic', 'clip', 'yes', 10.0)
    """
    found: dict[str, float | str] = {}
    for name, value in settings._asdict().items():
        if name == "penalty":
            found |= _penalty(value)
        elif isinstance(value, tuple):
            found[name] = name_of(value)
        else:
            said = {number: word for word, number in choices_of(type(settings), name).items()}
            found[name] = said.get(value, value)
    return found


def _penalty(penalty: Any) -> dict[str, float | str]:
    plain = isinstance(penalty, (NoPenalty, L1, SquaredL2, ElasticNet))
    return dict(penalty._asdict()) if plain else {"penalty": name_of(penalty)}
