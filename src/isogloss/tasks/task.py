"""`Task`: everything that depends on the task, in one declaration per task.

A task is data and plain functions in one module. Training, evaluation and the other packages only use these fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.corpora.corpus import AnyCorpus
from isogloss.metrics.counts import Counts
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.tasks.examples import Batch, Example

Item: TypeAlias = Any  # an item of the task's kind of corpus
Prediction: TypeAlias = Any  # of the task's type
Labels = Mapping[str, Sequence[str]]  # labels of the heads by name, e.g. {"tags": ("ADJ", "ADP", …)}
NetworkFactory = Callable[[LoadedModel, Labels], nn.Module]
Loss = Callable[[nn.Module, Batch], Tensor]
Predict = Callable[[nn.Module, Batch, Labels], Sequence[object]]  # one prediction per example


class Unlabelled(UsageError):
    """An item without gold annotation; `missing` is what it lacks.

    >>> str(Unlabelled("pair 'A dog.'", "label"))
    "pair 'A dog.': no label to learn from or to score against"
    """

    def __init__(self, item: str, missing: str):
        self.missing = missing
        super().__init__(f"{item}: no {missing} to learn from or to score against")


@dataclass(frozen=True)
class TaskDefaults:
    """The published hyper-parameters of a task."""

    epochs: int
    batch: int  # corpus items per step
    learning_rate: float


@dataclass(frozen=True)
class Task:
    """One task.

    A prediction is a plain value: a list of tags, a list of (head, relation), a label, the (start, stop) of an
    answer. The caller of `predict` sets the network to evaluation mode.
    `metrics` maps the name of each metric to the counts of one item and the property of their total that is the
    score; the first metric selects the best epoch.
    """

    name: str
    summary: str  # one line, for `isogloss ls`
    corpus: str  # the kind of corpus (a name of `KINDS`)
    metrics: Mapping[str, Metric]
    defaults: TaskDefaults
    labels: Callable[[AnyCorpus], Labels]
    network: NetworkFactory
    encode: Callable[[LoadedModel, AnyCorpus, Labels], list[Example]]
    loss: Loss
    predict: Predict
    entropy: Loss  # mean entropy of the predictions, for ensembles of adapters
    gold: Callable[..., Prediction]  # of an item: its gold annotation, as a prediction, or `Unlabelled`
    annotate: Callable[[Item, Prediction], Item]  # an item with a prediction in place of the gold annotation
    bilstm: BilstmParts | None = None  # how the BiLSTM baseline does the task, if it can
    scorers: tuple[str, ...] = ()  # scoring scripts, where data sets of the task have different ones
    scorer: str = ""  # the chosen script (see `with_scorer`); "" is that of each data set
    check_gold: Callable[..., None] = lambda corpus: None  # raises an error if a corpus cannot be scored against

    @property
    def main_metric(self) -> str:
        return next(iter(self.metrics))


@dataclass(frozen=True)
class BilstmParts:
    """The fields of a task that differ for the BiLSTM baseline.

    `gold_arrays`: the gold labels of an item as arrays. `auxiliary_labels`: labels of heads that are only trained.
    """

    defaults: TaskDefaults
    network: NetworkFactory
    loss: Loss
    predict: Predict
    gold_arrays: Callable[[Item, Labels], Mapping[str, Sequence[int]]]
    auxiliary_labels: Callable[[AnyCorpus], Labels] = lambda corpus: {}


@dataclass(frozen=True)
class Metric:
    """The counts of one item from gold and prediction, and the property of the total that is the score."""

    count: Callable[[Prediction, Prediction], Counts]  # of gold and prediction
    score: str

    def of(self, counts: Counts) -> float:
        return float(getattr(counts, self.score))
