"""Natural language inference: the relation of a hypothesis to a premise; accuracy. Their languages may differ.

Labels are numbered as in MNLI and XNLI: entailment, neutral, contradiction. Pairs longer than the model are
truncated, the longer text first; one warning gives their number.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError, shown
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.nli import LABELS, NliPair
from isogloss.metrics.tagging import label_counts
from isogloss.models.heads.task_head import with_head
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import check_ids
from isogloss.tasks.examples import IGNORE_INDEX, Batch, Example
from isogloss.tasks.losses import mean_cross_entropy, mean_entropy
from isogloss.tasks.task import Labels, Metric, Task, TaskDefaults, Unlabelled
from isogloss.tasks.texts import longest_first, pair_frame, token_ids

LABEL = "label"


def labels(corpus: Corpus[NliPair]) -> Labels:
    if all(pair.label is None for pair in corpus):
        where = corpus.origin or corpus.lang
        raise UsageError(f"{where}: no labels to learn from; it can be predicted, but not trained on")
    return {LABEL: LABELS}


def network(model: LoadedModel, labels: Labels) -> nn.Module:
    return with_head(model, "sequence", labels[LABEL])


def encode(model: LoadedModel, corpus: Corpus[NliPair], labels: Labels) -> list[Example]:
    """Each pair as one window, with the array `label`; pairs without a label do not enter the loss."""
    frame = pair_frame(model)
    max_tokens = model.max_length - frame.size
    premises = token_ids(model, [pair.premise for pair in corpus])
    hypotheses = token_ids(model, [pair.hypothesis for pair in corpus])
    examples, cut = [], 0
    for pair, a, b in zip(corpus, premises, hypotheses, strict=True):
        keep_a, keep_b = longest_first(len(a), len(b), max_tokens)
        cut += len(a) + len(b) > max_tokens
        a, b = a[:keep_a], b[:keep_b]
        number = IGNORE_INDEX if pair.label is None else labels[LABEL].index(pair.label)
        examples.append(Example((frame.join(a, b),), frame.segments(a, b), {LABEL: np.array([number])}))
    check_ids(model, [example.windows[0] for example in examples])
    if cut:
        limit = f"{model.max_length} tokens, the longest input of '{model.name}'"
        warnings.warn(f"{cut} of {len(corpus)} pairs truncated to {limit}", stacklevel=2)
    return examples


def loss(network: nn.Module, batch: Batch) -> Tensor:
    """Cross-entropy of the labels, the mean over pairs with a gold label."""
    return mean_cross_entropy(network(**batch.inputs).logits, batch.arrays[LABEL], batch.stack_size)


@torch.no_grad()
def predict(network: nn.Module, batch: Batch, labels: Labels) -> list[str]:
    return [labels[LABEL][number] for number in network(**batch.inputs).logits.argmax(-1).tolist()]


def entropy(network: nn.Module, batch: Batch) -> Tensor:
    """The mean entropy of the labels."""
    return mean_entropy(network(**batch.inputs).logits)


def gold(pair: NliPair) -> str:
    """
    >>> gold(NliPair("A dog barks.", "An animal barks.", "entailment"))
    'entailment'
    """
    if pair.label is None:
        raise Unlabelled(f"pair {shown(pair.hypothesis)}", "label")
    return pair.label


TASK = Task(
    name="nli",
    summary="natural language inference: accuracy",
    corpus="nli",
    metrics={"accuracy": Metric(label_counts, "accuracy")},
    defaults=TaskDefaults(epochs=2, batch=32, learning_rate=5e-5),
    labels=labels,
    network=network,
    encode=encode,
    loss=loss,
    predict=predict,
    entropy=entropy,
    gold=gold,
    annotate=lambda pair, label: replace(pair, label=label),
)
