"""Translation of a command line of Vowpal Wabbit to commands of `ouzel`, by the table of options.

A file is cut, a model is learnt, and then it is tested, used to predict, shown or served.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from ouzel.cli.vowpal_wabbit import CROSSES, FOREIGN, crosses_within, options
from ouzel.cli.vowpal_wabbit_arguments import Given, parsed, split
from ouzel.errors import OuzelError
from ouzel.learners.catalogue import DEFAULT
from ouzel.learners.catalogue import find as find_learner

READING = ("--format", "--delimiter", "--column-names")  # which predicting and testing have, too
FILES = (*READING, "--id", "--passes", "--holdout-every")  # which services do not have
REPEATED = ("--cross", "--ngrams", "--skips", "--ignore", "--only-columns", "--class-weight", "--set")
ADAGRAD = "adagrad"  # what Vowpal Wabbit learns by, and with its penalties
MODEL = "model.ouzel"  # where no model is named, and a further command needs one
FOLDER = "served"  # of a service
UNCUT = (".gz", ".bz2", ".xz", ".zst", ".csv", ".tsv")  # files whose lines are not one example each


@dataclass
class Translation:
    """Commands that do what a command line of Vowpal Wabbit does, and lines on what they do not."""

    commands: list[list[str]] = field(default_factory=list)
    another: list[str] = field(default_factory=list)  # options without which another model is learnt
    nothing: list[str] = field(default_factory=list)  # options that change nothing that is learnt
    notes: list[str] = field(default_factory=list)  # units, and what was added or left out
    refused: list[str] = field(default_factory=list)  # unknown options, and those of other kinds of models

    @property
    def remarks(self) -> list[str]:
        """All lines on options that are not refused."""
        return self.another + self.nothing + self.notes


def translated(arguments: Sequence[str]) -> Translation:
    """Translate a command line of Vowpal Wabbit, of words or quoted; raise `OuzelError` on a value of a wrong kind.

    >>> translated(["-d", "t.vw", "-b22", "--loss_function=logistic", "-f", "m"]).commands
    [['train', 't.vw', '--model', 'm', '--bits', '22', '--loss', 'logistic']]
    >>> translated(["vw -d t.vw --loss_function logistic"]).commands
    [['train', 't.vw', '--loss', 'logistic']]
    >>> translated(["t.vw", "--ksvm", "--kernel", "poly"]).refused
    ['`--ksvm --kernel poly` of Vowpal Wabbit is another kind of model, with kernels; begin with `--learner auto`']
    """
    words = split(arguments)
    if {"-h", "--help"} & set(words):
        return Translation([["vw", "--help"]])
    given = list(parsed(words[words[:1] == ["vw"] :]))  # the program's own name may stand in front
    refused = _refused(given)
    return Translation(refused=refused) if refused else _Composition(given).translation()


def _refused(given: Iterable[Given]) -> list[str]:
    """Return a line for each unknown option, and for all options of one kind of model that is not learnt here."""
    found: dict[str, list[str]] = {}
    for entry in given:
        if entry.option.meaning == "unknown":
            found[f"`{entry.name}` {entry.option.here}"] = []
        elif entry.option.meaning == "kind":
            found.setdefault(entry.option.here, []).extend([entry.name, *entry.values])
    return [f"`{' '.join(words)}` {FOREIGN} {line}" if words else line for line, words in found.items()]


class _Composition:
    """Composition of commands of the options of one command line."""

    def __init__(self, given: list[Given]) -> None:
        self.given = given
        self.names = {entry.name for entry in given}
        self.found = Translation()
        self.parts: dict[str, list[list[str]]] = {}  # the arguments of each option, by command
        self.files = [value for entry in given if entry.name in ("-d", "--data") for value in entry.values]

    def translation(self) -> Translation:
        """Return the commands, and the lines on options that they do not have."""
        for entry in sorted(self.given, key=lambda entry: options().index(entry.option)):
            self._add(entry)
        if not self.files and "--no_stdin" not in self.names:
            self.files = ["-"]
        training = _last_ones(chain.from_iterable(self.parts.get("train", [])))
        if "test" in self.parts:
            self._compose_tests(training)
        else:
            self._compose_training(training)
        return self.found

    def _add(self, entry: Given) -> None:
        """Add the arguments of an option, or a line where it has none."""
        known, found = entry.option, self.found
        if known.when and not self._counts(known.when):
            found.nothing.append(f"{entry} counts with `{known.when}` alone, and is left out")
            return
        if known.meaning in ("model", "nothing"):
            lines = found.another if known.meaning == "model" else found.nothing
            lines.append(f"{entry} {known.here}")
            return
        arguments = entry.arguments
        if known.type in CROSSES and any(map(crosses_within, entry.values)):
            found.another.append(
                f"{entry} crosses features of a namespace with each other, too; here patterns cross different "
                "namespaces, and a namespace that is named twice crosses itself, as in `--cross user:user`"
            )
        if not arguments and known.command in ("train", "serve"):
            found.notes.append(f"{entry} {known.here}")
        self.parts.setdefault(known.command, []).append([] if "-d" in known.names else arguments)

    def _counts(self, when: str) -> bool:
        """Return whether the option that another counts with is given, with its value if one counts."""
        name, _, value = when.partition(" ")
        return any(name in entry.option.all_names and (not value or value in entry.values) for entry in self.given)

    def _compose_tests(self, training: dict[str, list[str]]) -> None:
        """Compose the commands of a model that learns nothing more."""
        model = training.get("--resume", training.get("--model", [""]))[0]
        if not model:
            raise OuzelError(f"`-t` {FOREIGN} needs a model, with `-i MODEL`")
        unused = [name for name in training if name not in ("--model", "--resume", "--label", *READING)]
        if unused:
            self.found.notes.append(f"{', '.join(unused)} left out: the model was learnt with its own")
        if "serve" in self.parts:
            self.found.notes.append(
                f"`-t` {FOREIGN} is not here: a service learns the examples that are sent to be learnt, and only those"
            )
        files, _ = self._cut(training, after=False)
        alone = not {"predict", "top", "serve"} & set(self.parts)
        self._compose_further(["test"] if alone else ["predict", "top"], model, files, training)
        self._compose_service(model, {})

    def _compose_training(self, training: dict[str, list[str]]) -> None:
        """Compose the training, and what is done with its model."""
        resumed = training.get("--resume", [""])[0]
        serves, shows = "serve" in self.parts, {"predict", "top"} & set(self.parts)
        only_shown = "--audit_regressor" in self.names and bool(resumed)
        trains = bool(self.files) and not only_shown and (self.files != ["-"] or not serves)
        if not trains and not serves and not (resumed and "top" in self.parts):
            raise OuzelError(f"`--no_stdin` {FOREIGN} leaves nothing to learn from; name a file with `-d FILE`")
        files, rest = self._cut(training, after="--holdout_off" not in self.names)
        if trains and (shows or serves or rest) and "--model" not in training:
            training["--model"] = [MODEL]
        model = training.get("--model", [resumed])[0] if trains else resumed
        self._settle_reading(training)
        if not resumed:  # a model that is resumed has its learner and settings
            self._settle_learner(training)
        elif trains:
            self.found.notes.append("a model learns no file twice, unless with `--relearn`; Vowpal Wabbit does")
        if trains:
            self.found.commands.append(["train", *files, *_flat(training)])
        further = ["test"] * bool(rest) + (["predict", "top"] if trains else ["top"])
        self._compose_further(further, model, self.files if rest else files, training, rest)
        self._compose_service(model if trains or resumed else "", training)
        if trains and "predict" in self.parts:
            self.found.notes.append(
                "predictions are those of the learnt model; Vowpal Wabbit writes each before it learns the example"
            )

    def _compose_further(
        self,
        commands: Iterable[str],
        model: str,
        files: list[str],
        training: dict[str, list[str]],
        tested: list[str] | None = None,
    ) -> None:
        """Compose the commands that read a model."""
        reading = _flat({option: values for option, values in training.items() if option in READING})
        for name in commands:
            if name == "test":
                self.found.commands.append([name, model, *(tested or files), *reading])
                continue
            parts = self.parts.get(name, [])
            outputs = [arguments for arguments in parts if "--output" in arguments] or [[]] * bool(parts)
            common = [word for arguments in parts if "--output" not in arguments for word in arguments]
            data = [] if name == "top" else [*files, *reading]
            self.found.commands += [[name, model, *data, *common, *output] for output in outputs]

    def _compose_service(self, model: str, training: dict[str, list[str]]) -> None:
        """Compose the command that serves a model, or begins one with the settings."""
        if "serve" in self.parts:
            settings = {name: values for name, values in training.items() if name not in ("--model", *FILES)}
            begin = ["--model", model] if model else _flat(settings)
            ports = chain.from_iterable(self.parts["serve"])
            self.found.commands.append(["serve", "--data", FOLDER, *begin, *ports])

    def _cut(self, training: dict[str, list[str]], after: bool) -> tuple[list[str], list[str]]:
        """Compose the commands that cut a file; return the files to learn, and those to test."""
        files, rest = self.files, list[str]()
        for name, _, count in (word.partition("=") for words in self.parts.get("lines", []) for word in words):
            if name == "after" and not after:
                self.found.nothing.append(f"`--holdout_after {count}` {FOREIGN} counts where examples are held out")
                continue
            path = Path(files[0]) if len(files) == 1 else Path("-")
            if files == ["-"] or len(files) != 1 or path.suffix in UNCUT or "--format" in training:
                raise OuzelError(
                    f"`--examples` and `--holdout_after` {FOREIGN} cut one file of text that is not packed; got "
                    f"{' '.join(files)}: cut it first, and leave them out"
                )
            files = [str(path.with_name(f"{path.stem}.first-{count}{path.suffix}"))]
            self.found.commands.append(["head", "-n", count, str(path), "--output", *files])
            if name == "first":
                self.files = files
            else:
                rest = [str(path.with_name(f"{path.stem}.after-{count}{path.suffix}"))]
                self.found.commands.append(["tail", "-n", f"+{int(count) + 1}", str(path), "--output", *rest])
        return files, rest

    def _settle_reading(self, training: dict[str, list[str]]) -> None:
        """Settle what examples are learnt: n-grams, passes, and those that are held out."""
        skips = training.pop("--skips", [])
        for skip in skips:
            namespace, _, count = skip.rpartition("=")
            if not namespace:
                training["--skips"] = [count]
                continue
            ngrams = training.get("--ngrams", [])
            sizes = {spec.rpartition("=")[0]: spec.rpartition("=")[2] for spec in ngrams}
            size = sizes.get(namespace, sizes.get("", "2"))
            others = [spec for spec in ngrams if spec.rpartition("=")[0] != namespace]
            training["--ngrams"] = [*others, f"{namespace}={size}+{count}"]
        passes = int(training.get("--passes", ["1"])[0])
        holds_out = passes > 1 and "--holdout_off" not in self.names
        if "--holdout-every" in training and not holds_out:
            (period,) = training.pop("--holdout-every")
            why = "in one pass" if passes <= 1 else "with `--holdout_off`"
            self.found.nothing.append(f"`--holdout_period {period}` {FOREIGN} holds nothing out {why}, and is left out")
        if passes > 1:
            self.found.notes.append(
                f"the average loss {FOREIGN} is over all passes; `mean loss` here is of the first, `by pass` of each"
            )
        if holds_out and "--holdout-every" not in training:
            self.found.notes.append(
                f"with {passes} passes Vowpal Wabbit holds out every tenth example; `--holdout-every 10` does so here"
            )

    def _settle_learner(self, training: dict[str, list[str]]) -> None:
        """Add what Vowpal Wabbit does by default, and a learner that has the settings."""
        notes = self.found.notes
        if "--task" not in training and "--loss" not in training:
            training["--loss"] = ["squared"]
            notes.append(
                f"the squared loss is the default {FOREIGN}; without `--loss` labels decide; "
                "its mean loss, of (prediction - label)^2, is twice the one here"
            )
        elif training.get("--loss") == ["squared"]:
            notes.append(f"the mean squared loss {FOREIGN}, of (prediction - label)^2, is twice the one here")
        elif "--loss" not in training:
            notes.append(f"classes are learnt by the logistic loss; the default {FOREIGN} is `--loss squared`")
        penalties = [name for name in ("--l1", "--l2") if name in training]
        if penalties and training.get("--learner", [DEFAULT]) == [DEFAULT]:
            training["--learner"] = [ADAGRAD]
            notes.append(f"`--learner {ADAGRAD}`, for the default learner has no {' and '.join(penalties)}")
        learner = training.get("--learner", [DEFAULT])[0]
        fields, defaults = find_learner(learner).settings._fields, find_learner(learner).settings._field_defaults
        for name, field_name in (("--learning-rate", "learning_rate"), ("--l1", "penalty"), ("--l2", "penalty")):
            if name in training and field_name not in fields and name[2:].replace("-", "_") not in fields:
                del training[name]
                notes.append(f"`{name}` is left out: {learner} has no such setting")
        rates = {"-l", "--learning_rate", "--sgd", "--adaptive"} & self.names
        rate = defaults.get("learning_rate", 0.5) if rates else 0.5
        if rate != 0.5:
            notes.append(f"`--learning-rate` of {learner} is {rate:g} by default, and `-l` {FOREIGN} 0.5")
        if "--ftrl" in self.names and not {"--ftrl_alpha", "--ftrl_beta"} <= self.names:
            notes.append("the defaults of Vowpal Wabbit are `--learning-rate 0.005 --set damping=0.1`")


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
        elif word not in found[name]:
            found[name].append(word)
    return found


def _flat(chosen: dict[str, list[str]]) -> list[str]:
    return [word for name, values in chosen.items() for value in values or [""] for word in (name, value) if word]
