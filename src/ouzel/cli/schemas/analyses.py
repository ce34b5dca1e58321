"""Types of what `explain`, `deltoids` and `pmi` print with --json."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType, field

from ouzel.schemas import Count, Figure, Result, about

Estimate = Annotated[float | None, about("Pearson's, of estimates with true values, with --exact")]
Ranks = Annotated[float | None, about("Spearman's")]


class Attribute(Result):
    """An attribute, and its relative risk."""

    attribute: Annotated[str, about("column=value")]
    weight: Annotated[float, about("in the sketch")]
    risk: Annotated[Figure, about("estimated: how much likelier its rows are outliers than others")]
    risk_low: Annotated[Figure, about("the true risk is at least this")]
    risk_high: Annotated[Figure, about("and at most this")]
    support: Annotated[Count, about("rows that had it, counted since it entered the active set")]
    since: Annotated[Count, about("the row from which on they were counted")]
    missed: Annotated[Count, about("at most so many rows before had it; 0 where all is exact")]
    true_risk: Annotated[Figure, about("with --exact")] | UnsetType = UNSET
    rows: Annotated[Count, about("with it")] | UnsetType = UNSET
    outliers: Annotated[Count, about("among them")] | UnsetType = UNSET


class RecallOfRisks(Result):
    """The recall of the attributes of a risk."""

    risk: Annotated[float, about("true, or its reciprocal, at least")]
    attributes: Annotated[Count, about("that have it")]
    recall: Annotated[float | None, about("share of them that is ranked")]


class Explain(Result):
    """The results of `ouzel explain`."""

    attributes: Annotated[list[Attribute], about("those that --top and --side select")]
    rows: Annotated[Count, about("in all")]
    outliers: Annotated[Count, about("among them")]
    left_out: Annotated[Count, about("rows for want of what decides")]
    near_unique: Annotated[list[str], about("columns in which most rows have a value of their own; ignore these")]
    threshold: Annotated[float | str | None, about("of the condition, at the end")]
    bytes_used: Annotated[Count, about("of the sketch")]
    ranked: Annotated[Count, about("attributes counted on at least half of their rows")]
    unranked: Annotated[Count, about("attributes that may not have been")]
    listed: Annotated[Count, about("attributes of the side")] | UnsetType = UNSET
    correlation: Estimate | UnsetType = UNSET
    rank_correlation: Ranks | UnsetType = UNSET
    recall: Annotated[list[RecallOfRisks], about("with --exact")] | UnsetType = UNSET


class Item(Result):
    """An item, and the ratio of its counts."""

    item: Annotated[str | int, about("column=value, or its id")]
    ratio: Annotated[Figure, about("of counts, first to second, estimated; a count of 0 is taken as 1")]
    weight: Annotated[float, about("its natural logarithm")]
    low: Annotated[float, about("of a 95 % interval of the ratio, by the counts of this item alone")]
    high: Annotated[float | None, about("of it; null if there is no bound")]
    first: Annotated[Count, about("with --exact")] | UnsetType = UNSET
    second: Annotated[Count, about("with --exact")] | UnsetType = UNSET
    true_ratio: Annotated[Figure, about("with --exact; a count of 0 is taken as 1")] | UnsetType = UNSET


class RecallOfItems(Result):
    """The share of the items of a ratio that each method found."""

    ratio: Annotated[float, about("true, at least")]
    items: Annotated[Count, about("that have it")]
    awm: Annotated[float | None, about("share of them that the sketch found")]
    count_min: Annotated[float | None, about("that Count-Min found, with --compare")] | UnsetType = field(
        default=UNSET, name="count-min"
    )
    count_min_x8: Annotated[float | None, about("and of eight times its memory")] | UnsetType = field(
        default=UNSET, name="count-min x8"
    )


class Deltoids(Result):
    """The results of `ouzel deltoids`."""

    items: Annotated[list[Item], about("of the largest ratio, either way")]
    seen: Annotated[list[Count], about("items in the first and in the second stream")]
    bytes_used: Annotated[Count, about("of the sketch")]
    recall: Annotated[list[RecallOfItems], about("with --exact")] | UnsetType = UNSET


class Pair(Result):
    """A pair of tokens, and its pointwise mutual information."""

    first: str
    second: str
    pmi: Annotated[float, about("estimated, in natural units")]
    pmi_low: Annotated[float, about("the true one is at least this")]
    pmi_high: Annotated[float, about("and at most this, if counts of tokens are right within their margin of error")]
    count_low: Annotated[Count, about("it occurred so often at least")]
    count_high: Annotated[Count, about("and so often at most")]
    exact_pmi: Annotated[float, about("with --exact")] | UnsetType = UNSET
    count: Annotated[Count, about("with --exact")] | UnsetType = UNSET


class RecallOfPairs(Result):
    """The recall of the pairs of a PMI."""

    pmi: Annotated[float, about("true, at least")]
    pairs: Annotated[Count, about("of `least_count` occurrences or more that have it")]
    recall: Annotated[float | None, about("share of them that is listed")]


class Pmi(Result):
    """The results of `ouzel pmi`."""

    pairs: Annotated[list[Pair], about("of the largest PMI")]
    tokens: Annotated[Count, about("read")]
    bytes_used: Annotated[Count, about("of the sketch")]
    least_count: Annotated[Count, about("occurrences from which pairs are listed")]
    complete: Annotated[bool, about("whether every pair of the stream was counted")]
    complete_above: Annotated[
        float | None, about("the PMI above which none of these is missing; null if `complete`, or not known")
    ]
    retrieved: Annotated[Count, about("pairs above 0")] | UnsetType = UNSET
    correlation: Estimate | UnsetType = UNSET
    rank_correlation: Ranks | UnsetType = UNSET
    recall: Annotated[list[RecallOfPairs], about("with --exact")] | UnsetType = UNSET
