"""Adapters at test time: the adapter of another language, and ensembles whose weights are fitted to each batch.

EMEA (Wang et al. 2021): the weights of an ensemble of language adapters minimise the entropy of the predictions for a
batch; they are found by gradient descent from uniform weights. Gold labels are not used, but the prediction for a
sentence depends on its batch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.models.adapters.hooks import AdapterStack, stack_of
from isogloss.models.adapters.modules import Mixture
from isogloss.models.heads.task_head import body_of
from isogloss.models.interventions.adapters import UseAdapter
from isogloss.tasks.examples import Batch
from isogloss.tasks.task import Labels, Task
from isogloss.training.finetuning.finetune import FineTuned

ENTROPY_STEPS, ENTROPY_LEARNING_RATE = 10, 10.0  # as published


def swap_adapter(tuned: FineTuned, adapter: UseAdapter) -> FineTuned:
    """A copy of the fine-tuned network with the adapter of another language, or with several."""
    network = copy.deepcopy(tuned.network)
    if stack_of(body_of(network)) is None:
        raise UsageError(f"{adapter!r}: the network was not fine-tuned with adapters; use task_adapter() before")
    adapter(replace(tuned.model, network=body_of(network), body=body_of(network)))
    task = with_entropy_minimisation(tuned.task) if adapter.weights == "entropy" else tuned.task
    return replace(tuned, task=task, network=network.eval())


def with_entropy_minimisation(task: Task) -> Task:
    """The task with a `predict` that fits the weights of the network's ensembles to every batch."""

    def predict(network: nn.Module, batch: Batch, labels: Labels) -> Sequence[object]:
        with torch.inference_mode(False), torch.enable_grad():
            copied = batch.map(Tensor.clone)  # tensors of inference mode have no gradient
            minimise_entropy(network, lambda: task.entropy(network, copied))
        return task.predict(network, batch, labels)

    return replace(task, predict=predict)


def minimise_entropy(
    network: nn.Module, entropy: Callable[[], Tensor], *, rate: float = ENTROPY_LEARNING_RATE
) -> list[float]:
    """Set the weights of the network's ensembles to the best ones of all gradient steps; returns all entropies.

    The first weights are uniform, so the entropy never rises, whatever the learning rate.
    """
    mixtures = _mixtures(network)
    logits = [torch.zeros_like(mixture.logits) for mixture in mixtures]
    visited: list[tuple[float, list[Tensor]]] = []
    for step in range(ENTROPY_STEPS + 1):
        for mixture, values in zip(mixtures, logits, strict=True):
            mixture.logits.data = values
            mixture.logits.requires_grad_(True)
        value = entropy()
        gradients = torch.autograd.grad(value, [mixture.logits for mixture in mixtures]) if step < ENTROPY_STEPS else []
        visited.append((float(value.detach()), logits))
        logits = [values - rate * gradient for values, gradient in zip(logits, gradients, strict=False)]
    for mixture, values in zip(mixtures, min(visited, key=lambda visit: visit[0])[1], strict=True):
        mixture.logits.requires_grad_(False)
        mixture.logits.data = values
    return [value for value, _ in visited]


def _mixtures(network: nn.Module) -> list[Mixture]:
    stacks = [module for module in network.modules() if isinstance(module, AdapterStack)]
    mixtures = [mixture for stack in stacks for mixture in stack.mixtures()]
    if not mixtures:
        raise UsageError("the network has no ensemble of adapters; use_adapter() with several folders creates one")
    return mixtures
