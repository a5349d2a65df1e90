"""The language of a test set, and the rows that a mean over languages is formed of.

The name of a test set begins with its language: "es", "es-mixed", "fr_gsd", "pt-BR". Every language counts once,
whatever the number of its test sets: the test set named by the language alone stands for it ("es", not "es-mixed");
where there is none ("fr-partut", "fr-gsd"), the mean of its test sets does. Test sets in the language of the source,
and names that no language has ("mixed", "tweets"), are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import langcodes
import polars as pl

from isogloss.languages.codes import is_language
from isogloss.languages.facts import languages

FIRST_PART = re.compile(r"^[^-_ ]+")
TEST_SETS = ("study", "task", "source")  # rows that agree in these have the same test sets


@cache
def language_of(name: str) -> str | None:
    """The code of the language of a test set, its shortest; None where its name is that of no language.

    >>> language_of("es-mixed"), language_of("spa"), language_of("French"), language_of("tweets")
    ('es', 'es', 'fr', None)
    """
    match = FIRST_PART.match(name)
    if match is None:
        return None
    if is_language(match[0]):
        return langcodes.standardize_tag(match[0]).partition("-")[0]
    return _codes_by_name().get(match[0].casefold())


def other_languages(rows: pl.DataFrame, same_test_sets: Sequence[str] = TEST_SETS) -> pl.DataFrame:
    """The rows that count in a mean over the languages other than the source's, with the column `language`."""
    named = rows.with_columns(
        language=pl.col("target").replace_strict(_languages(rows["target"]), return_dtype=pl.String),
        source_language=pl.col("source").replace_strict(_languages(rows["source"]), return_dtype=pl.String),
        named_by_language=~pl.col("target").str.contains(r"[-_ ]"),
    )
    others = named.filter(pl.col("language").is_not_null(), pl.col("language").ne_missing(pl.col("source_language")))
    shared = [name for name in same_test_sets if name in rows.columns]
    stands_alone = pl.col("named_by_language").any().over(*shared, "language")
    counted = others.filter(pl.col("named_by_language") | ~stands_alone)
    return counted.drop("source_language", "named_by_language")


def uncounted_targets(rows: pl.DataFrame) -> list[str]:
    """Targets that no mean over languages counts, although they are not in the source language."""
    counted = other_languages(rows)["target"]
    in_source = [
        name
        for source, name in rows.select("source", "target").unique().iter_rows()
        if name == source or (language_of(name) is not None and language_of(name) == language_of(source))
    ]
    return sorted(set(rows["target"]) - set(counted) - set(in_source))


def _languages(names: pl.Series) -> dict[str, str | None]:
    return {name: language_of(name) for name in names.unique()}


@cache
def _codes_by_name() -> dict[str, str]:
    return {language.name.casefold(): code for code, language in reversed(languages().items())}
