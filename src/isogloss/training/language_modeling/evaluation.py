"""Evaluation of a language model during training: perplexity of held-out lines, alignment on parallel text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from isogloss.corpora.parallel import ParallelSet
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.language_modeling.alignment_probe import alignment_rows
from isogloss.training.language_modeling.heldout import TextSplit
from isogloss.training.language_modeling.perplexity import perplexity
from isogloss.training.language_modeling.settings import LanguageModelSettings
from isogloss.training.language_modeling.train import Evaluate

MAX_HELD_OUT_LINES = 1000  # lines of each language that are read at most


def build_evaluation(
    surveys: Mapping[str, TextSplit], settings: LanguageModelSettings, probes: ParallelSet | None
) -> Evaluate:
    """A function that evaluates a model: rows of perplexity per language, and of alignment on the probes."""
    lines = {lang: list(islice(split.held_out, MAX_HELD_OUT_LINES)) for lang, split in surveys.items()}

    def evaluate(model: LoadedModel) -> list[dict[str, Any]]:
        rows = [
            {"index": "perplexity", "target": lang, "value": perplexity(model, held_out, length=settings.length)}
            for lang, held_out in lines.items()
            if held_out
        ]
        return rows + (alignment_rows(model, probes) if probes else [])

    return evaluate
