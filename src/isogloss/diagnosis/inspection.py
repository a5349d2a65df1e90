"""What is seen of a model and a language before any training: the tokenizer, and the languages that are closest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.corpora.parallel import ParallelSet
from isogloss.diagnosis.inputs import LABORATORY_PARALLEL, text_of
from isogloss.diagnosis.remedies import Findings
from isogloss.diagnosis.source_ranking import Ranking, measured_similarity, rank_sources
from isogloss.diagnosis.treatments import Material
from isogloss.languages.codes import canonical
from isogloss.models.loading.load import load_model
from isogloss.models.loading.pretraining_languages import seen_languages
from isogloss.models.tokenization.statistics import TokenizerStatistics, tokenizer_statistics
from isogloss.studies.execution.corpora import read_corpora, read_parallel

LINES = 5000  # of raw text, for tokenizer statistics
COMPARABLE = 500  # lines of each language

Parallel = ParallelSet | Mapping[str, str] | str | None


@dataclass(frozen=True)
class Look:
    """`alike`: similarity of languages with the best source that has labelled data, where it was measured."""

    statistics: TokenizerStatistics
    ranking: Ranking
    alike: Mapping[str, float] = field(default_factory=dict)

    @property
    def findings(self) -> Findings:
        seen = self.ranking.frame.filter(pl.col("seen").fill_null(True))
        return Findings(self.statistics, tuple(one for one in seen["writing"] if one))


def look(
    material: Material,
    sources: tuple[str, ...],
    parallel: Parallel,
    comparable: Mapping[str, tuple[str, ...]],
    device: str | None,
) -> Look:
    """Candidates are the sources, the languages of the texts, and those that the model saw in pretraining."""
    model = load_model(material.model, device=device)
    seen = seen_languages(model)
    together = _parallel(parallel, material.lang, seen)
    lines = {material.lang: text_of(material, COMPARABLE)}
    lines |= {
        canonical(lang): list(read_corpora(one, "text", lang=lang)[:COMPARABLE]) for lang, one in comparable.items()
    }
    candidates = [*sources, *(together.languages if together else ()), *lines, *sorted(seen or ())]
    texts = lines if comparable and together is None else None
    ranking = rank_sources(model, material.lang, candidates, seen=seen, parallel=together, comparable=texts)
    best = next((one for one in ranking.languages if one in sources), None)
    measured = together is not None and best in together.languages
    return Look(
        tokenizer_statistics(model, text_of(material, LINES)),
        ranking,
        measured_similarity(model, together, best) if measured and together and best else {},
    )


def _parallel(given: Parallel, lang: str, seen: frozenset[str] | None) -> ParallelSet | None:
    """Parallel text as it was given; a language of the laboratory has it with all that its model saw."""
    if isinstance(given, ParallelSet):
        return given
    if given is None and lang in LANGUAGES and seen and seen <= LANGUAGES.keys():
        others = sorted(seen - {lang})
        given = LABORATORY_PARALLEL.format(seen=",".join(others), lang=lang)
    if given is None:
        return None
    return read_parallel({"": given} if isinstance(given, str) else given)
