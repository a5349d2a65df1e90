"""The baseline without pretraining: a highway BiLSTM over words and their characters, and its three networks.

After Dozat & Manning (2017), Dozat, Qi & Manning (2017) and Qi et al. (2018): a word is a learned vector, what a
BiLSTM makes of its characters and, where given, a pretrained vector that stays as it is. Dropout masks are drawn
once per sentence and kept over its words (Gal & Ghahramani, 2016); some known words are read as unknown ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from isogloss.models.bilstm.baseline import BilstmConfig, WordVectors
from isogloss.models.heads.biaffine import BiaffineScorer, ParserScores
from isogloss.models.heads.crf import LinearChainCrf

UNKNOWN_WORD = 0
CHAIN_SPREAD = 0.1


@dataclass(frozen=True)
class Sentences:
    """What the encoder reads: `characters[sentence, place]`, and for each `[sentence, word]` the rest.

    `places` counts over all characters of all sentences; a word's own characters are the `lengths` from there.
    """

    characters: Tensor
    places: Tensor
    lengths: Tensor
    words: Tensor
    vectors: Tensor
    known: Tensor  # False for padding


class BilstmEncoder(nn.Module):
    """`[sentence, word, unit]` of `2 * config.units` units; `words` and `characters` are sizes of vocabularies."""

    def __init__(self, config: BilstmConfig, body: WordVectors, words: int, characters: int):
        super().__init__()
        self.config = config
        self.words = nn.Embedding(words, config.word_units)
        self.characters = CharacterBilstm(characters, config.character_units)
        self.vectors = nn.Linear(config.vector_units, config.word_units, bias=False) if body.words else None
        sizes = [config.word_units, 2 * config.character_units, *([config.word_units] if self.vectors else [])]
        inputs = [sum(sizes), *[2 * config.units] * (config.layers - 1)]
        self.layers = nn.ModuleList(HighwayBilstm(size, config.units) for size in inputs)

    def forward(self, sentences: Sentences, vectors: Tensor) -> Tensor:
        """`vectors[sentence, word, unit]`: the pretrained ones."""
        known, share = sentences.known, self.config.dropout
        parts = [self.words(self._forget(sentences.words.where(known, UNKNOWN_WORD)))]
        parts.append(self.characters(sentences))
        if self.vectors:
            parts.append(self.vectors(vectors))
        states, lengths = torch.cat(parts, -1), known.sum(1).cpu()
        for layer in self.layers:
            states = layer(variational_dropout(states, share, self.training), lengths)
        return variational_dropout(states, share, self.training)

    def _forget(self, words: Tensor) -> Tensor:
        """In training, some words as unknown ones: what they look like is then all there is to go by."""
        if not self.training:
            return words
        keep = torch.rand(words.shape, device=words.device) >= self.config.forget
        return words.where(keep, UNKNOWN_WORD)


class CharacterBilstm(nn.Module):
    """A word as the last states of a BiLSTM over its characters, in both directions."""

    def __init__(self, characters: int, units: int):
        super().__init__()
        self.embedding = nn.Embedding(characters, units)
        self.lstm = nn.LSTM(units, units, batch_first=True, bidirectional=True)

    def forward(self, sentences: Sentences) -> Tensor:
        known, lengths = sentences.known, sentences.lengths[sentences.known].cpu()
        steps = torch.arange(int(lengths.max()), device=known.device)
        flat = sentences.characters.flatten()
        spelled = flat[(sentences.places[known][:, None] + steps).clamp(max=len(flat) - 1)]  # beyond a word: unread
        packed = pack_padded_sequence(self.embedding(spelled), lengths, batch_first=True, enforce_sorted=False)
        _, (ends, _) = self.lstm(packed)
        states = torch.cat([ends[0], ends[1]], -1)
        return states.new_zeros(*known.shape, states.shape[-1]).masked_scatter(known[..., None], states)


class HighwayBilstm(nn.Module):
    """One layer with a gated way around it: LSTM(x) + σ(Gx) · tanh(Hx)."""

    def __init__(self, inputs: int, units: int):
        super().__init__()
        self.lstm = nn.LSTM(inputs, units, batch_first=True, bidirectional=True)
        self.gate, self.around = nn.Linear(inputs, 2 * units), nn.Linear(inputs, 2 * units, bias=False)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
        through, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=states.shape[1])
        around: Tensor = self.gate(states).sigmoid() * self.around(states).tanh()
        return through + around


class BilstmTagger(nn.Module):
    """`[sentence, word, tag]`: scores of each word's tags; with `chain`, to be read by its `crf`."""

    def __init__(self, body: WordVectors, words: int, characters: int, tags: int, chain: bool = False):
        super().__init__()
        config = body.config
        self.body, self.encoder = body, BilstmEncoder(config, body, words, characters)
        hidden = nn.Linear(2 * config.units, config.units)
        self.scorer = nn.Sequential(hidden, nn.ReLU(), nn.Dropout(config.dropout), nn.Linear(config.units, tags))
        self.crf = LinearChainCrf(tags) if chain else None
        if chain:  # names are mostly new words: small vectors at first are not learnt by heart so soon
            for embedding in (self.encoder.words, self.encoder.characters.embedding):
                nn.init.normal_(embedding.weight, std=CHAIN_SPREAD)

    def forward(self, sentences: Sentences) -> Tensor:
        scores: Tensor = self.scorer(self.encoder(sentences, self.body(sentences.vectors)))
        return scores


class BilstmParser(BiaffineScorer):
    """The parser of `models.biaffine` over the BiLSTM's states; these learn to tell the words' tags too, if given."""

    def __init__(self, body: WordVectors, words: int, characters: int, relations: int, tags: int = 0):
        config = body.config
        super().__init__(2 * config.units, relations, config.dropout)
        self.body, self.encoder = body, BilstmEncoder(config, body, words, characters)
        self.tagger = nn.Linear(2 * config.units, tags) if tags else None

    def forward(self, sentences: Sentences) -> tuple[ParserScores, Tensor | None]:
        """Scores of trees and, where there are tags to learn, of each word's tags."""
        states = self.encoder(sentences, self.body(sentences.vectors))
        return self.scores(states, sentences.known), self.tagger(states) if self.tagger else None


def variational_dropout(states: Tensor, share: float, training: bool) -> Tensor:
    """`states[sentence, word, unit]` with the same units dropped at every word of a sentence.

    >>> kept = variational_dropout(torch.ones(1, 3, 8), 0.5, True)[0]
    >>> set(kept.unique().tolist()) <= {0.0, 2.0}, torch.equal(kept[0], kept[2])
    (True, True)
    """
    if not training or share == 0:
        return states
    mask = torch.empty_like(states[:, :1]).bernoulli_(1 - share) / (1 - share)
    return states * mask
