"""Stacked training: several networks of the same architecture trained as one, faster on a GPU than one by one.

A small training step is a thousand kernels, each too small to fill a GPU. Networks that read the same batches, such as
a model and the same model with re-initialised layers, share their steps: every weight gets a first axis with one slice
per network, and matrix products become batched products. Attention, dropout and activations treat the rows of a batch
independently, so they process the rows of all networks as one batch (written by hand because `torch.vmap` does not
support the attention masks of transformers).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn
from transformers.models.bert.modeling_bert import BertEmbeddings

from isogloss.core.errors import UsageError
from isogloss.models.families import FAMILIES
from isogloss.models.heads.task_head import body_of
from isogloss.models.tokenization.batching import IntArray
from isogloss.tasks.examples import Batch
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import WorkerGroup
from isogloss.training.engine.epochs import train_members
from isogloss.training.engine.identity import config_values
from isogloss.training.engine.objective import Objective
from isogloss.training.engine.optimizer import CombinedOptimizer
from isogloss.training.engine.progress import EpochMetrics, ProgressCallback
from isogloss.training.engine.settings import TrainingSettings
from isogloss.training.engine.trainable import NetworkLoss, Trainable
from isogloss.training.stacking.layers import STACKED_LAYERS

STACKABLE_MODEL_TYPES = {model_type for model_type, family in FAMILIES.items() if family.stackable}


def train_stacked(
    networks: Sequence[nn.Module],
    objective: Objective,
    settings: TrainingSettings,
    *,
    seeds: Sequence[int],
    checkpoints: Checkpoints | None = None,
    progress: ProgressCallback | None = None,
) -> list[list[EpochMetrics]]:
    """Train stackable networks, each with the item order of its seed; each keeps the weights of its best epoch.

    The results are those of separate training, except for rounding and for dropout, which is drawn for all networks
    at once from the first seed. A single network is trained as it is.
    """
    if len(networks) == 1:
        return train_members(Trainable(networks[0], seeds[0]), objective, settings, checkpoints, progress)
    if objective.shaped is None or objective.extra or settings.accumulate > 1:
        raise UsageError("stacked training does not support a second loss or accumulate > 1; train the networks singly")
    return train_members(StackedNetworks(networks, seeds), objective, settings, checkpoints, progress)


def stackable(networks: Sequence[nn.Module]) -> bool:
    """Whether networks can be stacked: same architecture, all weights trained, and every layer has a stacked form."""
    first, config = networks[0], config_values(networks[0])
    return config.get("model_type") in STACKABLE_MODEL_TYPES and all(
        type(network) is type(first)
        and config_values(network) == config
        and [weight.shape for weight in network.parameters()] == [weight.shape for weight in first.parameters()]
        and all(weight.requires_grad for weight in network.parameters())
        and all(type(part) in STACKED_LAYERS for part in network.modules() if part._parameters)
        for network in networks
    )


class StackedNetworks(Trainable):
    """Several networks as one trainable: `network` has the weights of all and reads their batches concatenated."""

    def __init__(self, networks: Sequence[nn.Module], seeds: Sequence[int]):
        self.network, self.members, self.seeds = stack_networks(networks), list(networks), list(dict.fromkeys(seeds))
        self.batch_index = [self.seeds.index(seed) for seed in seeds]  # the batch that each member reads

    def losses(
        self, objective: Objective, items: Sequence[IntArray], workers: WorkerGroup, accumulate: int
    ) -> Iterator[NetworkLoss]:
        """One loss per member, of the whole step."""
        assert objective.shaped is not None
        shaped, shape = objective.shaped, objective.shaped.common_shape(items)
        device = next(self.network.parameters()).device
        batch = self.join_batches([shaped.batch(numbers, shape).to(device) for numbers in items])
        yield lambda network: shaped.loss(network, batch)

    def join_batches(self, batches: Sequence[Batch]) -> Batch:
        first, *following = (batches[index] for index in self.batch_index)
        return first.stack(*following)

    def is_matrix(self, weight: Tensor) -> bool:
        return weight.ndim > 2

    def clip_gradients(
        self, parameters: Sequence[nn.Parameter], max_norm: float, optimizer: torch.optim.Optimizer | CombinedOptimizer
    ) -> Tensor:
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        norms = []
        for index in range(len(self.members)):
            member_gradients = [gradient[index] for gradient in gradients]
            norms.append(nn.utils.get_total_norm(member_gradients))
            torch._foreach_mul_(member_gradients, (max_norm / (norms[-1] + 1e-6)).clamp(max=1.0))
        return torch.stack(norms)

    @torch.no_grad()
    def update_members(self) -> None:
        for index, member in enumerate(self.members):
            for weight, stack in zip(member.parameters(), self.network.parameters(), strict=True):
                weight.copy_(stack[index])


def stack_networks(networks: Sequence[nn.Module]) -> nn.Module:
    """One network with copies of the weights of all."""
    stack = copy.deepcopy(networks[0])
    for name, part in stack.named_modules():
        if not part._parameters:
            continue
        part.__class__ = STACKED_LAYERS[type(part)]
        for key, weight in part._parameters.items():
            if weight is not None:
                slices = [network.get_submodule(name).get_parameter(key).detach() for network in networks]
                part._parameters[key] = nn.Parameter(torch.stack(slices))
    embeddings = getattr(body_of(stack), "embeddings", None)
    if isinstance(embeddings, BertEmbeddings):
        embeddings.register_forward_pre_hook(_add_position_ids, with_kwargs=True)
    return stack


def _add_position_ids(
    embeddings: nn.Module, arguments: tuple[object, ...], inputs: dict[str, Tensor]
) -> tuple[tuple[object, ...], dict[str, Tensor]]:
    """Position ids for every row; by default BERT has a single row of them for all."""
    if inputs.get("position_ids") is not None:
        return arguments, inputs
    ids = inputs["input_ids"]
    return arguments, {**inputs, "position_ids": torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)}
