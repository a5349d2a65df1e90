"""The forward algorithm and Viterbi's against an enumeration of every sequence of tags."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from isogloss.models.heads.crf import LinearChainCrf


def random_crf(tags: int, lengths: list[int], seed: int) -> tuple[LinearChainCrf, Tensor, Tensor, Tensor]:
    """A field with random weights; word scores, tags and mask of sentences of these lengths."""
    source = torch.Generator().manual_seed(seed)
    crf = LinearChainCrf(tags).double()
    for parameter in crf.parameters():
        parameter.data = torch.randn(parameter.shape, generator=source, dtype=torch.float64)
    shape = (len(lengths), max(lengths))
    words = 2 * torch.randn(*shape, tags, generator=source, dtype=torch.float64)
    known = torch.arange(shape[1]) < torch.tensor(lengths)[:, None]
    gold = torch.randint(tags, shape, generator=source).where(known, -100)
    return crf, words, gold, known


def every_score(crf: LinearChainCrf, words: Tensor) -> dict[tuple[int, ...], float]:
    """The score of every sequence of tags of one sentence, term by term."""
    scores, crf = {}, crf.requires_grad_(False)
    for tags in product(range(words.shape[1]), repeat=len(words)):
        score = crf.first[tags[0]] + crf.last[tags[-1]] + sum(words[i, tag] for i, tag in enumerate(tags))
        scores[tags] = float(score + sum(crf.steps[a, b] for a, b in pairwise(tags)))
    return scores


def log_sum(scores: list[float]) -> float:
    return float(torch.tensor(scores, dtype=torch.float64).logsumexp(0))


SIZES = {"tags": st.integers(1, 4), "lengths": st.lists(st.integers(1, 4), min_size=1, max_size=3)}


@given(**SIZES, seed=st.integers(0, 10**6), hidden=st.integers(0, 3))
def test_likelihood_and_best_are_those_of_the_enumeration(
    tags: int, lengths: list[int], seed: int, hidden: int
) -> None:
    crf, words, gold, known = random_crf(tags, lengths, seed)
    gold[:, hidden:][:, :1] = -100  # one word's tag is not given
    with torch.no_grad():
        likelihoods, best = crf.log_likelihood(words, gold, known), crf.best(words, known)
    for i, length in enumerate(lengths):
        scores = every_score(crf, words[i, :length])
        wanted = gold[i, :length].tolist()
        fitting = [s for t, s in scores.items() if all(w in (-100, tag) for w, tag in zip(wanted, t, strict=True))]
        assert likelihoods[i].item() == pytest.approx(log_sum(fitting) - log_sum(list(scores.values())), abs=1e-9)
        found = tuple(best[i, :length].tolist())
        assert scores[found] == pytest.approx(max(scores.values()), abs=1e-9)


def test_what_stands_in_the_padding_does_not_matter() -> None:
    crf, words, gold, known = random_crf(3, [2, 5, 1], seed=1)
    noise = words.where(known[..., None], 1e3)
    assert torch.equal(crf.log_likelihood(noise, gold, known), crf.log_likelihood(words, gold, known))
    assert torch.equal(crf.best(noise, known)[known], crf.best(words, known)[known])


def test_gradients_are_finite_and_those_of_finite_differences() -> None:
    crf, words, gold, known = random_crf(3, [3, 1], seed=2)
    words.requires_grad_()
    assert torch.autograd.gradcheck(lambda scores: crf.log_likelihood(scores, gold, known), (words,))
    crf.log_likelihood(words, gold, known).sum().backward()  # type: ignore[no-untyped-call]
    assert all(torch.isfinite(p.grad).all() and p.grad.any() for p in crf.parameters() if p.grad is not None)
    assert all(p.grad is not None for p in crf.parameters())
