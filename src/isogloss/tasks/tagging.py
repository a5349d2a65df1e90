"""Shared parts of tasks with one tag per word: encoding, loss, entropy and predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.models.heads.task_head import with_head
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.examples import IGNORE_INDEX, Batch, Example
from isogloss.tasks.losses import mean_cross_entropy, mean_entropy
from isogloss.tasks.task import Labels
from isogloss.tasks.windows import add_arrays, encode_sentences

TAGS = "tags"


def tag_labels(sentences: Iterable[Sequence[str] | None], where: str, what: str) -> Labels:
    """The tags that occur, sorted; `_` is not a tag."""
    tags = sorted({tag for sentence in sentences for tag in sentence or ()} - {"_"})
    if not tags:
        raise UsageError(f"{where}: no {what} to learn from; it can be predicted, but not trained on")
    return {TAGS: tuple(tags)}


def tag_network(model: LoadedModel, labels: Labels) -> nn.Module:
    return with_head(model, "token", labels[TAGS])


def encode_tagged(
    model: LoadedModel,
    sentences: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str] | None],
    labels: Labels,
    subword: str = "first",
) -> list[Example]:
    """Sentences as windows, with the array `tags`; words without a known tag do not enter the loss."""
    numbers = {tag: number for number, tag in enumerate(labels[TAGS])}
    return [
        add_arrays(example, {TAGS: [numbers.get(tag, IGNORE_INDEX) for tag in sentence_tags or [""] * len(words)]})
        for example, words, sentence_tags in zip(
            encode_sentences(model, sentences, subword), sentences, tags, strict=True
        )
    ]


def tag_loss(network: nn.Module, batch: Batch) -> Tensor:
    """Cross-entropy of the tags, the mean over words with a gold tag."""
    return mean_cross_entropy(batch.words(network(**batch.inputs).logits), batch.arrays[TAGS], batch.stack_size)


def tag_entropy(network: nn.Module, batch: Batch) -> Tensor:
    """The mean entropy of the tags of words."""
    return mean_entropy(batch.words(network(**batch.inputs).logits)[batch.word_mask])


@torch.no_grad()
def predict_tags(network: nn.Module, batch: Batch, labels: Labels) -> list[list[str]]:
    """The most probable tag of each word."""
    best = batch.words(network(**batch.inputs).logits).argmax(-1)
    tags, words = np.array(labels[TAGS], dtype=object)[best.cpu().numpy()], batch.word_mask.sum(1).tolist()
    return [row[:length].tolist() for row, length in zip(tags, words, strict=True)]
