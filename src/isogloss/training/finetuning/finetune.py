"""Fine-tuning: a pretrained model, a task and an annotated corpus become a network that does the task."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.core.seeds import derive_seed
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.models.heads.task_head import body_of
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.batching import IntArray
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks.examples import IGNORE_INDEX, Batch, Example, ExampleSizes, Shape, collate
from isogloss.tasks.task import Labels, Task
from isogloss.training.engine.batch_shapes import round_length_up
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.determinism import seeded
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.objective import Objective, ShapedLoss
from isogloss.training.engine.progress import EpochMetrics, ProgressCallback
from isogloss.training.engine.settings import NoisyTrainingSettings, TrainingSettings
from isogloss.training.finetuning.augmentation import training_examples
from isogloss.training.finetuning.evaluation import predict, score_predictions
from isogloss.training.stacking.stack import stackable, train_stacked

ExtraLoss = Callable[[nn.Module, int], Tensor]  # of the network, at a step


@dataclass(frozen=True, eq=False)
class FineTuned:
    """A network that does a task; `model` is what it was made from and brings the tokenizer."""

    task: Task
    model: LoadedModel
    labels: Labels
    network: nn.Module
    log: tuple[EpochMetrics, ...] = ()  # one of each epoch

    @property
    def encoder(self) -> LoadedModel:
        """The text stack inside the network, to be measured like any model."""
        body = body_of(self.network)
        return replace(self.model, network=body, body=body)


def finetune(
    model: LoadedModel,
    task: Task,
    train: AnyCorpus,
    dev: AnyCorpus,
    settings: TrainingSettings,
    *,
    seed: int = 0,
    extra_loss: ExtraLoss | None = None,
    checkpoints: Checkpoints | None = None,
    progress: ProgressCallback | None = None,
) -> FineTuned:
    """Train on one corpus, keep the epoch that is best on the other. The model handed in is not changed.

    The same seed gives the same weights, bit for bit on a CPU. `extra` is added to the task's loss in every step; one
    that has the attribute `shaped` (see `objective.py`) does not keep steps from being recorded on a GPU.
    """
    return _finetune([model], task, train, dev, settings, [seed], extra_loss, checkpoints, progress)[0]


def finetune_stacked(
    models: Sequence[LoadedModel],
    task: Task,
    train: AnyCorpus,
    dev: AnyCorpus,
    settings: TrainingSettings,
    *,
    seeds: Sequence[int],
    checkpoints: Checkpoints | None = None,
    progress: ProgressCallback | None = None,
) -> list[FineTuned]:
    """Several models fine-tuned as `finetune` does it, each with its seed, all in the same steps: faster on a GPU.

    See `can_go_together` for what this asks of them.
    """
    if not can_stack(models, task, train, settings, seeds):
        raise UsageError("only models of one shape, with one tokenizer and alike settings, can be fine-tuned together")
    return _finetune(models, task, train, dev, settings, seeds, None, checkpoints, progress)


def can_stack(
    models: Sequence[LoadedModel], task: Task, train: AnyCorpus, settings: TrainingSettings, seeds: Sequence[int]
) -> bool:
    """Whether models can take their steps together: the same tokens in, networks of one shape out, steps one by one.

    With several seeds, noise and batches that go by tokens would be others for each.
    """
    tokenizers: list[Any] = [model.tokenizer for model in models]
    if settings.accumulate > 1 or init_distributed().world_size > 1:
        return False
    if len(set(seeds)) > 1 and (settings.tokens or isinstance(settings, NoisyTrainingSettings)):
        return False
    if not all(tokenizer.is_fast for tokenizer in tokenizers) or len({model.max_length for model in models}) > 1:
        return False
    if len({tokenizer.backend_tokenizer.to_str() for tokenizer in tokenizers}) > 1:
        return False
    labels = task.labels(train)
    with seeded(0):
        return stackable([model.body for model in models]) and stackable([task.network(models[0], labels)])


def _finetune(
    models: Sequence[LoadedModel],
    task: Task,
    train: AnyCorpus,
    dev: AnyCorpus,
    settings: TrainingSettings,
    seeds: Sequence[int],
    extra_loss: ExtraLoss | None,
    checkpoints: Checkpoints | None,
    progress: ProgressCallback | None,
) -> list[FineTuned]:
    check_corpus(task, train, "train")
    check_corpus(task, dev, "dev")
    labels = task.labels(train)
    networks = init_networks(models, task, labels, seeds)
    training_objective = objective(models[0], task, train, dev, labels, extra_loss, settings, seeds[0])
    logs = train_stacked(
        networks, training_objective, settings, seeds=seeds, checkpoints=checkpoints, progress=progress
    )
    return [
        FineTuned(task, model, labels, network, tuple(log))
        for model, network, log in zip(models, networks, logs, strict=True)
    ]


def init_networks(models: Sequence[LoadedModel], task: Task, labels: Labels, seeds: Sequence[int]) -> list[nn.Module]:
    """A network of each model, its head drawn from the seed; several models are of one shape.

    Heads of one seed are the same and are drawn once: with them a whole network is, which takes a second at base size.
    """
    networks: list[nn.Module] = []
    networks_by_seed: dict[int, nn.Module] = {}
    for model, seed in zip(models, seeds, strict=True):
        if seed in networks_by_seed:
            network = copy.deepcopy(networks_by_seed[seed])
            body_of(network).load_state_dict({**model.body.state_dict(), **model.pooler}, strict=False)
        else:
            with seeded(derive_seed(seed, "head")):
                network = networks_by_seed[seed] = task.network(model, labels).to(model.device).float()
        networks.append(network)
    return networks


def objective(
    model: LoadedModel,
    task: Task,
    train: AnyCorpus,
    dev: AnyCorpus,
    labels: Labels,
    extra_loss: ExtraLoss | None,
    settings: TrainingSettings | None = None,
    seed: int = 0,
) -> Objective:
    """A task as the training loop sees it."""
    examples, versions = training_examples(model, task, train, labels, settings, seed)
    dev_examples = task.encode(model, dev, labels)
    gold, pad_token_id, sizes = [task.gold(item) for item in dev], padding_id(model), ExampleSizes(examples)

    def batch(items: IntArray, shape: Shape | None = None) -> Batch:
        return collate([examples[i] for i in items], pad_token_id, shape)

    def loss(network: nn.Module, items: IntArray) -> Tensor:
        return task.loss(network, batch(items).to(next(network.parameters()).device))

    def score(network: nn.Module) -> float:
        predictions = predict(network, task, model, dev_examples, labels)
        return score_predictions(task, gold, predictions).scores[task.main_metric]

    lengths, terms = np.array([e.tokens for e in examples]), np.array([count_loss_terms(e) for e in examples])
    shaped = ShapedLoss(lambda items: round_length_up(sizes.shape(items), model.max_length), batch, task.loss)
    return Objective(lengths, terms, loss, score, extra_loss, shaped, versions, getattr(extra_loss, "shaped", None))


def count_loss_terms(example: Example) -> int:
    """What a task's loss is the mean of: an example's words that have a gold label, or else its windows."""
    if "position" not in example.arrays:
        return len(example.windows)
    gold = [array for name, array in example.arrays.items() if name not in ("window", "position")]
    return int(np.all([array != IGNORE_INDEX for array in gold], axis=0).sum())


def check_corpus(task: Task, corpus: AnyCorpus, role: str) -> None:
    """An error unless the corpus is of the kind that the task reads and holds something."""
    if not isinstance(corpus, Corpus):
        raise UsageError(f"{role}: expected a corpus, got {type(corpus).__name__}; read the file first")
    if corpus.format.kind != task.corpus:
        raise UsageError(f"{role}: the task '{task.name}' reads a {task.corpus} corpus, not {corpus.format.kind}")
    if not len(corpus):
        raise UsageError(f"{role}: the corpus is empty")
