"""Names to terms and back: what users write, what files store."""

from __future__ import annotations

import re
import reprlib
from typing import Any

from ouzel.errors import ImportNeededError, OuzelError, suggest
from ouzel.ranges import STRENGTH, check, checked
from ouzel.terms import losses
from ouzel.terms.bounds import BOUNDS, projects
from ouzel.terms.losses import LOSSES
from ouzel.terms.penalties.diagonal_prox import minimise
from ouzel.terms.penalties.domains import Box, L1Ball, L2Ball
from ouzel.terms.penalties.l1_and_l2 import L1, ElasticNet, NoPenalty, SquaredL2, proximal
from ouzel.terms.penalties.norms import L2Norm, MaxNorm
from ouzel.terms.schedules import SCHEDULES, rate
from ouzel.terms.starts import STARTS, code_of

NORMS = {"l2-norm": L2Norm, "max-norm": MaxNorm}
DOMAINS = {"l1-ball": L1Ball, "l2-ball": L2Ball, "box": Box}
WITH_PARAMETERS = re.compile(r"([^()]+)\((.*)\)")


def resolve_loss(loss: Any) -> Any:
    """The loss term of a name, or the term itself.

    >>> resolve_loss("hinge"), resolve_loss("quantile(tau=0.9)")
    (Hinge(), Quantile(tau=0.9))
    >>> resolve_loss("hinged")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: loss must be one of 'logistic', ... or a loss term; got 'hinged'. Did you mean 'hinge'?
    """
    return _resolved("loss", loss, LOSSES, losses.derivative)


def resolve_schedule(schedule: Any) -> Any:
    """The schedule of learning rates of a name, or the term itself."""
    return _resolved("schedule", schedule, SCHEDULES, rate)


def resolve_bound(bound: Any) -> Any:
    """What becomes of predictions that are too large, by its name, or the term itself."""
    return _resolved("bound", bound, BOUNDS, projects)


def resolve_start(start: Any) -> Any:
    """Where a sketch's directions begin, by its name, or the term itself.

    >>> resolve_start("random(slots=1024)")
    Random(slots=1024.0)
    """
    return _resolved("start", start, STARTS, code_of)


def name_of(term: Any) -> str:
    """What `resolve_loss` and its like take for a term; a term of your own goes by its class.

    >>> name_of(losses.Quantile(0.9)), name_of(L1Ball(2.0))
    ('quantile(tau=0.9)', 'l1-ball(radius=2.0)')
    """
    inside = ", ".join(f"{key}={value}" for key, value in term._asdict().items())
    return _name(term) + (f"({inside})" if inside else "")


def _name(term: Any) -> str:
    """The name alone, without parameters."""
    named: dict[Any, str] = {type(known): name for name, known in (LOSSES | SCHEDULES | BOUNDS | STARTS).items()}
    named |= {kind: name for name, kind in (NORMS | DOMAINS).items()}
    return named.get(type(term), type(term).__name__)


def _resolved(what: str, given: Any, terms: dict[str, Any], function: Any) -> Any:
    """The term of a name, or the term itself, if `function` has a body for its class."""
    if isinstance(given, str):
        return _named(what, given, terms)
    if type(given) in function.bodies:
        return within_range(what, given)
    raise OuzelError(f"{what} must be a name or a term with a registered {function.__name__}; got {given!r}")


def _named(what: str, text: str, terms: dict[str, Any], **values: float) -> Any:
    """The term of a name, which may have its parameters behind it: `quantile(tau=0.9)`."""
    called = WITH_PARAMETERS.fullmatch(text)
    name = called[1] if called else text
    if name in terms:
        term: Any = terms[name]
        if isinstance(term, tuple):
            term, values = type(term), {**term._asdict(), **values}
        pairs = [pair.split("=") for pair in called[2].split(",")] if called else []
        try:
            found = term(**{**values, **{key.strip(): float(value) for key, value in pairs}})
        except (TypeError, ValueError):
            form = f"{name}({', '.join(f'{key}=NUMBER' for key in term._fields)})" if term._fields else name
            raise OuzelError(f"the {what} {name} is written {form}; got {text!r}") from None
        return within_range(what, found)
    hint = suggest(name, terms).rstrip(". ")
    raise OuzelError(f"{what} must be one of {', '.join(map(repr, terms))} or a {what} term; got {text!r}{hint}")


