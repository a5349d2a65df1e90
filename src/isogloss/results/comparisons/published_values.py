"""Published values beside measured ones, each with the reason why it is not comparable, if there is one.

`published` has the columns task, source, target, change, metric and value: for the reference the score, for other
conditions the difference to it, in points. A column `model` restricts a value to one model. `mismatch` is the reason
why a value is not comparable ("" where it is), and `languages` are those of a published mean: studies add both.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.deltas import REFERENCE
from isogloss.results.tables.points import POINTS_PER_UNIT

PUBLISHED_KEY = ["task", "source", "target", "change", "metric"]  # and `model`, where it is given
STAR_COLUMNS = ("star", "star_versus")  # the paper's mark of a condition, and what that is compared with
MAX_NAMED_LANGUAGES = 5
NO_CONDITIONS = "the model, data and recipe of the published value are not declared"


def with_published(frame: pl.DataFrame, published: pl.DataFrame, *, reference: str = REFERENCE) -> pl.DataFrame:
    """Rows of `differences` with `published`, `published_reference` and the reasons why they are not comparable,
    `mismatch` and `reference_mismatch`; null where there is no published value."""
    if missing := [name for name in [*PUBLISHED_KEY, "value"] if name not in published.columns]:
        expected = ", ".join([*PUBLISHED_KEY, "value"])
        raise UsageError(f"published values: expected columns {expected}; no {missing[0]}")
    key = [*PUBLISHED_KEY, "model"] if "model" in published.columns else PUBLISHED_KEY
    if published.select(key).is_duplicated().any():
        raise UsageError(f"published values: expected one value for each {', '.join(key[:-1])} and {key[-1]}")
    values = with_conditions(published).select(
        *key, "mismatch", published=pl.col("value").cast(pl.Float64) / POINTS_PER_UNIT, published_languages="languages"
    )
    of_reference = {"published": "published_reference", "mismatch": "reference_mismatch"}
    references = values.filter(pl.col("change") == reference).drop("change")
    references = references.rename({**of_reference, "published_languages": "reference_languages"})
    joined = frame.join(values, on=key, how="left", maintain_order="left")
    joined = joined.join(references, on=[name for name in key if name != "change"], how="left", maintain_order="left")
    mismatches = {"mismatch": "published_languages", "reference_mismatch": "reference_languages"}
    return joined.with_columns(
        _with_mean_mismatch(joined, name, languages) for name, languages in mismatches.items()
    ).drop(*mismatches.values())


def with_conditions(published: pl.DataFrame) -> pl.DataFrame:
    """The values with `mismatch` and `languages`, which files without declared conditions do not have."""
    missing: dict[str, pl.Expr] = {"mismatch": pl.lit(NO_CONDITIONS), "languages": pl.lit(None, pl.List(pl.String))}
    return published.with_columns(**{name: value for name, value in missing.items() if name not in published.columns})


def published_notes(rows: pl.DataFrame, published: pl.DataFrame | None) -> list[str]:
    """What the published values of these rows mean, such as their metric, where a paper leaves it open."""
    if published is None or "note" not in published.columns:
        return []
    notes = published.filter(pl.col("task").is_in(rows["task"].unique().to_list()))["note"]
    return [note for note in notes.unique(maintain_order=True) if note]


def mean_mismatch(published: Sequence[str] | None, measured: Sequence[str] | None) -> str:
    """Why the mean over measured languages is not comparable with a published mean; "" where it is.

    >>> mean_mismatch(["fr", "ru", "tr"], ["fr"]), mean_mismatch(["fr", "ru"], ["fr", "de"])
    ('mean of 3 languages; yours has 1', 'mean of other languages: ru not in yours, de only in yours')
    """
    if published is None or measured is None or set(published) == set(measured):
        return ""
    if len(set(published)) != len(set(measured)):
        return f"mean of {len(set(published))} languages; yours has {len(set(measured))}"
    theirs, ours = (_listed(sorted({*a} - {*b})) for a, b in ((published, measured), (measured, published)))
    return f"mean of other languages: {theirs} not in yours, {ours} only in yours"


def joined_reasons(*reasons: str | None) -> str:
    """
    >>> joined_reasons("mean of 3 languages; yours has 1", None, "paper: epochs 6; yours: epochs 1")
    'mean of 3 languages; yours has 1 · paper: epochs 6; yours: epochs 1'
    """
    return " · ".join(reason for reason in reasons if reason)


def _with_mean_mismatch(rows: pl.DataFrame, name: str, languages: str) -> pl.Series:
    """The reasons in a column, with those of means over other languages than the published ones."""
    measured = rows["languages"] if "languages" in rows.columns else [None] * len(rows)
    parts = zip(rows[name], rows[languages], measured, strict=True)
    reasons = [
        None if reason is None else joined_reasons(mean_mismatch(published, ours), reason)
        for reason, published, ours in parts
    ]
    return pl.Series(name, reasons, dtype=pl.String)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_NAMED_LANGUAGES]) + (", …" if len(names) > MAX_NAMED_LANGUAGES else "")
