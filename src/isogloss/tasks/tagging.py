"""What tasks with one tag per word share: encoding, the loss and the most probable tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from isogloss.core.errors import UsageError
from isogloss.models.heads.task_head import with_head
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.examples import IGNORE_INDEX, Batch, Example
from isogloss.tasks.task import Labels
from isogloss.tasks.windows import encode_sentences

TAGS = "tags"


def tag_labels(sentences: Iterable[Sequence[str] | None], where: str, what: str) -> Labels:
    """The tags that occur, sorted; `_` is no tag."""
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
    """Sentences as windows, with the array `tags`; a word without a known tag takes no part in the loss."""
    numbers = {tag: number for number, tag in enumerate(labels[TAGS])}
    return [
        add_array(example, TAGS, [numbers.get(tag, IGNORE_INDEX) for tag in sentence_tags or [""] * len(words)])
        for example, words, sentence_tags in zip(
            encode_sentences(model, sentences, subword), sentences, tags, strict=True
        )
    ]


def add_array(example: Example, name: str, values: Sequence[int]) -> Example:
    return replace(example, arrays={**example.arrays, name: np.array(values, dtype=np.int64)})


def tag_loss(network: nn.Module, batch: Batch) -> Tensor:
    """Cross-entropy of the tags, the mean over the words that have one."""
    return mean_cross_entropy(batch.words(network(**batch.inputs).logits), batch.arrays[TAGS], batch.stack_size)


def mean_cross_entropy(scores: Tensor, target: Tensor, stack_size: int = 1) -> Tensor:
    """Cross-entropy over the last axis, the mean over targets other than IGNORE; 0 where there is none.

    Of several batches one below the other, the mean of each.
    """
    scores, target = scores.flatten(0, -2).float(), target.flatten()
    if stack_size == 1:
        total = functional.cross_entropy(scores, target, reduction="sum")
        return total / (target != IGNORE_INDEX).sum().clamp(min=1)
    losses = functional.cross_entropy(scores, target, reduction="none").view(stack_size, -1)
    return losses.sum(1) / (target != IGNORE_INDEX).view(stack_size, -1).sum(1).clamp(min=1)


@torch.no_grad()
def predict_tags(network: nn.Module, batch: Batch, labels: Labels) -> list[list[str]]:
    """The most probable tag of each word, by itself."""
    best = batch.words(network(**batch.inputs).logits).argmax(-1)
    tags, words = np.array(labels[TAGS], dtype=object)[best.cpu().numpy()], batch.word_mask.sum(1).tolist()
    return [row[:length].tolist() for row, length in zip(tags, words, strict=True)]
