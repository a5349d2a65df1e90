"""Hidden states of every layer: one vector per sentence, or one per word.

Layer 0 is the embedding output, layers 1 … L the raw outputs of the blocks; "final" is the output of the final
norm, for families that have one. Batches are of like length under a token budget; results come back in the
order of the sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.models.loading.loaded_model import Layer, LoadedModel
from isogloss.models.loading.placement import is_offloaded
from isogloss.models.states.pooling import FloatArray, Progress, check_layers, run_batches
from isogloss.models.tokenization.batching import IntArray, pad
from isogloss.models.tokenization.encoding import SPECIAL, Encoded, encode_sentences, encode_words

POOLS = ("mean", "cls", "last", "max")
SUBWORDS = ("mean", "first", "last")
CPU_BUDGET, DEVICE_BUDGET = 2048, 16384  # tokens per batch: a cache's worth, a GPU's worth


@dataclass(frozen=True)
class SentenceStates:
    """Sentence vectors, computed as one iterates: `(indices, array[layer, sentence, unit])` for each batch."""

    model: LoadedModel
    encoded: Sequence[Encoded]
    layers: tuple[Layer, ...]
    pool: str
    specials: bool
    budget: int
    progress: Progress | None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Layers, sentences, units."""
        return len(self.layers), len(self.encoded), self.model.hidden_size

    def __iter__(self) -> Iterator[tuple[IntArray, FloatArray]]:
        for indices, states in run_batches(self, self._weights, maximum=self.pool == "max"):
            yield indices, states[:, :, 0]

    def collect(self) -> FloatArray:
        """All of it in memory, sentences in the order given."""
        states = np.empty(self.shape, dtype=np.float32)
        for indices, batch in self:
            states[:, indices] = batch
        return states

    def _weights(self, indices: IntArray) -> FloatArray:
        return sentence_weights([self.encoded[i] for i in indices], self.pool, self.specials)


def sentence_states(
    model: LoadedModel,
    sentences: Sequence[str],
    *,
    pool: str = "mean",
    specials: bool = False,
    layers: Sequence[Layer] | None = None,
    budget: int | None = None,
    progress: Progress | None = None,
) -> SentenceStates:
    """One vector per layer and sentence; the model runs when the result is iterated, collected or stored.

    `pool`: the mean, the element-wise maximum or the last of the sentence's tokens (with `specials`, special
    tokens take part), or the special token at its start (`cls`). `layers`: 0 … L unless given; "final" may be
    among them. `budget`: tokens per batch; it changes speed and memory, not the result.
    """
    check_name(pool, POOLS, "pooling")
    if pool == "cls" and (model.family.causal or not model.prefix):
        why = "its first token sees no other" if model.family.causal else "no special token starts its sentences"
        raise UsageError(f"'{model.name}' has no 'cls' vector: {why}; use 'mean' or 'last'")
    encoded = encode_sentences(model, sentences)
    for number, text in enumerate(encoded):
        if not len(text) or (pool != "cls" and not specials and (text.word == SPECIAL).all()):
            raise UsageError(f"sentence {number} has no token to pool; leave it out, here and in its translations")
    return SentenceStates(model, encoded, check_layers(model, layers), pool, specials, _budget(model, budget), progress)


@dataclass(frozen=True)
class WordStates:
    """Word vectors, computed as one iterates: `(indices, [array[layer, word, unit], …])` for each batch.

    `present[i]` says which words of sentence `i` have a vector; a word without sub-words, or beyond the longest
    input, is a row of zeros. A sentence without any token is in no batch.
    """

    model: LoadedModel
    encoded: Sequence[Encoded]
    present: Sequence[npt.NDArray[np.bool_]]
    layers: tuple[Layer, ...]
    subword: str
    budget: int
    progress: Progress | None

    def __iter__(self) -> Iterator[tuple[IntArray, list[FloatArray]]]:
        for indices, states in run_batches(self, self._weights):
            yield indices, [states[:, row, : len(self.present[i])] for row, i in enumerate(indices)]

    def collect(self) -> list[FloatArray]:
        """All of it in memory: `array[layer, word, unit]` for each sentence, in the order given."""
        units = self.model.hidden_size
        states = [np.zeros((len(self.layers), len(words), units), dtype=np.float32) for words in self.present]
        for indices, batch in self:
            for i, vectors in zip(indices, batch, strict=True):
                states[i] = vectors.copy()  # a view would keep its whole batch
        return states

    def _weights(self, indices: IntArray) -> FloatArray:
        words = [len(self.present[i]) for i in indices]
        return word_weights([self.encoded[i] for i in indices], words, self.subword)


def word_states(
    model: LoadedModel,
    sentences: Sequence[Sequence[str]],
    *,
    subword: str = "mean",
    layers: Sequence[Layer] | None = None,
    budget: int | None = None,
    progress: Progress | None = None,
) -> WordStates:
    """One vector per layer and word: the mean, the first or the last of its sub-words."""
    check_name(subword, SUBWORDS, "sub-word pooling")
    encoded = encode_words(model, sentences)
    present = [np.isin(np.arange(len(words)), text.word) for words, text in zip(sentences, encoded, strict=True)]
    return WordStates(model, encoded, present, check_layers(model, layers), subword, _budget(model, budget), progress)


def sentence_weights(texts: Sequence[Encoded], pool: str, specials: bool) -> FloatArray:
    """`weights[text, 0, token]`: which tokens a sentence's vector is made of, and how much each counts."""
    kept = pad([text.word for text in texts], SPECIAL) != SPECIAL
    if specials:
        kept = np.arange(kept.shape[1]) < np.array([len(text) for text in texts])[:, None]
    if pool == "cls":
        weights = np.zeros(kept.shape)
        weights[:, 0] = 1
    elif pool == "last":
        last = kept.shape[1] - 1 - kept[:, ::-1].argmax(axis=1)
        weights = np.arange(kept.shape[1]) == last[:, None]
    else:
        weights = kept / kept.sum(axis=1, keepdims=True)
    return weights.astype(np.float32)[:, None]


def word_weights(texts: Sequence[Encoded], words: Sequence[int], subword: str) -> FloatArray:
    """`weights[text, word, token]`: which tokens a word's vector is made of, and how much each counts."""
    weights = np.zeros((len(texts), max(words), max(map(len, texts))), dtype=np.float32)
    for matrix, text in zip(weights, texts, strict=True):
        tokens = np.flatnonzero(text.word != SPECIAL)
        numbers, first, counts = np.unique(text.word[tokens], return_index=True, return_counts=True)
        if subword == "mean":
            matrix[text.word[tokens], tokens] = np.repeat(1 / counts, counts)
        else:
            chosen = first if subword == "first" else first + counts - 1
            matrix[numbers, tokens[chosen]] = 1
    return weights


def _budget(model: LoadedModel, budget: int | None) -> int:
    if budget is None:  # weights that are brought from elsewhere come once a batch, so batches are large
        return CPU_BUDGET if model.device.type == "cpu" and not is_offloaded(model.body) else DEVICE_BUDGET
    if budget < 1:
        raise UsageError(f"budget: expected at least 1 token per batch, got {budget}")
    return budget
