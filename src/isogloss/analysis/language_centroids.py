"""Similarity of languages inside a model, from texts that need not be translations of each other.

The centroid of a language is the mean of its sentence vectors. After subtraction of the mean of all centroids, their
cosines group languages by family (Libovický et al. 2019, "How Language-Neutral is Multilingual BERT?"). The texts
should have similar topics: differences of topic are measured as differences of languages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from isogloss.core.errors import UsageError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import sentence_states

MIN_LANGUAGES = 3  # the centred centroids of two languages are always opposite


def centroid_similarity(model: LoadedModel, texts: Mapping[str, Sequence[str]], lang: str) -> dict[str, float]:
    """The cosine of the centroid of each other language with that of `lang`, mean over layers, from −1 to 1."""
    if lang not in texts or len(texts) < MIN_LANGUAGES:
        raise UsageError(f"comparable text: expected '{lang}' and at least 2 other languages, got {', '.join(texts)}")
    layers = [layer for layer in model.layer_names if isinstance(layer, int)]
    means = {
        code: sentence_states(model, list(lines), layers=layers).collect().mean(axis=1, dtype=np.float64)
        for code, lines in texts.items()
    }
    overall_mean = np.mean(list(means.values()), axis=0)
    centroid = means[lang] - overall_mean
    return {code: _cosine(centroid, mean - overall_mean) for code, mean in means.items() if code != lang}


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    """The mean of the cosines of rows; 0 for a row of zeros."""
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(np.mean(np.divide((a * b).sum(axis=1), norms, out=np.zeros(len(a)), where=norms > 0)))
