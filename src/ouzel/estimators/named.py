"""Classes of their own for the best known learners: their parameters in the signature, their defaults chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ouzel.errors import OuzelError
from ouzel.estimators.base import COMMON, Estimator
from ouzel.learners import catalogue
from ouzel.model.model import Model
from ouzel.model.settings import chosen_by_name, unknown_setting
from ouzel.terms.names import FAMILIES, name_of, to_json
from ouzel.terms.penalties.l1_and_l2 import L1, ElasticNet, NoPenalty, SquaredL2

PLAIN = (L1, SquaredL2, ElasticNet)  # penalties that are their strengths alone
Learners = dict[tuple[Any, ...], str]
Term = str | tuple[Any, ...]  # a loss, schedule, penalty, …: its name, or an object


@dataclass(kw_only=True, eq=False, repr=False)
class Named(Estimator):
    """A learner of the catalogue, or several: the parameters named in `choices` pick one of `learners`.

    Those are keyed by the choices' values in that order. The other parameters are settings; where one of them is not
    a setting of the learner chosen it says nothing to that learner.
    """

    learner: ClassVar[str]  # name in the catalogue
    choices: ClassVar[tuple[str, ...]] = ()
    learners: ClassVar[Learners] = {}

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Refuse, in one line, a parameter that there is not."""
        for name in given:
            if name not in cls.__dataclass_fields__:
                raise unknown_setting(f"{cls.__name__} has no parameter", name, cls._get_param_names())
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Change parameters, all or, if a name is wrong, none."""
        known = self.get_params(deep=False)
        for name in params:
            if name not in known:
                raise unknown_setting(f"{type(self).__name__} has no parameter", name, known)
        return super().set_params(**params)

    @classmethod
    def choice(cls, learner: str) -> dict[str, Any] | None:
        """The parameters that pick a learner of the catalogue; None if none do."""
        for chosen, name in (cls.learners or {(): cls.learner}).items():
            if name == learner:
                return dict(zip(cls.choices, chosen, strict=True))
        return None

    @classmethod
    def around(cls, model: Model) -> Self | None:
        """An estimator with the parameters of a model, around it; None if this class cannot say what the model is."""
        chosen = cls.choice(model.learner.name)
        if chosen is None or cls.task != model.task.name:
            return None
        estimator = cls(bits=model.bits, seed=model.seed)
        known = estimator.get_params(deep=False)
        settings = chosen_by_name(model.settings)
        penalty = settings.get("penalty")
        strengths = penalty._asdict() if isinstance(penalty, PLAIN) else {}
        if strengths or isinstance(penalty, NoPenalty):
            del settings["penalty"]
        options: dict[str, Any] = {
            "fit_intercept": model.intercept,
            "pairs": model.pairs,
            "scale_targets": model.scale_targets,
        }
        options |= {"standardize": model.standardize, "forget": model.forget, "class_weight": model.class_weight}
        options |= {"interval": model.interval or None, "interval_by": model.interval_by}
        options["calibrate"] = model.calibrate or None
        given = {**settings, **strengths, **options, **chosen}
        estimator.set_params(**{name: _as_given(name, given[name], known[name]) for name in given.keys() & known})
        if to_json(estimator._resolved()) != to_json(model.settings):
            return None
        estimator.model_ = model
        return estimator

    def _learner_name(self) -> str:
        if not self.learners:
            return self.learner
        given = self.get_params(deep=False)
        for place, name in enumerate(self.choices):
            known = dict.fromkeys(chosen[place] for chosen in self.learners)
            if given[name] not in known:
                raise OuzelError(f"{name} must be one of {', '.join(map(repr, known))}; got {given[name]!r}")
        return self.learners[tuple(given[name] for name in self.choices)]

    def _settings(self) -> dict[str, Any]:
        given = {name: value for name, value in self.get_params(deep=False).items() if name not in COMMON}
        if not self.learners:
            return given
        fields = catalogue.find(self._learner_name()).settings._fields
        return {name: value for name, value in given.items() if name in fields or name in ("l1", "l2")}


def _as_given(name: str, value: Any, default: Any) -> Any:
    """A setting as a user would write it: known terms by name, counts as whole numbers."""
    if name in FAMILIES and type(value) in map(type, FAMILIES[name].terms.values()):
        return name_of(value)
    return int(value) if type(default) is int and value == int(value) else value
