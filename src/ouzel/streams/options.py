"""The options of reading: how all readers make examples of a stream."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Annotated, Any

from ouzel.errors import OuzelError
from ouzel.ranges import Bits, Count, Seed, checked
from ouzel.streams.feature_space import CATEGORY, DATE, LIST, NOTHING_KNOWN, NUMBER, TEXT, FeatureSpace
from ouzel.streams.feature_specs import DerivedFeatures, matches
from ouzel.streams.formats.catalogue import FORMATS, Format, names_of
from ouzel.streams.limits import USUAL, Limits
from ouzel.streams.positive_label import PositiveLabel

ON_ERROR = ("raise", "skip")
MISSING = ("indicator", "absent")
SAMPLE = 1000
MOST_KNOWN = 4096  # members of objects whose kind is decided; in others each value is what its type says
OF_COLUMNS = ("text", "categorical", "numeric", "ignore", "keep")  # or of namespaces, as of columns
OF_NAMED = (*OF_COLUMNS, "crosses", "ngrams")
OF_TABLES = ("label", "weight", "group", "id", "dates", "missing", "bins", "hinges")
OF_MESSAGES = {"with_key": "keys", "with_headers": "headers"}  # with what they take from messages
OF_DELIMITED = ("columns", "skip_lines", "delimiter")
OF_FILES = (*OF_DELIMITED, *OF_MESSAGES, "query", "sample", "limits")
OF_EXAMPLES = ("label", "label_positive", "weight", "group", "id", "on_error")  # dictionaries come with theirs
OF_COLUMNS_BY_NAME = (*OF_NAMED, *OF_TABLES[4:])
TAKEN_BY: tuple[tuple[Collection[str], Callable[[Format], bool]], ...] = (
    (OF_TABLES, lambda format: format.takes_columns),
    (OF_NAMED, lambda format: format.is_named),
    (OF_DELIMITED, lambda format: format.is_delimited),
    (OF_MESSAGES, lambda format: format.has_members),
)
"""Options that some formats have no use for, with the test for formats that have."""
LISTS = ("inherited", "columns", "dates", *OF_COLUMNS)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `ouzel.read`; a reader uses those that apply to its format."""

    bits: Bits = 18
    """Names of features hash to so many bits."""
    seed: Seed = 0
    """Seed of that hash."""
    label: str | None = None
    """The column of a table that holds the label."""
    label_positive: PositiveLabel | None = None
    """This label (or any list of labels with it) is +1, every other -1."""
    weight: str | None = None
    """The column with importance weights."""
    group: str | None = None
    """The column with query ids."""
    id: str | None = None
    """The column with names of rows."""
    text: tuple[str, ...] = ()
    """Columns read as words; these and the next are names, patterns such as C*, or all."""
    categorical: tuple[str, ...] = ()
    """Columns whose every value is a category, numbers too."""
    numeric: tuple[str, ...] = ()
    """Columns of numbers."""
    dates: tuple[str, ...] = ()
    """Columns of dates: seconds since 1970, and calendar parts."""
    ignore: tuple[str, ...] = ()
    """Columns left out."""
    keep: tuple[str, ...] = ()
    """The only columns that are features."""
    crosses: tuple[str, ...] = ()
    """Products of features, by their columns: city*device."""
    ngrams: tuple[str, ...] = ()
    """Words joined with those that follow: up to 2 of all texts, or review=3 of one."""
    bins: tuple[str, ...] = ()
    """Bins of numbers, a number of them for a column: price=16."""
    hinges: tuple[str, ...] = ()
    """Hinges, how far numbers are above some edges: price=8."""
    skips: Annotated[Count, "words that n-grams may leave out, where they do not say it themselves"] = 0
    """Words that n-grams may leave out, where they do not say it themselves."""
    sample: Annotated[
        Count, "first rows that decide what columns hold; 0: each value of a JSON object is what it is"
    ] = SAMPLE
    """First rows that decide what columns hold; 0: each value of a JSON object is what it is."""
    missing: str = "indicator"
    """What a missing value is, unless a model knows it: a feature of its own ("indicator"), or none ("absent")."""
    columns: tuple[str, ...] = ()
    """Names of the columns of a table without a header."""
    skip_lines: Annotated[Count, "lines to leave out at the start of a table"] = 0
    """Lines to leave out at the start of a table."""
    delimiter: str | None = None
    """The column separator of a CSV file; by default detected from its header."""
    query: str | None = None
    """A file with the number of examples of each group, as LightGBM has them."""
    unlabelled: bool = False
    """Whether a table may lack a label, as for prediction."""
    testing: bool = False
    """Whether labelled examples test a model, and are not learnt."""
    with_key: bool = False
    """Of a log: the key of a message is a member of it, a category."""
    with_headers: bool = False
    """Of a log: the headers of a message are members of it, categories named `header:NAME`."""
    on_error: str = "raise"
    """What to do with a bad line: "raise" an error, or "skip" and count it."""
    inherited: tuple[str, ...] = ()
    """Options from a model's file, which may have no effect in another format."""
    limits: Limits = USUAL
    """The largest pieces of the stream, as {"line": "1GB"}."""
    space: FeatureSpace = field(default=NOTHING_KNOWN, repr=False)
    """The feature space of the model that the stream is for."""

    def __post_init__(self) -> None:
        for name, value in checked(Options, vars(self)).items():
            object.__setattr__(self, name, value)
        if self.label_positive is not None:
            object.__setattr__(self, "label_positive", PositiveLabel(self.label_positive))
        requested = self.requested.in_order(self.skips)
        for name, value in requested._asdict().items():
            object.__setattr__(self, name, value)
            if value and self.space.known and value != getattr(self.space.derived, name):
                raise OuzelError(
                    f"the model was learnt with {self.space.derived}, and not with {requested}; leave them out"
                )
        if self.skips and not self.ngrams and not self.space.known:
            raise OuzelError("only n-grams skip words; say how many words they have with ngrams", skips=self.skips)
        if self.on_error not in ON_ERROR:
            raise OuzelError(f"must be 'raise' or 'skip'; got {self.on_error!r}", subject="on_error")
        if self.missing not in MISSING:
            raise OuzelError(f"must be 'indicator' or 'absent'; got {self.missing!r}", subject="missing")
        if self.missing == "absent" and self.space.indicator:
            raise OuzelError("to the model a missing value is a feature of its own; leave out", missing=self.missing)
        if not isinstance(self.space, FeatureSpace):
            raise OuzelError(f"space is that of a model, model.space; got {self.space!r}")
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n\0'
        ):
            raise OuzelError(
                f"must be one ASCII character, such as ; (a tab is the format tsv); got {self.delimiter!r}",
                subject="delimiter",
            )
        kinds = [*self.text, *self.categorical, *self.numeric, *self.dates]
        roles = [*filter(None, (self.label, self.weight, self.group, self.id)), *kinds]
        twice = next((column for column in roles if roles.count(column) > 1), None)
        if twice is not None:
            raise OuzelError(
                f"column {twice!r} is named twice; "
                "label, weight, group, id, text, categorical, numeric and dates are different columns"
            )

    @property
    def indicator(self) -> bool:
        """Whether a missing value is a feature of its own: to the model, or by the options if it knows of no cells."""
        known = self.space.indicator
        return self.missing == "indicator" if known is None else known

    @property
    def requested(self) -> DerivedFeatures:
        """The derived features that the options ask for."""
        return DerivedFeatures(*(getattr(self, name) for name in DerivedFeatures._fields))

    @cached_property
    def derived(self) -> DerivedFeatures:
        """The derived features of the model, or those that the options ask for."""
        return self.space.derived if self.space.known else self.requested

    @cached_property
    def has_column_options(self) -> bool:
        """Whether an option is about single columns."""
        return bool(self.dates or any(getattr(self, name) for name in OF_COLUMNS))

    @property
    def predicting(self) -> bool:
        """Whether nothing is learnt, so that columns which the model does not know are left out."""
        return self.unlabelled or self.testing

    def wants(self, column: str | None) -> bool:
        """Whether a column is not left out."""
        return not matches(column, self.ignore) and (not self.keep or matches(column, self.keep))

    def kind_of(self, column: str) -> str | None:
        """The kind of a column by the options; the more particular pattern counts."""
        found = [
            (pattern != "all", pattern == column, len(pattern), kind)
            for kind, patterns in zip(
                (NUMBER, CATEGORY, TEXT, DATE), (self.numeric, self.categorical, self.text, self.dates), strict=True
            )
            for pattern in patterns
            if matches(column, (pattern,))
        ]
        return max(found)[-1] if found else None

    def check_kinds(self, known: Mapping[str, str]) -> None:
        """Refuse options that contradict the kinds of a model's columns."""
        for column, kind in known.items():
            given = self.kind_of(column)
            if given is not None and given != kind and LIST not in (given, kind):
                raise OuzelError(f"column {column!r} was learnt as {kind}, not as {given}; leave the option out")


