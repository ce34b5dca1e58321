"""Generator of docs/settings.md: every setting with its default, range and meaning, as declared in the code.

`make settings` runs it; a test compares what it writes with the page.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from ouzel.analytics.deltoids.relative_deltoids import RelativeDeltoids
from ouzel.analytics.explanation.explainer import StreamingExplainer
from ouzel.analytics.pmi.streaming_pmi import StreamingPMI
from ouzel.evaluation.formatting import settings
from ouzel.evaluation.progressive import Run
from ouzel.learners.catalogue import LEARNERS, Learner
from ouzel.model.model import Model
from ouzel.model.settings import described
from ouzel.ranges import declared
from ouzel.streams.options import Options
from ouzel.terms import losses, starts
from ouzel.terms.penalties import domains, l1_and_l2, norms

HEAD = """# Settings: the hyperparameters of every learner

Every setting, what it takes, and its default. A value out of range is refused with one line that says the range,
on the command line, in Python, and in model files alike. `ouzel learners NAME` shows the settings of one learner.
`make settings` writes this page from the code.
"""

TERMS = (
    ("quantile", losses.Quantile),
    ("penalty L1", l1_and_l2.L1),
    ("penalty SquaredL2", l1_and_l2.SquaredL2),
    ("penalty ElasticNet", l1_and_l2.ElasticNet),
    ("l2-norm", norms.L2Norm),
    ("max-norm", norms.MaxNorm),
    ("l1-ball", domains.L1Ball),
    ("l2-ball", domains.L2Ball),
    ("box", domains.Box),
    ("start random", starts.Random),
    ("start ids", starts.Ids),
)

CALLABLES: tuple[tuple[str, Any], ...] = (
    ("RelativeDeltoids", RelativeDeltoids.__init__),
    ("StreamingExplainer", StreamingExplainer.__init__),
    ("StreamingPMI", StreamingPMI.__init__),
    ("Reading a stream", Options),
    ("Model", Model.__init__),
    ("Progressive validation", Run.__init__),
    ("Checkpoints", Run.over),
)


def page() -> str:
    """Return the page as Markdown."""
    parts = [HEAD]
    for names, learner in _by_settings():
        rows = ((name, settings({"": d.default})[1:], d.takes, d.about) for name, d in described(learner).items())
        parts.append(f"## {', '.join(names)}\n\n{_table(rows)}")
    terms = [
        (f"{name}: {field}", _default(kind, field), _takes(setting), setting.about)
        for name, kind in TERMS
        for field, setting in declared(kind).items()
    ]
    parts.append(f"## Losses, penalties and domains\n\n{_table(terms)}")
    for title, function in CALLABLES:
        known = {name: setting for name, setting in declared(function).items() if setting.takes}
        rows = ((name, _default(function, name), _takes(setting), setting.about) for name, setting in known.items())
        parts.append(f"## {title}\n\n{_table(rows)}")
    return "\n".join(parts)


def _by_settings() -> list[tuple[list[str], Learner]]:
    """Yield names of learners with the same settings, and the first of these learners."""
    groups: dict[Any, list[str]] = {}
    for learner in LEARNERS.values():
        groups.setdefault((learner.rule or learner.module_name, learner.settings), []).append(learner.name)
    return [(names, LEARNERS[names[0]]) for names in groups.values()]


def _takes(setting: Any) -> str:
    return setting.takes.text() if setting.takes else ""


def _default(function: Any, name: str) -> str:
    default = inspect.signature(function).parameters[name].default
    return "" if default is inspect.Parameter.empty else str(default)


def _table(rows: Iterable[tuple[str, str, str, str]]) -> str:
    """Return a Markdown table of settings."""
    lines = ["| setting | default | takes | what it is |", "| --- | --- | --- | --- |"]
    lines += [f"| `{name}` | {default} | {takes} | {about} |" for name, default, takes, about in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
