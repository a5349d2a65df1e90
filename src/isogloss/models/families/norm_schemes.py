"""The `isogloss` networks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from isogloss.models.families.family import AdapterSites, Family

if TYPE_CHECKING:  # listing the families must not import torch
    from transformers import PreTrainedConfig


@dataclass(frozen=True)
class NormSchemeFamily(Family):
    """The `isogloss` networks: post-LN, pre-LN or NormFormer, encoder or decoder, as the configuration says."""

    def for_config(self, config: PreTrainedConfig) -> Family:
        post = config.norm == "post"
        sites = AdapterSites("attention", "feed_forward", "feed_forward_norm" if post else None)
        return replace(self, final_norm=None if post else self.final_norm, causal=config.causal, adapters=sites)


# A module that a scheme does not have is an empty one in the network.
ISOGLOSS = NormSchemeFamily(
    blocks="layers",
    final_norm="final_norm",
    embeddings="embeddings",
    attention=("attention.query", "attention.key", "attention.value", "attention.output"),
    feed_forward=("feed_forward.up", "feed_forward.down"),
    norms=(
        "attention_norm",
        "attention.head_scale",
        "attention.output_norm",
        "feed_forward.norm",
        "residual_scale",
        "feed_forward_norm",
    ),
    adapters=AdapterSites("attention", "feed_forward"),
    packs_texts=True,
)
