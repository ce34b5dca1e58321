"""Names to terms and back: what users write, what files store."""

from __future__ import annotations

import difflib
from typing import Any

from ouzel.errors import OuzelError
from ouzel.terms import losses, projections  # noqa: F401  importing the projections registers them
from ouzel.terms.losses import LOSSES
from ouzel.terms.norms import L2Norm, MaxNorm
from ouzel.terms.penalties import L1, ElasticNet, NoPenalty, SquaredL2, proximal
from ouzel.terms.quadratic import minimise
from ouzel.terms.rates import SCHEDULES, rate

NORMS = {"l2-norm": L2Norm, "max-norm": MaxNorm}


def resolve_loss(loss: Any) -> Any:
    """The loss term of a name, or the term itself.

    >>> resolve_loss("hinge")
    Hinge()
    >>> resolve_loss("hinged")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: loss must be one of 'logistic', ... or a loss term; got 'hinged'. Did you mean 'hinge'?
    """
    if isinstance(loss, str):
        return _named("loss", loss, LOSSES)
    if type(loss) in losses.derivative.bodies:
        return loss
    raise OuzelError(f"loss must be a name or a term with a registered derivative; got {loss!r}")


def resolve_schedule(schedule: Any) -> Any:
    """The schedule of learning rates of a name, or the term itself."""
    if isinstance(schedule, str):
        return _named("schedule", schedule, SCHEDULES)
    if type(schedule) in rate.bodies:
        return schedule
    raise OuzelError(f"schedule must be a name or a term with a registered rate; got {schedule!r}")


def _named(what: str, name: str, terms: dict[str, Any]) -> Any:
    if name in terms:
        return terms[name]
    close = difflib.get_close_matches(name, terms, 1)
    hint = f". Did you mean {close[0]!r}?" if close else ""
    raise OuzelError(f"{what} must be one of {', '.join(map(repr, terms))} or a {what} term; got {name!r}{hint}")


def resolve_penalty(penalty: Any = None, *, l1: float = 0.0, l2: float = 0.0) -> Any:
    """The penalty of a name and strengths, or the term itself.

    The names are those of norms of whole vectors, "l2-norm" and "max-norm", with `l1` their strength.

    >>> resolve_penalty(l1=0.1), resolve_penalty("l2-norm", l1=0.1)
    (L1(l1=0.1), L2Norm(l1=0.1))
    """
    if penalty is not None and not isinstance(penalty, str):
        if type(penalty) in proximal.bodies or type(penalty) in minimise.bodies:
            return penalty
        raise OuzelError(f"penalty must be a term with a registered proximal map; got {penalty!r}")
    for name, strength in (("l1", l1), ("l2", l2)):
        if not 0.0 <= strength < float("inf"):
            raise OuzelError(f"{name} must be a finite number, 0 or more; got {strength!r}")
    if penalty is not None:
        return _named("penalty", penalty, NORMS)(l1)
    if l1 and l2:
        return ElasticNet(l1, l2)
    if l1:
        return L1(l1)
    return SquaredL2(l2) if l2 else NoPenalty()


def to_json(settings: Any) -> dict[str, Any]:
    """A settings object as JSON values; a term becomes its class's name and its parameters."""
    return {name: _term_to_json(value) for name, value in settings._asdict().items()}


def _term_to_json(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {"term": type(value).__name__, **value._asdict()}
    return value


def from_json(kind: Any, stored: dict[str, Any]) -> Any:
    """The settings of class `kind` that `to_json` described; a term of your own must have been imported by then."""
    bodies = (losses.derivative.bodies, proximal.bodies, minimise.bodies, rate.bodies)
    known = {term.__name__: term for terms in bodies for term in terms}
    values = dict(stored)
    for name, value in values.items():
        if isinstance(value, dict):
            parameters = {key: number for key, number in value.items() if key != "term"}
            term = known.get(value["term"])
            if term is None:
                raise OuzelError(f"the {name} {value['term']!r} is not known; import the module that defines it first")
            values[name] = term(**parameters)
    try:
        return kind(**values)
    except TypeError:
        raise OuzelError(f"settings {sorted(values)} do not fit {kind.__module__}, which has {kind._fields}") from None
