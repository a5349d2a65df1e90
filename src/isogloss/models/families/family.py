"""The declaration of a model family: everything in isogloss that depends on the architecture of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # listing the families must not import torch
    from transformers import PreTrainedConfig


@dataclass(frozen=True)
class AdapterSites:
    """Modules of a block after which bottleneck adapters are inserted.

    The output of `attention` and of `feed_forward` is added to the residual stream. Where the model applies dropout to
    that output in a separate module, that module is named: adapters come after it. `norm` is the layer norm that
    follows the feed-forward residual in post-LN blocks.
    """

    attention: str
    feed_forward: str
    norm: str | None = None


@dataclass(frozen=True)
class Family:
    """The architecture of one model family.

    `blocks`, `final_norm` and `embeddings` are names of sub-modules of the text stack (`LoadedModel.body`);
    `attention`, `feed_forward`, `norms` and `adapters` name sub-modules of one block. `attention`, `feed_forward` and
    `norms` together hold every parameter of a block.

    Attributes:
        blocks: The list of Transformer blocks.
        final_norm: The norm after the last block, for pre-LN families.
        embeddings: The module with the embedding tables.
        causal: Whether a token attends only to the tokens before it.
        attention: The projections of attention. LoRA is applied to the linear layers among them.
        feed_forward: The projections of the feed-forward.
        norms: The layer norms and learned scales of a block.
        adapters: Where bottleneck adapters are inserted.
        prepend_bos: Prepend the BOS token if the tokenizer does not, because the model was trained with it.
        positions_after_padding: Positions count from the padding id + 1, which shortens the maximum input length.
        max_length: The sequence length used in pretraining, for families without a position table.
        encoder_decoder: The text stack is the encoder of an encoder-decoder model, without a language-model head.
        packs_texts: The text stack takes positions and a mask per token, so that several texts share a row.
        stackable: Several networks of this family can be trained as one (`training.stacking`).
    """

    blocks: str
    final_norm: str | None
    embeddings: str
    causal: bool = False
    attention: tuple[str, ...] = ()
    feed_forward: tuple[str, ...] = ()
    norms: tuple[str, ...] = ()
    adapters: AdapterSites | None = None
    prepend_bos: bool = False
    positions_after_padding: bool = False
    max_length: int | None = None
    encoder_decoder: bool = False
    packs_texts: bool = False
    stackable: bool = False

    def for_config(self, config: PreTrainedConfig) -> Family:
        """The declaration for one configuration; families with variants override this."""
        return self
