"""Token states of every layer before and after the norm that is theirs.

In a post-LN network a layer's states leave through a norm: before it they are the bare sum of the residual, after
it they are the layer's output. In a pre-LN network a layer's output is the bare sum, and what goes on reading it,
the next block or the head, reads it through a norm. So `after` is what the rest of the network sees in both.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from isogloss.core.errors import UsageError
from isogloss.models.loading.families import Family, family_of


class AroundNorm(NamedTuple):
    """States `[text, token, unit]` on both sides of one norm."""

    before: Tensor
    after: Tensor


def states_around_norms(body: nn.Module, input_ids: Tensor, attention_mask: Tensor | None = None) -> list[AroundNorm]:
    """The states of the layers 0 … L around the norm of each, without dropout; any listed family's body."""
    norms = layer_norms(body)
    seen: dict[int, AroundNorm] = {}

    def keep(layer: int) -> Callable[..., None]:
        def hook(_module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
            seen[layer] = AroundNorm(args[0], output)

        return hook

    training = body.training
    with contextlib.ExitStack() as hooks, torch.no_grad():
        for layer, norm in enumerate(norms):
            hooks.callback(norm.register_forward_hook(keep(layer)).remove)
        hooks.callback(body.train, training)
        body.eval()(input_ids=input_ids, attention_mask=attention_mask)
    return [seen[layer] for layer in range(len(norms))]


def layer_norms(body: nn.Module) -> list[nn.Module]:
    """The norm of each layer: those at the end of a block (post-LN), or at the start of the next (pre-LN)."""
    family = family_of(body)
    if not family.norms:
        raise UsageError(f"the parts of a block of '{body.config.model_type}' are not known")  # type: ignore[union-attr]
    blocks = list(body.get_submodule(family.blocks).children())
    if family.final_norm:
        first = [block.get_submodule(family.norms[0]) for block in blocks]
        return [*first, body.get_submodule(family.final_norm)]
    return [_embedding_norm(body, family), *(block.get_submodule(family.norms[-1]) for block in blocks)]


def _embedding_norm(body: nn.Module, family: Family) -> nn.Module:
    modules = body.get_submodule(family.embeddings).modules()
    return next(module for module in modules if isinstance(module, nn.LayerNorm))
