"""Word links from similarities: which words of a sentence pair find each other. Many pairs at once, no loop.

Arrays are `[pair, source word, target word]`, padded; `present` is false where a pair has no such word. Each
word's best partner gives the two directions; where both agree is the mutual argmax. Iterative maximum goes on
from there: similarities count α = 0.9 of their worth where one of the two words already has a link and nothing
where both have, and the mutual argmax of these adds links, so that a word can have several.

Reference: Jalili Sabet, Dufter, Yvon & Schütze (2020), SimAlign (Argmax, IterMax). As in its code, a second round is
left out for sentences of one or two words, and where a sentence has no word without a link.
"""

from __future__ import annotations

import torch
from torch import Tensor

ALPHA = 0.9
TIE = 1e-7  # cosines that differ by rounding of the states only: the first word wins


def cosines(source: Tensor, target: Tensor) -> Tensor:
    """`[pair, source word, target word]` from `[pair, word, unit]` of both sides, in float64.

    In some models all words have cosines close to 1, which float32 would hardly tell apart.

    >>> cosines(torch.tensor([[[2.0, 0.0]]]), torch.tensor([[[0.0, 1.0], [3.0, 0.0]]])).tolist()
    [[[0.0, 1.0]]]
    """
    one, other = (torch.nn.functional.normalize(side.double(), dim=2) for side in (source, target))
    return torch.bmm(one, other.transpose(1, 2))


def best_partners(similarity: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
    """Where the target word is the best of all for the source word, and where the source word is for the target.

    >>> similarity = torch.tensor([[[0.9, 0.8], [0.1, 0.2]]])
    >>> forward, reverse = best_partners(similarity, similarity > 0)
    >>> forward.int().tolist(), reverse.int().tolist()
    ([[[1, 0], [0, 1]]], [[[1, 1], [0, 0]]])
    """
    allowed = similarity.masked_fill(~present, -torch.inf)
    return _highest(allowed, 2) & present, _highest(allowed, 1) & present


def iterative_maximum(similarity: Tensor, present: Tensor, rounds: int = 2) -> Tensor:
    """The mutual argmax, repeated for words that are still without a link."""
    forward, reverse = best_partners(similarity, present)
    links = forward & reverse
    words = [present.any(2), present.any(1)]
    long = torch.minimum(words[0].sum(1), words[1].sum(1)) > 2
    worth = (similarity + 1) / 2  # from 0 to 1, so that a share of it is less
    for _ in range(rounds - 1):
        source, target = words[0] & ~links.any(2), words[1] & ~links.any(1)
        both = source[:, :, None] & target[:, None, :]
        free = (source[:, :, None] | target[:, None, :]) & present
        open_pairs = (source.any(1) & target.any(1) & long)[:, None, None]
        forward, reverse = best_partners(torch.where(both, worth, ALPHA * worth), free & open_pairs)
        links = links | (forward & reverse)
    return links


def _highest(similarity: Tensor, dim: int) -> Tensor:
    """True at the first of the highest values along a dimension."""
    near = similarity >= similarity.amax(dim, keepdim=True) - TIE
    first = near.to(torch.uint8).argmax(dim, keepdim=True)
    return torch.zeros_like(near).scatter_(dim, first, True)