def check_format(options: Options, name: str, format: Format | None) -> None:
    """Refuse an option that has no effect in the format of the source `name`.

    None is the format of parsed examples, where none of these options has one.

    >>> from ouzel.streams.formats.catalogue import find
    >>> check_format(Options(delimiter=";"), "a.parquet", find("parquet"))
    Traceback (most recent call last):
    ouzel.errors.OuzelError: a.parquet: is parquet, and the option is for csv, tsv alone; leave out delimiter=';'
    """
    for names, takes in TAKEN_BY:
        for option in names:
            value = getattr(options, option)
            if value == getattr(Options, option) or option in options.inherited:
                continue
            if format is None or not takes(format):
                called = "a converted file" if format is None else format.name
                raise OuzelError(
                    f"{name}: is {called}, and the option is for {', '.join(_tables_first(takes))} alone; leave out",
                    **{option: value},
                )


def _tables_first(takes: Callable[[Format], bool]) -> list[str]:
    return sorted(names_of(takes), key=lambda format: not FORMATS[format].takes_columns)


def refuse_of_messages(options: Options, name: str, option: str, unless: str = "") -> None:
    """Refuse an option of messages, if it is given, for a source without messages."""
    if getattr(options, option) and option not in options.inherited:
        raise OuzelError(
            f"{name}: has no {OF_MESSAGES[option]} of messages{unless}; leave out", **{option: getattr(options, option)}
        )


