"""Names to terms and back: what users write, what files store. Modules of terms are imported when one is named."""

from __future__ import annotations

import re
import reprlib
from typing import Any, NamedTuple

from ouzel.deferred import deferred, is_imported
from ouzel.errors import ImportNeededError, OuzelError, suggest
from ouzel.ranges import STRENGTH, check, checked

diagonal_prox = deferred("ouzel.terms.penalties.diagonal_prox")
domains = deferred("ouzel.terms.penalties.domains")
l1_and_l2 = deferred("ouzel.terms.penalties.l1_and_l2")
norms = deferred("ouzel.terms.penalties.norms")

NORMS = {"l2-norm": "L2Norm", "max-norm": "MaxNorm"}  # classes of `penalties/norms.py`
DOMAINS = {"l1-ball": "L1Ball", "l2-ball": "L2Ball", "box": "Box"}  # classes of `penalties/domains.py`
WITH_PARAMETERS = re.compile(r"([^()]+)\((.*)\)")


class Family(NamedTuple):
    """The terms that one setting takes: their module, its table of them by name, and the function of their bodies."""

    what: str
    module: Any
    table: str
    function: str

    @property
    def terms(self) -> dict[str, Any]:
        """Every term by the name that users give it."""
        found: dict[str, Any] = getattr(self.module, self.table)
        return found

    @property
    def bodies(self) -> dict[type, Any]:
        """The bodies of the function that every term has one of, by classes of terms."""
        found: dict[type, Any] = getattr(self.module, self.function).bodies
        return found


LOSS = Family("loss", deferred("ouzel.terms.losses"), "LOSSES", "derivative")
SCHEDULE = Family("schedule", deferred("ouzel.terms.schedules"), "SCHEDULES", "rate")
BOUND = Family("bound", deferred("ouzel.terms.bounds"), "BOUNDS", "projects")
START = Family("start", deferred("ouzel.terms.starts"), "STARTS", "code_of")
FAMILIES = {"loss": LOSS, "schedule": SCHEDULE, "bound": BOUND, "start": START}
"""By the setting that takes a term of the family."""


def resolve_loss(loss: Any) -> Any:
    """The loss term of a name, or the term itself.

    >>> resolve_loss("hinge"), resolve_loss("quantile(tau=0.9)")
    (Hinge(), Quantile(tau=0.9))
    >>> resolve_loss("hinged")
    Traceback (most recent call last):
    ouzel.errors.OuzelError: loss must be one of 'logistic', ... or a loss term; got 'hinged'. Did you mean 'hinge'?
    """
    return _resolved(LOSS, loss)


def resolve_schedule(schedule: Any) -> Any:
    """The schedule of learning rates of a name, or the term itself."""
    return _resolved(SCHEDULE, schedule)


def resolve_bound(bound: Any) -> Any:
    """What becomes of predictions that are too large, by its name, or the term itself."""
    return _resolved(BOUND, bound)


def resolve_start(start: Any) -> Any:
    """Where a sketch's directions begin, by its name, or the term itself.

    >>> resolve_start("random(slots=1024)")
    Random(slots=1024.0)
    """
    return _resolved(START, start)


def name_of(term: Any) -> str:
    """What `resolve_loss` and its like take for a term; a term of your own goes by its class.

    >>> name_of(resolve_loss("quantile(tau=0.9)")), name_of(domains.L1Ball(2.0))
    ('quantile(tau=0.9)', 'l1-ball(radius=2.0)')
    """
    inside = ", ".join(f"{key}={value}" for key, value in term._asdict().items())
    return _name(term) + (f"({inside})" if inside else "")


def _name(term: Any) -> str:
    """The name alone, without parameters."""
    families = [family for family in FAMILIES.values() if is_imported(family.module)]  # as that of this term is
    named = {type(known): name for family in families for name, known in family.terms.items()}
    for module, names in ((norms, NORMS), (domains, DOMAINS)):
        named |= {getattr(module, kind): name for name, kind in names.items()} if is_imported(module) else {}
    return named.get(type(term), type(term).__name__)


def _resolved(family: Family, given: Any) -> Any:
    """The term of a name, or the term itself, if there is a body for its class."""
    what = family.what
    if isinstance(given, str):
        return _named(what, given, family.terms)
    if type(given) in family.bodies:
        return within_range(what, given)
    raise OuzelError(f"must be a name or a term with a registered {family.function}; got {given!r}", subject=what)


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
    raise OuzelError(f"must be one of {', '.join(map(repr, terms))} or a {what} term; got {text!r}{hint}", subject=what)


def resolve_penalty(penalty: Any = None, *, l1: float = 0.0, l2: float = 0.0) -> Any:
    """The penalty of a name and strengths, or the term itself.

    The names are those of norms of whole vectors, "l2-norm" and "max-norm", with `l1` their strength, and of domains
    that weights are kept to, "l1-ball", "l2-ball" and "box".

    >>> resolve_penalty(l1=0.1), resolve_penalty("l2-norm", l1=0.1), resolve_penalty("l2-ball(radius=2)")
    (L1(l1=0.1), L2Norm(l1=0.1), L2Ball(radius=2.0))
    """
    if penalty is not None and not isinstance(penalty, str):
        if type(penalty) in _bodies_of_penalties():
            return within_range("penalty", penalty)
        raise OuzelError(f"must be a term with a registered proximal map; got {penalty!r}", subject="penalty")
    l1, l2 = check("l1", STRENGTH, l1), check("l2", STRENGTH, l2)
    if penalty is not None:
        norm = penalty.partition("(")[0] in NORMS
        return _named("penalty", penalty, _norms_and_domains(), **({"l1": l1} if norm else {}))
    if l1 and l2:
        return within_range("penalty", l1_and_l2.ElasticNet(l1, l2))
    if l1:
        return l1_and_l2.L1(l1)
    return l1_and_l2.SquaredL2(l2) if l2 else l1_and_l2.NoPenalty()


def _norms_and_domains() -> dict[str, Any]:
    """The classes of penalties that have names."""
    found = {name: getattr(norms, kind) for name, kind in NORMS.items()}
    return found | {name: getattr(domains, kind) for name, kind in DOMAINS.items()}


def _bodies_of_penalties() -> dict[type, Any]:
    """The proximal maps of all penalties, of each coordinate or of a whole vector, by their classes."""
    _norms_and_domains()  # whose modules register theirs
    found: dict[type, Any] = l1_and_l2.proximal.bodies | diagonal_prox.minimise.bodies
    return found


RESOLVERS: dict[str, Any] = {"loss": resolve_loss, "penalty": resolve_penalty, "schedule": resolve_schedule}
RESOLVERS |= {"bound": resolve_bound, "start": resolve_start}
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

    >>> from_json(l1_and_l2.L1, {"l1": "much"})
    Traceback (most recent call last):
    ouzel.errors.OuzelError: l1 of L1 is not a number; got 'much'
    """
    if not isinstance(stored, dict) or set(stored) != set(kind._fields):
        raise OuzelError(f"settings {reprlib.repr(stored)} do not fit {kind.__name__}, which has {kind._fields}")
    return kind(**{name: _from_json(kind, name, value) for name, value in stored.items()})


def _from_json(kind: Any, name: str, value: Any) -> Any:
    default = kind._field_defaults.get(name, 0.0)
    if isinstance(default, tuple):
        registers = [family.bodies for family in FAMILIES.values() if is_imported(family.module)]  # as the default's is
        registers += [_bodies_of_penalties()] if is_imported(l1_and_l2) else []
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
