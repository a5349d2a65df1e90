"""Is it the language or the domain? The control of the paper's Table 2.

A model fine-tuned on one language and domain is tested on the same language in other domains, and on another
language in the same (translated) and in other domains. If what hurts another language hurt any unfamiliar text,
the drops would be alike.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from isogloss.core.errors import UsageError
from isogloss.results.comparisons.deltas import REFERENCE, deltas, score_rows
from isogloss.results.comparisons.transfer_means import LANGUAGE, mean_over_targets, other_language

SETTINGS = [
    "same language, same domain",
    "same language, other domain",
    "other language, same domain",
    "other language, other domain",
]
CONTRAST = "other language − other domain"


def domain_deltas(
    rows: pl.DataFrame,
    domains: Mapping[str, str],
    predictions: pl.LazyFrame | None = None,
    *,
    reference: str = REFERENCE,
) -> pl.DataFrame:
    """The columns of `deltas` for each test set, with its `language`, `domain` and `setting`, in their order.

    `domains` says what each test set is made of, the source's own among them, whose domain is that of training:
    `{"en": "partut", "en-lines": "literature", "fr-partut": "partut", "fr-gsd": "wiki"}`. Others are left out.
    """
    scores = _settings(score_rows(rows), domains)
    told = scores.select("source", "target", "language", "domain", "setting").unique()
    found = deltas(scores.select(rows.columns), predictions, reference=reference)
    placed = found.join(told, on=["source", "target"], how="left", maintain_order="left")
    return placed.sort(pl.col("setting").cast(pl.Enum(SETTINGS)), maintain_order=True)


def domain_means(rows: pl.DataFrame, domains: Mapping[str, str], *, reference: str = REFERENCE) -> pl.DataFrame:
    """The columns of `deltas`, the target being a setting: means over its test sets, paired by seed.

    The last rows are the contrast that decides: scores in another language minus those in the same language and
    another domain. Its `delta` is how much more the change costs across languages than across domains; being of
    differences, it is sound even where the settings differ in difficulty.
    """
    scores = _settings(score_rows(rows), domains)
    means = mean_over_targets(scores.select(*rows.columns, "setting"), pl.col("setting")).select(rows.columns)
    across = scores.filter(other_language()).select(rows.columns)
    away = means.filter(pl.col("target") == SETTINGS[1])
    contrast = (
        mean_over_targets(across, pl.lit(CONTRAST))
        .join(away.select("run", "study", "metric", away="value", away_n="n"), on=["run", "study", "metric"])
        .with_columns(value=pl.col("value") - pl.col("away"), n=pl.col("n") + pl.col("away_n"))
    )
    found = deltas(pl.concat([means, contrast.select(rows.columns)]), reference=reference)
    return found.sort(pl.col("target").cast(pl.Enum([*SETTINGS, CONTRAST])), maintain_order=True)


def _settings(scores: pl.DataFrame, domains: Mapping[str, str]) -> pl.DataFrame:
    """The rows of the test sets in `domains`, with language, domain and setting."""
    missing = sorted(set(scores["source"]) - set(domains))
    if missing:
        raise UsageError(f"domains: expected the source's own domain as well, got none for {', '.join(missing)}")
    known = pl.DataFrame({"target": list(domains), "domain": list(domains.values())})
    home = known.select(source="target", home="domain")
    joined = scores.join(known, on="target", maintain_order="left").join(home, on="source", maintain_order="left")
    place = 2 * other_language().cast(pl.Int8) + (pl.col("domain") != pl.col("home"))
    named = place.replace_strict(dict(enumerate(SETTINGS)), return_dtype=pl.String)
    return joined.with_columns(language=pl.col("target").str.extract(LANGUAGE), setting=named).drop("home")