def resolve_penalty(penalty: Any = None, *, l1: float = 0.0, l2: float = 0.0) -> Any:
    """The penalty of a name and strengths, or the term itself.

    The names are those of norms of whole vectors, "l2-norm" and "max-norm", with `l1` their strength, and of domains
    that weights are kept to, "l1-ball", "l2-ball" and "box".

    >>> resolve_penalty(l1=0.1), resolve_penalty("l2-norm", l1=0.1), resolve_penalty("l2-ball(radius=2)")
    (L1(l1=0.1), L2Norm(l1=0.1), L2Ball(radius=2.0))
    """
    if penalty is not None and not isinstance(penalty, str):
        if type(penalty) in proximal.bodies or type(penalty) in minimise.bodies:
            return within_range("penalty", penalty)
        raise OuzelError(f"penalty must be a term with a registered proximal map; got {penalty!r}")
    l1, l2 = check("l1", STRENGTH, l1), check("l2", STRENGTH, l2)
    if penalty is not None:
        norm = penalty.partition("(")[0] in NORMS
        return _named("penalty", penalty, NORMS | DOMAINS, **({"l1": l1} if norm else {}))
    if l1 and l2:
        return within_range("penalty", ElasticNet(l1, l2))
    if l1:
        return L1(l1)
    return SquaredL2(l2) if l2 else NoPenalty()


RESOLVERS: dict[str, Any] = {"loss": resolve_loss, "second_loss": resolve_loss, "third_loss": resolve_loss}
RESOLVERS |= {"penalty": resolve_penalty, "schedule": resolve_schedule, "bound": resolve_bound}
RESOLVERS |= {"start": resolve_start}
"""From a name or a term to the term, by the setting that takes it."""


def within_range(what: str, term: Any) -> Any:
    """The term, its parameters checked by what its class declares of them; `what` it is, for the error."""
    return term._replace(**checked(type(term), term._asdict(), f"of the {what} {_name(term)}"))


def to_json(settings: Any) -> dict[str, Any]:
    """A settings object as JSON values; a term becomes its class's name and its parameters."""
    return {name: _term_to_json(value) for name, value in settings._asdict().items()}


def _term_to_json(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {"term": type(value).__name__, **value._asdict()}
    return value


def from_json(kind: Any, stored: Any) -> Any:
    """The settings of class `kind` that `to_json` described, each of the type of its default.

    A name in a file finds a term among those that are registered, and nothing else: a term of your own must have been
    imported by then.

    >>> from_json(L1, {"l1": "much"})
    Traceback (most recent call last):
    ouzel.errors.OuzelError: l1 of L1 is not a number; got 'much'
    """
    if not isinstance(stored, dict) or set(stored) != set(kind._fields):
        raise OuzelError(f"settings {reprlib.repr(stored)} do not fit {kind.__name__}, which has {kind._fields}")
    return kind(**{name: _from_json(kind, name, value) for name, value in stored.items()})


def _from_json(kind: Any, name: str, value: Any) -> Any:
    default = kind._field_defaults.get(name, 0.0)
    if isinstance(default, tuple):
        penalties = proximal.bodies | minimise.bodies
        registers = (losses.derivative.bodies, penalties, rate.bodies, projects.bodies, code_of.bodies)
        known = {term.__name__: term for terms in registers if type(default) in terms for term in terms}
        known.pop("object", None)  # under which a body for all terms is registered
        term = known.get(str(value.get("term"))) if isinstance(value, dict) else None
        if term is None:
            said = reprlib.repr(value["term"] if isinstance(value, dict) and "term" in value else value)
            raise ImportNeededError(
                f"the {name} {said} is not known; if it is your own, import its module first (--import MODULE)"
            )
        return from_json(term, {key: number for key, number in value.items() if key != "term"})
    if type(value) not in (bool, int, float):
        raise OuzelError(f"{name} of {kind.__name__} is not a number; got {reprlib.repr(value)}")
    return value if isinstance(default, bool) else float(value)