def check_in_memory(options: Options, kind: str, without_use: Sequence[str]) -> None:
    """Refuse an option that has no effect on this kind of data in memory.

    >>> check_in_memory(Options(delimiter=";"), "a data frame", OF_FILES)
    Traceback (most recent call last):
    ouzel.errors.OuzelError: a data frame has no use for the option; leave out delimiter=';'
    """
    for option in without_use:
        if getattr(options, option) != getattr(Options, option):
            raise OuzelError(f"{kind} has no use for the option; leave out", **{option: getattr(options, option)})


def names_in(option: str, value: Any) -> tuple[str, ...]:
    """The names in the value of an option, which may be a single one."""
    try:
        names = (value,) if isinstance(value, str) else tuple(value)
    except TypeError:
        names = (None,)
    if not all(isinstance(name, str) for name in names):
        raise OuzelError(f"{option} is a name, or a list of names; got {value!r}")
    return names


def make_options(given: dict[str, Any]) -> Options:
    """Options from keyword arguments; a single column name stands for a tuple of one."""
    known = {field.name for field in fields(Options)}
    for name in given:
        if name not in known:
            raise OuzelError(f"there is no option {name!r} of reading; there are {', '.join(sorted(known))}")
    values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    for name in LISTS:
        if name in values:
            values[name] = names_in(name, values[name])
    if "limits" in values:
        values["limits"] = Limits.of(values["limits"])
    return Options(**values)
