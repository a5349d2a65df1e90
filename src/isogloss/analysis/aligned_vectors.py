"""Vectors of linked word pairs, the input of distances and rotations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from isogloss.core.errors import UsageError
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import Layer, LoadedModel
from isogloss.models.states.hidden_states import WordStates, word_states
from isogloss.models.states.pooling import FloatArray
from isogloss.models.tokenization.batching import IntArray


def aligned_vectors(
    model: LoadedModel,
    bitext: Corpus[AlignedPair],
    *,
    layer: Layer = "last",
    words: str = "mean",
    links: int = 20_000,
    seed: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Two arrays `(link, unit)`: the vectors of the source and the target word of each sure link, in text order.

    Links to words without a vector (no sub-word, or beyond the maximum input length) are skipped.

    Args:
        model: The model.
        bitext: Sentence pairs with word links.
        layer: A layer, or "last" for the input of heads.
        words: The vector of a word: "mean", "first" or "last" of its sub-words.
        links: The maximum number of links; more are sampled at random.
        seed: The seed of the sample.
    """
    sampled = _sample_links(bitext, links, seed)
    sentences, place = np.unique(sampled[:, 0], return_inverse=True)
    resolved = model.last_layer if layer == "last" else layer
    sides = [[bitext[i].source for i in sentences], [bitext[i].target for i in sentences]]
    states = [word_states(model, side, subword=words, layers=[resolved]) for side in sides]
    has_vectors = _present(states[0], place, sampled[:, 1]) & _present(states[1], place, sampled[:, 2])
    if not has_vectors.any():
        raise UsageError("no sure link between words that have a vector")
    x, y = (
        _gather_vectors(side_states, place[has_vectors], sampled[has_vectors, column])
        for side_states, column in zip(states, (1, 2), strict=True)
    )
    return x, y


def _sample_links(bitext: Corpus[AlignedPair], max_links: int, seed: int) -> IntArray:
    """One link per row: sentence, source word, target word."""
    links = [(i, s, t) for i, pair in enumerate(bitext) for s, t in dict.fromkeys(pair.alignment.sure)]
    if not links:
        raise UsageError(f"no sure link in the bitext {bitext.lang}")
    if len(links) > max_links:
        links = sorted(Chance(seed, "links").sample(links, max_links))
    return np.array(links, dtype=np.int64)


def _present(states: WordStates, sentence: IntArray, word: IntArray) -> npt.NDArray[np.bool_]:
    return np.array([states.present[i][w] for i, w in zip(sentence, word, strict=True)])


def _gather_vectors(states: WordStates, sentence: IntArray, word: IntArray) -> FloatArray:
    """The vectors of the given words, gathered during the forward pass without storing others."""
    vectors = np.empty((len(word), states.model.hidden_size), dtype=np.float32)
    order = np.argsort(sentence, kind="stable")
    bounds = np.searchsorted(sentence[order], np.arange(len(states.present) + 1))
    for indices, batch in states:
        for i, word_vectors in zip(indices, batch, strict=True):
            rows = order[bounds[i] : bounds[i + 1]]
            vectors[rows] = word_vectors[0, word[rows]]
    return vectors
