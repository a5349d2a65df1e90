"""Word links from the hidden states of a model: nearest neighbours by cosine in a translation pair.

One forward pass serves all layers; similarities are computed in batches on the device of the model. With sub-word
units, two words are linked if any of their sub-words are (as in SimAlign); with pieces, the sub-words themselves are
linked; with word units, a word is one vector, by default the mean of its sub-words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.loaded_model import Layer, LoadedModel
from isogloss.models.states.hidden_states import WordStates, word_states
from isogloss.models.states.pooling import FloatArray, Progress, check_layers
from isogloss.models.tokenization.batching import IntArray, token_batches
from isogloss.models.tokenization.encoding import SPECIAL_TOKEN, Encoded
from isogloss.text.alignment.similarity_links import best_partners, cosines, iterative_maximum
from isogloss.text.alignment.symmetrise import SYMMETRISERS, Pair, symmetrise

PIECE_UNIT = "piece"
ALIGNMENT_UNITS = ("word", "subword", PIECE_UNIT)
ITERMAX = "itermax"
PAIRS_PER_CHUNK = 1024  # sentence pairs in memory at a time, divided by the number of layers
MAX_BATCH_UNITS = 8192  # of one side, padding included


def default_layer(model: LoadedModel) -> int:
    """Two thirds of the way up: layer 8 of 12, the best layer of mBERT and XLM-R in SimAlign."""
    return round(model.layers * 2 / 3)


def embedding_links(
    model: LoadedModel,
    pairs: Sequence[AlignedPair],
    *,
    layers: Sequence[Layer] | None = None,
    symmetrisation: str = "intersection",
    unit: str = "word",
    subword: str = "mean",
    centre: bool = False,
    progress: Progress | None = None,
) -> dict[Layer, list[list[Pair]]]:
    """The links of every pair for each layer.

    Args:
        model: The model.
        pairs: The sentence pairs.
        layers: The layers; `default_layer` by default.
        symmetrisation: "intersection" (mutual argmax), "itermax" (iterative maximum), "union" or
            "grow-diag-final-and".
        unit: "word", "subword" or "piece".
        subword: The vector of a word: "mean", "first" or "last" of its sub-words.
        centre: Subtract the mean of the sentence from every vector, which removes what all words of a language share.
        progress: Called with the pairs done and the total.
    """
    check_name(symmetrisation, [*SYMMETRISERS, ITERMAX], "symmetrisation")
    check_name(unit, ALIGNMENT_UNITS, "unit")
    chosen = check_layers(model, [default_layer(model)] if layers is None else layers)
    if not chosen:
        raise UsageError("layers: expected at least one, got none")
    sentences = [pair.source for pair in pairs], [pair.target for pair in pairs]
    sides = [_side(model, side, chosen, unit, subword) for side in sentences]
    links: dict[Layer, list[list[Pair]]] = {layer: [] for layer in chosen}
    chunk = max(64, PAIRS_PER_CHUNK // len(chosen))
    for start in range(0, len(pairs), chunk):
        parts = [side.part(start, start + chunk) for side in sides]
        vectors = [part.states.collect() for part in parts]
        for place, layer in enumerate(chosen):
            of_layer = [[states[place] for states in side] for side in vectors]
            links[layer] += _chunk_links(parts, of_layer, model.device, symmetrisation, centre)
        if progress:
            progress(min(start + chunk, len(pairs)), len(pairs))
    return links


@dataclass(frozen=True)
class _Side:
    """The sentences of one language: the vectors of their units and the word of each unit."""

    states: WordStates
    owner: Sequence[IntArray]

    def part(self, start: int, stop: int) -> _Side:
        rows = slice(start, stop)
        states = replace(self.states, encoded=self.states.encoded[rows], present=self.states.present[rows])
        return _Side(states, self.owner[rows])


def _side(
    model: LoadedModel, sentences: Sequence[Sequence[str]], layers: Sequence[Layer], unit: str, subword: str
) -> _Side:
    states = word_states(model, sentences, subword=subword, layers=layers)
    if unit == "word":
        return _Side(states, [np.arange(len(words)) for words in sentences])
    pieces = [text.word != SPECIAL_TOKEN for text in states.encoded]
    numbered = [np.where(is_text, is_text.cumsum() - 1, SPECIAL_TOKEN).astype(np.int32) for is_text in pieces]
    encoded = [Encoded(text.ids, number) for text, number in zip(states.encoded, numbered, strict=True)]
    owner = [text.word[is_text].astype(np.int64) for text, is_text in zip(states.encoded, pieces, strict=True)]
    if unit == PIECE_UNIT:
        owner = [np.arange(len(words)) for words in owner]
    return _Side(replace(states, encoded=encoded, present=[np.ones(len(words), bool) for words in owner]), owner)


def _chunk_links(
    sides: Sequence[_Side], vectors: Sequence[Sequence[FloatArray]], device: torch.device, method: str, centre: bool
) -> list[list[Pair]]:
    """The links of a chunk of pairs, from the vectors of one layer."""
    links_by_pair: list[list[Pair]] = [[]] * len(vectors[0])
    for batch in token_batches([max(map(len, pair)) for pair in zip(*vectors, strict=True)], MAX_BATCH_UNITS):
        present = [_padded([side.states.present[i][:, None] for i in batch], device)[:, :, 0] for side in sides]
        padded = [_padded([side[i] for i in batch], device) for side in vectors]
        if centre:
            padded = [_centred(side, mask) for side, mask in zip(padded, present, strict=True)]
        table = present[0][:, :, None] & present[1][:, None, :]
        for i, links in zip(batch, _search(cosines(*padded), table, method), strict=True):
            owners = [side.owner[i] for side in sides]
            links_by_pair[i] = sorted({(int(owners[0][s]), int(owners[1][t])) for s, t in links})
    return links_by_pair


def _search(similarity: Tensor, present: Tensor, method: str) -> Iterator[list[Pair]]:
    """The links of every pair of a batch."""
    if method == ITERMAX:
        yield from _by_pair(iterative_maximum(similarity, present))
    else:
        forward, reverse = map(_by_pair, best_partners(similarity, present))
        yield from (symmetrise(*links, method) for links in zip(forward, reverse, strict=True))


def _by_pair(links: Tensor) -> list[list[Pair]]:
    """The indices of the true entries of each table."""
    places = links.nonzero().cpu().numpy()
    ends = np.searchsorted(places[:, 0], np.arange(1, len(links)))
    return [[(s, t) for s, t in part] for part in np.split(places[:, 1:], ends)]


def _padded(rows: Sequence[np.ndarray], device: torch.device) -> Tensor:
    """`[row, position, unit]`, with at least one position."""
    padded = np.zeros((len(rows), max(1, *map(len, rows)), rows[0].shape[1]), rows[0].dtype)
    for place, values in zip(padded, rows, strict=True):
        place[: len(values)] = values
    return torch.from_numpy(padded).to(device)


def _centred(vectors: Tensor, present: Tensor) -> Tensor:
    mask = present[:, :, None]
    return (vectors - (vectors * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)) * mask
