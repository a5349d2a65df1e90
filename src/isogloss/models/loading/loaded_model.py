"""A loaded model: its network, its text stack, its tokenizer and what is known about them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from isogloss.core.errors import InputError
from isogloss.models.loading.families import Family, family_of
from isogloss.models.loading.placement import execution_device

Layer = int | str  # 0 … L, or FINAL
FINAL = "final"  # the last block's output after the final norm (pre-LN families)
MAX_PLAUSIBLE_LENGTH = 1_000_000  # tokenizers without a length limit report a huge number
DEFAULT_MAX_LENGTH = 512


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model ready for use, in evaluation mode.

    `network` is what was loaded, with its head if one was asked for; `body` is the text stack inside it.
    `prefix` and `suffix` are the special tokens around every sentence, as in the model's training. `pooler` has the
    weights, where the files hold any, of the layer by which BERT was trained to judge pairs of sentences: no state is
    made with it, so the body is without, but a classifier of texts starts from it.
    """

    name: str
    network: nn.Module
    body: nn.Module
    tokenizer: transformers.PreTrainedTokenizerBase
    family: Family
    layers: int
    hidden_size: int
    max_length: int
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    pooler: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def blocks(self) -> list[nn.Module]:
        return list(self.body.get_submodule(self.family.blocks).children())

    @property
    def final_norm(self) -> nn.Module | None:
        return self.body.get_submodule(self.family.final_norm) if self.family.final_norm else None

    @property
    def layer_names(self) -> tuple[Layer, ...]:
        """0 (embedding output), 1 … L (blocks, raw) and, where there is a final norm, "final"."""
        return (*range(self.layers + 1), *([FINAL] if self.family.final_norm else []))

    @property
    def last_layer(self) -> Layer:
        """What heads read: the last block's output, after the final norm where there is one."""
        return FINAL if self.family.final_norm else self.layers

    @property
    def device(self) -> torch.device:
        """Where inputs go."""
        return execution_device(self.body)


def wrap_network(name: str, network: nn.Module, body: nn.Module, tokenizer: Any) -> LoadedModel:
    """A `LoadedModel` around a network at hand: its family, sizes and special tokens."""
    config: Any = body.config
    family = family_of(body)
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise InputError(name, "a tokenizer with a vocabulary", "special tokens only")
    prefix, suffix = _special_tokens(name, tokenizer, family)
    return LoadedModel(
        name=name,
        network=network.eval(),
        body=body,
        tokenizer=tokenizer,
        family=family,
        layers=len(list(body.get_submodule(family.blocks).children())),
        hidden_size=config.get_text_config().hidden_size,
        max_length=_max_length(tokenizer, config, family),
        prefix=prefix,
        suffix=suffix,
    )


def clone(model: LoadedModel) -> LoadedModel:
    """The model with weights of its own, to be changed."""
    network, body = copy.deepcopy((model.network, model.body))  # together: one lies within the other
    return replace(model, network=network, body=body)


def _special_tokens(name: str, tokenizer: Any, family: Family) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What the tokenizer puts before and after a text, found by asking it; with BOS where the family needs it."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    framed = tokenizer("a")["input_ids"]
    starts = [i for i in range(len(framed) - len(bare) + 1) if framed[i : i + len(bare)] == bare]
    if not starts:
        raise InputError(name, "a tokenizer that puts special tokens around the text", f"{bare} within {framed}")
    prefix, suffix = tuple(framed[: starts[0]]), tuple(framed[starts[0] + len(bare) :])
    if family.bos and tokenizer.bos_token_id is None:
        raise InputError(name, "a tokenizer with a BOS token, which this family is trained with", "none")
    if family.bos and tokenizer.bos_token_id not in prefix:
        prefix = (tokenizer.bos_token_id, *prefix)
    return prefix, suffix


def _max_length(tokenizer: Any, config: Any, family: Family) -> int:
    """The longest input in tokens, special ones included."""
    text = config.get_text_config()
    positions = getattr(text, "max_position_embeddings", None)
    if positions and family.padded_positions:
        positions -= text.pad_token_id + 1
    known = [positions or family.max_length, tokenizer.model_max_length]
    return min([n for n in known if n and n < MAX_PLAUSIBLE_LENGTH], default=DEFAULT_MAX_LENGTH)
