"""A Transformer block for each scheme of normalisation.

With A the attention, F the feed-forward, N a layer norm and ∘ the element-wise product:

- post-LN (Vaswani et al. 2017):      y = N(x + A(x)),      z = N(y + F(y))
- pre-LN (Xiong et al. 2020):         y = x + A(N(x)),      z = y + F(N(y))
- NormFormer (Shleifer et al. 2021):  y = x + N(A'(N(x))),  z = λ ∘ y + F'(N(y))

A' multiplies the output of each head by a learned γ before the output projection, F' has a norm between the activation
and the second projection. A norm that a scheme does not have is `nn.Identity`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers.activations import ACT2FN
from transformers.modeling_layers import GradientCheckpointingLayer

from isogloss.models.normformer.config import IsoglossConfig


class Scale(nn.Module):
    """A learned factor for each unit, initialised with 1."""

    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, states: Tensor) -> Tensor:
        return states * self.weight


class HeadScale(Scale):
    """A learned factor for each head of states `[…, head, unit]`.

    >>> HeadScale(2)(torch.ones(1, 2, 3)).shape
    torch.Size([1, 2, 3])
    """

    def forward(self, states: Tensor) -> Tensor:
        return states * self.weight[:, None]


class ResidualLinear(nn.Linear):
    """A projection to the residual stream, with smaller initial weights if `scaled_init` is set."""


class Attention(nn.Module):
    """Multi-head attention; without a mask, causal attention sees only previous tokens."""

    def __init__(self, config: IsoglossConfig):
        super().__init__()
        units = config.hidden_size
        self.heads, self.causal = config.num_attention_heads, config.causal
        self.dropout = config.attention_probs_dropout_prob
        self.query, self.key, self.value = (nn.Linear(units, units) for _ in range(3))
        self.output = ResidualLinear(units, units)
        self.head_scale = HeadScale(self.heads) if config.head_scale else nn.Identity()
        self.output_norm = layer_norm(units, config) if config.attention_output_norm else nn.Identity()

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        projections = (self.query, self.key, self.value)
        query, key, value = (layer(states).unflatten(-1, (self.heads, -1)).transpose(1, 2) for layer in projections)
        dropout = self.dropout if self.training else 0.0
        causal = self.causal and mask is None
        mixed = scaled_dot_product_attention(query, key, value, mask, dropout, causal).transpose(1, 2)
        normed: Tensor = self.output_norm(self.output(self.head_scale(mixed).flatten(2)))
        return normed


class FeedForward(nn.Module):
    def __init__(self, config: IsoglossConfig):
        super().__init__()
        self.up = nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = ACT2FN[config.hidden_act]
        self.norm = layer_norm(config.intermediate_size, config) if config.inner_norm else nn.Identity()
        self.down = ResidualLinear(config.intermediate_size, config.hidden_size)

    def forward(self, states: Tensor) -> Tensor:
        changed: Tensor = self.down(self.norm(self.activation(self.up(states))))
        return changed


class Block(GradientCheckpointingLayer):
    """Attention and feed-forward with their residuals; `mask` is that of `scaled_dot_product_attention`."""

    def __init__(self, config: IsoglossConfig):
        super().__init__()
        self.post = config.norm == "post"
        self.attention_norm = layer_norm(config.hidden_size, config)
        self.attention = Attention(config)
        self.feed_forward_norm = layer_norm(config.hidden_size, config)
        self.feed_forward = FeedForward(config)
        self.residual_scale = Scale(config.hidden_size) if config.residual_scale else nn.Identity()
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        if self.post:
            states = self.attention_norm(states + self.dropout(self.attention(states, mask)))
            states = self.feed_forward_norm(states + self.dropout(self.feed_forward(states)))
            return states
        states = states + self.dropout(self.attention(self.attention_norm(states), mask))
        states = self.residual_scale(states) + self.dropout(self.feed_forward(self.feed_forward_norm(states)))
        return states


def layer_norm(units: int, config: IsoglossConfig) -> nn.LayerNorm:
    return nn.LayerNorm(units, eps=config.layer_norm_eps)
