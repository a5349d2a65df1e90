"""Heads on isogloss' own body: masked and causal language models, token and sequence labels, answer spans.

The same heads as BERT's, so that schemes of normalisation differ in nothing else.
"""

# The model library leaves its base classes untyped.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers.activations import ACT2FN
from transformers.modeling_outputs import (
    CausalLMOutput,
    MaskedLMOutput,
    QuestionAnsweringModelOutput,
    SequenceClassifierOutput,
    TokenClassifierOutput,
)

from isogloss.core.errors import UsageError
from isogloss.models.normformer.blocks import layer_norm
from isogloss.models.normformer.config import IsoglossConfig
from isogloss.models.normformer.network import IsoglossModel, IsoglossPreTrainedModel

EMBEDDINGS = "model.embeddings.word_embeddings.weight"


class MaskedHead(nn.Module):
    """BERT's: a layer of its own before the vocabulary."""

    def __init__(self, config: IsoglossConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = ACT2FN[config.hidden_act]
        self.norm = layer_norm(config.hidden_size, config)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, states: Tensor) -> Tensor:
        logits: Tensor = self.decoder(self.norm(self.activation(self.dense(states))))
        return logits


class IsoglossForMaskedLM(IsoglossPreTrainedModel):
    """An encoder that fills in masked tokens; `labels` are -100 where nothing is asked."""

    _tied_weights_keys = {"lm_head.decoder.weight": EMBEDDINGS}  # noqa: RUF012, the model library's own protocol

    def __init__(self, config: IsoglossConfig):
        super().__init__(config)
        if config.causal:
            raise UsageError("a causal network cannot be a masked language model; load it as a causal one")
        self.model = IsoglossModel(config)
        self.lm_head = MaskedHead(config)
        self.post_init()

    def get_output_embeddings(self) -> nn.Module:
        decoder: nn.Module = self.lm_head.decoder
        return decoder

    def set_output_embeddings(self, new: nn.Linear) -> None:
        self.lm_head.decoder = new

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        **inputs: Any,
    ) -> MaskedLMOutput:
        output = self.model(input_ids, attention_mask, **inputs)
        logits = self.lm_head(output.last_hidden_state)
        return MaskedLMOutput(loss=loss_of(logits, labels), logits=logits, hidden_states=output.hidden_states)


class IsoglossForCausalLM(IsoglossPreTrainedModel):
    """A decoder that foretells the next token; `labels` are the tokens themselves, -100 where nothing is asked."""

    _tied_weights_keys = {"lm_head.weight": EMBEDDINGS}  # noqa: RUF012

    def __init__(self, config: IsoglossConfig):
        super().__init__(config)
        if not config.causal:
            raise UsageError("this network sees both sides of a token; a causal language model needs causal=True")
        self.model = IsoglossModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        **inputs: Any,
    ) -> CausalLMOutput:
        output = self.model(input_ids, attention_mask, **inputs)
        logits = self.lm_head(output.last_hidden_state)
        loss = None if labels is None else loss_of(logits[:, :-1], labels[:, 1:])
        return CausalLMOutput(loss=loss, logits=logits, hidden_states=output.hidden_states)


class IsoglossForTokenClassification(IsoglossPreTrainedModel):
    """A label for every token."""

    def __init__(self, config: IsoglossConfig):
        super().__init__(config)
        self.model = IsoglossModel(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels or 0)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        **inputs: Any,
    ) -> TokenClassifierOutput:
        output = self.model(input_ids, attention_mask, **inputs)
        logits = self.classifier(self.dropout(output.last_hidden_state))
        return TokenClassifierOutput(loss=loss_of(logits, labels), logits=logits, hidden_states=output.hidden_states)


class IsoglossForSequenceClassification(IsoglossPreTrainedModel):
    """A label for a text: read from the first token through BERT's pooler, or from the last where causal."""

    def __init__(self, config: IsoglossConfig):
        super().__init__(config)
        units = config.hidden_size
        self.model = IsoglossModel(config)
        self.pooler = nn.Identity() if config.causal else nn.Sequential(nn.Linear(units, units), nn.Tanh())
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(units, config.num_labels or 0)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        **inputs: Any,
    ) -> SequenceClassifierOutput:
        output = self.model(input_ids, attention_mask, **inputs)
        states = output.last_hidden_state
        text = last_token(states, attention_mask) if self.config.causal else states[:, 0]
        logits = self.classifier(self.dropout(self.pooler(text)))
        return SequenceClassifierOutput(loss=loss_of(logits, labels), logits=logits, hidden_states=output.hidden_states)


class IsoglossForQuestionAnswering(IsoglossPreTrainedModel):
    """Where an answer starts and where it ends."""

    def __init__(self, config: IsoglossConfig):
        super().__init__(config)
        self.model = IsoglossModel(config)
        self.qa_outputs = nn.Linear(config.hidden_size, 2)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        **inputs: Any,
    ) -> QuestionAnsweringModelOutput:
        output = self.model(input_ids, attention_mask, **inputs)
        start, end = self.qa_outputs(output.last_hidden_state).unbind(-1)
        loss: Any = None
        if start_positions is not None and end_positions is not None:
            loss = (cross_entropy(start.float(), start_positions) + cross_entropy(end.float(), end_positions)) / 2
        return QuestionAnsweringModelOutput(
            loss=loss, start_logits=start, end_logits=end, hidden_states=output.hidden_states
        )


def loss_of(logits: Tensor, labels: Tensor | None) -> Any:
    """The mean cross-entropy of the labels that are not -100, in single precision."""
    if labels is None:
        return None
    return cross_entropy(logits.float().flatten(0, -2), labels.flatten())


def last_token(states: Tensor, mask: Tensor | None) -> Tensor:
    """The state of each text's last token, wherever its padding is.

    >>> states = torch.tensor([[[1.0], [3.0], [9.0]]])
    >>> last_token(states, torch.tensor([[1, 1, 0]])).item(), last_token(states, torch.tensor([[0, 1, 1]])).item()
    (3.0, 9.0)
    """
    if mask is None:
        return states[:, -1]
    places = torch.arange(mask.shape[1], device=mask.device)
    return states[torch.arange(len(states), device=states.device), (places * mask).argmax(1)]
