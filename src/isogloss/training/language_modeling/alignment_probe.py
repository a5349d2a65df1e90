"""Alignment during training: similarity of a model's states of parallel sentences."""

from __future__ import annotations

from typing import Any

from isogloss.corpora.parallel import ParallelSet
from isogloss.indexes.cka import cka
from isogloss.indexes.matching import matching_accuracy
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import sentence_states


def alignment_rows(model: LoadedModel, parallel: ParallelSet, source: str | None = None) -> list[dict[str, Any]]:
    """CKA and matching accuracy of the source (by default the first language) with every other, at every layer."""
    source = source or next(iter(parallel.languages))
    states = {lang: sentence_states(model, parallel.texts[lang]).collect() for lang in parallel.languages}
    return [
        {"source": source, "target": lang, "layer": layer, "index": name, "value": float(index(ours, theirs))}
        for lang in parallel.languages
        if lang != source
        for layer, (ours, theirs) in enumerate(zip(states[source], states[lang], strict=True))
        for name, index in (("cka", cka), ("matching", matching_accuracy))
    ]
