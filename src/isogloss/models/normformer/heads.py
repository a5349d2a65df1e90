"""Heads for the `isogloss` networks: language models, token and sequence classification, question answering.

They are the heads of BERT, so that schemes of normalisation are compared under the same heads.
"""

# mypy: disable-error-code="no-untyped-call, no-any-return"

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers.activations import ACT2FN
from transformers.modeling_outputs import (
    CausalLMOutput,
    MaskedLMOutput,
    ModelOutput,
    QuestionAnsweringModelOutput,
    SequenceClassifierOutput,
    TokenClassifierOutput,
)

from isogloss.core.errors import UsageError
from isogloss.models.normformer.blocks import layer_norm
from isogloss.models.normformer.config import IsoglossConfig
from isogloss.models.normformer.network import IsoglossModel, IsoglossPreTrainedModel

SpanOutput: type[ModelOutput] = QuestionAnsweringModelOutput
WORD_EMBEDDINGS = "model.embeddings.word_embeddings.weight"


class IsoglossWithHead(IsoglossPreTrainedModel):
    """A body and a head, by default `lm_head`, for logits; `labels` are -100 where no loss is computed."""

    output_class: ClassVar[type[ModelOutput]]

    def __init__(self, config: IsoglossConfig):
        super().__init__(config)
        self.model = IsoglossModel(config)
        self.add_head(config)
        self.post_init()

    def add_head(self, config: IsoglossConfig) -> None:
        raise NotImplementedError

    def logits(self, states: Tensor, attention_mask: Tensor | None) -> Tensor:
        return self.lm_head(states)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(logits.float().flatten(0, -2), labels.flatten())

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        **inputs: Tensor,
    ) -> ModelOutput:
        output = self.model(input_ids, attention_mask, **inputs)
        logits = self.logits(output.last_hidden_state, attention_mask)
        loss = None if labels is None else self.loss(logits, labels)
        return self.output_class(loss=loss, logits=logits, hidden_states=output.hidden_states)


class MaskedHead(nn.Module):
    """The masked-language-model head of BERT: a hidden layer before the vocabulary."""

    def __init__(self, config: IsoglossConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = ACT2FN[config.hidden_act]
        self.norm = layer_norm(config.hidden_size, config)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, states: Tensor) -> Tensor:
        return self.decoder(self.norm(self.activation(self.dense(states))))


class IsoglossForMaskedLM(IsoglossWithHead):
    """An encoder that predicts masked tokens."""

    output_class = MaskedLMOutput
    _tied_weights_keys = {"lm_head.decoder.weight": WORD_EMBEDDINGS}  # noqa: RUF012, as transformers declares it

    def add_head(self, config: IsoglossConfig) -> None:
        if config.causal:
            raise UsageError("a causal network cannot be a masked language model; load it as a causal one")
        self.lm_head = MaskedHead(config)

    def get_output_embeddings(self) -> nn.Module:
        return self.lm_head.decoder

    def set_output_embeddings(self, new: nn.Linear) -> None:
        self.lm_head.decoder = new


class IsoglossForCausalLM(IsoglossWithHead):
    """A decoder that predicts the next token; `labels` are the input tokens."""

    output_class = CausalLMOutput
    _tied_weights_keys = {"lm_head.weight": WORD_EMBEDDINGS}  # noqa: RUF012

    def add_head(self, config: IsoglossConfig) -> None:
        if not config.causal:
            raise UsageError("this network attends to both sides of a token; a causal language model needs causal=True")
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return super().loss(logits[:, :-1], labels[:, 1:])


class IsoglossForTokenClassification(IsoglossWithHead):
    """A label for every token."""

    output_class: ClassVar[type[ModelOutput]] = TokenClassifierOutput

    def add_head(self, config: IsoglossConfig) -> None:
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels or 0)

    def logits(self, states: Tensor, attention_mask: Tensor | None) -> Tensor:
        return self.classifier(self.dropout(states))


class IsoglossForSequenceClassification(IsoglossForTokenClassification):
    """A label for a text: from the first token through the pooler of BERT, or from the last token if causal."""

    output_class = SequenceClassifierOutput

    def add_head(self, config: IsoglossConfig) -> None:
        units = config.hidden_size
        self.pooler = nn.Identity() if config.causal else nn.Sequential(nn.Linear(units, units), nn.Tanh())
        super().add_head(config)

    def logits(self, states: Tensor, attention_mask: Tensor | None) -> Tensor:
        token = last_token(states, attention_mask) if self.config.causal else states[:, 0]
        return super().logits(self.pooler(token), attention_mask)


class IsoglossForQuestionAnswering(IsoglossWithHead):
    """The first and the last token of an answer."""

    def add_head(self, config: IsoglossConfig) -> None:
        self.qa_outputs = nn.Linear(config.hidden_size, 2)

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        **inputs: Tensor,
    ) -> ModelOutput:
        output = self.model(input_ids, attention_mask, **inputs)
        start, end = self.qa_outputs(output.last_hidden_state).unbind(-1)
        loss = None
        if start_positions is not None and end_positions is not None:
            loss = (cross_entropy(start.float(), start_positions) + cross_entropy(end.float(), end_positions)) / 2
        return SpanOutput(loss=loss, start_logits=start, end_logits=end, hidden_states=output.hidden_states)


def last_token(states: Tensor, mask: Tensor | None) -> Tensor:
    """The state of the last token of each text, with padding on either side.

    >>> states = torch.tensor([[[1.0], [3.0], [9.0]]])
    >>> last_token(states, torch.tensor([[1, 1, 0]])).item(), last_token(states, torch.tensor([[0, 1, 1]])).item()
    (3.0, 9.0)
    """
    if mask is None:
        return states[:, -1]
    positions = torch.arange(mask.shape[1], device=mask.device)
    return states[torch.arange(len(states), device=states.device), (positions * mask).argmax(1)]
