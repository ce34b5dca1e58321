"""Parameters that pick among several learners of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ouzel.errors import OuzelError
from ouzel.estimators.base import Estimator


@dataclass(kw_only=True, eq=False, repr=False)
class Variants(Estimator):
    """An estimator whose parameters named in `choices` pick one of `learners`, keyed by their values in that order."""

    choices: ClassVar[tuple[str, ...]]
    learners: ClassVar[dict[tuple[Any, ...], str]]

    @classmethod
    def choice(cls, learner: str) -> dict[str, Any] | None:
        """The parameters that pick a learner of the catalogue; None if none do."""
        for chosen, name in cls.learners.items():
            if name == learner:
                return dict(zip(cls.choices, chosen, strict=True))
        return None

    def _learner_name(self) -> str:
        given = self.get_params(deep=False)
        for place, name in enumerate(self.choices):
            known = dict.fromkeys(chosen[place] for chosen in self.learners)
            if given[name] not in known:
                raise OuzelError(f"{name} must be one of {', '.join(map(repr, known))}; got {given[name]!r}")
        return self.learners[tuple(given[name] for name in self.choices)]

    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in super()._settings().items() if name not in self.choices}


def with_full(*variants: tuple[str, ...]) -> dict[tuple[Any, ...], str]:
    """Learners by (*variant, covariance), the catalogue's names of full ones ending in -full; a name comes last.

    >>> with_full(("arow",))
    {('diagonal',): 'arow', ('full',): 'arow-full'}
    """
    return {
        (*chosen, covariance): name + suffix
        for *chosen, name in variants
        for covariance, suffix in (("diagonal", ""), ("full", "-full"))
    }
