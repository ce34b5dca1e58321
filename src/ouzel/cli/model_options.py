"""Options of the model: its learner with the settings, its task, and the preparation of features and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from ouzel.cli.options import pair_of
from ouzel.cli.parameters import BYTES, COLUMN, LEVEL, Kind, choice, option
from ouzel.errors import OuzelError
from ouzel.flags import flag_of
from ouzel.learners.catalogue import DEFAULT, LEARNERS
from ouzel.numerals import is_number
from ouzel.ranges import Range, check
from ouzel.terms import LOSSES_OF_CLASSES, LOSSES_OF_NUMBERS

LEARNER = Kind("LEARNER", words=lambda: LEARNERS)
GROUPS_OF_LEARNERS = "all", "all-multiclass", "all-budgeted"
LOSS = Kind("LOSS", words=lambda: [*LOSSES_OF_CLASSES, *LOSSES_OF_NUMBERS])
STANDARDIZING = choice("auto", "yes", "no", bare="yes")
NUMBER, WHOLE_NUMBER = Kind("FLOAT"), Kind("INTEGER")  # as text, which the learner checks


Learner = Annotated[
    str | None, option(f"Name of the learner ({DEFAULT}); `ouzel learners` lists them.", takes=LEARNER, panel="Learner")
]


@dataclass(frozen=True)
class Learning:
    """Settings of a learner. The learner checks their values, and errors name the range that it declares."""

    panel: ClassVar = "Learner"
    loss: Annotated[
        str | None,
        option(f"{', '.join(LOSSES_OF_CLASSES)}; {', '.join(LOSSES_OF_NUMBERS)} for numbers.", takes=LOSS),
    ] = None
    learning_rate: Annotated[str | None, option("Step size.", takes=NUMBER)] = None
    l1: Annotated[str | None, option("Strength of the l1 penalty: weights become exactly zero.", takes=NUMBER)] = None
    l2: Annotated[str | None, option("Strength of the squared l2 penalty.", takes=NUMBER)] = None
    budget: Annotated[str | None, option("Memory budget of a learner in bytes, such as 8KB.", takes=BYTES)] = None
    derived_budget: Annotated[
        str | None, option("Of auto: memory for curves of columns and for pairs (4MB).", takes=BYTES)
    ] = None
    sketch_size: Annotated[str | None, option("Directions that a sketch keeps.", takes=WHOLE_NUMBER)] = None
    epsilon: Annotated[
        str | None,
        option("Of wm: error from which its theorem sizes the sketch, far too large in practice.", takes=NUMBER),
    ] = None
    set_: Annotated[
        list[str] | None, option("Any other setting of the learner; may be repeated.", takes="NAME=VALUE")
    ] = None

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that were given, by options of their own and by --set."""
        named = ("loss", "learning_rate", "l1", "l2", "budget", "derived_budget", "sketch_size", "epsilon")
        given: dict[str, Any] = {name: value for name in named if (value := getattr(self, name)) is not None}
        if ":" in given.get("loss", ""):
            from ouzel.learners.plugins import loss_named

            given["loss"] = loss_named(given["loss"])
        for pair in self.set_ or ():
            name, value = pair_of("set", pair)
            given[name.replace("-", "_")] = value
        return given


@dataclass(frozen=True)
class Task:
    """Options of what is learnt."""

    panel: ClassVar = "Learner"
    task: Annotated[
        str | None,
        option(
            "classification, regression, or ranking (pairs within groups); otherwise inferred from labels and loss.",
            takes=choice("classification", "regression", "ranking", name="TASK"),
        ),
    ] = None
    pairs: Annotated[int | None, option("Pairs sampled from each group to rank (all).")] = None


@dataclass(frozen=True)
class Preparation:
    """Options of the preparation of features and labels, and of the decay of what was learnt."""

    panel: ClassVar = "Learner"
    no_intercept: Annotated[bool, option("Learn no intercept.")] = False
    raw_targets: Annotated[bool, option("Do not standardize the target.")] = False
    standardize: Annotated[
        str | None,
        option(
            "Center and scale dense features online: auto (the default) once rows have values as large as those of "
            "raw tables, yes (also without a word) from the first row, no never.",
            takes=STANDARDIZING,
        ),
    ] = None
    forget: Annotated[
        float | None,
        option("Half-life of what the learner has accumulated, in examples; for streams that change."),
    ] = None

    class_weight: Annotated[
        list[str] | None,
        option(
            "Weight of a class, by which its examples count more or less: yes=5,no=1; or balanced, by the classes' "
            "shares so far; may be repeated.",
            takes="CLASS=WEIGHT",
        ),
    ] = None

    interval: Annotated[
        list[float] | None,
        option(
            "Keep intervals of numbers, or sets of labels, that hold this share of examples: .9; may be repeated.",
            takes=LEVEL,
        ),
    ] = None

    interval_by: Annotated[
        str | None,
        option("Keep intervals for each value of this column, so that each group has its coverage.", takes=COLUMN),
    ] = None

    calibrate: Annotated[
        bool, option("Recalibrate probabilities as the stream goes, so that of .8 some 80 % have the class.")
    ] = False

    @property
    def prepared(self) -> dict[str, Any]:
        """Keywords of the model for these options."""
        weighed = {"class_weight": class_weight_of(self.class_weight or [])}
        return {
            "scale_targets": not self.raw_targets,
            "standardize": self.standardize,
            "forget": self.forget,
            **weighed,
            "interval": self.interval or None,
            "interval_by": self.interval_by,
            "calibrate": self.calibrate,
        }


def class_weight_of(given: list[str]) -> str | dict[str, float] | None:
    """Return the weights of classes that --class-weight gives; a label may hold = and, in a pair of its own, commas.

    >>> class_weight_of(["yes=5,no=1"]), class_weight_of(["a,b=2", "c=d=0.5"]), class_weight_of(["balanced"])
    ({'yes': 5.0, 'no': 1.0}, {'a,b': 2.0, 'c=d': 0.5}, 'balanced')
    """
    if given in ([], ["balanced"]):
        return given[0] if given else None
    weights: dict[str, float] = {}
    for text in given:
        listed = [pair.rpartition("=") for pair in text.split(",")]
        apart = all(label and is_number(weight) for label, _, weight in listed)
        for label, _, weight in listed if apart else [text.rpartition("=")]:
            if not label.strip() or not is_number(weight):
                raise OuzelError(f"--class-weight takes CLASS=WEIGHT, such as yes=5,no=1, or balanced; got {text!r}")
            if label.strip() in weights:
                raise OuzelError(f"--class-weight gives two weights to the class {label.strip()!r}; leave one out")
            weights[label.strip()] = float(weight)
    return weights


def check_most_classes(most: int | None) -> None:
    """Refuse a maximum number of classes that no model supports."""
    if most is not None:
        from ouzel.model.label_encoder import MOST_CLASSES

        check(flag_of("most_classes"), Range(1, MOST_CLASSES, whole=True), most)
