"""`bilstm` where a pretrained model is expected: nothing is pretrained but, where given, a table of word vectors.

The table is a network of the model library and its words are a tokenizer's, so that identity, saving and loading
are those of any model. The configuration holds the sizes; the vocabulary is the training corpus's.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from tokenizers import Tokenizer, models
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

from isogloss.core.registry import check_name
from isogloss.models.bilstm.word_vectors import read_word_vectors
from isogloss.models.families.family import Family
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.placement import resolve_device

BILSTM = "bilstm"  # the name that stands for a model's
MARKS = ("<pad>", "<unk>")  # of the tokenizer: rows of zeros
UNKNOWN_VECTOR = 1
FAMILY = Family(blocks="", final_norm=None, embeddings="table")
SIZES = ("word_units", "character_units", "units", "layers", "dropout", "forget")
NO_LIMIT = 1_000_000  # words: an LSTM reads sentences of any length


class BilstmConfig(PreTrainedConfig):  # type: ignore[no-untyped-call]
    """Sizes; layers and units are those of the parser of Qi et al. (2018). `vectors` counts the table's rows."""

    model_type = "isogloss_bilstm"

    def __init__(
        self,
        vectors: int = len(MARKS),
        vector_units: int = 1,
        word_units: int = 100,
        character_units: int = 100,
        units: int = 400,
        layers: int = 3,
        dropout: float = 0.33,
        forget: float = 0.2,  # share of words that training reads as unknown
        **others: Any,
    ):
        self.vectors, self.vector_units, self.word_units = vectors, vector_units, word_units
        self.character_units, self.units, self.layers = character_units, units, layers
        self.dropout, self.forget = dropout, forget
        super().__init__(**others)


class WordVectors(PreTrainedModel):  # type: ignore[no-untyped-call]
    """Pretrained vectors that are not trained any more; words without one have zeros."""

    config_class = BilstmConfig
    config: BilstmConfig

    def __init__(self, config: BilstmConfig):
        super().__init__(config)
        self.table = nn.Embedding(config.vectors, config.vector_units).requires_grad_(False)
        self.post_init()  # type: ignore[no-untyped-call]

    @property
    def words(self) -> int:
        """How many have a vector."""
        return self.config.vectors - len(MARKS)

    def get_input_embeddings(self) -> nn.Module:
        return self.table

    def forward(self, words: Tensor) -> Tensor:
        vectors: Tensor = self.table(words.clamp(min=0))
        return vectors

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Embedding):
            nn.init.zeros_(module.weight)


def bilstm(
    vectors: str | os.PathLike[str] | None = None, *, device: str | torch.device | None = None, **sizes: Any
) -> LoadedModel:
    """The baseline to hand to `transfer` instead of a model; `vectors`: a file with one word vector a line.

    >>> bilstm(units=8, device="cpu").hidden_size
    16
    """
    for name in sizes:
        check_name(name, SIZES, "size")
    words, table = read_word_vectors(vectors) if vectors is not None else ([], None)
    rows = [row for row, word in enumerate(words) if word not in MARKS]
    numbers = {word: number for number, word in enumerate([*MARKS, *(words[row] for row in rows)])}
    if table is not None:
        sizes |= {"vectors": len(numbers), "vector_units": table.shape[1]}
    body = WordVectors(BilstmConfig(**sizes))
    if table is not None:
        body.table.weight[len(MARKS) :] = torch.from_numpy(table[rows])
    backend = Tokenizer(models.WordLevel(numbers, unk_token=MARKS[1]))
    fast: Any = PreTrainedTokenizerFast
    tokenizer = fast(tokenizer_object=backend, pad_token=MARKS[0], unk_token=MARKS[1])
    nn.Module.to(body, resolve_device(device))
    return describe_bilstm(BILSTM, body, tokenizer)


def describe_bilstm(name: str, body: WordVectors, tokenizer: Any) -> LoadedModel:
    """A `LoadedModel` around a table at hand."""
    return LoadedModel(
        name=name,
        network=body.train(False),
        body=body,
        tokenizer=tokenizer,
        family=FAMILY,
        layers=body.config.layers,
        hidden_size=2 * body.config.units,
        max_length=NO_LIMIT,
        prefix=(),
        suffix=(),
    )
