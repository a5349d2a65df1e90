"""Predictions and scores of many corpora in one pass: batches contain items of all corpora, sorted by length.

Evaluation computes in fp32, so that the batches do not change the result. On a GPU, matrix products are in TF32 for
speed: ten bits of mantissa, against seven in bf16 training.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import torch
from torch import nn

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import AnyCorpus
from isogloss.corpora.kinds.kind import ItemTexts
from isogloss.metrics.counts import Counts, score_each, total
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.batching import IntArray, token_batches
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks.examples import Example, collate
from isogloss.tasks.task import Labels, Task

CPU_TOKENS, DEVICE_TOKENS = 2048, 16384  # per batch
K = TypeVar("K", bound=Hashable)  # name of a corpus
PredictionProgress = Callable[[int, int], None]  # items predicted, number of items


@dataclass(frozen=True)
class Evaluation:
    """The predictions of a network for the items of one corpus, with counts and scores by metric."""

    predictions: Sequence[object]
    gold: Sequence[object]
    counts: Mapping[str, Sequence[Counts]]
    scores: Mapping[str, float]
    texts: Sequence[ItemTexts] = ()  # words of each item, or texts by name

    @property
    def scorer(self) -> str:
        """The scoring script, for tasks that have several; "" for others."""
        return next((counts[0].scorer for counts in self.counts.values()), "")


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
    """Score all corpora in one pass. `tokens` per batch changes speed and memory, not the result."""
    for name, corpus in corpora.items():
        if not len(corpus):
            raise UsageError(f"nothing to score: the corpus '{name}' is empty")
        task.check_gold(corpus)
    gold = {name: [task.gold(item) for item in corpus] for name, corpus in corpora.items()}  # raises an error early
    examples = [example for corpus in corpora.values() for example in task.encode(model, corpus, labels)]
    predictions = iter(predict(network, task, model, examples, labels, tokens=tokens, progress=progress))
    return {
        name: replace(
            score_predictions(task, gold[name], [next(predictions) for _ in corpus]),
            texts=[corpus.kind.display(item) for item in corpus],
        )
        for name, corpus in corpora.items()
    }


def score_predictions(task: Task, gold: Sequence[object], predictions: Sequence[object]) -> Evaluation:
    """Compare predictions with the gold annotation, item by item."""
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
) -> list[object]:
    """A prediction for each example, in order. The mode of the network (training or evaluation) is restored."""
    device, training = next(network.parameters()).device, network.training
    budget = tokens or (CPU_TOKENS if device.type == "cpu" else DEVICE_TOKENS)
    predictions: list[object] = [None] * len(examples)
    done = 0

    def predict_batch(indices: IntArray) -> Sequence[object]:
        """Splits the batch in halves if it does not fit into the memory of the GPU."""
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
    """Compute fp32 matrix products in TF32 on a GPU."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if device.type == "cuda" else before)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def annotate_corpus(task: Task, corpus: AnyCorpus, predictions: Sequence[object]) -> AnyCorpus:
    """The corpus with predictions in place of its annotation."""
    return corpus.with_items(task.annotate(item, value) for item, value in zip(corpus, predictions, strict=True))
