"""The model library's attention for steps that must not look at a mask's values: compiled or recorded ones.

Left to itself the library looks whether there is padding at all, for which the host waits for the device, and when it
is compiled it cannot look and always builds a mask, with which PyTorch's attention is several times slower. So whoever
knows says it beforehand: no sequence has padding, and there is no mask, or some may, and there always is one. Both are
registered beside the library's own, under names of their own.
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

UNPADDED, PADDED = "isogloss_unpadded", "isogloss_padded"
WINDOWS = ("local_size", "local_attention_size")  # what the library's versions call the reach of local attention


def mask_of_windows(**options: Any) -> Any:
    """The library's mask where attention is local; otherwise none: all tokens, or all before, may be seen."""
    window = next((options[name] for name in WINDOWS if options.get(name) is not None), None)
    if window is None or options["kv_length"] < window:
        return None
    mask: Any = sdpa_mask
    return mask(**options)


def mask_of_padding(**options: Any) -> Tensor:
    """The library's mask, whatever it holds, as numbers that are added to the scores of attention.

    PyTorch would turn truth values into such numbers too, but once in every layer.
    """
    build: Any = sdpa_mask
    seen = build(**{**options, "allow_is_causal_skip": False, "allow_is_bidirectional_skip": False})
    dtype = options["dtype"]
    return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill_(~seen, torch.finfo(dtype).min)


for _name, _mask in ((UNPADDED, mask_of_windows), (PADDED, mask_of_padding)):
    AttentionInterface.register(_name, sdpa_attention_forward)
    AttentionMaskInterface.register(_name, _mask)


def unpadded_attention(network: nn.Module) -> contextlib.AbstractContextManager[None]:
    """Within, every token of every sequence is taken to be present; for networks that use PyTorch's attention."""
    return _attention(network, UNPADDED)


def padded_attention(network: nn.Module) -> contextlib.AbstractContextManager[None]:
    """Within, nobody looks whether there is padding; for networks that use PyTorch's attention."""
    return _attention(network, PADDED)


@contextlib.contextmanager
def without_cudnn_attention() -> Iterator[None]:
    """Within, attention with a mask has finite gradients.

    Those of cuDNN, which PyTorch prefers on an H100 or H200 since 2.11, are no numbers where all scores of a token lie
    below -88 and the length is 64 more than a multiple of 128 (PyTorch's issue 196678). With a trained encoder that
    comes up once in some hundred steps, and spoils all weights.
    """
    backends: Any = torch.backends.cuda
    before = backends.cudnn_sdp_enabled()
    backends.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        backends.enable_cudnn_sdp(before)


@contextlib.contextmanager
def _attention(network: nn.Module, name: str) -> Iterator[None]:
    configs: list[Any] = [module.config for module in network.modules() if hasattr(module, "config")]
    changed = [c for c in {id(c): c for c in configs}.values() if c._attn_implementation == "sdpa"]
    for config in changed:
        config._attn_implementation = name
    try:
        yield
    finally:
        for config in changed:
            config._attn_implementation = "sdpa"
