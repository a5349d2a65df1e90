"""Tagging with the BiLSTM baseline: a softmax over tags, or a CRF."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from isogloss.models.bilstm.baseline import WordVectors
from isogloss.models.bilstm.networks import BilstmTagger
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.bilstm import BilstmDefaults, encoder_inputs, vocabulary_sizes
from isogloss.tasks.examples import IGNORE_INDEX, Batch
from isogloss.tasks.losses import mean_cross_entropy
from isogloss.tasks.tagging import TAGS
from isogloss.tasks.task import BilstmParts, Item, Labels


def bilstm_tagger(
    defaults: BilstmDefaults, tags: Callable[[Item], Sequence[str] | None], *, crf: bool = False
) -> BilstmParts:
    """The parts of a tagging task; `tags` gives the gold tags of an item, None if it has none."""

    def gold_arrays(item: Item, labels: Labels) -> Mapping[str, Sequence[int]]:
        return {TAGS: tag_numbers(tags(item) or [""] * len(item.words), labels)}

    return BilstmParts(defaults, partial(_network, crf=crf), _crf_loss if crf else _loss, _predict, gold_arrays)


def tag_numbers(tags: Sequence[str], labels: Labels) -> list[int]:
    numbers = {tag: number for number, tag in enumerate(labels[TAGS])}
    return [numbers.get(tag, IGNORE_INDEX) for tag in tags]


def _network(model: LoadedModel, labels: Labels, *, crf: bool) -> BilstmTagger:
    return BilstmTagger(cast(WordVectors, model.body), *vocabulary_sizes(labels), len(labels[TAGS]), chain=crf)


def _loss(network: nn.Module, batch: Batch) -> Tensor:
    return mean_cross_entropy(network(encoder_inputs(batch)), batch.arrays[TAGS])


def _crf_loss(network: nn.Module, batch: Batch) -> Tensor:
    """The negative log-likelihood of the tags, per word that has one."""
    tags, crf = batch.arrays[TAGS], cast(BilstmTagger, network).crf
    assert crf is not None
    total = crf.log_likelihood(network(encoder_inputs(batch)), tags, batch.word_mask).sum()
    return -total / (tags != IGNORE_INDEX).sum().clamp(min=1)


@torch.no_grad()
def _predict(network: nn.Module, batch: Batch, labels: Labels) -> list[list[str]]:
    scores, crf = network(encoder_inputs(batch)), cast(BilstmTagger, network).crf
    best = scores.argmax(-1) if crf is None else crf.best(scores, batch.word_mask)
    lengths = batch.word_mask.sum(1).tolist()
    return [[labels[TAGS][tag] for tag in row[:length]] for row, length in zip(best.tolist(), lengths, strict=True)]
