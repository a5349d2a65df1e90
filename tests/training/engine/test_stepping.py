"""Steps over padded batches, as they are recorded on a GPU: here "recorded" work is simply done again when replayed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from test_finetune import corpus_for
from torch import Tensor, nn
from toy import fingerprint, regression, treebank, without_dropout

from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.attention import PADDED
from isogloss.tasks import TASKS
from isogloss.tasks.examples import Batch
from isogloss.training.engine import batch_shapes as shapes
from isogloss.training.engine import cuda_graphs as graphs
from isogloss.training.engine.cuda_graphs import GraphRunner, HostSyncError, pack_batches, side_stream, unpack_batches
from isogloss.training.engine.determinism import reproducible
from isogloss.training.engine.distributed import WorkerGroup
from isogloss.training.engine.epoch_order import epoch_batches
from isogloss.training.engine.objective import Objective
from isogloss.training.engine.settings import TrainingSettings, learning_rate_at
from isogloss.training.engine.step import ItemStepper
from isogloss.training.engine.trainable import Trainable
from isogloss.training.finetuning.finetune import objective

SETTINGS = TrainingSettings(epochs=4, batch=3, learning_rate=3e-3)
CPU = torch.device("cpu")


class Recorder:
    """Counts the recordings; replaying does the work again."""

    def __init__(self) -> None:
        self.recorded = 0

    def __call__(self, work: Callable[[], None]) -> Callable[[], None]:
        self.recorded += 1
        return work


def stepper(
    model: LoadedModel,
    name: str,
    settings: TrainingSettings = SETTINGS,
    record: Any = None,
    dropout: bool = False,
    extra: Any = None,
) -> ItemStepper:
    task, corpus = TASKS[name], corpus_for(TASKS[name].corpus)
    labels = task.labels(corpus)
    torch.manual_seed(0)
    network = task.network(model, labels)
    network = network if dropout else without_dropout(network)
    return over(network, objective(model, task, corpus, corpus, labels, extra), settings, record)


def over(network: nn.Module, learning: Objective, settings: TrainingSettings, record: Any) -> ItemStepper:
    lengths = learning.lengths
    batches = [
        items
        for epoch in range(settings.epochs)
        for items in epoch_batches(
            lengths, batch=settings.batch, tokens=None, seed=0, epoch=epoch, pool_batches=learning.pool_batches
        )
    ]
    steps = [[items] for items in batches]
    stepper = ItemStepper(Trainable(network, 0), learning, settings, steps, WorkerGroup(), record)
    stepper.updater.train()
    return stepper


def run(steps: ItemStepper, first: int = 0) -> list[float]:
    losses = []
    with reproducible(steps.updater.device):
        for number in range(first, len(steps.batches)):
            do_step(steps, number)
            losses.append(float(steps.updater.losses))
            steps.updater.losses.zero_()
    return losses


def do_step(steps: ItemStepper, number: int) -> None:
    steps.step(number, learning_rate_at(number, len(steps.batches), steps.settings))


@pytest.mark.parametrize("name", TASKS)
def test_recorded_steps_are_the_plain_ones(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Another shape, a mask that is always there, the rate in a tensor: the same losses and weights."""
    monkeypatch.setattr(shapes, "LAUNCH_MS", 1e6)
    plain = stepper(bert, name)
    recorder = Recorder()
    recorded = stepper(bert, name, record=recorder)
    assert plain.recorded is None
    start = torch.cat([p.detach().flatten().clone() for p in recorded.updater.parameters])
    np.testing.assert_allclose(run(recorded), run(plain), rtol=1e-4)
    assert recorder.recorded > 0
    moved = torch.cat([p.detach().flatten() for p in plain.updater.parameters])
    found = torch.cat([p.detach().flatten() for p in recorded.updater.parameters])
    # not closer: where a gradient is 0 but for rounding (the biases of answers), Adam makes much of it
    assert (found - moved).norm() < 0.05 * (moved - start).norm()


