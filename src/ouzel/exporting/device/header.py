"""A model as one file of C99, without dependencies: it predicts, and some learners go on learning in it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ouzel import __version__
from ouzel.exporting.device import learner_code, linear
from ouzel.exporting.device.literals import check_prefix, number, prefixed, text
from ouzel.exporting.expressions import expression_of
from ouzel.files import write_atomically
from ouzel.model.answers import is_probabilistic
from ouzel.model.model import Model
from ouzel.streams.block import LARGEST
from ouzel.terms.losses import Poisson

HERE = Path(__file__).parent
COMMENT = """/* Written by ouzel {version} of a model of {learner}, which had learnt {examples} examples.
   C99, compiled by itself; it calls exp of <math.h>, and nothing else. Names of ids: {names}.
   {learns} */
"""


class Header(NamedTuple):
    """The functions of a header."""

    functions: list[str]
    hindrance: str | None  # why it does not learn


def write(model: Model, path: Path, prefix: str) -> Header:
    """Write the header of a model."""
    check_prefix(prefix)
    code, header = header_of(model)
    with write_atomically(path) as file:
        file.write(prefixed(code, prefix).encode())
    return header._replace(functions=[prefixed(name, prefix) for name in header.functions])


def header_of(model: Model) -> tuple[str, Header]:
    """The header of a model, whose names begin with `ouzel_`; OuzelError for a model that cannot be one."""
    hindrance = learner_code.hindrance(model)
    part = None if hindrance else learner_code.part_of(model)
    named = learner_code.has_names(model)
    comment = COMMENT.format(
        version=__version__,
        learner=model.learner.name,
        examples=model.examples,
        names="ouzel_id and its like hash them" if named else "none, ids are numbers",
        learns="It learns." if part else "It predicts, and does not learn.",
    )
    pieces = [comment, "#ifndef OUZEL_H\n#define OUZEL_H\n", _defined(_constants(model)), _code("common.h")]
    if named:
        pieces.append(_code("names.h"))
    pieces.append(_labels(model))
    if part is not None:
        pieces += [
            _defined(learner_code.constants_of(model, part)),
            learner_code.tables_of(model),
            learner_code.slope_of(model),
            _code("passing.h"),
            _code(part.code),
            _code("learning.h"),
            learner_code.start_of(model, part),
        ]
    else:
        expression = expression_of(model)
        linear.check(model, expression)
        found = linear.code_of(expression, learner_code.columns_of(model))
        pieces += [_defined(found.constants), found.tables]
        pieces += [_code("mixing.h")] if linear.needs_logarithm(expression) else []
        pieces += [_code("linear.h"), found.margins]
    given = ("const ouzel_state *state,", "state,") if part is not None else ("", "")
    pieces += [
        _code("answers.h").replace("STATE ", f"{given[0]} ".lstrip()).replace("PASSED ", f"{given[1]} ".lstrip())
    ]
    functions = ["ouzel_margins", "ouzel_predict"]
    functions += ["ouzel_probability"] if _probabilistic(model) else []
    functions += ["ouzel_learn", "ouzel_save", "ouzel_load"] if part is not None else []
    functions += ["ouzel_id", "ouzel_word_id"] if named else []
    return "\n".join([*pieces, "#endif\n"]), Header(functions, hindrance)


def _code(name: str) -> str:
    return (HERE / name).read_text()


def _defined(constants: dict[str, str]) -> str:
    return "".join(f"#define OUZEL_{name} {value}\n" for name, value in constants.items())


def _probabilistic(model: Model) -> bool:
    return is_probabilistic(model.loss) and len(model.classes) > 1


def _constants(model: Model) -> dict[str, str]:
    """The constants of all headers."""
    reverse = "-" if model.classes.reversed_pair() else ""
    return {
        "LARGEST": f"{number(LARGEST)}f",
        "CLASSES": str(len(model.classes)),
        "COLUMNS": str(model.columns),
        "INTERCEPT": str(int(model.intercept)),
        "PROBABILISTIC": str(int(_probabilistic(model))),
        "JOINT": str(int(model.task.joint)),
        "POISSON": str(int(model.task.numbers and isinstance(model.loss, Poisson))),
        "SHOWN(margin)": f"({reverse}(margin))",
        "SEED": f"{model.seed}u",
        "MASK": f"0x{(1 << model.bits) - 1:X}u",
    }


def _labels(model: Model) -> str:
    """The classes in the order shown, and what a state of margins is taught of each."""
    classes = model.classes.in_order()
    if not classes:
        return "typedef double ouzel_label;\n#define OUZEL_TARGET(label, k) ((void)(k), (label))\n"
    first, second = ("1.0", "-1.0") if model.classes.reversed_pair() else ("-1.0", "1.0")
    target = "(label) == (k) ? 1.0 : -1.0" if model.columns > 1 else f"(void)(k), (label) ? {second} : {first}"
    listed = ", ".join(text(str(label)) for label in classes)
    return (
        f"static const char *const ouzel_labels[{len(classes)}] = {{{listed}}};\n"
        f"typedef int ouzel_label; /* a place in it */\n#define OUZEL_TARGET(label, k) ({target})\n"
    )
