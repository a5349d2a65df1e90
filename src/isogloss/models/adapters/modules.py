"""The small networks that adapters are made of: bottlenecks, an invertible one, and mixtures of several.

A bottleneck (Houlsby et al. 2019) adds U·relu(D·h) to a sub-layer's output; the invertible adapter of MAD-X
(Pfeiffer et al. 2020) is a coupling layer (NICE, Dinh et al. 2015), whose inverse is known whatever its weights are.
Both begin as the identity: the last projection is zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

STANDARD_DEVIATION = 0.02  # of the first projection's weights, as BERT's own


class Bottleneck(nn.Module):
    """What an adapter adds: down to `inner` units, a rectifier, and up again.

    >>> bool(Bottleneck(8, 2)(torch.ones(1, 8)).any())
    False
    """

    def __init__(self, inputs: int, inner: int, outputs: int | None = None):
        super().__init__()
        self.down = nn.Linear(inputs, inner)
        self.up = nn.Linear(inner, outputs or inputs)
        nn.init.normal_(self.down.weight, std=STANDARD_DEVIATION)
        for zero in (self.down.bias, self.up.weight, self.up.bias):
            nn.init.zeros_(zero)

    def forward(self, states: Tensor) -> Tensor:
        added: Tensor = self.up(self.down(states).relu())
        return added


class Coupling(nn.Module):
    """Two halves of the units, each changed by what the other holds: o₁ = e₁ + F(e₂), o₂ = e₂ + G(o₁).

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
    """The weighted mean of what several modules make of the same states; weights are positive and add up to one.

    `logits` are no weights to be trained with the others: they stay zero (the uniform mean) unless someone sets them.
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
        """Of the one member's; several together have none."""
        (only,) = self.members
        undone: Tensor = only.inverse(states)  # type: ignore[operator]
        return undone
