"""Muon, against PyTorch's own and against singular values; and that networks go on from a checkpoint with it."""

from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from isogloss.training.engine.muon import Muon, orthogonalize
from isogloss.training.engine.optimizer import CombinedOptimizer, muon


@given(st.integers(2, 24), st.integers(2, 24), st.integers(0, 1000))
def test_singular_values_become_about_one(rows: int, columns: int, seed: int) -> None:
    matrices = torch.randn(3, rows, columns, generator=torch.Generator().manual_seed(seed))
    before, after = torch.linalg.svd(matrices), torch.linalg.svdvals(orthogonalize(matrices))
    clear = before.S / before.S.norm(dim=-1, keepdim=True) > 0.03  # tiny ones need more steps than five
    assert bool(((after > 0.5) & (after < 1.3))[clear].all())
    rotated = before.U.mT @ orthogonalize(matrices) @ before.Vh.mT  # the same singular vectors
    size = min(rows, columns)
    assert torch.allclose(rotated[:, :size, :size], torch.diag_embed(after_in_order(rotated, size)), atol=2e-3)


def after_in_order(rotated: torch.Tensor, size: int) -> torch.Tensor:
    return rotated.diagonal(dim1=-2, dim2=-1)[:, :size]


def test_it_is_pytorchs() -> None:
    torch.manual_seed(0)
    ours = [nn.Parameter(torch.randn(shape)) for shape in ((8, 8), (8, 8), (16, 8), (8, 16))]
    theirs = [nn.Parameter(p.detach().clone()) for p in ours]
    one = Muon(ours, learning_rate=0.02, weight_decay=0.1)
    other = torch.optim.Muon(theirs, lr=0.02, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    for _ in range(5):
        for mine, his in zip(ours, theirs, strict=True):
            mine.grad = torch.randn(mine.shape)
            his.grad = mine.grad.clone()
        one.step()
        other.step()
    for mine, his in zip(ours, theirs, strict=True):
        assert torch.allclose(mine, his, atol=0.02), "theirs iterates in bf16, so the last digits differ"
        assert (mine - his).norm() < 0.01 * his.norm()


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(50, 8), nn.Embedding(16, 8)
        self.inner, self.norm, self.out = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 50)


def test_which_weights_it_moves() -> None:
    """Those within layers, though they may have as many rows as there are places."""
    network = Small()
    both = muon(network, 1e-3, 0.01)
    names = {id(p): name for name, p in network.named_parameters()}
    moved = [{names[id(p)] for group in part.param_groups for p in group["params"]} for part in both.parts]
    assert moved[0] == {"inner.weight"}
    assert moved[1] == set(names.values()) - {"inner.weight"}


def test_it_goes_on_from_its_state() -> None:
    def steps(network: nn.Module, optimizer: CombinedOptimizer, first: int, last: int) -> None:
        for step in range(first, last):
            torch.manual_seed(step)
            for parameter in network.parameters():
                parameter.grad = torch.randn_like(parameter)
            optimizer.step()
            optimizer.zero_grad()

    torch.manual_seed(9)
    whole, rates = Small(), (1e-2, 0.01)
    parted = copy.deepcopy(whole)
    steps(whole, muon(whole, *rates), 0, 6)
    first = muon(parted, *rates)
    steps(parted, first, 0, 3)
    second = muon(parted, *rates)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    steps(parted, second, 3, 6)
    for a, b in zip(whole.parameters(), parted.parameters(), strict=True):
        assert torch.equal(a, b)


def test_no_gradient_no_move() -> None:
    weight = nn.Parameter(torch.ones(4, 4))
    Muon([weight], 0.1, 0.1).step()
    assert torch.equal(weight, torch.ones(4, 4))


@pytest.mark.parametrize("shape", [(1, 5), (5, 1)])
def test_single_rows_and_columns(shape: tuple[int, int]) -> None:
    assert torch.isfinite(orthogonalize(torch.randn(2, *shape))).all()
