"""Attention implementations for compiled or CUDA-graph steps, which must not read the values of a mask.

By default transformers checks whether a batch has padding, which synchronises host and device; when compiled it always
builds a mask, with which PyTorch's attention is several times slower. The two implementations registered here are
chosen by the caller instead: one for batches without padding (no mask), one for batches with padding (always a mask).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

IMPLEMENTATION = "_attn_implementation"  # of a configuration
UNPADDED, PADDED = "isogloss_unpadded", "isogloss_padded"
WINDOW_OPTIONS = ("local_size", "local_attention_size")  # in different versions of transformers


def local_attention_mask(**options: Any) -> Tensor | None:
    """The mask of transformers for local attention, otherwise none: attention is full or causal."""
    window = next((options[name] for name in WINDOW_OPTIONS if options.get(name) is not None), None)
    if window is None or options["kv_length"] < window:
        return None
    mask: Tensor | None = sdpa_mask(**options)
    return mask


def additive_padding_mask(**options: Any) -> Tensor:
    """The mask of transformers as a tensor that is added to the attention scores.

    PyTorch would convert a boolean mask in every layer; here it is converted once.
    """
    visible = sdpa_mask(**{**options, "allow_is_causal_skip": False, "allow_is_bidirectional_skip": False})
    assert visible is not None
    dtype = options["dtype"]
    return torch.zeros(visible.shape, dtype=dtype, device=visible.device).masked_fill_(~visible, torch.finfo(dtype).min)


for _name, _mask in ((UNPADDED, local_attention_mask), (PADDED, additive_padding_mask)):
    AttentionInterface.register(_name, sdpa_attention_forward)
    AttentionMaskInterface.register(_name, _mask)


def unpadded_attention(network: nn.Module) -> contextlib.AbstractContextManager[None]:
    """A context in which batches have no padding; for networks with SDPA attention."""
    return _use_attention(network, UNPADDED)


def padded_attention(network: nn.Module) -> contextlib.AbstractContextManager[None]:
    """A context in which batches may have padding and a mask is always built; for networks with SDPA attention."""
    return _use_attention(network, PADDED)


@contextlib.contextmanager
def without_cudnn_attention() -> Iterator[None]:
    """A context without cuDNN attention, whose gradients with a mask can be NaN.

    PyTorch prefers cuDNN on an H100 or H200 since 2.11. Its gradients are NaN if all scores of a token are below -88
    and the length is 64 more than a multiple of 128 (PyTorch issue 196678). With a trained encoder this happens about
    once in some hundred steps and destroys all weights.
    """
    backends: Any = torch.backends.cuda
    before = backends.cudnn_sdp_enabled()
    backends.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        backends.enable_cudnn_sdp(before)


@contextlib.contextmanager
def _use_attention(network: nn.Module, name: str) -> Iterator[None]:
    configs = {id(module.config): module.config for module in network.modules() if hasattr(module, "config")}
    changed = [config for config in configs.values() if getattr(config, IMPLEMENTATION) == "sdpa"]
    for config in changed:
        setattr(config, IMPLEMENTATION, name)
    try:
        yield
    finally:
        for config in changed:
            setattr(config, IMPLEMENTATION, "sdpa")
