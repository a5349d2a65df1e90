"""Computation in bf16 with weights in fp32.

Casting the weights in every step, as autocast does, costs more than the arithmetic of a small step. Instead, a bf16
copy of the network computes; its gradients are copied to the weights, and the updated weights to the copy, with a few
kernels for all parameters.
"""

from __future__ import annotations

import copy

import torch
from torch import nn


class Bf16Copy:
    """A bf16 copy of a network, or the network itself if `bf16` is False."""

    def __init__(self, network: nn.Module, bf16: bool):
        self.network = clone_in_bf16(network) if bf16 else network
        weights = [p for p in network.parameters() if p.requires_grad]
        twins = [p for p in self.network.parameters() if p.requires_grad]
        self._pairs = list(zip(weights, twins, strict=True)) if bf16 else []

    def collect_gradients(self) -> None:
        """Copy the gradients of the copy to the weights."""
        pairs = [(weight, twin.grad) for weight, twin in self._pairs if twin.grad is not None]
        gradients = [torch.empty_like(weight) for weight, _ in pairs]
        if pairs:
            torch._foreach_copy_(gradients, [gradient for _, gradient in pairs])
        for (weight, _), gradient in zip(pairs, gradients, strict=True):
            weight.grad = gradient
        for _, twin in self._pairs:
            twin.grad = None

    def copy_weights(self) -> None:
        """Copy the current weights to the copy."""
        if self._pairs:
            torch._foreach_copy_([twin.data for _, twin in self._pairs], [weight.data for weight, _ in self._pairs])


def clone_in_bf16(network: nn.Module) -> nn.Module:
    """A copy with weights in bf16; buffers (such as those of rotary positions) keep their precision."""
    twin = copy.deepcopy(network)
    for parameter in twin.parameters():
        parameter.data = parameter.data.bfloat16()
    return twin
