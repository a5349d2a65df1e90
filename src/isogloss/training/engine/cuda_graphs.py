"""Steps recorded as CUDA graphs: a GPU runs the thousand kernels of a small step faster than a host launches them.

A step of a given shape is recorded once and replayed for every batch of that shape: the batch is copied into the input
tensors of the recorded step, and the whole step, from forward pass to optimizer, is launched at once. Dropout follows
the seed of the generator: a replayed step has the same masks as an ordinary one.
"""

from __future__ import annotations

import contextlib
import gc
import warnings
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from isogloss.tasks.examples import Batch, Shape
from isogloss.training.engine.batch_shapes import ShapeGroup

LAUNCHES_BEFORE_RECORDING = 3  # steps, in which libraries and the optimizer are set up
Step = Callable[..., None]  # called with one or several batches
Record = Callable[[Callable[[], None]], Callable[[], None]]  # work → a function that repeats it


class HostSyncError(Exception):
    """A step synchronises the host with the device, which a recorded step cannot do."""


class GraphRunner:
    """Runs a step by launching its kernels, or by replaying it once it has been recorded for a shape."""

    def __init__(self, step: Step, device: torch.device, record: Record):
        self.step, self.device, self._record = step, device, record
        self._recorded: dict[Shape, tuple[Tensor, Callable[[], None]]] = {}
        self._launched = 0

    def run(self, group: ShapeGroup, *batches: Batch) -> None:
        """Run the step for a batch of the group's shape; further batches have the same shapes in every step.

        The first steps are never recorded. The very first may raise `HostSyncError`, leaving only gradients behind.
        """
        if group.recorded and self._launched >= LAUNCHES_BEFORE_RECORDING:
            return self.replay(group.shape, *batches)
        checked = self.device.type == "cuda" and not self._launched
        with forbid_host_sync() if checked else contextlib.nullcontext():
            self.step(*unpack_batches(pack_batches(*batches).to(self.device, non_blocking=True), *batches))
        self._launched += 1

    def replay(self, shape: Shape, *batches: Batch) -> None:
        """Replay the step for a batch of this shape; it is recorded first if necessary."""
        if shape not in self._recorded:
            inputs = torch.empty_like(pack_batches(*batches), device=self.device)
            static = unpack_batches(inputs, *batches)
            self._recorded[shape] = inputs, self._record(lambda: self.step(*static))
        inputs, replay_step = self._recorded[shape]
        inputs.copy_(pack_batches(*batches), non_blocking=True)
        replay_step()


def pack_batches(*batches: Batch) -> Tensor:
    """All tensors of the batches as one flat tensor, in pinned memory for asynchronous copies to a GPU."""
    parts = [tensor.flatten() for batch in batches for tensor in batch.tensors]
    flat = torch.empty(sum(map(len, parts)), dtype=torch.int64, pin_memory=torch.cuda.is_available())
    return torch.cat(parts, out=flat)


def unpack_batches(flat: Tensor, *like: Batch) -> list[Batch]:
    """Batches whose tensors are views of `flat`, with the shapes of the batches in `like`.

    >>> batch = Batch(torch.tensor([[5, 6]]), torch.tensor([[1, 1]]), None, torch.tensor([0]), {})
    >>> unpack_batches(pack_batches(batch), batch)[0].input_ids
    tensor([[5, 6]])
    """
    start = 0

    def view(tensor: Tensor) -> Tensor:
        nonlocal start
        start += tensor.numel()
        return flat[start - tensor.numel() : start].view(tensor.shape)

    return [batch.map(view) for batch in like]


def cuda_graph_recorder() -> Record:
    """Records work on the current stream, which must not be the default stream; all recordings share memory."""
    pool = torch.cuda.graph_pool_handle()

    def record(work: Callable[[], None]) -> Callable[[], None]:
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        collects_garbage = gc.isenabled()
        gc.disable()  # memory that it frees must not be part of the recording
        try:
            graph.capture_begin(pool=pool, capture_error_mode="thread_local")
            try:
                work()
            finally:
                graph.capture_end()
        finally:
            if collects_garbage:
                gc.enable()
        return graph.replay

    return record


@contextlib.contextmanager
def forbid_host_sync() -> Iterator[None]:
    """Raise `HostSyncError` if something within synchronises the host with the GPU."""
    before = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the warning that it does not detect all synchronisation
        torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    except RuntimeError as error:
        if "synchroniz" not in str(error):
            raise
        raise HostSyncError(str(error)) from error
    finally:
        torch.cuda.set_sync_debug_mode(before)


@contextlib.contextmanager
def side_stream(device: torch.device) -> Iterator[None]:
    """On a GPU, run the work within on a side stream, as recording requires; later work waits for it."""
    if device.type != "cuda":
        yield
        return
    outer, inner = torch.cuda.current_stream(device), torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    inner.wait_stream(outer)
    try:
        with torch.cuda.stream(inner):
            yield
    finally:
        outer.wait_stream(inner)
