"""Predictions and scores of many corpora in one pass: all their items are read side by side, by length.

Evaluation computes in fp32, so that how the items are grouped does not show in the result. On a GPU, for the sake of
speed, products are TF32's: ten bits of mantissa, where training has the seven of bf16.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import AnyCorpus
from isogloss.metrics.counts import Counts, score_each, total
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.batching import IntArray, token_batches
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks.examples import Example, collate
from isogloss.tasks.task import Labels, Task

CPU_TOKENS, DEVICE_TOKENS = 2048, 16384  # per batch, unless told
K = TypeVar("K", bound=Hashable)  # what a corpus is called
PredictionProgress = Callable[[int, int], None]  # items predicted, items in all


@dataclass(frozen=True)
class Evaluation:
    """What a network made of one corpus: a prediction for each item, and its counts by metric."""

    predictions: Sequence[Any]
    gold: Sequence[Any]
    counts: Mapping[str, Sequence[Counts]]
    scores: Mapping[str, float]
    texts: Sequence[Any] = ()  # what was read, for people: words, or texts by name


def evaluate(
    network: nn.Module,
    task: Task,
    model: LoadedModel,
    corpora: Mapping[K, AnyCorpus],
    labels: Labels,
    *,
    tokens: int | None = None,
    progress: PredictionProgress | None = None,
) -> dict[K, Evaluation]:
    """Score every corpus, all in one pass. `tokens` per batch changes speed and memory, not the result."""
    for name, corpus in corpora.items():
        if not len(corpus):
            raise UsageError(f"nothing to score: the corpus '{name}' is empty")
    gold = {name: [task.gold(item) for item in corpus] for name, corpus in corpora.items()}  # before any work
    examples = [example for corpus in corpora.values() for example in task.encode(model, corpus, labels)]
    predictions = iter(predict(network, task, model, examples, labels, tokens=tokens, progress=progress))
    return {
        name: replace(
            score_predictions(task, gold[name], [next(predictions) for _ in corpus]),
            texts=[corpus.kind.display(item) for item in corpus],
        )
        for name, corpus in corpora.items()
    }


def score_predictions(task: Task, gold: Sequence[Any], predictions: Sequence[Any]) -> Evaluation:
    """Predictions counted against the gold, item by item."""
    counts = {name: score_each(metric.count, gold, predictions) for name, metric in task.metrics.items()}
    scores = {name: metric.of(total(counts[name])) for name, metric in task.metrics.items()}
    return Evaluation(predictions, gold, counts, scores)


def predict(
    network: nn.Module,
    task: Task,
    model: LoadedModel,
    examples: Sequence[Example],
    labels: Labels,
    *,
    tokens: int | None = None,
    progress: PredictionProgress | None = None,
) -> list[Any]:
    """A prediction for each example, in their order; the network is left in the mode it was in."""
    device, training = next(network.parameters()).device, network.training
    budget = tokens or (CPU_TOKENS if device.type == "cpu" else DEVICE_TOKENS)
    predictions: list[Any] = [None] * len(examples)
    done = 0

    def predict_batch(indices: IntArray) -> list[Any]:
        """Half by half where a GPU, which others may use too, has no room for all of them."""
        try:
            batch = collate([examples[i] for i in indices], padding_id(model)).to(device)
            return task.predict(network, batch, labels)
        except torch.OutOfMemoryError:
            if len(indices) == 1:
                raise
        torch.cuda.empty_cache()
        return [prediction for half in np.array_split(indices, 2) for prediction in predict_batch(half)]

    network.eval()
    with torch.inference_mode(), torch.autocast(device.type, enabled=False), allow_tf32(device):
        for indices in token_batches(np.array([example.tokens for example in examples]), budget):
            for i, prediction in zip(indices.tolist(), predict_batch(indices), strict=True):
                predictions[i] = prediction
            done += len(indices)
            if progress:
                progress(done, len(examples))
    network.train(training)
    return predictions


@contextlib.contextmanager
def allow_tf32(device: torch.device) -> Iterator[None]:
    """Products of fp32 numbers in TF32 meanwhile, on a GPU."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if device.type == "cuda" else before)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def predict_corpus(network: nn.Module, task: Task, model: LoadedModel, corpus: AnyCorpus, labels: Labels) -> AnyCorpus:
    """The corpus with predictions in place of its annotation; none needs to be there."""
    return annotate_corpus(task, corpus, predict(network, task, model, task.encode(model, corpus, labels), labels))


def annotate_corpus(task: Task, corpus: AnyCorpus, predictions: Sequence[Any]) -> AnyCorpus:
    """The corpus with these predictions in place of its annotation."""
    return corpus.with_items(task.annotate(item, value) for item, value in zip(corpus, predictions, strict=True))