def test_each_shape_is_recorded_once_and_rare_ones_never(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for constant, value in (("RECORDING_MS", 1.0), ("LAUNCH_MS", 1e6), ("TOKEN_MS", 10.0)):
        monkeypatch.setattr(shapes, constant, value)
    recorder = Recorder()
    steps = stepper(bert, "pos", record=recorder)
    run(steps)
    assert steps.recorded is not None
    assert recorder.recorded <= len({group.shape for group in steps.recorded.groups.values()})
    assert recorder.recorded > 1
    monkeypatch.setattr(shapes, "RECORDING_MS", 1e12)
    recorder = Recorder()
    run(stepper(bert, "pos", record=recorder))
    assert recorder.recorded == 0


def test_bf16_computes_in_a_copy_and_keeps_weights_in_fp32(bert: LoadedModel) -> None:
    settings = replace(SETTINGS, precision="bf16")
    rough, exact = stepper(bert, "pos", settings, Recorder()), stepper(bert, "pos", record=Recorder())
    assert {p.dtype for p in rough.updater.network.parameters()} == {torch.bfloat16}
    assert {p.dtype for p in rough.trainable.network.parameters()} == {torch.float32}
    losses = run(rough), run(exact)
    assert losses[0] != losses[1]
    np.testing.assert_allclose(losses[0], losses[1], rtol=0.05)
    for weight, shadow in zip(rough.updater.parameters, rough.updater.network.parameters(), strict=True):
        assert torch.equal(weight.bfloat16(), shadow), "the copy is not up to date"


# a parser in bf16 takes half a minute where the processor has no bf16
@pytest.mark.parametrize(("task", "precision"), [("parse", "fp32"), ("pos", "bf16")])
def test_dropout_is_the_seeds_and_a_run_goes_on_where_it_stopped(bert: LoadedModel, task: str, precision: str) -> None:
    settings = replace(SETTINGS, precision=precision)
    whole, again = (stepper(bert, task, settings, Recorder(), dropout=True) for _ in range(2))
    losses = run(whole)
    with reproducible(CPU):
        for number in range(5):
            do_step(again, number)
    resumed = stepper(bert, task, settings, Recorder(), dropout=True)
    resumed.updater.load_state_dict(copy.deepcopy(again.updater.state_dict()))
    assert run(resumed, first=5) == losses[5:]
    assert fingerprint(resumed.trainable.network) == fingerprint(whole.trainable.network)
    assert len(set(losses)) == len(losses)


def test_a_step_that_waits_is_done_the_plain_way(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    steps, plain = stepper(bert, "pos", record=Recorder(), dropout=True), stepper(bert, "pos", dropout=True)

    def waiting(network: nn.Module, batch: Batch) -> Tensor:
        value = TASKS["pos"].loss(network, batch)
        value.backward()  # gradients that must not stay behind
        raise HostSyncError("reads a number")

    shaped = replace(steps.objective.shaped, loss=waiting)  # type: ignore[type-var]
    steps.objective = replace(steps.objective, shaped=shaped)
    with pytest.warns(UserWarning, match="slower than it could be: reads a number"):
        losses = run(steps)
    assert steps.recorded is None
    np.testing.assert_allclose(losses, run(plain), rtol=1e-5)  # the rate is a number in fp32 here, and in fp64 there


def test_items_without_terms_change_nothing(bert: LoadedModel) -> None:
    steps = stepper(bert, "pos", record=Recorder())
    steps.objective = replace(steps.objective, terms=np.zeros_like(steps.objective.terms))
    before = fingerprint(steps.trainable.network)
    assert run(steps) == [0.0] * len(steps.batches)
    assert fingerprint(steps.trainable.network) == before


def test_an_objective_without_shapes_is_launched() -> None:
    network, learning = regression()
    assert over(network, learning, SETTINGS, None).recorded is None


def test_nothing_is_looked_at_while_a_step_is_recorded(bert: LoadedModel) -> None:
    """The library's attention would look into the mask; the one that is used does not."""
    steps = stepper(bert, "pos", record=Recorder())
    seen = []
    inner: Any = steps.updater.network
    inner.bert.register_forward_pre_hook(lambda module, _: seen.append(module.config._attn_implementation))
    run(steps)
    assert set(seen) == {PADDED}
    assert inner.config._attn_implementation == "sdpa"


def batch_of(numbers: int) -> Batch:
    ids = torch.arange(6).view(2, 3) + numbers
    return Batch(ids, ids + 1, ids + 2, torch.tensor([0, 1]), {"tags": ids[:, :1], "heads": ids[:1]})


def test_packed_and_unpacked() -> None:
    batches = [batch_of(5), batch_of(7)]
    flat = pack_batches(*batches)
    back = unpack_batches(flat, *batches)
    for read, batch in zip(back, batches, strict=True):
        for one, other in zip(tensors(read), tensors(batch), strict=True):
            assert torch.equal(one, other)
    flat.zero_()
    assert not any(tensor.any() for read in back for tensor in tensors(read)), "the parts are not views"


def tensors(batch: Batch) -> list[Tensor]:
    assert batch.token_type_ids is not None
    return [batch.input_ids, batch.attention_mask, batch.token_type_ids, batch.first_row, *batch.arrays.values()]


def test_a_replayed_step_reads_the_batch_at_hand() -> None:
    read: list[int] = []

    def step(*batches: Batch) -> None:
        read.extend(int(batch.input_ids[0, 0]) for batch in batches)

    steps = GraphRunner(step, CPU, Recorder())
    shape = shapes.Shape(3, 2, 2, (1, 3))
    for number in range(6):
        steps.run(shapes.ShapeGroup(shape, recorded=True), batch_of(number), batch_of(number + 50))
    assert read == [n for number in range(6) for n in (number, number + 50)]
    assert list(steps._recorded) == [shape]
    assert steps._launched == graphs.LAUNCHES_BEFORE_RECORDING


def test_treebanks_train_alike_in_either_way(bert: LoadedModel) -> None:
    """A longer run with many shapes, sentences of one word among them."""
    task, bank = TASKS["parse"], treebank(60, longest=12)
    labels = task.labels(bank)
    losses = []
    for record in (None, Recorder()):
        torch.manual_seed(0)
        network = without_dropout(task.network(bert, labels))
        learning = objective(bert, task, bank, bank[:5], labels, None)
        losses.append(run(over(network, learning, replace(SETTINGS, batch=8), record)))
    np.testing.assert_allclose(losses[0][:12], losses[1][:12], rtol=2e-3)  # then rounding has grown
    np.testing.assert_allclose(losses[0], losses[1], atol=0.02)


@pytest.mark.gpu
@pytest.mark.parametrize("name", TASKS)
def test_replayed_on_a_gpu(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Graphs and launches give the same, dropout included; the seed decides it all."""
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    monkeypatch.setattr(shapes, "LAUNCH_MS", 1e6)
    device = torch.device("cuda", torch.cuda.current_device())
    on_gpu = replace(bert, network=copy.deepcopy(bert.network).to(device), body=copy.deepcopy(bert.body).to(device))
    losses, weights = [], []
    for warm in (
        graphs.LAUNCHES_BEFORE_RECORDING,
        graphs.LAUNCHES_BEFORE_RECORDING,
        10**9,
    ):  # twice recorded, once launched
        monkeypatch.setattr(graphs, "LAUNCHES_BEFORE_RECORDING", warm)
        with reproducible(device), side_stream(device):
            steps = stepper(on_gpu, name, dropout=True)
            assert steps.recorded is not None
            losses.append(run(steps))
            weights.append(torch.cat([p.detach().flatten() for p in steps.updater.parameters]).cpu())
    assert losses[0] == losses[1]
    assert torch.equal(weights[0], weights[1])
    np.testing.assert_allclose(losses[0], losses[2], rtol=0.02)
    assert len(set(losses[0])) == len(losses[0])
