"""Vowpal Wabbit's options and their equivalents here: answers of the command line, and a page of documentation.

`make vowpal-wabbit` writes docs/vowpal-wabbit.md of this table; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

HEAD = """# Coming from Vowpal Wabbit

Ouzel reads Vowpal Wabbit's text as it is (`ouzel train data.vw`), with tags, importances, namespaces and their scales;
names hash with MurmurHash3, too, though not to the same ids. What Vowpal Wabbit says with options is said by the
command here: `ouzel train` learns, `ouzel predict` predicts, `ouzel top` shows weights. An option of Vowpal Wabbit that
Ouzel does not have is answered by its line of this table. `make vowpal-wabbit` writes this page from the code.

| Vowpal Wabbit | here |
| --- | --- |
"""


class Flag(NamedTuple):
    """Option of Vowpal Wabbit with its equivalent here."""

    names: tuple[str, ...]
    takes: str  # its argument in capitals, "" if it has none
    here: str  # the end of the sentence "`-q ab` of Vowpal Wabbit …"


CROSSES = (
    "is `--cross` here, with whole names or patterns of namespaces: `--cross 'a*:b*'` for those that begin with "
    "a and b, `--cross 'user*item*hour'` for three, `--cross '*:*'` for all pairs"
)
BANDITS = "is another task, which is not learnt here: contextual bandits; give each example a label of its own"
COSTS = "is not here: every example has one label, without costs; weigh examples by their importance"
NETWORK = "is not here: models are linear; begin with `--learner auto`, and `--cross` for features that act together"
CACHE = "is `--cache DIR` here, a folder for finished examples that further passes and runs read"
ALWAYS = "is not needed here: it is always so"
WORKERS = "is `--workers N` here, of one machine, or `--cluster ADDRESS`; `ouzel.merge` takes models that learnt apart"
SCREEN = "is not needed here: the screen shows one line that moves on; `--json` prints one object and nothing else"
STEPS = "is not here: `--learner auto` needs no step size, and `ouzel learners NAME` shows what another one takes"
WORDS = "is not here: words are features as they stand; write pairs of them as features of their own"

FLAGS = (
    Flag(("-d", "--data"), "FILE", "is the file's name alone here: `ouzel train FILE`; - is standard input"),
    Flag(("-f", "--final_regressor"), "MODEL", "is `--model MODEL` here"),
    Flag(
        ("-i", "--initial_regressor"),
        "MODEL",
        "is `--resume MODEL` of `ouzel train` here, or `ouzel predict MODEL FILE`",
    ),
    Flag(("-t", "--testonly"), "", "is `ouzel test MODEL FILE` here, or `ouzel predict MODEL FILE`: neither learns"),
    Flag(("-p", "--predictions"), "FILE", "is `ouzel predict MODEL FILE --output OUT` here, with tags and labels"),
    Flag(("-r", "--raw_predictions"), "FILE", "is `ouzel predict MODEL FILE --only margins` here"),
    Flag(("-b", "--bit_precision"), "BITS", "is `--bits BITS` here"),
    Flag(("-l", "--learning_rate"), "RATE", "is `--learning-rate RATE` here; `--learner auto` needs none"),
    Flag(("--power_t", "--initial_t", "--decay_learning_rate"), "NUMBER", STEPS),
    Flag(("--loss_function",), "LOSS", "is `--loss LOSS` here"),
    Flag(("--quantile_tau",), "TAU", "is `--loss 'quantile(tau=TAU)'` here"),
    Flag(("--link",), "LINK", "is not needed here: `ouzel predict` gives labels, margins and probabilities"),
    Flag(("--binary",), "", "is not needed here: `ouzel predict` gives labels, margins and probabilities"),
    Flag(
        ("--oaa", "--ect", "--log_multi", "--plt"),
        "CLASSES",
        "is what labels say here: `ouzel train` learns three and more classes by itself",
    ),
    Flag(("--probabilities",), "", "is what `ouzel predict` gives here after the logistic loss"),
    Flag(
        ("--multilabel_oaa",),
        "CLASSES",
        "is not here: every example has one label; learn a model a label with `--label-positive`",
    ),
    Flag(("--named_labels",), "NAMES", "is not needed here: labels may be names"),
    Flag(("--csoaa", "--csoaa_ldf", "--wap", "--wap_ldf"), "CLASSES", COSTS),
    Flag(
        (
            "--cb",
            "--cb_adf",
            "--cb_explore",
            "--cb_explore_adf",
            "--cbify",
            "--cb_type",
            "--dsjson",
            "--ccb_explore_adf",
            "--slates",
        ),
        "ACTIONS",
        BANDITS,
    ),
    Flag(("-q", "--quadratic", "--cubic", "--interactions"), "NAMESPACES", CROSSES),
    Flag(("--ngram",), "N", "is `--ngrams N` here, of one namespace `--ngrams NAMESPACE=N`; `--skips K` is the same"),
    Flag(("--affix", "--spelling", "--dictionary", "--feature_limit"), "WHAT", WORDS),
    Flag(
        ("--ignore_linear",),
        "NAMESPACE",
        "is not here: crosses do not replace the features that they are made of; `--ignore NAMESPACE` leaves out both",
    ),
    Flag(("--redefine",), "NAMES", "is not here: rename the namespaces in the text"),
    Flag(("--noconstant",), "", "is `--no-intercept` here"),
    Flag(("-C", "--constant"), "NUMBER", "is not here: the constant feature is learnt from 0"),
    Flag(("--hash_seed", "--random_seed"), "SEED", "is `--seed SEED` here"),
    Flag(("--hash",), "HOW", "is not needed here: whole numbers of the default namespace are ids, all else is hashed"),
    Flag(
        ("-a", "--audit"),
        "",
        "is `ouzel predict MODEL FILE --explain N` here: the features that add most to each prediction",
    ),
    Flag(
        ("--invert_hash", "--readable_model"),
        "FILE",
        "is `ouzel top MODEL --all -o weights.csv` here: a model keeps the names of its features",
    ),
    Flag(("-c", "--cache", "-k", "--kill_cache"), "", CACHE),
    Flag(("--cache_file",), "FILE", CACHE),
    Flag(("--compressed",), "", "is not needed here: gzip, bzip2, xz and zstd are detected by content"),
    Flag(("--csv",), "", "is `--format csv` here, if the file's name does not say so"),
    Flag(("--csv_separator",), "CHARACTER", "is `--delimiter CHARACTER` here"),
    Flag(("--csv_header",), "NAMES", "is `--column-names NAMES` here"),
    Flag(("--examples",), "COUNT", "is not here: have `head -n COUNT FILE` piped into `ouzel train -`"),
    Flag(("--holdout_period",), "N", "is `--holdout-every N` here"),
    Flag(("--holdout_off",), "", "is not needed here: nothing is held out without `--holdout-every N`"),
    Flag(("--early_terminate",), "PASSES", "is not here: `--passes` says how many, and one is meant to do"),
    Flag(
        ("--save_resume", "--preserve_performance_counters"),
        "",
        "is not needed here: every model can be gone on with, by `--resume MODEL`",
    ),
    Flag(("--save_per_pass",), "", "is `--checkpoint-every COUNT` here"),
    Flag(("--sgd",), "", "is `--learner ogd` here"),
    Flag(("--adaptive",), "", "is `--learner adagrad` here"),
    Flag(("--normalized",), "", "is what `--learner auto` does here: it learns the scale of features"),
    Flag(("--invariant",), "", "is not needed here: updates are importance-aware where a loss has such a form"),
    Flag(("--ftrl",), "", "is `--learner ftrl-proximal` here"),
    Flag(("--OjaNewton",), "", "is `--learner son-oja` here"),
    Flag(
        ("--bfgs", "--conjugate_gradient"),
        "",
        "is not here: data are read once, as a stream; `--learner auto` is of second order",
    ),
    Flag(("--nn", "--lrq", "--rank", "--new_mf", "--boosting", "--ksvm"), "SIZE", NETWORK),
    Flag(("--l1_state", "--l2_state"), "NUMBER", "is not needed here: a model keeps it"),
    Flag(("--total", "--node", "--unique_id", "--span_server"), "NUMBER", WORKERS),
    Flag(
        ("--daemon",),
        "",
        "is `ouzel serve` here, over HTTP: it predicts and learns, and keeps what it has acknowledged",
    ),
    Flag(("--quiet",), "", SCREEN),
    Flag(("-P", "--progress"), "COUNT", SCREEN),
    Flag(("--strict_parse",), "", "is the rule here: a bad line stops, unless `--on-error skip` leaves it out"),
)


def answer(option: str, arguments: Sequence[str]) -> str | None:
    """Return the answer to an unknown option among the arguments; None if it is not one of Vowpal Wabbit's.

    >>> answer("-f", ["train", "a.vw", "-f", "a.model"])
    '`-f a.model` of Vowpal Wabbit is `--model MODEL` here'
    """
    flag = next((flag for flag in FLAGS if option in flag.names), None)
    if flag is None:
        return None
    place = next(k for k, given in enumerate(arguments) if _stands_in(option, given))
    argument = arguments[place + 1 : place + 2] if flag.takes and arguments[place] == option else []
    return f"`{' '.join([arguments[place], *argument])}` of Vowpal Wabbit {flag.here}"


def _stands_in(option: str, given: str) -> bool:
    """Return whether an argument is an option, possibly with its value: `-b18`, `--oaa=3`."""
    return given == option or given.startswith(f"{option}=" if option.startswith("--") else option)


def page() -> str:
    """Return the page as Markdown."""
    return HEAD + "".join(f"| {_written(flag)} | {flag.here} |\n" for flag in FLAGS)


def _written(flag: Flag) -> str:
    return ", ".join(f"`{name} {flag.takes}`" if flag.takes else f"`{name}`" for name in flag.names)


if __name__ == "__main__":
    print(page(), end="")
