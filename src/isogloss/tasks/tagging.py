"""Tasks with one tag per word, for pretrained models and for the BiLSTM baseline (a softmax over tags, or a CRF)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.bilstm.baseline import WordVectors
from isogloss.models.bilstm.networks import BilstmTagger
from isogloss.models.heads.task_head import with_head
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.bilstm import BilstmDefaults, encoder_inputs, vocabulary_sizes
from isogloss.tasks.examples import IGNORE_INDEX, Batch, Example
from isogloss.tasks.losses import mean_cross_entropy, mean_entropy
from isogloss.tasks.task import BilstmParts, Item, Labels, Metric, Prediction, Task, TaskDefaults
from isogloss.tasks.windows import add_arrays, encode_sentences

TAGS = "tags"


def tagging_task(
    name: str,
    summary: str,
    corpus: str,
    metrics: Mapping[str, Metric],
    defaults: TaskDefaults,
    *,
    tags: Callable[[Item], Sequence[str] | None],
    tag_name: str,
    gold: Callable[[Item], Prediction],
    annotate: Callable[[Item, Prediction], Item],
    bilstm: BilstmDefaults,
    crf: bool = False,
) -> Task:
    """A task of tags, called `tag_name` in messages; `tags` are those of an item, None if it has none."""

    def labels(corpus: AnyCorpus) -> Labels:
        """The tags that occur, sorted; `_` is not a tag."""
        known_tags = sorted({tag for item in corpus for tag in tags(item) or ()} - {"_"})
        if not known_tags:
            where = corpus.origin or corpus.lang
            raise UsageError(f"{where}: no {tag_name} to learn from; it can be predicted, but not trained on")
        return {TAGS: tuple(known_tags)}

    def gold_arrays(item: Item, labels: Labels) -> dict[str, list[int]]:
        return {TAGS: tag_numbers(tags(item) or [""] * len(item.words), labels)}

    def encode(model: LoadedModel, corpus: AnyCorpus, labels: Labels) -> list[Example]:
        """Sentences as windows, with the array `tags`; words without a known tag do not enter the loss."""
        examples = encode_sentences(model, [item.words for item in corpus])
        return [add_arrays(example, gold_arrays(item, labels)) for example, item in zip(examples, corpus, strict=True)]

    return Task(
        name=name,
        summary=summary,
        corpus=corpus,
        metrics=metrics,
        defaults=defaults,
        labels=labels,
        network=lambda model, labels: with_head(model, "token", labels[TAGS]),
        encode=encode,
        loss=_loss,
        predict=_predict,
        entropy=_entropy,
        gold=gold,
        annotate=annotate,
        bilstm=BilstmParts(
            bilstm, partial(_bilstm_network, crf=crf), _crf_loss if crf else _bilstm_loss, _predict_bilstm, gold_arrays
        ),
    )


def tag_numbers(tags: Sequence[str], labels: Labels) -> list[int]:
    numbers = {tag: number for number, tag in enumerate(labels[TAGS])}
    return [numbers.get(tag, IGNORE_INDEX) for tag in tags]


def _scores(network: nn.Module, batch: Batch) -> Tensor:
    return batch.words(network(**batch.inputs).logits)


def _loss(network: nn.Module, batch: Batch) -> Tensor:
    """Cross-entropy of the tags, the mean over words with a gold tag."""
    return mean_cross_entropy(_scores(network, batch), batch.arrays[TAGS], batch.stack_size)


def _entropy(network: nn.Module, batch: Batch) -> Tensor:
    return mean_entropy(_scores(network, batch)[batch.word_mask])


@torch.no_grad()
def _predict(network: nn.Module, batch: Batch, labels: Labels) -> list[list[str]]:
    return _tag_lists(_scores(network, batch).argmax(-1), batch, labels)


def _tag_lists(best: Tensor, batch: Batch, labels: Labels) -> list[list[str]]:
    tags, words = np.array(labels[TAGS], dtype=object)[best.cpu().numpy()], batch.word_mask.sum(1).tolist()
    return [row[:length].tolist() for row, length in zip(tags, words, strict=True)]


def _bilstm_network(model: LoadedModel, labels: Labels, *, crf: bool) -> BilstmTagger:
    return BilstmTagger(cast(WordVectors, model.body), *vocabulary_sizes(labels), len(labels[TAGS]), chain=crf)


def _bilstm_loss(network: nn.Module, batch: Batch) -> Tensor:
    return mean_cross_entropy(network(encoder_inputs(batch)), batch.arrays[TAGS])


def _crf_loss(network: nn.Module, batch: Batch) -> Tensor:
    """The negative log-likelihood of the tags, per word that has one."""
    tags, crf = batch.arrays[TAGS], cast(BilstmTagger, network).crf
    assert crf is not None
    total = crf.log_likelihood(network(encoder_inputs(batch)), tags, batch.word_mask).sum()
    return -total / (tags != IGNORE_INDEX).sum().clamp(min=1)


@torch.no_grad()
def _predict_bilstm(network: nn.Module, batch: Batch, labels: Labels) -> list[list[str]]:
    scores, crf = network(encoder_inputs(batch)), cast(BilstmTagger, network).crf
    return _tag_lists(scores.argmax(-1) if crf is None else crf.best(scores, batch.word_mask), batch, labels)
