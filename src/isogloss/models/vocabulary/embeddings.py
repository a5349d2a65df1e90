"""Vectors of new sub-words in the input embeddings and in the language-model head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase


def resize_embeddings(network: PreTrainedModel, size: int) -> None:
    """Resize the embeddings and the head, its bias included, to `size` tokens; existing rows stay."""
    with torch.random.fork_rng(devices=[]):  # transformers initialises the new rows at random; all are set afterwards
        network.resize_token_embeddings(size, mean_resizing=False)
    output = network.get_output_embeddings()
    bias: Tensor | None = getattr(output, "bias", None)
    for module in network.modules():
        # the heads of BERT have a second bias, the same parameter if tied; transformers does not resize it if untied
        if bias is not None and getattr(module, "decoder", None) is output and hasattr(module, "bias"):
            module.bias = bias if network.config.tie_word_embeddings else nn.Parameter(bias.detach().clone())


def token_tables(network: PreTrainedModel) -> list[nn.Parameter]:
    """Parameters with one row per token: input embeddings, untied output embeddings, the bias of the head."""
    output = network.get_output_embeddings()
    tables = [network.get_input_embeddings().get_parameter("weight")]
    if output is not None:
        names = ["weight", *(["bias"] if getattr(output, "bias", None) is not None else [])]
        tables += [output.get_parameter(name) for name in names]
    return list({id(table): table for table in tables}.values())


@torch.no_grad()
def set_rows(table: Tensor, first: int, old_rows: int, sources: Sequence[Sequence[int]], random: Tensor) -> None:
    """Set the rows from `first` on: each is the mean of its source rows or, without sources, random.

    `random` has a row of standard normal numbers for each new row; mean and deviation are those of the old rows.
    """
    old = table[:old_rows].float()
    centre, spread = old.mean(0), old.std(0)
    noise = random[:, : table.shape[1]] if table.ndim > 1 else random[:, 0] * 0  # a bias without sources is the mean
    rows = [
        old[list(source)].mean(0) if source else centre + spread * noise[number].to(old.device)
        for number, source in enumerate(sources)
    ]
    table[first : first + len(rows)] = torch.stack(rows).to(table.dtype)


def lexicon_sources(
    tokenizer: PreTrainedTokenizerBase,
    new: Mapping[int, Sequence[int]],
    translations: Mapping[str, Sequence[str]],
    first: int,
) -> list[Sequence[int]]:
    """For each new piece, the old pieces of the translations of the words with this piece, or its old pieces.

    `new`: the id of each new piece and the old pieces that it consists of; `translations`: word → translations.
    """
    sources: dict[int, list[int]] = {}
    for word, target_words in translations.items():
        pieces = [number for number in tokenizer(word, add_special_tokens=False)["input_ids"] if number in new]
        for translation in target_words if pieces else ():
            old = [number for number in tokenizer(translation, add_special_tokens=False)["input_ids"] if number < first]
            for number in pieces:
                sources.setdefault(number, []).extend(old)
    return [sources.get(number) or parts for number, parts in new.items()]
