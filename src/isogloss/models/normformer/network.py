"""The body of the `isogloss` networks: the embeddings of BERT, blocks of one normalisation scheme, a final norm."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from isogloss.core.errors import UsageError
from isogloss.models.normformer.blocks import Block, ResidualLinear, Scale, layer_norm
from isogloss.models.normformer.config import IsoglossConfig


class IsoglossPreTrainedModel(PreTrainedModel):
    """The base class of bodies and heads: saving, loading, initialisation."""

    config_class = IsoglossConfig
    base_model_prefix = "model"
    supports_gradient_checkpointing = True
    _input_embed_layer = "word_embeddings"
    _no_split_modules = ["Embeddings", "Block"]  # noqa: RUF012, as transformers declares it
    _supports_sdpa = True

    def _init_weights(self, module: nn.Module) -> None:
        """N(0, initializer_range) for weights, 0 for biases, 1 for scales, as in BERT."""
        super()._init_weights(module)
        if isinstance(module, Scale):
            nn.init.ones_(module.weight)
        elif isinstance(module, ResidualLinear) and self.config.scaled_init:
            std = self.config.initializer_range / (2 * self.config.num_hidden_layers) ** 0.5
            nn.init.normal_(module.weight, std=std)


class Embeddings(nn.Module):
    """The sum of word, position and token-type embeddings, normalised in every scheme."""

    def __init__(self, config: IsoglossConfig):
        super().__init__()
        units = config.hidden_size
        self.word_embeddings = nn.Embedding(config.vocab_size, units, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, units)
        kinds = config.type_vocab_size
        self.token_type_embeddings = nn.Embedding(kinds, units) if kinds else None
        self.norm = layer_norm(units, config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, words: Tensor, token_type_ids: Tensor | None, position_ids: Tensor | None) -> Tensor:
        tokens, longest = words.shape[1], self.position_embeddings.num_embeddings
        if tokens > longest:
            raise UsageError(f"this network has positions for {longest} tokens, got {tokens}; truncate the text")
        if position_ids is None:
            position_ids = torch.arange(tokens, device=words.device)[None]
        if self.token_type_embeddings is not None:
            kinds = torch.zeros_like(position_ids) if token_type_ids is None else token_type_ids
            words = words + self.token_type_embeddings(kinds)
        normed: Tensor = self.dropout(self.norm(words + self.position_embeddings(position_ids)))
        return normed


class IsoglossModel(IsoglossPreTrainedModel):
    """A Transformer encoder or a causal decoder, with any scheme of normalisation.

    `hidden_states` are the embedding output and the raw output of every block, but the last is after the final norm,
    as in transformers. Post-LN has no final norm.
    """

    def __init__(self, config: IsoglossConfig):
        super().__init__(config)
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers))
        self.final_norm = nn.Identity() if config.norm == "post" else layer_norm(config.hidden_size, config)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_hidden_states: bool | None = None,
        use_cache: bool | None = None,
    ) -> BaseModelOutput:
        """The states of every token.

        `attention_mask`: 1 for tokens and 0 for padding, or `[text, 1, token, visible token]`. `use_cache` is ignored,
        and so are `token_type_ids` without token types.
        """
        if (input_ids is None) == (inputs_embeds is None):
            raise UsageError("expected either input_ids or inputs_embeds")
        words = self.embeddings.word_embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        states = self.embeddings(words, token_type_ids, position_ids)
        mask = attention_mask if attention_mask is None else visible_tokens(attention_mask, self.config.causal)
        keep_states = self.config.output_hidden_states if output_hidden_states is None else output_hidden_states
        all_states = []
        for block in self.layers:
            all_states += [states] if keep_states else []
            states = block(states, mask)
        states = self.final_norm(states)
        return BaseModelOutput(last_hidden_state=states, hidden_states=(*all_states, states) if keep_states else None)


def visible_tokens(attention_mask: Tensor, causal: bool) -> Tensor:
    """`[text, 1, token or 1, visible token]`: the attention mask. A causal token always attends to itself.

    >>> visible_tokens(torch.tensor([[0, 1, 1]]), causal=True).int().tolist()
    [[[[1, 0, 0], [0, 1, 0], [0, 1, 1]]]]
    """
    if attention_mask.ndim == 4:
        return attention_mask
    visible = attention_mask[:, None, None].bool()
    if not causal:
        return visible
    square = torch.ones(2 * (visible.shape[-1],), dtype=torch.bool, device=visible.device)
    # otherwise left padding would attend to nothing, and its states would be NaN
    return (visible & square.tril()) | torch.eye(len(square), dtype=torch.bool, device=visible.device)
