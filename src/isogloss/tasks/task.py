"""What a task is: how a corpus becomes examples, a loss, predictions, scores, and a corpus again.

A task is data and plain functions, one module each; the training loop and the evaluation know nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from isogloss.corpora.corpus import AnyCorpus
from isogloss.metrics.counts import Counts
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.examples import Batch, Example

Labels = Mapping[str, Sequence[str]]  # e.g. {"tags": ("ADJ", "ADP", …)}: what the heads choose from


@dataclass(frozen=True)
class TaskDefaults:
    """The published way to fine-tune for a task: what a user gets without saying anything."""

    epochs: int
    batch: int  # corpus items per step
    learning_rate: float


@dataclass(frozen=True)
class Task:
    """One task.

    A prediction is a plain value: a list of tags, a list of (head, relation), a label, the (start, stop) of an
    answer. `predict` takes the network as it is: who calls it puts the network into evaluation mode.
    `metrics` maps each metric's name to the counts of one item and the property of their total that is the
    score; the first metric is the one that selects the best epoch.
    """

    name: str
    summary: str  # one line, for `isogloss ls`
    corpus: str  # the kind of corpus it reads (`Format.kind`)
    metrics: Mapping[str, Metric]
    defaults: TaskDefaults
    labels: Callable[[AnyCorpus], Labels]
    network: Callable[[LoadedModel, Labels], nn.Module]
    encode: Callable[[LoadedModel, AnyCorpus, Labels], list[Example]]
    loss: Callable[[nn.Module, Batch], Tensor]
    predict: Callable[[nn.Module, Batch, Labels], list[Any]]  # one prediction per example
    gold: Callable[[Any], Any]  # a corpus item's own prediction
    annotate: Callable[[Any, Any], Any]  # an item with its prediction in place of the gold

    @property
    def main_metric(self) -> str:
        return next(iter(self.metrics))


@dataclass(frozen=True)
class Metric:
    """Counts of one item from gold and prediction, and the property of the total that is the score."""

    count: Callable[[Any, Any], Counts]
    score: str

    def of(self, counts: Counts) -> float:
        return float(getattr(counts, self.score))
