"""Weight updates: gradients of all workers, clipping and the optimizer, with bf16 computation and fp32 weights."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.optim.optimizer import StateDict

from isogloss.training.engine.bf16_copy import Bf16Copy
from isogloss.training.engine.distributed import WorkerGroup
from isogloss.training.engine.optimizer import CombinedOptimizer
from isogloss.training.engine.trainable import Trainable


class NetworkUpdater:
    """Updates the weights of a trainable; `network` computes the losses, in bf16 if `bf16_copy`.

    `losses` is the sum of the losses since it was last set to zero, `norms` the sum of all gradient norms, which is
    finite as long as every gradient was; both have one value per network. `rate`: a tensor with the learning rate, for
    steps that are recorded as CUDA graphs.
    """

    def __init__(
        self,
        trainable: Trainable,
        optimizer: torch.optim.Optimizer | CombinedOptimizer,
        workers: WorkerGroup,
        *,
        clip: float,
        bf16_copy: bool,
        rate: Tensor | None = None,
    ):
        self.trainable, self.optimizer, self.workers, self.clip = trainable, optimizer, workers, clip
        self.parameters = [p for p in trainable.network.parameters() if p.requires_grad]
        self.device = self.parameters[0].device
        self.losses = torch.zeros(len(trainable.members), dtype=torch.float64, device=self.device)
        self.norms = torch.zeros(len(trainable.members), device=self.device)
        self._copy, self._rate = Bf16Copy(trainable.network, bf16_copy), rate
        self.network = self._copy.network

    def set_learning_rate(self, rate: float) -> None:
        if self._rate is not None:
            self._rate.fill_(rate)
        else:
            for group in self.optimizer.param_groups:
                group["lr"] = rate

    def backward(self, loss: Tensor) -> None:
        """Add the gradient of a loss, or of one loss per network."""
        torch.autograd.backward(loss.sum())
        self.losses += loss.detach()

    def update(self) -> None:
        """Update the weights with the gradients of all workers."""
        self._copy.collect_gradients()
        self.workers.all_reduce_gradients(self.parameters)
        self.norms += self.trainable.clip_gradients(self.parameters, self.clip, self.optimizer)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self._copy.copy_weights()

    def train(self) -> None:
        """Put the network into training mode."""
        self.trainable.network.train()
        self.network.train()

    def state_dict(self) -> StateDict:
        return {"network": self.trainable.network.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, state: StateDict) -> None:
        self.trainable.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self._rate is not None:
            for group in self.optimizer.param_groups:
                group["lr"] = self._rate
        self._copy.copy_weights()
