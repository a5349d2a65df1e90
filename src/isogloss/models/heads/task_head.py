"""A copy of a model's body with a new head: token classification, sequence classification or span extraction.

If transformers has such a class for the same body, it is used, so that plain transformers loads the fine-tuned network.
Otherwise (XGLM; the encoder of mT5 and BART, whose classes need the decoder; a body with adapters) `WithHead` has the
same interface. Heads are initialised from PyTorch's global generator, except for the pooler of BERT, which is
pretrained if the files have it: published XNLI figures start from it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import (
    ModelOutput,
    QuestionAnsweringModelOutput,
    SequenceClassifierOutput,
    TokenClassifierOutput,
)
from transformers.models.auto import modeling_auto

from isogloss.core.registry import check_name
from isogloss.models.loading.load import POOLER_PREFIX
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import padding_id

Kind = Literal["token", "sequence", "span"]
MODEL_CLASSES = {
    "token": modeling_auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING,
    "sequence": modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    "span": modeling_auto.MODEL_FOR_QUESTION_ANSWERING_MAPPING,
}
DROPOUT_OPTIONS = ("classifier_dropout", "hidden_dropout_prob", "hidden_dropout", "dropout", "dropout_rate")
DEFAULT_DROPOUT = 0.1  # if the configuration has none, as in transformers
SPAN_LABELS = ("start", "end")


def with_head(model: LoadedModel, kind: Kind, labels: Sequence[str] = SPAN_LABELS) -> nn.Module:
    """A new network in training mode; its weights are copies of those of `model`."""
    check_name(kind, MODEL_CLASSES, "head")
    config = labelled_config(model, labels)
    dtype = next(model.body.parameters()).dtype
    model_class = cast(type[PreTrainedModel] | None, MODEL_CLASSES[kind].get(type(config), None))
    if model_class is None or not _same_body(model_class, config, model.body):
        return WithHead(model, kind, config)
    network: nn.Module = model_class._from_config(config, dtype=dtype)
    weights = {**model.body.state_dict(), **model.pooler}
    network.base_model.load_state_dict(weights, strict=False)  # type: ignore[operator, union-attr]
    return network.to(model.device).train()


def labelled_config(model: LoadedModel, labels: Sequence[str]) -> PreTrainedConfig:
    """A copy of the configuration of the body, with the labels."""
    config = copy.deepcopy(model.body.config)
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: number for number, label in enumerate(labels)}
    if model.family.causal:
        config.pad_token_id = padding_id(model)  # causal sequence classifiers find the last token by it
    config.use_cache = False
    return config


class WithHead(nn.Module):
    """A body and a linear layer, with the interface of the classes of transformers.

    The label of a text is predicted from its first token; from the last token if the model is causal; from the mean of
    all tokens if texts do not start with a special token.
    """

    def __init__(self, model: LoadedModel, kind: Kind, config: PreTrainedConfig):
        super().__init__()
        self.kind, self.config = kind, config
        self.body = copied_body(model)
        self.pooling = "last" if model.family.causal else "first" if model.prefix else "mean"
        self.dropout = nn.Dropout(head_dropout(config))
        self.classifier = nn.Linear(model.hidden_size, len(config.id2label or ()))
        nn.init.normal_(self.classifier.weight, std=getattr(config, "initializer_range", None) or 0.02)
        nn.init.zeros_(self.classifier.bias)
        self.classifier.to(device=model.device, dtype=next(self.body.parameters()).dtype)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **inputs: Tensor) -> ModelOutput:
        states = body_states(self.body, input_ids, attention_mask, **inputs)
        if self.kind == "sequence":
            states = pool_text(states, attention_mask, self.pooling)
        logits = self.classifier(self.dropout(states))
        if self.kind == "span":
            return QuestionAnsweringModelOutput(start_logits=logits[..., 0], end_logits=logits[..., 1])
        return (SequenceClassifierOutput if self.kind == "sequence" else TokenClassifierOutput)(logits=logits)


def body_of(network: nn.Module) -> PreTrainedModel:
    """The text stack inside a network with a head."""
    return cast(PreTrainedModel, network.base_model if isinstance(network, PreTrainedModel) else network.body)


def copied_body(model: LoadedModel) -> PreTrainedModel:
    """A copy of the body in training mode, without the key-value cache, which only text generation needs."""
    body = copy.deepcopy(model.body)
    body.train()
    body.config.use_cache = False
    return body


def body_states(body: nn.Module, input_ids: Tensor, attention_mask: Tensor, **inputs: Tensor) -> Tensor:
    """The states of the last layer, after the final norm if there is one."""
    states: Tensor = body(input_ids=input_ids, attention_mask=attention_mask, **inputs).last_hidden_state
    return states


def pool_text(states: Tensor, mask: Tensor, pooling: str) -> Tensor:
    """One vector per text: its first token, its last token, or the mean.

    >>> states, mask = torch.tensor([[[1.0], [3.0], [9.0]]]), torch.tensor([[1, 1, 0]])
    >>> [pool_text(states, mask, pooling).item() for pooling in ("first", "last", "mean")]
    [1.0, 3.0, 2.0]
    """
    if pooling == "mean":
        return (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    place = mask.sum(1) - 1 if pooling == "last" else torch.zeros_like(mask[:, 0])
    return states[torch.arange(len(states), device=states.device), place]


def rows_at(states: Tensor, places: Tensor) -> Tensor:
    """`states[places]`, with a fast and deterministic gradient on a GPU.

    >>> rows_at(torch.tensor([[1.0], [2.0]]), torch.tensor([[1, 0]])).tolist()
    [[[2.0], [1.0]]]
    """
    return functional.embedding(places, states)


def head_dropout(config: PreTrainedConfig) -> float:
    """The dropout that the configuration has for heads, or for the model."""
    values = [getattr(config, name, None) for name in DROPOUT_OPTIONS]
    return next((float(share) for share in values if share is not None), DEFAULT_DROPOUT)


def _same_body(model_class: type[PreTrainedModel], config: PreTrainedConfig, body: nn.Module) -> bool:
    """Whether the class has the same body: same type and same weight shapes, except for a pooler."""
    with torch.device("meta"):
        inside = model_class(config).base_model
    return type(inside) is type(body) and _shapes(inside) == _shapes(body)


def _shapes(body: nn.Module) -> dict[str, torch.Size]:
    return {name: value.shape for name, value in body.state_dict().items() if not name.startswith(POOLER_PREFIX)}
