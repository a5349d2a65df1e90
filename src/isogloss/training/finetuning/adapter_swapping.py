"""Adapters at test time: another language's adapter under the same task's, and ensembles that suit each batch.

EMEA (Wang et al. 2021): the weights of an ensemble of language adapters are those with which the predictions for the
batch at hand have least entropy, found by gradient steps from uniform weights. No gold label is looked at, but what is
predicted for a sentence depends on the batch it is in.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.models.adapters.hooks import Stack, stack_of
from isogloss.models.adapters.interventions import UseAdapter
from isogloss.models.adapters.modules import Mixture
from isogloss.models.heads.biaffine import BiaffineParser
from isogloss.tasks.examples import Batch
from isogloss.tasks.task import Labels, Task
from isogloss.training.finetuning.finetune import FineTuned

ENTROPY_STEPS, ENTROPY_LEARNING_RATE = 10, 10.0  # as published


def swap_adapter(tuned: FineTuned, adapter: UseAdapter) -> FineTuned:
    """The same fine-tuned network with another language's adapter, or several; the one handed in stays as it is."""
    network: Any = copy.deepcopy(tuned.network)
    if stack_of(getattr(network, "body", nn.Identity())) is None:
        raise UsageError(f"{adapter!r}: the network was not fine-tuned with adapters; use task_adapter() before")
    adapter(replace(tuned.model, network=network.body, body=network.body))
    task = with_entropy_minimisation(tuned.task) if adapter.weights == "entropy" else tuned.task
    return replace(tuned, task=task, network=network.eval())


def with_entropy_minimisation(task: Task, *, steps: int = ENTROPY_STEPS, rate: float = ENTROPY_LEARNING_RATE) -> Task:
    """The task with a `predict` that finds the weights of the network's ensembles anew for every batch."""

    def predict(network: nn.Module, batch: Batch, labels: Labels) -> list[Any]:
        with torch.inference_mode(False), torch.enable_grad():
            ordinary = batch.map(Tensor.clone)  # tensors of inference mode take part in no gradient
            minimise_entropy(network, lambda: prediction_entropy(network, ordinary), steps=steps, rate=rate)
        return task.predict(network, batch, labels)

    return replace(task, predict=predict)


def minimise_entropy(
    network: nn.Module,
    entropy: Callable[[], Tensor],
    *,
    steps: int = ENTROPY_STEPS,
    rate: float = ENTROPY_LEARNING_RATE,
) -> list[float]:
    """Leave the network's ensembles with the best of the weights that `steps` gradient steps visit; the entropy of all.

    The first weights are uniform, so the entropy never rises, whatever the rate.
    """
    mixtures = _mixtures(network)
    logits = [torch.zeros_like(mixture.logits) for mixture in mixtures]
    visited: list[tuple[float, list[Tensor]]] = []
    for step in range(steps + 1):
        for mixture, values in zip(mixtures, logits, strict=True):
            mixture.logits.data = values
            mixture.logits.requires_grad_(True)
        value = entropy()
        gradients = torch.autograd.grad(value, [mixture.logits for mixture in mixtures]) if step < steps else []
        visited.append((float(value.detach()), logits))
        logits = [values - rate * gradient for values, gradient in zip(logits, gradients, strict=False)]
    for mixture, values in zip(mixtures, min(visited, key=lambda one: one[0])[1], strict=True):
        mixture.logits.requires_grad_(False)
        mixture.logits.data = values
    return [value for value, _ in visited]


def prediction_entropy(network: nn.Module, batch: Batch) -> Tensor:
    """The mean entropy of what is predicted: tags or heads of words, labels of texts, ends of answers."""
    model: Any = network
    if isinstance(network, BiaffineParser):
        arcs = model(**batch.inputs, places=batch.token_index, known=batch.word_mask).arcs
        return _mean_entropy(arcs[batch.word_mask])
    output = model(**batch.inputs)
    if "start_logits" in output:
        outside = batch.attention_mask == 0
        ends = [output.start_logits, output.end_logits]
        return torch.stack([_mean_entropy(scores.masked_fill(outside, float("-inf"))) for scores in ends]).mean()
    return _mean_entropy(batch.words(output.logits)[batch.word_mask] if "position" in batch.arrays else output.logits)


def _mean_entropy(scores: Tensor) -> Tensor:
    """
    >>> round(float(_mean_entropy(torch.tensor([[0.0, 0.0, -torch.inf], [0.0, -torch.inf, -torch.inf]]))), 4)
    0.3466
    """
    logs = scores.float().log_softmax(-1)
    terms = logs.exp() * logs.masked_fill(scores.isneginf(), 0.0)
    return -terms.sum(-1).mean()


def _mixtures(network: nn.Module) -> list[Mixture]:
    stacks = [module for module in network.modules() if isinstance(module, Stack)]
    mixtures = [mixture for stack in stacks for mixture in stack.mixtures()]
    if not mixtures:
        raise UsageError(
            "there is no ensemble of adapters in the network; use_adapter() with several folders makes one"
        )
    return mixtures
