"""Clipping inside the optimizer's kernel gives the weights of clipping before the step."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from isogloss.training.engine.optimizer import adamw
from isogloss.training.engine.trainable import Trainable


@pytest.mark.parametrize("max_norm", [0.01, 1.0, float("inf")])
def test_weights_are_those_of_clipping_before_the_step(max_norm: float) -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 2))
    reference = copy.deepcopy(network)
    trainable, optimizer = Trainable(network, 0), adamw(list(network.parameters()), 0.1, 0.01)
    # a plain Adam with the same decay, whose steps see gradients that were clipped before
    groups = [{"params": [p for p in reference.parameters() if (p.ndim > 1) is decayed], "weight_decay": share}
              for decayed, share in ((True, 0.01), (False, 0.0))]  # fmt: skip
    plain = torch.optim.AdamW(groups, lr=0.1, foreach=False)
    for step in range(5):
        inputs = torch.randn(9, 5) * 10.0**step
        for each, chosen in ((network, optimizer), (reference, plain)):
            chosen.zero_grad()
            each(inputs).square().sum().backward()
        norm = trainable.clip_gradients(list(network.parameters()), max_norm, optimizer)
        torch.testing.assert_close(norm, nn.utils.clip_grad_norm_(reference.parameters(), max_norm))
        optimizer.step()
        plain.step()
    for weight, expected in zip(network.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(weight, expected, rtol=1e-4, atol=1e-5)
