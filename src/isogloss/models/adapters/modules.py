"""The modules of adapters: bottlenecks, the invertible coupling layer, and mixtures of several.

A bottleneck (Houlsby et al. 2019) adds U·relu(D·h) to the output of a sub-layer. The invertible adapter of MAD-X
(Pfeiffer et al. 2020) is a coupling layer (NICE, Dinh et al. 2015), which is invertible for any weights. Both are
initialised as the identity: the last projection is zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

INITIAL_STD = 0.02  # of the first projection, as in BERT


class Bottleneck(nn.Module):
    """The term that an adapter adds: a down-projection to `inner` units, ReLU, and an up-projection.

    >>> bool(Bottleneck(8, 2)(torch.ones(1, 8)).any())
    False
    """

    def __init__(self, inputs: int, inner: int, outputs: int | None = None):
        super().__init__()
        self.down = nn.Linear(inputs, inner)
        self.up = nn.Linear(inner, outputs or inputs)
        nn.init.normal_(self.down.weight, std=INITIAL_STD)
        for zero in (self.down.bias, self.up.weight, self.up.bias):
            nn.init.zeros_(zero)

    def forward(self, states: Tensor) -> Tensor:
        added: Tensor = self.up(self.down(states).relu())
        return added


class Coupling(nn.Module):
    """A coupling of two halves of the units: o₁ = e₁ + F(e₂), o₂ = e₂ + G(o₁).

    >>> coupling, states = Coupling(4, 2), torch.rand(3, 4)
    >>> torch.equal(coupling.inverse(coupling(states)), states)
    True
    """

    def __init__(self, units: int, reduction: int):
        super().__init__()
        self.sizes = [units // 2, units - units // 2]
        first, second = self.sizes
        self.to_first = Bottleneck(second, max(1, second // reduction), first)
        self.to_second = Bottleneck(first, max(1, first // reduction), second)

    def forward(self, states: Tensor) -> Tensor:
        first, second = torch.split(states, self.sizes, -1)
        first = first + self.to_first(second)
        return torch.cat([first, second + self.to_second(first)], -1)

    def inverse(self, states: Tensor) -> Tensor:
        first, second = torch.split(states, self.sizes, -1)
        second = second - self.to_second(first)
        return torch.cat([first - self.to_first(second), second], -1)


class Mixture(nn.Module):
    """The weighted mean of the outputs of several modules; the weights are positive and sum to one.

    `logits` are not trained: they stay zero (the uniform mean) unless they are set.
    """

    def __init__(self, members: Sequence[nn.Module]):
        super().__init__()
        self.members = nn.ModuleList(members)
        self.logits = nn.Parameter(torch.zeros(len(members)), requires_grad=False)

    @property
    def weights(self) -> Tensor:
        return self.logits.softmax(0)

    def forward(self, states: Tensor) -> Tensor:
        if len(self.members) == 1:
            only: Tensor = self.members[0](states)
            return only
        return torch.stack([member(states) for member in self.members], -1) @ self.weights.to(states.dtype)

    def inverse(self, states: Tensor) -> Tensor:
        """The inverse of the only member; a mixture of several has none."""
        (only,) = self.members
        undone: Tensor = only.inverse(states)  # type: ignore[operator]
        return undone
