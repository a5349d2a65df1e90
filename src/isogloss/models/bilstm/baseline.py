"""The BiLSTM baseline as a `LoadedModel`: nothing is pretrained except an optional table of word vectors.

The table is a network of transformers and its words are those of a tokenizer, so that identity, saving and loading work
as for any model. The configuration has the sizes; the vocabulary comes from the training corpus.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from tokenizers import Tokenizer, models
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from isogloss.models.bilstm.word_vectors import read_word_vectors
from isogloss.models.families.family import Family
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.placement import resolve_device

BILSTM = "bilstm"  # accepted in place of a model name
SPECIAL_WORDS = ("<pad>", "<unk>")  # of the tokenizer; their vectors are zeros
UNKNOWN_VECTOR = 1
FAMILY = Family(blocks="", final_norm=None, embeddings="table")
MAX_SENTENCE_WORDS = 1_000_000  # an LSTM has no length limit


class BilstmConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """Sizes of the BiLSTM; the defaults are those of the parser of Qi et al. (2018). `vectors`: rows of the table."""

    model_type = "isogloss_bilstm"

    def __init__(
        self,
        vectors: int = len(SPECIAL_WORDS),
        vector_units: int = 1,
        word_units: int = 100,
        character_units: int = 100,
        units: int = 400,
        layers: int = 3,
        dropout: float = 0.33,
        forget: float = 0.2,  # share of words replaced by the unknown word in training
        **others: Any,
    ):
        self.vectors, self.vector_units, self.word_units = vectors, vector_units, word_units
        self.character_units, self.units, self.layers = character_units, units, layers
        self.dropout, self.forget = dropout, forget
        super().__init__(**others)


class WordVectors(PreTrainedModel):  # type: ignore[no-untyped-call]
    """Frozen pretrained word vectors; other words have zeros."""

    config_class = BilstmConfig
    config: BilstmConfig

    def __init__(self, config: BilstmConfig):
        super().__init__(config)
        self.table = nn.Embedding(config.vectors, config.vector_units).requires_grad_(False)
        self.post_init()  # type: ignore[no-untyped-call]

    @property
    def words(self) -> int:
        """The number of words with a vector."""
        return self.config.vectors - len(SPECIAL_WORDS)

    def get_input_embeddings(self) -> nn.Module:
        return self.table

    def forward(self, words: Tensor) -> Tensor:
        vectors: Tensor = self.table(words.clamp(min=0))
        return vectors

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Embedding):
            nn.init.zeros_(module.weight)


def bilstm(
    vectors: str | os.PathLike[str] | None = None,
    *,
    device: str | torch.device | None = None,
    word_units: int = 100,
    character_units: int = 100,
    units: int = 400,
    layers: int = 3,
    dropout: float = 0.33,
    forget: float = 0.2,
) -> LoadedModel:
    """The BiLSTM baseline, which `transfer` accepts in place of a pretrained model.

    Args:
        vectors: A file with one pretrained word vector per line.
        device: The device; a GPU if there is one by default.
        word_units: The size of learned word vectors.
        character_units: The size of the character LSTM in each direction.
        units: The size of the word LSTM in each direction.
        layers: The number of BiLSTM layers.
        dropout: The dropout between layers.
        forget: The share of words that training replaces by the unknown word.

    >>> bilstm(units=8, device="cpu").hidden_size
    16
    """
    words, table = read_word_vectors(vectors) if vectors is not None else ([], None)
    rows = [row for row, word in enumerate(words) if word not in SPECIAL_WORDS]
    numbers = {word: number for number, word in enumerate([*SPECIAL_WORDS, *(words[row] for row in rows)])}
    vector_units = 1 if table is None else table.shape[1]
    body = WordVectors(
        BilstmConfig(len(numbers), vector_units, word_units, character_units, units, layers, dropout, forget)
    )
    if table is not None:
        body.table.weight[len(SPECIAL_WORDS) :] = torch.from_numpy(table[rows])
    backend = Tokenizer(models.WordLevel(numbers, unk_token=SPECIAL_WORDS[1]))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token=SPECIAL_WORDS[0], unk_token=SPECIAL_WORDS[1]
    )
    nn.Module.to(body, resolve_device(device))
    return wrap_bilstm(BILSTM, body, tokenizer)


def wrap_bilstm(name: str, body: WordVectors, tokenizer: PreTrainedTokenizerBase) -> LoadedModel:
    """A `LoadedModel` for a table in memory."""
    return LoadedModel(
        name=name,
        network=body.train(False),
        body=body,
        tokenizer=tokenizer,
        family=FAMILY,
        layers=body.config.layers,
        hidden_size=2 * body.config.units,
        max_length=MAX_SENTENCE_WORDS,
        prefix=(),
        suffix=(),
    )
