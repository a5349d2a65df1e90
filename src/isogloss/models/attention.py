"""Attention over sequences without padding, which needs no mask: the one case with a fast kernel, also when compiled.

When it is compiled the model library cannot look at a mask's values, so it always builds one, and with a mask PyTorch
falls back to an attention several times slower. This one is registered beside the library's, under its own name.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch import nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "isogloss_unpadded"
WINDOWS = ("local_size", "local_attention_size")  # what the library's versions call the reach of local attention


def mask_of_windows(**options: Any) -> Any:
    """The library's mask where attention is local; otherwise none: all tokens, or all before, may be seen."""
    window = next((options[name] for name in WINDOWS if options.get(name) is not None), None)
    if window is None or options["kv_length"] < window:
        return None
    mask: Any = sdpa_mask
    return mask(**options)


AttentionInterface.register(NAME, sdpa_attention_forward)
AttentionMaskInterface.register(NAME, mask_of_windows)


@contextlib.contextmanager
def unpadded_attention(network: nn.Module) -> Iterator[None]:
    """Within, every token of every sequence is taken to be present; for networks that use PyTorch's attention."""
    configs: list[Any] = [module.config for module in network.modules() if hasattr(module, "config")]
    changed = [c for c in {id(c): c for c in configs}.values() if c._attn_implementation == "sdpa"]
    for config in changed:
        config._attn_implementation = NAME
    try:
        yield
    finally:
        for config in changed:
            config._attn_implementation = "sdpa"
