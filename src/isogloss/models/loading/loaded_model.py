"""A loaded model: its network, its text stack, its tokenizer and their properties."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from isogloss.core.errors import InputError
from isogloss.models.families.discovery import family_of
from isogloss.models.families.family import Family
from isogloss.models.loading.placement import execution_device

Layer = int | str  # 0 … L, or FINAL
LayerOutput = Tensor | tuple[Tensor, ...]  # of a block; the hidden states come first
FINAL = "final"  # the output of the last block after the final norm (pre-LN families)
MAX_PLAUSIBLE_LENGTH = 1_000_000  # tokenizers without a length limit report a huge number
DEFAULT_MAX_LENGTH = 512


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model in evaluation mode with its tokenizer.

    Attributes:
        name: The name or folder that it was loaded from.
        network: The network with its language-model head if one was requested, otherwise `body`.
        body: The text stack inside the network, which computes hidden states.
        tokenizer: The tokenizer.
        family: The architecture of the body.
        layers: The number of blocks.
        hidden_size: The number of units of a hidden state.
        max_length: The maximum number of input tokens, special tokens included.
        prefix: Special tokens before every sentence, as in pretraining.
        suffix: Special tokens after every sentence.
        pooler: The weights of BERT's pooler if the files have them. The body has no pooler because hidden states do
            not depend on it; heads for text classification start from these weights.
    """

    name: str
    network: PreTrainedModel
    body: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
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
        """0 (embedding output), 1 … L (raw block outputs) and, for pre-LN families, "final"."""
        return (*range(self.layers + 1), *([FINAL] if self.family.final_norm else []))

    @property
    def last_layer(self) -> Layer:
        """The input of heads: the output of the last block, after the final norm if there is one."""
        return FINAL if self.family.final_norm else self.layers

    @property
    def device(self) -> torch.device:
        """The device of the inputs."""
        return execution_device(self.body)


def wrap_network(
    name: str, network: PreTrainedModel, body: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> LoadedModel:
    """A `LoadedModel` for a network in memory, with its family, sizes and special tokens."""
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
        hidden_size=body.config.get_text_config().hidden_size,
        max_length=_max_length(tokenizer, body.config, family),
        prefix=prefix,
        suffix=suffix,
    )


def clone(model: LoadedModel) -> LoadedModel:
    """A deep copy of the network, for code that changes weights; the tokenizer is shared."""
    network, body = copy.deepcopy((model.network, model.body))  # in one call, because the body is inside the network
    return replace(model, network=network, body=body)


def _special_tokens(
    name: str, tokenizer: PreTrainedTokenizerBase, family: Family
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The tokens that the tokenizer adds before and after a text, with BOS if the family needs it."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    framed = tokenizer("a")["input_ids"]
    starts = [i for i in range(len(framed) - len(bare) + 1) if framed[i : i + len(bare)] == bare]
    if not starts:
        raise InputError(name, "a tokenizer that puts special tokens around the text", f"{bare} within {framed}")
    prefix, suffix = tuple(framed[: starts[0]]), tuple(framed[starts[0] + len(bare) :])
    if family.prepend_bos and tokenizer.bos_token_id is None:
        raise InputError(name, "a tokenizer with a BOS token, which this family is trained with", "none")
    if family.prepend_bos and tokenizer.bos_token_id not in prefix:
        prefix = (tokenizer.bos_token_id, *prefix)
    return prefix, suffix


def _max_length(tokenizer: PreTrainedTokenizerBase, config: PreTrainedConfig, family: Family) -> int:
    """The maximum number of input tokens, special tokens included."""
    text_config = config.get_text_config()
    positions = getattr(text_config, "max_position_embeddings", None)
    if positions and family.positions_after_padding:
        positions -= text_config.pad_token_id + 1
    limits = [positions or family.max_length, tokenizer.model_max_length]
    return min([limit for limit in limits if limit and limit < MAX_PLAUSIBLE_LENGTH], default=DEFAULT_MAX_LENGTH)
