"""A network that computes in bf16 while its weights are kept, and changed, in fp32.

Casting the weights anew in every step, as autocast does, costs a small step more than its arithmetic. So a copy in
bf16 computes; its gradients go to the weights, and the changed weights to the copy, a few kernels for all of them.
"""

from __future__ import annotations

import copy

import torch
from torch import nn


class Bf16Copy:
    """The copy in bf16 of a network, or, where `bf16` is False, the network itself."""

    def __init__(self, network: nn.Module, bf16: bool):
        self.network = clone_in_bf16(network) if bf16 else network
        weights = [p for p in network.parameters() if p.requires_grad]
        shadows = [p for p in self.network.parameters() if p.requires_grad]
        self._pairs = list(zip(weights, shadows, strict=True)) if bf16 else []

    def collect_gradients(self) -> None:
        """The copy's gradients become the weights' own."""
        used = [(weight, shadow.grad) for weight, shadow in self._pairs if shadow.grad is not None]
        exact = [torch.empty_like(weight) for weight, _ in used]
        if used:
            torch._foreach_copy_(exact, [gradient for _, gradient in used])
        for (weight, _), gradient in zip(used, exact, strict=True):
            weight.grad = gradient
        for _, shadow in self._pairs:
            shadow.grad = None

    def copy_weights(self) -> None:
        """The copy computes with the weights as they are now."""
        if self._pairs:
            torch._foreach_copy_([shadow.data for _, shadow in self._pairs], [weight.data for weight, _ in self._pairs])


def clone_in_bf16(network: nn.Module) -> nn.Module:
    """A copy whose weights are in bf16; buffers (the angles of rotary positions, say) keep their precision."""
    shadow = copy.deepcopy(network)
    for parameter in shadow.parameters():
        parameter.data = parameter.data.bfloat16()
    return shadow
