"""Fine-tuning: a network for a task from a pretrained model and an annotated corpus."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.core.hashing import digest
from isogloss.core.seeds import derive_seed
from isogloss.corpora.corpus import AnyCorpus, Corpus
from isogloss.models.heads.task_head import body_of
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.packing import can_pack, min_row_tokens, packed_body
from isogloss.models.tokenization.batching import IntArray
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks.examples import IGNORE_INDEX, Batch, Example, ExampleSizes, Shape, collate
from isogloss.tasks.task import Labels, Task
from isogloss.training.engine.batch_shapes import round_length_up
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.determinism import seeded
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.identity import tokenizer_identity
from isogloss.training.engine.objective import Objective, ShapedLoss
from isogloss.training.engine.progress import EpochMetrics, ProgressCallback
from isogloss.training.engine.settings import NoisyTrainingSettings, TrainingSettings
from isogloss.training.finetuning.augmentation import training_examples
from isogloss.training.finetuning.evaluation import predict, score_predictions
from isogloss.training.stacking.stack import stackable, train_stacked

ExtraLoss = Callable[[nn.Module, int], Tensor]  # of network and step


@dataclass(frozen=True, eq=False)
class FineTuned:
    """A network fine-tuned on a task; `model` is the pretrained model, with the tokenizer."""

    task: Task
    model: LoadedModel
    labels: Labels
    network: nn.Module
    log: tuple[EpochMetrics, ...] = ()  # one per epoch

    @property
    def encoder(self) -> LoadedModel:
        """The encoder inside the network, as a model."""
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
    """Train on `train` and keep the epoch with the best score on `dev`. The model passed in is not modified.

    The same seed gives the same weights, bit for bit on a CPU. `extra_loss` is added to the task's loss in every step;
    if it has the attribute `shaped` (see `objective.py`), steps can still be recorded on a GPU.
    """
    return finetune_stacked(
        [model],
        task,
        train,
        dev,
        settings,
        seeds=[seed],
        extra_loss=extra_loss,
        checkpoints=checkpoints,
        progress=progress,
    )[0]


def finetune_stacked(
    models: Sequence[LoadedModel],
    task: Task,
    train: AnyCorpus,
    dev: AnyCorpus,
    settings: TrainingSettings,
    *,
    seeds: Sequence[int],
    extra_loss: ExtraLoss | None = None,
    checkpoints: Checkpoints | None = None,
    progress: ProgressCallback | None = None,
) -> list[FineTuned]:
    """Fine-tune several models, each with its seed, as one stacked network; faster on a GPU than one by one.

    For more than one model, `can_stack` must be true, and `extra_loss` is not supported.
    """
    check_corpus(task, train, "train")
    check_corpus(task, dev, "dev")
    if len(models) > 1 and not can_stack(models, task, train, settings, seeds):
        raise UsageError("only models of one shape, with one tokenizer and equal settings, can be trained as one stack")
    labels = task.labels(train)
    networks = init_networks(models, task, labels, seeds)
    minimised = objective(models[0], task, train, dev, labels, extra_loss, settings, seeds[0])
    logs = train_stacked(networks, minimised, settings, seeds=seeds, checkpoints=checkpoints, progress=progress)
    return [
        FineTuned(task, model, labels, network, tuple(log))
        for model, network, log in zip(models, networks, logs, strict=True)
    ]


def can_stack(
    models: Sequence[LoadedModel], task: Task, train: AnyCorpus, settings: TrainingSettings, seeds: Sequence[int]
) -> bool:
    """Whether models can be trained as one stack: the same tokenizer, networks of one shape, no accumulation.

    With several seeds, noise and batches by number of tokens would differ between the models.
    """
    tokenizers = [model.tokenizer for model in models]
    batches_differ = len(set(seeds)) > 1 and (settings.tokens or isinstance(settings, NoisyTrainingSettings))
    if settings.accumulate > 1 or init_distributed().world_size > 1 or batches_differ:
        return False
    if not all(tokenizer.is_fast for tokenizer in tokenizers) or len({model.max_length for model in models}) > 1:
        return False
    if len({digest(tokenizer_identity(tokenizer)) for tokenizer in tokenizers}) > 1:
        return False
    labels = task.labels(train)
    with seeded(0):
        return stackable([model.body for model in models]) and stackable([task.network(models[0], labels)])


def init_networks(models: Sequence[LoadedModel], task: Task, labels: Labels, seeds: Sequence[int]) -> list[nn.Module]:
    """A network per model, with a head initialised from its seed. Several models have one shape.

    Networks of the same seed have the same head: they are copied, which is faster than initialising a whole network.
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
    """The objective of the training loop."""
    examples, versions = training_examples(model, task, train, labels, settings, seed)
    dev_examples = task.encode(model, dev, labels)
    gold, pad_token_id = [task.gold(item) for item in dev], padding_id(model)
    packed_row = min_row_tokens(model.device, model.max_length) if can_pack(model.body, model.family) else None
    sizes = ExampleSizes(examples, packed_row)

    def batch(items: IntArray, shape: Shape) -> Batch:
        return collate([examples[i] for i in items], pad_token_id, shape)

    def batch_loss(network: nn.Module, batch: Batch) -> Tensor:
        if batch.packing is None:
            return task.loss(network, batch)
        with packed_body(body_of(network), batch.packing, model.family, unpack_states=not batch.has_words):
            return task.loss(network, batch)

    def loss(network: nn.Module, items: IntArray) -> Tensor:
        return batch_loss(network, batch(items, sizes.shape(items)).to(next(network.parameters()).device))

    def score(network: nn.Module) -> float:
        predictions = predict(network, task, model, dev_examples, labels)
        return score_predictions(task, gold, predictions).scores[task.main_metric]

    lengths, terms = np.array([e.tokens for e in examples]), np.array([count_loss_terms(e) for e in examples])
    shaped = ShapedLoss(lambda items: round_length_up(sizes.shape(items), model.max_length), batch, batch_loss)
    return Objective(lengths, terms, loss, score, extra_loss, shaped, versions, getattr(extra_loss, "shaped", None))


def count_loss_terms(example: Example) -> int:
    """The number of terms in the mean of a task's loss: words with a gold label, or windows if there are no words."""
    if "position" not in example.arrays:
        return len(example.windows)
    gold = [array for name, array in example.arrays.items() if name not in ("window", "position")]
    return int(np.all([array != IGNORE_INDEX for array in gold], axis=0).sum())


def check_corpus(task: Task, corpus: AnyCorpus, role: str) -> None:
    """Raise an error unless the corpus is of the task's kind and not empty."""
    if not isinstance(corpus, Corpus):
        raise UsageError(f"{role}: expected a corpus, got {type(corpus).__name__}; read the file first")
    if corpus.format.kind != task.corpus:
        raise UsageError(f"{role}: the task '{task.name}' reads a {task.corpus} corpus, not {corpus.format.kind}")
    if not len(corpus):
        raise UsageError(f"{role}: the corpus is empty")
