"""`ouzel vw`: prints the `ouzel` commands for a command line of Vowpal Wabbit, and runs them with --run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Any

from typer.exceptions import Exit

from ouzel.cli.parameters import argument, option
from ouzel.cli.vowpal_wabbit import Option, find, options
from ouzel.errors import OuzelError, suggest
from ouzel.learners.catalogue import DEFAULT
from ouzel.learners.catalogue import find as find_learner
from ouzel.streams.formats.catalogue import by_file_name

SETTINGS = {"ignore_unknown_options": True}
READING = ("--format", "--delimiter", "--column-names")  # which predicting and testing have, too
REPEATED = ("--cross", "--ngrams", "--ignore", "--only-columns", "--set")
ADAGRAD = "adagrad"  # what Vowpal Wabbit learns by, and with its penalties
MODEL = "model.ouzel"  # where no model is named, and a further command needs one
FOLDER = "served"  # of a service
FOREIGN = "of Vowpal Wabbit"


@dataclass
class Given:
    """Option of Vowpal Wabbit in a command line, with its value."""

    option: Option
    name: str
    value: str = ""

    def __str__(self) -> str:
        return f"`{' '.join(filter(None, (self.name, self.value)))}` {FOREIGN}"


@dataclass
class Translation:
    """Commands that do what a command line of Vowpal Wabbit does, and remarks on what they do not."""

    commands: list[list[str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def vw(
    arguments: Annotated[list[str], argument("Options of Vowpal Wabbit, and files.", "VW-OPTIONS")],
    run: Annotated[bool, option("Run the commands.")] = False,
) -> None:
    """Print the commands that do what a command line of Vowpal Wabbit does.

    A line that begins with # is of an option that has no equivalent, or is not needed.

    Example: ouzel vw -d train.vw --loss_function logistic -b 22 -q ab -f model
    """
    found = translated(arguments)
    lines = [f"# {remark}" for remark in found.remarks] + [written(command) for command in found.commands]
    print("\n".join(lines), file=sys.stderr if run else sys.stdout, flush=True)
    if run:
        for command in found.commands:
            _run(command)


def translated(arguments: Sequence[str]) -> Translation:
    """Translate a command line of Vowpal Wabbit; raise `OuzelError` where its meaning is not known.

    >>> translated(["-d", "t.vw", "-b22", "--loss_function=logistic", "-f", "m"]).commands
    [['train', 't.vw', '--model', 'm', '--bits', '22', '--loss', 'logistic']]
    >>> translated(["vw", "-d", "t.vw", "--loss_function", "logistic"]).commands
    [['train', 't.vw', '--loss', 'logistic']]
    """
    given = list(parsed(arguments[arguments[:1] == ["vw"] :]))  # the program's own name may stand in front
    found = Translation()
    parts: dict[str, list[list[str]]] = {}
    files = [entry.value for entry in given if "-d" in entry.option.names] or ["-"]
    order = {option.names: place for place, option in enumerate(options())}
    for entry in sorted(given, key=lambda entry: order[entry.option.names]):
        known = entry.option
        if not _counts(known, given):
            found.remarks.append(f"{entry} counts with `{known.when}` alone, and is left out")
            continue
        try:
            arguments = known.translated(entry.value, entry.name)
        except OuzelError as error:
            if known.to is not None:
                raise
            found.remarks.append(str(error))
            continue
        if not arguments and known.command in ("train", "serve"):
            found.remarks.append(f"{entry} {known.here}")
        parts.setdefault(known.command, []).append(arguments if "-d" not in known.names else [])
    _compose(found, parts, files, holds_out=not any("--holdout_off" in entry.option.names for entry in given))
    return found


def parsed(arguments: Sequence[str]) -> Iterator[Given]:
    """Yield the options of a command line, with their values; a word without an option is a file."""
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            yield Given(_known("-d"), "-d", word)
            continue
        name, sign, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
        known = _known(name)
        if not known.argument and sign:
            if word.startswith("--"):
                raise OuzelError(f"`{name}` {FOREIGN} takes no value; got {value!r}")
            rest.insert(0, f"-{value}")  # -kc is -k -c
            value = ""
        if known.argument and not sign:
            if not rest:
                known.translated("")
                raise OuzelError(f"`{name}` {FOREIGN} takes {known.argument}, which is missing")
            value = rest.pop(0)
        yield Given(known, name, value)


def _known(name: str) -> Option:
    found = find(name)
    if found is None:
        names = [name for option in options() for name in option.names]
        hint = suggest(name, names).removeprefix(". ").strip()
        raise OuzelError(f"`{name}` is not in the table of options {FOREIGN}; leave it out. {hint}".strip(". "))
    return found


def _counts(known: Option, given: Sequence[Given]) -> bool:
    """Return whether the option that another counts with is given, if it needs one."""
    name, _, value = known.when.partition(" ")
    return not known.when or any(name in other.option.names and other.value == value for other in given)


def _compose(found: Translation, parts: dict[str, list[list[str]]], files: list[str], holds_out: bool) -> None:
    """Compose the commands of their arguments: the training, then what is done with its model."""
    training = _last_ones(chain.from_iterable(parts.get("train", [])))
    further = [name for name in ("test", "predict", "top") if name in parts]
    model = training.get("--resume", training.get("--model", [""]))[0]
    serves = "serve" in parts
    trains = "test" not in parts and (files != ["-"] or not serves)  # a service without a file learns what it is sent
    if "test" in parts:
        if not model:
            raise OuzelError(f"`-t` {FOREIGN} needs a model, with `-i MODEL`")
        further = further if len(further) == 1 and not serves else [name for name in further if name != "test"]
        unused = [name for name in training if name not in ("--model", "--resume", *READING)]
        if unused:
            found.remarks.append(f"{', '.join(unused)} left out: the model was learnt with its own")
    else:
        if trains and (further or serves) and "--model" not in training:
            training["--model"] = [MODEL]
        model = training.get("--model", [model])[0]
        if "--resume" not in training:  # whose model has its learner and settings
            _settle(training, found, holds_out)
        if trains:
            found.commands.append(["train", *files, *_flat(training)])
    for name in further:
        reading = {option: values for option, values in training.items() if option in READING}
        given = [] if name == "top" else [*files, *_flat(reading)]
        outputs = [arguments for arguments in parts[name] if "--output" in arguments] or [[]]
        common = [word for arguments in parts[name] if "--output" not in arguments for word in arguments]
        found.commands += [[name, model, *given, *common, *output] for output in outputs]
    if serves:
        learnt = trains or "test" in parts or "--resume" in training
        settings = {name: values for name, values in training.items() if name != "--model"}
        begin = ["--model", model] if learnt else _flat(settings)
        found.commands.append(["serve", "--data", FOLDER, *begin, *chain.from_iterable(parts["serve"])])
    if "predict" in parts and "test" not in parts:
        found.remarks.append(
            "predictions are those of the learnt model; Vowpal Wabbit writes each before it learns the example"
        )


def _settle(training: dict[str, list[str]], found: Translation, holds_out: bool) -> None:
    """Add what Vowpal Wabbit does by default, and a learner that has the settings."""
    if "--task" not in training and "--loss" not in training:
        training["--loss"] = ["squared"]
        found.remarks.append(f"the squared loss is the default {FOREIGN}; without `--loss` labels decide")
    penalties = [name for name in ("--l1", "--l2") if name in training]
    if (penalties and "--learner" not in training) or (training.get("--learner") == [DEFAULT] and penalties):
        training["--learner"] = [ADAGRAD]
        found.remarks.append(f"`--learner {ADAGRAD}`, for the default learner has no {' and '.join(penalties)}")
    fields = find_learner(training.get("--learner", [DEFAULT])[0]).settings._fields
    for name, field_name in (("--learning-rate", "learning_rate"), ("--l1", "penalty"), ("--l2", "penalty")):
        if name in training and field_name not in fields and name[2:].replace("-", "_") not in fields:
            del training[name]
            found.remarks.append(f"`{name}` is left out: {training['--learner'][0]} has no such setting")
    passes = int(training.get("--passes", ["1"])[0])
    if passes > 1 and "--holdout-every" not in training and holds_out:
        found.remarks.append(
            f"with {passes} passes Vowpal Wabbit holds out every tenth example; `--holdout-every 10` does so here"
        )


def _last_ones(arguments: Iterable[str]) -> dict[str, list[str]]:
    """Return the values of each option; of those that may not be repeated the last.

    >>> _last_ones(["--loss", "quantile", "--cross", "a:b", "--no-intercept", "--loss", "hinge", "--cross", "b:c"])
    {'--loss': ['hinge'], '--cross': ['a:b', 'b:c'], '--no-intercept': []}
    """
    found: dict[str, list[str]] = {}
    name = ""
    for word in arguments:
        if word.startswith("--"):
            name = word
            found[name] = found.get(name, []) if name in REPEATED else []
        else:
            found[name].append(word)
    return found


def _flat(chosen: dict[str, list[str]]) -> list[str]:
    return [word for name, values in chosen.items() for value in values or [""] for word in (name, value) if word]


def written(command: Sequence[str]) -> str:
    """Return a command as a shell takes it; a file that no table is written to is one of standard output.

    >>> written(["predict", "m", "t.vw", "--output", "p.txt"]), written(["top", "m", "--output", "w.csv"])
    ('ouzel predict m t.vw > p.txt', 'ouzel top m --output w.csv')
    """
    words, output = _redirected(command)
    return shlex.join(["ouzel", *words]) + (f" > {shlex.quote(output)}" if output else "")


def _redirected(command: Sequence[str]) -> tuple[list[str], str]:
    """Split off the output of a command where it is not a table; return the command and the output."""
    place = command.index("--output") if "--output" in command else len(command)
    output = "".join(command[place + 1 : place + 2])
    format = by_file_name(output)
    if not output or (format is not None and format.is_table):
        return list(command), ""
    return [*command[:place], *command[place + 2 :]], output


def _run(command: Sequence[str]) -> None:
    """Run a command; leave with its status if it fails."""
    from ouzel.cli.app import answered

    words, output = _redirected(command)
    with open(output, "w") if output else nullcontext() as file:
        into: Any = nullcontext() if file is None else redirect_stdout(file)
        with into:
            status = answered(words)
    if status:
        raise Exit(status)
