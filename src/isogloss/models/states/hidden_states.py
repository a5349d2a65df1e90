"""Hidden states of every layer: one vector per sentence, or one per word.

Layer 0 is the embedding output, layers 1 … L the raw outputs of the blocks; "final" is the output of the final
norm, for pre-LN families. Batches hold sentences of similar length under a token budget; results are in the order of
the sentences.
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
from isogloss.models.states.pooling import Extraction, FloatArray, Progress, check_layers, run_batches
from isogloss.models.tokenization.batching import IntArray, pad
from isogloss.models.tokenization.encoding import SPECIAL_TOKEN, Encoded, encode_sentences, encode_words

POOLS = ("mean", "cls", "last", "max")
SUBWORDS = ("mean", "first", "last")
CPU_BATCH_TOKENS, DEVICE_BATCH_TOKENS = 2048, 16384  # tokens per batch: fits a CPU cache, fills a GPU


@dataclass(frozen=True)
class SentenceStates(Extraction):
    """Sentence vectors, computed during iteration: `(indices, array[layer, sentence, unit])` for each batch."""

    pool: str
    specials: bool

    @property
    def shape(self) -> tuple[int, int, int]:
        """Layers, sentences, units."""
        return len(self.layers), len(self.encoded), self.model.hidden_size

    def __iter__(self) -> Iterator[tuple[IntArray, FloatArray]]:
        copies = _copies(self.encoded)
        first = np.array([positions[0] for positions in copies.values()], dtype=np.int64)
        positions_of = dict(zip(first.tolist(), copies.values(), strict=True))
        for indices, states in run_batches(self, self._weights, maximum=self.pool == "max", chosen=first):
            positions = [positions_of[i] for i in indices.tolist()]
            yield np.concatenate(positions), np.repeat(states[:, :, 0], list(map(len, positions)), axis=1)

    def collect(self) -> FloatArray:
        """All vectors in memory, in the order of the sentences."""
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

    Args:
        model: The model.
        sentences: The texts.
        pool: "mean", "max" (element-wise) or "last" over the tokens, or "cls" (the first special token).
        specials: Include special tokens in the pooling.
        layers: Layers 0 … L and "final"; 0 … L by default.
        budget: Tokens per batch. It changes speed and memory, not the result.
        progress: Called with the sentences done and the total.
    """
    check_name(pool, POOLS, "pooling")
    if pool == "cls" and (model.family.causal or not model.prefix):
        reason = (
            "its first token attends to no other token"
            if model.family.causal
            else "its sentences do not start with a special token"
        )
        raise UsageError(f"'{model.name}' has no 'cls' vector: {reason}; use 'mean' or 'last'")
    encoded = encode_sentences(model, sentences)
    for number, text in enumerate(encoded):
        if not len(text) or (pool != "cls" and not specials and (text.word == SPECIAL_TOKEN).all()):
            raise UsageError(f"sentence {number} has no token to pool; leave it out, here and in its translations")
    return SentenceStates(model, encoded, check_layers(model, layers), _budget(model, budget), progress, pool, specials)


@dataclass(frozen=True)
class WordStates(Extraction):
    """Word vectors, computed during iteration: `(indices, [array[layer, word, unit], …])` for each batch.

    `present[i]` says which words of sentence `i` have a vector. A word without sub-words, or beyond the maximum input
    length, is a row of zeros. Sentences without tokens are in no batch.
    """

    present: Sequence[npt.NDArray[np.bool_]]
    subword: str

    def __iter__(self) -> Iterator[tuple[IntArray, list[FloatArray]]]:
        for indices, states in run_batches(self, self._weights):
            yield indices, [states[:, row, : len(self.present[i])] for row, i in enumerate(indices)]

    def collect(self) -> list[FloatArray]:
        """All vectors in memory: `array[layer, word, unit]` for each sentence, in order."""
        units = self.model.hidden_size
        states = [np.zeros((len(self.layers), len(words), units), dtype=np.float32) for words in self.present]
        for indices, batch in self:
            for i, vectors in zip(indices, batch, strict=True):
                states[i] = vectors.copy()  # a view would keep the whole batch in memory
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
    """One vector per layer and word: the mean, the first or the last of its sub-words; see `sentence_states`."""
    check_name(subword, SUBWORDS, "sub-word pooling")
    encoded = encode_words(model, sentences)
    present = [np.isin(np.arange(len(words)), text.word) for words, text in zip(sentences, encoded, strict=True)]
    return WordStates(model, encoded, check_layers(model, layers), _budget(model, budget), progress, present, subword)


def _copies(texts: Sequence[Encoded]) -> dict[tuple[bytes, bytes], list[int]]:
    """The positions of each distinct input: copies get the same vector, to the last digit, from one computation."""
    positions: dict[tuple[bytes, bytes], list[int]] = {}
    for number, text in enumerate(texts):
        positions.setdefault((text.ids.tobytes(), text.word.tobytes()), []).append(number)
    return positions


def sentence_weights(texts: Sequence[Encoded], pool: str, specials: bool) -> FloatArray:
    """`weights[text, 0, token]`: the weight of each token in the vector of a sentence."""
    included = pad([text.word for text in texts], SPECIAL_TOKEN) != SPECIAL_TOKEN
    if specials:
        included = np.arange(included.shape[1]) < np.array([len(text) for text in texts])[:, None]
    if pool == "cls":
        weights = np.zeros(included.shape)
        weights[:, 0] = 1
    elif pool == "last":
        last = included.shape[1] - 1 - included[:, ::-1].argmax(axis=1)
        weights = np.arange(included.shape[1]) == last[:, None]
    else:
        weights = included / included.sum(axis=1, keepdims=True)
    return weights.astype(np.float32)[:, None]


def word_weights(texts: Sequence[Encoded], words: Sequence[int], subword: str) -> FloatArray:
    """`weights[text, word, token]`: the weight of each token in the vector of a word."""
    weights = np.zeros((len(texts), max(words), max(map(len, texts))), dtype=np.float32)
    for matrix, text in zip(weights, texts, strict=True):
        tokens = np.flatnonzero(text.word != SPECIAL_TOKEN)
        numbers, first, counts = np.unique(text.word[tokens], return_index=True, return_counts=True)
        if subword == "mean":
            matrix[text.word[tokens], tokens] = np.repeat(1 / counts, counts)
        else:
            chosen = first if subword == "first" else first + counts - 1
            matrix[numbers, tokens[chosen]] = 1
    return weights


def _budget(model: LoadedModel, budget: int | None) -> int:
    if budget is None:  # offloaded weights are transferred once per batch, so batches are large
        return CPU_BATCH_TOKENS if model.device.type == "cpu" and not is_offloaded(model.body) else DEVICE_BATCH_TOKENS
    if budget < 1:
        raise UsageError(f"budget: expected at least 1 token per batch, got {budget}")
    return budget
