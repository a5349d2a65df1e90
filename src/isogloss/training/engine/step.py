"""One step of training: the gradients of its items, clipped, and AdamW.

Whatever is random in a step is a pure function of the seed and the step's number, and nothing in it waits for the
device. On a GPU a whole step is recorded and replayed where that is possible (see `graphs.py`), with batches padded to
a few shapes and the network in bf16 beside its weights in fp32; elsewhere its kernels are launched one by one.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn

from isogloss.core.seeds import derive_seed
from isogloss.models.states.attention import padded_attention
from isogloss.models.tokenization.batching import IntArray
from isogloss.tasks.examples import Batch, Shape
from isogloss.training.engine.batch_shapes import group_shapes
from isogloss.training.engine.bf16_copy import Bf16Copy
from isogloss.training.engine.cuda_graphs import (
    GraphRunner,
    HostSyncError,
    Record,
    cuda_graph_recorder,
    supports_cuda_graphs,
)
from isogloss.training.engine.determinism import seed_step
from isogloss.training.engine.distributed import WorkerGroup
from isogloss.training.engine.epoch_order import split_evenly
from isogloss.training.engine.objective import Objective, ShapedLoss
from isogloss.training.engine.optimizer import adamw
from isogloss.training.engine.settings import TrainingSettings, learning_rate_at


class Stepper:
    """Changes a network's weights; `batches` are all steps' items, in their order.

    Where the network handed in is several (see `training/stacking`), a step has items for each of their seeds, and
    `readers` says which of them each network reads.

    `losses` is the sum of the losses since someone set it to zero, `norms` that of the gradients' norms ever since.
    `record`: what records steps, where it is not the GPU. Both are one number for each network.
    """

    def __init__(
        self,
        network: nn.Module,
        objective: Objective,
        settings: TrainingSettings,
        batches: Sequence[Sequence[IntArray]],
        *,
        seed: int,
        workers: WorkerGroup,
        record: Record | None = None,
        readers: Sequence[int] = (0,),
    ):
        self.network, self.objective, self.settings = network, objective, settings
        self.batches, self.seed, self.workers, self.readers = batches, seed, workers, readers
        self.parameters = [p for p in network.parameters() if p.requires_grad]
        self.device = self.parameters[0].device
        self.losses = torch.zeros(len(readers), dtype=torch.float64, device=self.device)
        self.norms = torch.zeros(len(readers), device=self.device)
        bf16, whole = settings.bf16(self.device), workers.world_size == settings.accumulate == 1
        shaped = objective.shaped and (objective.shaped_extra or not objective.extra)
        if record is None and whole and shaped and supports_cuda_graphs(network, self.device):
            record = cuda_graph_recorder()
        self.graphs = GraphRunner(self._whole_step, self.device, record) if record else None
        self.rate = torch.zeros((), device=self.device) if record else None
        decayed = [p.ndim > (1 if len(readers) == 1 else 2) for p in self.parameters]
        self.optimizer = adamw(
            self.parameters, settings, decayed=decayed, rate=self.rate, betas=settings.betas, eps=settings.epsilon
        )
        self.shadow = Bf16Copy(network, bf16 and record is not None)
        self.autocast = bf16 and record is None  # any network and any second loss can compute so
        self.groups = group_shapes(map(self._shape, batches), len(readers)) if objective.shaped and record else {}
        self.extra_shape = self._extra_shape(objective.shaped_extra) if objective.shaped_extra and record else None

    def step(self, number: int) -> None:
        """One update: this worker's share of the items, part by part, then the gradients of all workers."""
        items = self.batches[number]
        seed_step(derive_seed(self.seed, "dropout", number, self.workers.rank), self.device)
        self._set_rate(self.learning_rate(number))
        if self.graphs and all(self.objective.terms[own].any() for own in items):
            try:
                self._run_recorded(self.graphs, number, items)
            except HostSyncError as reason:
                warnings.warn(f"training is slower than it could be: {reason}", stacklevel=2)
                self.graphs = None
                self.shadow.network.zero_grad()
                self.step(number)
        elif len(self.readers) > 1:
            self._launch_stack(items)
        else:
            self._launch(number, items[0])

    def learning_rate(self, number: int) -> float:
        return learning_rate_at(number, len(self.batches), self.settings)

    def train(self) -> None:
        """Put the network into training mode."""
        self.network.train()
        self.shadow.network.train()

    def state(self) -> dict[str, Any]:
        return {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state that was saved."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self.rate is not None:
            for group in self.optimizer.param_groups:
                group["lr"] = self.rate
        self.shadow.copy_weights()

    def close(self) -> None:
        """Let go of recorded steps."""
        self.graphs = None

    def _shape(self, items: Sequence[IntArray]) -> Shape:
        """The least that suits the items of every seed."""
        assert self.objective.shaped is not None
        return reduce(operator.or_, map(self.objective.shaped.shape, items))

    def _run_recorded(self, graphs: GraphRunner, number: int, items: Sequence[IntArray]) -> None:
        shaped, extra = self.objective.shaped, self.objective.shaped_extra
        assert shaped is not None
        shape = self._shape(items)
        group = self.groups[shape.length, shape.rows]
        more = [extra.batch(number, self.extra_shape)] if extra and self.extra_shape else []
        graphs.run(group, *(shaped.batch(own, group.shape) for own in items), *more)

    def _whole_step(self, *batches: Batch) -> None:
        """A step whose items are one batch for each seed, and perhaps another for the second loss: what is recorded."""
        seeds = len(self.batches[0])
        for shaped, batch in zip(
            (self.objective.shaped, self.objective.shaped_extra), (self._read(batches), *batches[seeds:]), strict=False
        ):
            assert shaped is not None
            with padded_attention(self.shadow.network):
                value = shaped.loss(self.shadow.network, batch)
            self._descend(value)
        self._update()

    def _read(self, batches: Sequence[Batch]) -> Batch:
        """What the networks read: the batch, or one for each of them."""
        first, *others = (batches[number] for number in self.readers)
        return first.stack(*others) if others else first

    def _extra_shape(self, extra: ShapedLoss) -> Shape:
        """One shape for the second loss in all steps: it does not multiply what is recorded."""
        return reduce(operator.or_, map(extra.shape, range(len(self.batches))))

    def _launch(self, number: int, items: IntArray) -> None:
        terms, objective = self.objective.terms, self.objective
        for part in split_evenly(items[self.workers.rank :: self.workers.world_size], self.settings.accumulate):
            if terms[part].any():  # a mean of nothing is no number
                weight = float(terms[part].sum() / terms[items].sum())
                self._descend(self._computed(objective.loss, part) * weight)
        if objective.extra:
            self._descend(self._computed(objective.extra, number) * (1 / self.workers.world_size))
        self._update()

    def _launch_stack(self, items: Sequence[IntArray]) -> None:
        shaped, shape = self.objective.shaped, self._shape(items)
        assert shaped is not None
        batch = self._read([shaped.batch(own, shape).to(self.device) for own in items])
        self._descend(self._computed(shaped.loss, batch))
        self._update()

    def _computed(self, loss: Callable[[nn.Module, Any], Tensor], what: Any) -> Tensor:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.autocast):
            return loss(self.shadow.network, what)

    def _descend(self, value: Tensor) -> None:
        """Add the gradient of a loss to those at hand."""
        torch.autograd.backward(value.sum())
        self.losses += value.detach()

    def _update(self) -> None:
        """Move the weights along the gradients of all workers."""
        self.shadow.collect_gradients()
        self.workers.all_reduce_gradients(self.parameters)
        self.norms += self._clip()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.shadow.copy_weights()

    def _clip(self) -> Tensor:
        """Shorten the gradients of each network to the limit; their norms before."""
        if len(self.readers) == 1:
            return nn.utils.clip_grad_norm_(self.parameters, self.settings.clip)
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        norms = []
        for number in range(len(self.readers)):
            own = [gradient[number] for gradient in gradients]
            norms.append(nn.utils.get_total_norm(own))
            torch._foreach_mul_(own, (self.settings.clip / (norms[-1] + 1e-6)).clamp(max=1.0))
        return torch.stack(norms)

    def _set_rate(self, rate: float) -> None:
        if self.rate is not None:
            self.rate.fill_(rate)
        else:
            for group in self.optimizer.param_groups:
                group["lr"] = rate
