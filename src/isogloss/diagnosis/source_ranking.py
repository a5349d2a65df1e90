"""From which language should a task be carried over to a new one? Candidates, the most promising first.

Where there is text to measure similarity on inside the model, that decides: parallel sentences by debiased CKA (the
mean over layers), or else comparable text by the centroids of languages. Otherwise descent, script and syntax decide,
by the mean of those distances that are known for the pair. All of them stand in the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

INDEX = "debiased_cka"
DISTANCES = ("genealogy", "script", "syntax")
RANKING_COLUMNS = {
    "language": pl.String,
    "name": pl.String,
    "similarity": pl.Float64,
    **dict.fromkeys(DISTANCES, pl.Float64),
    "distance": pl.Float64,  # the mean of those that are known
    "writing": pl.String,  # its usual script
    "seen": pl.Boolean,  # in pretraining; none where this is not known
}


@dataclass(frozen=True)
class Ranking:
    """`frame`: a row per candidate, the best first; `basis`: what the order rests on, in words."""

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
    """The candidates for `lang` in order; a candidate without text stands after those that were measured."""
    measured, basis = _measured(model, lang, parallel, comparable)
    others = dict.fromkeys(canonical(one) for one in candidates if canonical(one) != canonical(lang))
    rows = [_row(lang, one, measured.get(one), seen) for one in others]
    frame = pl.DataFrame(rows, schema=RANKING_COLUMNS)
    order = frame.sort(pl.col("similarity"), "distance", "language", descending=[True, False, False], nulls_last=True)
    known = [name for name in DISTANCES if frame[name].is_not_null().any()]
    if not measured:
        basis = f"descent and typology ({', '.join(known)})" if known else "nothing: no text, and no facts are known"
    return Ranking(order, basis)


def measured_similarity(model: LoadedModel, parallel: ParallelSet, lang: str) -> dict[str, float]:
    """Each other language's similarity with `lang` inside the model, the mean over layers."""
    curves = similarity(model, parallel, source=lang, indexes=[INDEX], bootstrap=0).frame
    layers = curves.filter(pl.col("stage") != "final norm")
    return dict(layers.group_by("target").agg(pl.col("value").mean()).iter_rows())


def distance(source: str, target: str) -> dict[str, float]:
    """Distances of two languages, real or of the laboratory; none where one of them is not known."""
    try:
        artificial = [code in LANGUAGES for code in (source, target)]
        return lab_distance(source, target) if all(artificial) else language_distance(source, target)
    except UnknownName:
        return {}


def script_and_name(code: str) -> tuple[str | None, str]:
    """The usual script of a language and what it is called, as far as this is known."""
    if code in LANGUAGES:
        return LANGUAGES[code].script, LANGUAGES[code].name
    try:
        known = language(code)
    except UnknownName:
        return None, code
    return next(iter(known.scripts), None), known.name


def _measured(
    model: LoadedModel, lang: str, parallel: ParallelSet | None, comparable: Mapping[str, Sequence[str]] | None
) -> tuple[dict[str, float], str]:
    if parallel is not None:
        basis = f"similarity inside the model on {len(parallel)} parallel sentences (debiased CKA)"
        return measured_similarity(model, parallel, lang), basis
    if comparable:
        number = min(map(len, comparable.values()))
        found = centroid_similarity(model, comparable, lang)
        return found, f"nearness inside the model of comparable texts ({number} lines each; centroids of languages)"
    return {}, ""


def _row(lang: str, candidate: str, alike: float | None, seen: frozenset[str] | None) -> dict[str, Any]:
    apart = distance(lang, candidate)
    script, name = script_and_name(candidate)
    return {
        "language": candidate,
        "name": name,
        "similarity": alike,
        **apart,
        "distance": sum(apart.values()) / len(apart) if apart else None,
        "writing": script,
        "seen": None if seen is None else candidate in seen,
    }
