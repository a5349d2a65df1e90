"""The baseline without pretraining: a highway BiLSTM over words and their characters, and its networks.

After Dozat & Manning (2017), Dozat, Qi & Manning (2017) and Qi et al. (2018): a word is represented by a learned
vector, the output of a BiLSTM over its characters and optionally a frozen pretrained vector. Dropout masks are
shared by all words of a sentence (Gal & Ghahramani, 2016); in training some known words are replaced by
the unknown word.
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
CRF_EMBEDDING_STD = 0.1


@dataclass(frozen=True)
class Sentences:
    """Inputs of the encoder: `characters[sentence, place]`; the other tensors are `[sentence, word]`.

    `places` is the index of the first character of a word among all characters; `lengths` is their number.
    """

    characters: Tensor
    places: Tensor
    lengths: Tensor
    words: Tensor
    vectors: Tensor
    word_mask: Tensor  # False for padding


class BilstmEncoder(nn.Module):
    """`[sentence, word, 2 * config.units]`; `words` and `characters` are vocabulary sizes."""

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
        """`vectors[sentence, word, unit]` are the pretrained vectors."""
        word_mask, share = sentences.word_mask, self.config.dropout
        parts = [self.words(self._forget(sentences.words.where(word_mask, UNKNOWN_WORD)))]
        parts.append(self.characters(sentences))
        if self.vectors:
            parts.append(self.vectors(vectors))
        states, lengths = torch.cat(parts, -1), word_mask.sum(1).cpu()
        for layer in self.layers:
            states = layer(variational_dropout(states, share, self.training), lengths)
        return variational_dropout(states, share, self.training)

    def _forget(self, words: Tensor) -> Tensor:
        """In training, replace some words by the unknown word, so that the characters must be used."""
        if not self.training:
            return words
        keep = torch.rand(words.shape, device=words.device) >= self.config.forget
        return words.where(keep, UNKNOWN_WORD)


class CharacterBilstm(nn.Module):
    """A word vector: the last states of a BiLSTM over the characters."""

    def __init__(self, characters: int, units: int):
        super().__init__()
        self.embedding = nn.Embedding(characters, units)
        self.lstm = nn.LSTM(units, units, batch_first=True, bidirectional=True)

    def forward(self, sentences: Sentences) -> Tensor:
        word_mask, lengths = sentences.word_mask, sentences.lengths[sentences.word_mask].cpu()
        steps = torch.arange(int(lengths.max()), device=word_mask.device)
        flat = sentences.characters.flatten()
        spelled = flat[
            (sentences.places[word_mask][:, None] + steps).clamp(max=len(flat) - 1)
        ]  # positions after a word are not read
        packed = pack_padded_sequence(self.embedding(spelled), lengths, batch_first=True, enforce_sorted=False)
        _, (ends, _) = self.lstm(packed)
        states = torch.cat([ends[0], ends[1]], -1)
        return states.new_zeros(*word_mask.shape, states.shape[-1]).masked_scatter(word_mask[..., None], states)


class HighwayBilstm(nn.Module):
    """A layer with a highway connection: LSTM(x) + σ(Gx) · tanh(Hx)."""

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
    """`[sentence, word, tag]`: scores of the tags of each word; with `chain`, inputs of its `crf`."""

    def __init__(self, body: WordVectors, words: int, characters: int, tags: int, chain: bool = False):
        super().__init__()
        config = body.config
        self.body, self.encoder = body, BilstmEncoder(config, body, words, characters)
        hidden = nn.Linear(2 * config.units, config.units)
        self.scorer = nn.Sequential(hidden, nn.ReLU(), nn.Dropout(config.dropout), nn.Linear(config.units, tags))
        self.crf = LinearChainCrf(tags) if chain else None
        if chain:  # names are mostly new words: small initial vectors delay memorisation
            for embedding in (self.encoder.words, self.encoder.characters.embedding):
                nn.init.normal_(embedding.weight, std=CRF_EMBEDDING_STD)

    def forward(self, sentences: Sentences) -> Tensor:
        scores: Tensor = self.scorer(self.encoder(sentences, self.body(sentences.vectors)))
        return scores


class BilstmParser(BiaffineScorer):
    """The biaffine parser over the BiLSTM, optionally with a tagger as auxiliary task."""

    def __init__(self, body: WordVectors, words: int, characters: int, relations: int, tags: int = 0):
        config = body.config
        super().__init__(2 * config.units, relations, config.dropout)
        self.body, self.encoder = body, BilstmEncoder(config, body, words, characters)
        self.tagger = nn.Linear(2 * config.units, tags) if tags else None

    def forward(self, sentences: Sentences) -> tuple[ParserScores, Tensor | None]:
        """Scores of trees and, with a tagger, of the tags of each word."""
        states = self.encoder(sentences, self.body(sentences.vectors))
        return self.scores(states, sentences.word_mask), self.tagger(states) if self.tagger else None


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
