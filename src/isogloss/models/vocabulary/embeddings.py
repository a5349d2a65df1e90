"""Vectors of new sub-words, in the input embeddings and in whatever predicts tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn


def resize(network: Any, size: int) -> None:
    """Room for `size` tokens in the embeddings and in the head, its bias included; what is there stays."""
    with torch.random.fork_rng(devices=[]):  # the library draws the new rows, all of which are set afterwards
        network.resize_token_embeddings(size, mean_resizing=False)
    output = network.get_output_embeddings()
    bias: Any = getattr(output, "bias", None)
    for module in network.modules():
        # BERT's heads have a second bias: the output's own where tied; untied, the library forgets it
        if bias is not None and getattr(module, "decoder", None) is output and hasattr(module, "bias"):
            module.bias = bias if network.config.tie_word_embeddings else nn.Parameter(bias.detach().clone())


def token_tables(network: Any) -> list[nn.Parameter]:
    """All that has one row for each token: input embeddings, output embeddings where not the same, the head's bias."""
    output = network.get_output_embeddings()
    found = [network.get_input_embeddings().weight]
    if output is not None:
        found += [output.weight, *([output.bias] if getattr(output, "bias", None) is not None else [])]
    return list({id(table): table for table in found}.values())


@torch.no_grad()
def set_rows(table: Tensor, first: int, known: int, sources: Sequence[Sequence[int]], random: Tensor) -> None:
    """Rows `first` … of a table: each the mean of the rows of its sources, or where it has none drawn like the others.

    `random` has a row of standard normal numbers for each; the mean and the deviation are of the `known` first rows.
    """
    old = table[:known].float()
    centre, spread = old.mean(0), old.std(0)
    noise = random[:, : table.shape[1]] if table.ndim > 1 else random[:, 0] * 0  # a bias is the mean
    rows = [
        old[list(source)].mean(0) if source else centre + spread * noise[number].to(old.device)
        for number, source in enumerate(sources)
    ]
    table[first : first + len(rows)] = torch.stack(rows).to(table.dtype)


def lexicon_sources(
    tokenizer: Any, new: Mapping[int, Sequence[int]], translations: Mapping[str, Sequence[str]], first: int
) -> list[Sequence[int]]:
    """For each new piece the old pieces of the words that translate the words it occurs in; its own where none does.

    `new`: the ids of new pieces, with the old pieces that each is made of; `translations`: those of the language.
    """
    found: dict[int, list[int]] = {}
    for word, several in translations.items():
        pieces = [number for number in tokenizer(word, add_special_tokens=False)["input_ids"] if number in new]
        for other in several if pieces else ():
            old = [number for number in tokenizer(other, add_special_tokens=False)["input_ids"] if number < first]
            for number in pieces:
                found.setdefault(number, []).extend(old)
    return [found.get(number) or own for number, own in new.items()]
