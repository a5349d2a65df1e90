"""A linear-chain conditional random field: whole sequences of tags, scored by word and by neighbouring pair.

score(tags) = first[t₁] + Σ words[i, tᵢ] + Σ steps[tᵢ, tᵢ₊₁] + last[tₙ]; p(tags) = exp(score) / Z. The forward
algorithm sums over all sequences, Viterbi's finds the best; both take a step per word for all sentences at once.
Reference: Lafferty, McCallum & Pereira (2001).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LinearChainCrf(nn.Module):
    """Scores of pairs of tags, and of the tags that begin and end a sentence; all 0 at first."""

    def __init__(self, tags: int):
        super().__init__()
        self.first, self.last = nn.Parameter(torch.zeros(tags)), nn.Parameter(torch.zeros(tags))
        self.steps = nn.Parameter(torch.zeros(tags, tags))

    def log_likelihood(self, words: Tensor, tags: Tensor, known: Tensor) -> Tensor:
        """Of each sentence's tags, given `words[sentence, word, tag]`; `known` is False for padding.

        A negative tag is not given: the likelihood is that of any tag there.
        """
        wanted = torch.arange(words.shape[-1], device=words.device) == tags[..., None]
        allowed = words.masked_fill(~(wanted | (tags < 0)[..., None]), float("-inf"))
        wanted_sum, whole_sum = self.log_sum(torch.cat([allowed, words]), torch.cat([known, known])).chunk(2)
        return wanted_sum - whole_sum

    def log_sum(self, words: Tensor, known: Tensor) -> Tensor:
        """log Z of each sentence: over all sequences of tags."""
        sums = self.first + words[:, 0]
        for i in range(1, words.shape[1]):
            longer = (sums[:, :, None] + self.steps).logsumexp(1) + words[:, i]
            sums = longer.where(known[:, i, None], sums)
        return (sums + self.last).logsumexp(-1)

    @torch.no_grad()
    def best(self, words: Tensor, known: Tensor) -> Tensor:
        """`[sentence, word]`: the most probable tags as a whole; of no meaning at padding."""
        sums, came_from = self.first + words[:, 0], []
        itself = torch.arange(words.shape[-1], device=words.device)
        for i in range(1, words.shape[1]):
            longer, previous = (sums[:, :, None] + self.steps).max(1)
            sums = (longer + words[:, i]).where(known[:, i, None], sums)
            came_from.append(previous.where(known[:, i, None], itself))
        tags = [(sums + self.last).argmax(-1, keepdim=True)]
        for previous in reversed(came_from):
            tags.append(previous.gather(1, tags[-1]))
        return torch.cat(tags[::-1], 1)
