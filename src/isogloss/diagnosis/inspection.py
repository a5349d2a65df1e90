"""Inspection of a model and a language before training: tokenizer statistics and the closest languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.corpora.parallel import ParallelSet
from isogloss.diagnosis.inputs import LABORATORY_PARALLEL, sentences
from isogloss.diagnosis.remedies.remedy import LanguageFindings
from isogloss.diagnosis.source_ranking import Ranking, measured_similarity, rank_sources
from isogloss.diagnosis.treatments import DiagnosisInputs
from isogloss.languages.checks import check_language
from isogloss.models.loading.load import load_model
from isogloss.models.loading.pretraining_languages import seen_languages
from isogloss.models.tokenization.statistics import TokenizerStatistics, tokenizer_statistics
from isogloss.studies.execution.corpora import read_corpora, read_parallel

STATISTICS_LINES = 5000  # raw text for tokenizer statistics
COMPARABLE_LINES = 500  # per language

Parallel = ParallelSet | Mapping[str, str] | str | None


@dataclass(frozen=True)
class ModelInspection:
    """`similarities`: similarity of languages with the best labelled source, where it was measured."""

    statistics: TokenizerStatistics
    ranking: Ranking
    similarities: Mapping[str, float] = field(default_factory=dict)

    @property
    def findings(self) -> LanguageFindings:
        seen = self.ranking.frame.filter(pl.col("seen").fill_null(True))
        return LanguageFindings(self.statistics, tuple(script for script in seen["writing"] if script))


def inspect_model(
    inputs: DiagnosisInputs,
    sources: tuple[str, ...],
    parallel: Parallel,
    comparable: Mapping[str, tuple[str, ...]],
    device: str | None,
) -> ModelInspection:
    """Rank as candidates: the sources, the languages of the texts, and the languages of pretraining."""
    model = load_model(inputs.model, device=device)
    seen = seen_languages(model)
    parallel_set = _parallel_set(parallel, inputs.lang, seen)
    lines = {inputs.lang: sentences(inputs, COMPARABLE_LINES)}
    lines |= {
        check_language(lang): list(read_corpora(corpus, "text", lang=lang)[:COMPARABLE_LINES])
        for lang, corpus in comparable.items()
    }
    candidates = [*sources, *(parallel_set.languages if parallel_set else ()), *lines, *sorted(seen or ())]
    texts = lines if comparable and parallel_set is None else None
    ranking = rank_sources(model, inputs.lang, candidates, seen=seen, parallel=parallel_set, comparable=texts)
    best = next((language for language in ranking.languages if language in sources), None)
    measured = parallel_set is not None and best in parallel_set.languages
    return ModelInspection(
        tokenizer_statistics(model, sentences(inputs, STATISTICS_LINES)),
        ranking,
        measured_similarity(model, parallel_set, best) if measured and parallel_set and best else {},
    )


def _parallel_set(parallel: Parallel, lang: str, seen: frozenset[str] | None) -> ParallelSet | None:
    """The parallel text; for a language of the laboratory by default that with all pretraining languages."""
    if isinstance(parallel, ParallelSet):
        return parallel
    if parallel is None and lang in LANGUAGES and seen and seen <= LANGUAGES.keys():
        others = sorted(seen - {lang})
        parallel = LABORATORY_PARALLEL.format(seen=",".join(others), lang=lang)
    if parallel is None:
        return None
    return read_parallel({"": parallel} if isinstance(parallel, str) else parallel)
