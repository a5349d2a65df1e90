"""New post-LN, pre-LN and NormFormer networks of the family `isogloss`.

Importing this module registers the family with the Auto classes of transformers. `ig.load_model(folder)` does so;
before `AutoModel.from_pretrained(folder)`, run `import isogloss.models.normformer.create`.
A post-LN encoder is returned as a BERT of transformers, which loads anywhere.
"""

from __future__ import annotations

import torch
import transformers
from transformers import PreTrainedModel

from isogloss.core.seeds import derive_seed
from isogloss.models.normformer import heads as head_classes
from isogloss.models.normformer.bert_conversion import to_bert
from isogloss.models.normformer.config import IsoglossConfig
from isogloss.models.normformer.network import IsoglossModel


def new_model(
    norm: str,
    *,
    vocab_size: int,
    causal: bool = False,
    layers: int = 12,
    width: int = 768,
    heads: int | None = None,
    max_length: int = 512,
    pad_id: int | None = 0,
    dropout: float = 0.1,
    seed: int = 0,
    initializer_range: float = 0.02,
    scaled_init: bool = False,
    head_scale: bool | None = None,
    attention_output_norm: bool | None = None,
    inner_norm: bool | None = None,
    residual_scale: bool | None = None,
) -> PreTrainedModel:
    """A causal or masked language model with random weights; a seed gives all schemes the same shared weights.

    Args:
        norm: The scheme of normalisation: "post", "pre" or "normformer".
        vocab_size: The size of the vocabulary.
        causal: A decoder with a causal head instead of an encoder with a masked head.
        layers: The number of blocks.
        width: The hidden size; the feed-forward has four times as many units.
        heads: The number of attention heads; one for every 64 units by default.
        max_length: The maximum number of tokens.
        pad_id: The id of the padding token.
        dropout: The dropout of states and of attention.
        seed: The seed of the weights.
        initializer_range: The standard deviation of the initial weights.
        scaled_init: Initialise projections to the residual stream smaller (see `IsoglossConfig`).
        head_scale: A component of NormFormer (see `IsoglossConfig`).
        attention_output_norm: A component of NormFormer.
        inner_norm: A component of NormFormer.
        residual_scale: A component of NormFormer; switch it off with more than 355M parameters.

    >>> new_model("normformer", vocab_size=50, layers=2, width=8).config.num_attention_heads
    1
    """
    config = IsoglossConfig(
        norm=norm,
        causal=causal,
        vocab_size=vocab_size,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads or max(1, width // 64),
        max_position_embeddings=max_length,
        pad_token_id=pad_id,
        intermediate_size=4 * width,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        initializer_range=initializer_range,
        scaled_init=scaled_init,
        head_scale=head_scale,
        attention_output_norm=attention_output_norm,
        inner_norm=inner_norm,
        residual_scale=residual_scale,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "new model"))
        if causal:
            return head_classes.IsoglossForCausalLM(config)
        network = head_classes.IsoglossForMaskedLM(config)
        return to_bert(network) if norm == "post" else network


AUTO_CLASSES = {
    "AutoModel": IsoglossModel,
    "AutoModelForMaskedLM": head_classes.IsoglossForMaskedLM,
    "AutoModelForCausalLM": head_classes.IsoglossForCausalLM,
    "AutoModelForTokenClassification": head_classes.IsoglossForTokenClassification,
    "AutoModelForSequenceClassification": head_classes.IsoglossForSequenceClassification,
    "AutoModelForQuestionAnswering": head_classes.IsoglossForQuestionAnswering,
}
transformers.AutoConfig.register(IsoglossConfig.model_type, IsoglossConfig, exist_ok=True)
for _name, _network in AUTO_CLASSES.items():
    getattr(transformers, _name).register(IsoglossConfig, _network, exist_ok=True)
