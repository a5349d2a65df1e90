"""Ranking of source languages for transfer to a language, the most promising first.

The order is by similarity inside the model if there is text to measure it: debiased CKA on parallel sentences (mean
over layers), or else centroids of comparable text. Otherwise it is by the mean of the known distances of genealogy,
script and syntax. The table has all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from isogloss.analysis.language_centroids import centroid_similarity
from isogloss.analysis.similarity import similarity
from isogloss.core.errors import UnknownName
from isogloss.corpora.lab.distance import lab_distance
from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.corpora.parallel import ParallelSet
from isogloss.languages.codes import canonical
from isogloss.languages.distance import language_distance
from isogloss.languages.facts import language
from isogloss.models.loading.loaded_model import LoadedModel

RANKING_INDEX = "debiased_cka"
DISTANCES = ("genealogy", "script", "syntax")
RANKING_COLUMNS = {
    "language": pl.String,
    "name": pl.String,
    "similarity": pl.Float64,
    **dict.fromkeys(DISTANCES, pl.Float64),
    "distance": pl.Float64,  # mean of the known distances
    "writing": pl.String,  # usual script
    "seen": pl.Boolean,  # in pretraining; None if unknown
}


@dataclass(frozen=True)
class Ranking:
    """`frame`: a row per candidate, the best first; `basis`: a description of what the order rests on."""

    frame: pl.DataFrame
    basis: str

    @property
    def languages(self) -> list[str]:
        return self.frame["language"].to_list()


def rank_sources(
    model: LoadedModel,
    lang: str,
    candidates: Sequence[str],
    *,
    seen: frozenset[str] | None = None,
    parallel: ParallelSet | None = None,
    comparable: Mapping[str, Sequence[str]] | None = None,
) -> Ranking:
    """Rank the candidates for `lang`; those without text come after those that were measured."""
    similarities, basis = _measure(model, lang, parallel, comparable)
    codes = dict.fromkeys(code for code in map(canonical, candidates) if code != canonical(lang))
    rows = [_row(lang, code, similarities.get(code), seen) for code in codes]
    frame = pl.DataFrame(rows, schema=RANKING_COLUMNS)
    order = frame.sort(pl.col("similarity"), "distance", "language", descending=[True, False, False], nulls_last=True)
    distances = ", ".join(name for name in DISTANCES if frame[name].is_not_null().any())
    facts = f"genealogy and typology ({distances})" if distances else ""
    return Ranking(order, basis or facts or "nothing: no text, and no known facts about the languages")


def measured_similarity(model: LoadedModel, parallel: ParallelSet, lang: str) -> dict[str, float]:
    """Similarity of each other language with `lang` inside the model, mean over layers."""
    curves = similarity(model, parallel, source=lang, indexes=[RANKING_INDEX], bootstrap=0, control=False).frame
    layers = curves.filter(pl.col("stage") != "final norm")
    return dict(layers.group_by("target").agg(pl.col("value").mean()).iter_rows())


def distance(source: str, target: str) -> dict[str, float]:
    """Distances between two languages, real or of the laboratory; empty if one is unknown."""
    try:
        artificial = [code in LANGUAGES for code in (source, target)]
        return lab_distance(source, target) if all(artificial) else language_distance(source, target)
    except UnknownName:
        return {}


def script_and_name(code: str) -> tuple[str | None, str]:
    """The usual script and the name of a language, where known."""
    if code in LANGUAGES:
        return LANGUAGES[code].script, LANGUAGES[code].name
    try:
        facts = language(code)
    except UnknownName:
        return None, code
    return next(iter(facts.scripts), None), facts.name


def _measure(
    model: LoadedModel, lang: str, parallel: ParallelSet | None, comparable: Mapping[str, Sequence[str]] | None
) -> tuple[dict[str, float], str]:
    if parallel is not None:
        basis = f"similarity inside the model on {len(parallel)} parallel sentences (debiased CKA)"
        return measured_similarity(model, parallel, lang), basis
    if comparable:
        lines = min(map(len, comparable.values()))
        basis = f"similarity inside the model of comparable texts ({lines} lines each; centroids of languages)"
        return centroid_similarity(model, comparable, lang), basis
    return {}, ""


def _row(lang: str, candidate: str, measured: float | None, seen: frozenset[str] | None) -> dict[str, object]:
    distances = distance(lang, candidate)
    script, name = script_and_name(candidate)
    mean = sum(distances.values()) / len(distances) if distances else None
    row = {"language": candidate, "name": name, "similarity": measured, **distances, "distance": mean}
    return {**row, "writing": script, "seen": None if seen is None else candidate in seen}
