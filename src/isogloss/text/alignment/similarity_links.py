"""Word links from similarity matrices, vectorised over sentence pairs.

Arrays are `[pair, source word, target word]`, padded; `present` is false for padding. The most similar word in the
other sentence gives the forward and reverse links; links in both directions are the mutual argmax. Iterative maximum
then adds links: similarities are multiplied by 0.9 where one of the two words already has a link and by 0 where both
have, and the mutual argmax of the result is added, so that a word can have several links.

Reference: Jalili Sabet, Dufter, Yvon & Schütze (2020), SimAlign (Argmax, IterMax). As in its code, there is no second
round for sentences of one or two words, and for sentences in which all words have links.
"""

from __future__ import annotations

import torch
from torch import Tensor

LINKED_WORD_WEIGHT = 0.9
COSINE_TOLERANCE = 1e-7  # smaller differences are rounding errors: the first word wins


def cosines(source: Tensor, target: Tensor) -> Tensor:
    """`[pair, source word, target word]` from `[pair, word, unit]` of both sides, in float64.

    In some models all cosines are close to 1, which float32 would not distinguish.

    >>> cosines(torch.tensor([[[2.0, 0.0]]]), torch.tensor([[[0.0, 1.0], [3.0, 0.0]]])).tolist()
    [[[0.0, 1.0]]]
    """
    source_unit, target_unit = (torch.nn.functional.normalize(side.double(), dim=2) for side in (source, target))
    return torch.bmm(source_unit, target_unit.transpose(1, 2))


def best_partners(similarity: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
    """Where the target word is the most similar one for the source word, and vice versa.

    >>> similarity = torch.tensor([[[0.9, 0.8], [0.1, 0.2]]])
    >>> forward, reverse = best_partners(similarity, similarity > 0)
    >>> forward.int().tolist(), reverse.int().tolist()
    ([[[1, 0], [0, 1]]], [[[1, 1], [0, 0]]])
    """
    allowed = similarity.masked_fill(~present, -torch.inf)
    return _highest(allowed, 2) & present, _highest(allowed, 1) & present


def iterative_maximum(similarity: Tensor, present: Tensor, rounds: int = 2) -> Tensor:
    """The mutual argmax, repeated for words that have no link yet."""
    forward, reverse = best_partners(similarity, present)
    links = forward & reverse
    words = [present.any(2), present.any(1)]
    long = torch.minimum(words[0].sum(1), words[1].sum(1)) > 2
    scaled = (similarity + 1) / 2  # in [0, 1], so that the weight reduces it
    for _ in range(rounds - 1):
        source, target = words[0] & ~links.any(2), words[1] & ~links.any(1)
        both_unlinked = source[:, :, None] & target[:, None, :]
        free = (source[:, :, None] | target[:, None, :]) & present
        open_pairs = (source.any(1) & target.any(1) & long)[:, None, None]
        weighted = torch.where(both_unlinked, scaled, LINKED_WORD_WEIGHT * scaled)
        forward, reverse = best_partners(weighted, free & open_pairs)
        links = links | (forward & reverse)
    return links


def _highest(similarity: Tensor, dim: int) -> Tensor:
    """True at the first of the highest values along a dimension."""
    near = similarity >= similarity.amax(dim, keepdim=True) - COSINE_TOLERANCE
    first = near.to(torch.uint8).argmax(dim, keepdim=True)
    return torch.zeros_like(near).scatter_(dim, first, True)
