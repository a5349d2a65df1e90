"""A linear-chain conditional random field over sequences of tags.

score(tags) = first[t₁] + Σ words[i, tᵢ] + Σ steps[tᵢ, tᵢ₊₁] + last[tₙ]; p(tags) = exp(score) / Z. The forward
algorithm sums over all sequences, the Viterbi algorithm finds the best one; both process one word of all sentences per
step.
Reference: Lafferty, McCallum & Pereira (2001).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LinearChainCrf(nn.Module):
    """Scores of tag transitions and of the first and last tag of a sentence, initialised with 0."""

    def __init__(self, tags: int):
        super().__init__()
        self.first, self.last = nn.Parameter(torch.zeros(tags)), nn.Parameter(torch.zeros(tags))
        self.steps = nn.Parameter(torch.zeros(tags, tags))

    def log_likelihood(self, words: Tensor, tags: Tensor, word_mask: Tensor) -> Tensor:
        """The log-likelihood of the tags of each sentence, given `words[sentence, word, tag]`.

        `word_mask` is False for padding. A negative tag is missing: the likelihood is summed over all tags there.
        """
        gold = torch.arange(words.shape[-1], device=words.device) == tags[..., None]
        allowed = words.masked_fill(~(gold | (tags < 0)[..., None]), float("-inf"))
        gold_sum, total_sum = self.log_sum(torch.cat([allowed, words]), torch.cat([word_mask, word_mask])).chunk(2)
        return gold_sum - total_sum

    def log_sum(self, words: Tensor, word_mask: Tensor) -> Tensor:
        """log Z of each sentence, over all tag sequences."""
        sums = self.first + words[:, 0]
        for i in range(1, words.shape[1]):
            longer = (sums[:, :, None] + self.steps).logsumexp(1) + words[:, i]
            sums = longer.where(word_mask[:, i, None], sums)
        return (sums + self.last).logsumexp(-1)

    @torch.no_grad()
    def best(self, words: Tensor, word_mask: Tensor) -> Tensor:
        """`[sentence, word]`: the most probable tag sequence; arbitrary at padding."""
        sums, backpointers = self.first + words[:, 0], []
        itself = torch.arange(words.shape[-1], device=words.device)
        for i in range(1, words.shape[1]):
            longer, previous = (sums[:, :, None] + self.steps).max(1)
            sums = (longer + words[:, i]).where(word_mask[:, i, None], sums)
            backpointers.append(previous.where(word_mask[:, i, None], itself))
        tags = [(sums + self.last).argmax(-1, keepdim=True)]
        for previous in reversed(backpointers):
            tags.append(previous.gather(1, tags[-1]))
        return torch.cat(tags[::-1], 1)
