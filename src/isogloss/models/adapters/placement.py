"""Where a block's sub-layers hand their outputs to the residual stream: one entry per family, for adapters.

All names are sub-modules of one block. With x the stream before a sub-layer and r the output of that sub-layer, a
pre-LN block goes on with x + r, a post-LN block with N(x + r). Where the model has a module for the dropout of r,
that is the one named: adapters come after it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torch import nn

from isogloss.core.errors import UsageError


@dataclass(frozen=True)
class Places:
    """The modules whose outputs are the r of attention and of the feed-forward; `norm` is N of the latter."""

    attention: str
    feed_forward: str
    norm: str | None = None


BERT = Places("attention.output.dropout", "output.dropout", "output.LayerNorm")
T5 = Places("layer.0.dropout", "layer.1.dropout")
LLAMA = Places("self_attn", "mlp")
GEMMA = Places("post_attention_layernorm", "post_feedforward_layernorm")
ISOGLOSS = Places("attention", "feed_forward", "feed_forward_norm")  # post-LN; `places_of` asks the configuration

# configuration's model_type → places; the same keys as FAMILIES
PLACES = {
    "bert": BERT,
    "roberta": BERT,
    "xlm-roberta": BERT,
    "xlm-roberta-xl": Places("attention.output.dropout", "output.dense"),
    "xglm": Places("self_attn", "fc2"),
    "t5": T5,
    "mt5": T5,
    "modernbert": Places("attn", "mlp"),
    "llama": LLAMA,
    "mistral": LLAMA,
    "qwen2": LLAMA,
    "qwen3": LLAMA,
    "gemma2": GEMMA,
    "gemma3_text": GEMMA,
    "isogloss": ISOGLOSS,
}


def places_of(body: nn.Module) -> Places:
    """Where the blocks of a text stack take adapters."""
    config: Any = body.config
    if config.model_type not in PLACES:
        raise UsageError(
            f"adapters: the family '{config.model_type}' is not described in models/adapters/placement.py: "
            "where its attention and its feed-forward end is unknown; lora() needs its entry in families.py"
        )
    places = PLACES[config.model_type]
    return replace(places, norm=None) if places is ISOGLOSS and config.norm != "post" else places
