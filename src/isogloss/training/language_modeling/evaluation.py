"""Evaluation of a language model during training: perplexity of held-out lines, alignment on parallel text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from isogloss.corpora.parallel import ParallelSet
from isogloss.indexes.cka import cka
from isogloss.indexes.matching import matching_accuracy
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import sentence_states
from isogloss.training.language_modeling.heldout import TextSplit
from isogloss.training.language_modeling.perplexity import perplexity
from isogloss.training.language_modeling.settings import LanguageModelSettings
from isogloss.training.language_modeling.train import Evaluate, EvaluationRow

MAX_HELD_OUT_LINES = 1000  # of each language


def build_evaluation(
    splits: Mapping[str, TextSplit], settings: LanguageModelSettings, probes: ParallelSet | None
) -> Evaluate:
    """A function that evaluates a model: rows of perplexity per language, and of alignment on the probes."""
    lines = {lang: list(islice(split.held_out, MAX_HELD_OUT_LINES)) for lang, split in splits.items()}

    def evaluate(model: LoadedModel) -> list[EvaluationRow]:
        rows: list[EvaluationRow] = [
            {"index": "perplexity", "target": lang, "value": perplexity(model, held_out, length=settings.length)}
            for lang, held_out in lines.items()
            if held_out
        ]
        return rows + (alignment_rows(model, probes) if probes else [])

    return evaluate


def alignment_rows(model: LoadedModel, parallel: ParallelSet, source: str | None = None) -> list[EvaluationRow]:
    """CKA and matching accuracy from the source (by default the first language) to every other, at every layer."""
    parallel = parallel.distinct()
    source = source or next(iter(parallel.languages))
    states = {lang: sentence_states(model, parallel.texts[lang]).collect() for lang in parallel.languages}
    return [
        {"source": source, "target": lang, "layer": layer, "index": name, "value": value}
        for lang in parallel.languages
        if lang != source
        for layer, (ours, theirs) in enumerate(zip(states[source], states[lang], strict=True))
        for name, value in (
            ("cka", cka(ours, theirs)),
            ("matching", matching_accuracy(ours, theirs, sentences=(parallel.texts[source], parallel.texts[lang]))),
        )
    ]
