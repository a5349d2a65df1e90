"""Networks that are trained as one learn what each learns by itself: losses, scores, best epochs, weights."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from test_finetune import corpus_for
from test_loop import Killed, kill_at
from test_stepping import Recorder
from tokenizers import normalizers
from torch import Tensor, nn
from toy import fingerprint, treebank, without_dropout

import isogloss as ig
from isogloss.core.errors import UsageError
from isogloss.models.heads import biaffine
from isogloss.models.loading.loaded_model import LoadedModel, clone, wrap_network
from isogloss.tasks import TASKS
from isogloss.tasks.examples import Batch
from isogloss.training.engine import batch_shapes as shapes
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.cuda_graphs import Record
from isogloss.training.engine.determinism import reproducible
from isogloss.training.engine.distributed import WorkerGroup
from isogloss.training.engine.epoch_order import epoch_batches
from isogloss.training.engine.epochs import train
from isogloss.training.engine.objective import Objective
from isogloss.training.engine.progress import DivergenceError, EpochMetrics
from isogloss.training.engine.settings import TrainingSettings, learning_rate_at, settings_for
from isogloss.training.engine.step import ItemStepper
from isogloss.training.engine.trainable import Trainable
from isogloss.training.finetuning import finetune as finetuning
from isogloss.training.finetuning.finetune import can_stack, finetune, finetune_stacked, init_networks, objective
from isogloss.training.stacking.stack import StackedNetworks, train_stacked

POS = TASKS["pos"]
SETTINGS = TrainingSettings(epochs=2, batch=10, learning_rate=0.01)
QUICK = replace(SETTINGS, epochs=3, batch=4)  # for a bank of nine sentences: three steps an epoch


@pytest.fixture(autouse=True)
def _small_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(biaffine, "ARC_UNITS", 24)
    monkeypatch.setattr(biaffine, "RELATION_UNITS", 12)


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything in fp64: in fp32 the size of a batch shows in a loss's last digits, and Adam may make much of them."""
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    monkeypatch.setattr(nn.Module, "float", nn.Module.double)


def learners(
    bert: LoadedModel, name: str, train_on: Any, number: int = 3, dropout: bool = False
) -> tuple[list[nn.Module], Objective]:
    """Networks that differ in every weight, in fp64, and what they learn."""
    task, labels = TASKS[name], TASKS[name].labels(train_on)
    networks = []
    for seed in range(number):
        torch.manual_seed(seed)
        network = task.network(bert, labels).double()
        with torch.no_grad():
            for weight in network.parameters():
                weight.add_(torch.randn_like(weight), alpha=0.05)
        networks.append(network if dropout else without_dropout(network))
    return networks, objective(bert, task, train_on, train_on[:8], labels, None)


def alone(
    networks: Sequence[nn.Module], learning: Sequence[Objective], settings: TrainingSettings, seeds: Sequence[int]
) -> tuple[list[nn.Module], list[list[EpochMetrics]]]:
    """Copies of the networks, trained one after the other."""
    copies = [copy.deepcopy(network) for network in networks]
    lessons = zip(copies, learning, seeds, strict=True)
    return copies, [train(network, own, settings, seed=seed) for network, own, seed in lessons]


def told_of(log: Sequence[EpochMetrics]) -> list[tuple[int, int, int, float | None, float | None]]:
    return [(report.epoch, report.step, report.steps, report.score, report.best) for report in log]


def assert_alike(found: Sequence[nn.Module], expected: Sequence[nn.Module], tolerance: float = 1e-8) -> None:
    for one, other in zip(found, expected, strict=True):
        for (name, value), reference in zip(one.named_parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(value, reference, rtol=0, atol=tolerance, msg=name)


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("seeds", [(5, 5, 5), (5, 6, 5)])
@pytest.mark.parametrize("name", ["pos", "parse"])
def test_each_learns_what_it_learns_alone(bert: LoadedModel, name: str, seeds: tuple[int, ...]) -> None:
    networks, learning = learners(bert, name, ig.Laboratory().treebank("qla", "train", 30))
    before = copy.deepcopy(networks)
    single, expected = alone(networks, [learning] * 3, SETTINGS, seeds)
    logs = train_stacked(networks, learning, SETTINGS, seeds=seeds)
    for log, reference in zip(logs, expected, strict=True):
        assert told_of(log) == told_of(reference)
        assert [report.loss for report in log] == pytest.approx([report.loss for report in reference], rel=1e-8)
    assert_alike(networks, single)
    assert not any(network.training for network in networks)
    assert len({report.loss for log in logs for report in log}) == 2 * 3
    assert len({report.score for log in logs for report in log}) > 1
    assert all(fingerprint(one) != fingerprint(other) for one, other in zip(networks, before, strict=True))


def scored(networks: Sequence[nn.Module], scores: Sequence[Sequence[float]]) -> Callable[[nn.Module], float]:
    """A dev score for each network, epoch by epoch."""
    left = {id(network): iter(own) for network, own in zip(networks, scores, strict=True)}
    return lambda network: next(left[id(network)])


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(
    ("scores", "epochs"),
    [
        ([[0.9, 0.1, 0.2], [0.1, 0.2, 0.3, 0.4, 0.5], [0.1, 0.8, 0.8, 0.2]], [3, 5, 4]),
        ([[0.9, 0.1, 0.2], [0.3, 0.2, 0.1], [0.2, 0.5, 0.1, 0.4]], [3, 3, 4]),  # all are done before the last epoch
    ],
)
def test_each_keeps_its_best_epoch_and_has_its_own_patience(
    bert: LoadedModel, scores: list[list[float]], epochs: list[int]
) -> None:
    networks, learning = learners(bert, "pos", treebank(9))
    settings = replace(QUICK, epochs=5, patience=2)
    copies = [copy.deepcopy(network) for network in networks]
    expected = []
    for network, own in zip(copies, scores, strict=True):
        expected.append(train(network, replace(learning, score=scored([network], [own])), settings, seed=1))
    kept: dict[int, list[str]] = {id(network): [] for network in networks}
    judge = scored(networks, scores)

    def score(network: nn.Module) -> float:
        kept[id(network)].append(fingerprint(network))
        return judge(network)

    logs = train_stacked(networks, replace(learning, score=score), settings, seeds=[1, 1, 1])
    assert [len(log) for log in logs] == epochs, "whoever has run out of patience is not scored any more"
    assert [told_of(log) for log in logs] == [told_of(log) for log in expected]
    best = [own.index(max(own)) for own in scores]
    assert [fingerprint(network) for network in networks] == [
        kept[id(network)][epoch] for network, epoch in zip(networks, best, strict=True)
    ]
    assert_alike(networks, copies)


def with_dropout(bert: LoadedModel, watch: Callable[[int], None]) -> tuple[list[nn.Module], Objective]:
    """Two networks with dropout; `watch` is told the number of each step."""
    networks, learning = learners(bert, "pos", treebank(9), 2, dropout=True)
    calls = [0]

    def loss(network: nn.Module, batch: Batch) -> Tensor:
        watch(calls[0])
        calls[0] += 1
        return shaped.loss(network, batch)

    shaped = learning.shaped
    assert shaped is not None
    return networks, replace(learning, score=None, shaped=replace(shaped, loss=loss))


@pytest.mark.parametrize("every", [1, None])
def test_killed_and_resumed_they_end_the_same(bert: LoadedModel, tmp_path: Path, every: int | None) -> None:
    networks, learning = with_dropout(bert, lambda call: None)
    whole = train_stacked(networks, learning, QUICK, seeds=[1, 2])
    expected = [fingerprint(network) for network in networks]
    assert expected[0] != expected[1]
    for call in (3, 8):  # right after an epoch's end, the last step
        folder = tmp_path / f"{call}"
        broken, learning = with_dropout(bert, kill_at(call))
        with pytest.raises(Killed):
            train_stacked(broken, learning, QUICK, seeds=[1, 2], checkpoints=Checkpoints(folder, "run", steps=every))
        steps: list[int] = []
        resumed, learning = with_dropout(bert, steps.append)
        checkpoints = Checkpoints(folder, "run", steps=every)
        logs = train_stacked(resumed, learning, QUICK, seeds=[1, 2], checkpoints=checkpoints)
        assert [fingerprint(network) for network in resumed] == expected
        assert len(steps) == 9 - (call if every else call // 3 * 3), "what was done is not done again"
        for log, reference in zip(logs, whole, strict=True):
            assert told_of(log) == told_of(reference)
            assert [report.loss for report in log] == pytest.approx([report.loss for report in reference], rel=1e-12)


def test_one_that_is_done_stays_done_when_the_others_are_resumed(bert: LoadedModel, tmp_path: Path) -> None:
    """The first network is best in its first epoch, the second in its last."""
    settings, scores = replace(QUICK, epochs=4, patience=1), [[0.9, 0.1], [0.1, 0.2, 0.3, 0.4]]
    networks, learning = with_dropout(bert, lambda call: None)
    train_stacked(networks, replace(learning, score=scored(networks, scores)), settings, seeds=[1, 1])
    broken, learning = with_dropout(bert, kill_at(7))
    with pytest.raises(Killed):
        train_stacked(
            broken,
            replace(learning, score=scored(broken, scores)),
            settings,
            seeds=[1, 1],
            checkpoints=Checkpoints(tmp_path, "run"),
        )
    resumed, learning = with_dropout(bert, lambda call: None)
    judge = scored(resumed, [[], scores[1][2:]])
    checkpoints = Checkpoints(tmp_path, "run")
    logs = train_stacked(resumed, replace(learning, score=judge), settings, seeds=[1, 1], checkpoints=checkpoints)
    assert [[report.score for report in log] for log in logs] == scores
    assert [fingerprint(network) for network in resumed] == [fingerprint(network) for network in networks]


@pytest.mark.parametrize("name", ["pos", "parse"])
def test_matrices_are_decayed_and_vectors_are_not(bert: LoadedModel, name: str) -> None:
    """With gradients of zero, decay is all that happens."""
    networks, learning = learners(bert, name, treebank(9), 2)
    before = copy.deepcopy(networks)
    assert learning.shaped is not None
    task_loss = learning.shaped.loss
    shaped = replace(learning.shaped, loss=lambda network, batch: 0 * task_loss(network, batch))
    settings = replace(QUICK, weight_decay=0.5)
    train_stacked(networks, replace(learning, shaped=shaped, score=None), settings, seeds=[1, 2])
    left = math.prod(1 - 0.5 * learning_rate_at(step, 9, settings) for step in range(9))
    assert left < 0.99
    for network, old in zip(networks, before, strict=True):
        for (part, weight), start in zip(network.named_parameters(), old.parameters(), strict=True):
            expected = start * left if start.ndim > 1 else start
            torch.testing.assert_close(weight, expected, rtol=1e-9, atol=0, msg=part)
    assert any(weight.ndim == 1 and weight.abs().min() > 0 for weight in before[0].parameters())


@pytest.mark.usefixtures("exact")
def test_gradients_are_clipped_for_each_by_itself(bert: LoadedModel) -> None:
    """One network's are huge: if they shared a norm, the other's would be cut to nothing."""
    networks, learning = learners(bert, "pos", treebank(9), 2)
    factors = torch.tensor([1e12, 3.0], dtype=torch.float64)
    assert learning.shaped is not None
    task_loss = learning.shaped.loss
    shaped = replace(learning.shaped, loss=lambda network, batch: factors * task_loss(network, batch))
    learning, plain = replace(learning, shaped=shaped, score=None), learning.loss

    def times(factor: float) -> Objective:
        return replace(learning, loss=lambda network, items: factor * plain(network, items))

    each = [times(factor) for factor in factors.tolist()]
    settings = replace(QUICK, clip=0.1)
    single, _ = alone(networks, each, settings, [1, 1])
    unclipped, _ = alone(networks[1:], each[1:], replace(settings, clip=1e9), [1])
    train_stacked(networks, learning, settings, seeds=[1, 1])
    assert_alike(networks, single)
    with pytest.raises(AssertionError):
        assert_alike(networks[1:], unclipped, 1e-4)


def steps_of(
    trainable: Trainable, learning: Objective, settings: TrainingSettings, record: Record | None = None
) -> tuple[list[list[float]], ItemStepper]:
    """The losses of every step, one for each network."""
    batches = [
        list(step)
        for epoch in range(settings.epochs)
        for step in zip(
            *(
                epoch_batches(learning.lengths, batch=settings.batch, tokens=None, seed=seed, epoch=epoch)
                for seed in trainable.seeds
            ),
            strict=True,
        )
    ]
    stepper = ItemStepper(trainable, learning, settings, batches, WorkerGroup(), record)
    stepper.updater.train()
    losses = []
    with reproducible(stepper.updater.device):
        for number in range(len(batches)):
            stepper.step(number, learning_rate_at(number, len(batches), settings))
            losses.append(stepper.updater.losses.tolist())
            stepper.updater.losses.zero_()
    return losses, stepper


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("name", TASKS)
def test_recorded_launched_or_alone_steps_are_the_same(
    bert: LoadedModel, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Three networks that read the items of two seeds, in every task."""
    monkeypatch.setattr(shapes, "LAUNCH_MS", 1e6)
    networks, learning = learners(bert, name, corpus_for(TASKS[name].corpus))
    settings, seeds = replace(QUICK, epochs=3, learning_rate=1e-3), (1, 2, 1)
    recorder = Recorder()
    launched, plain = steps_of(StackedNetworks(networks, seeds), learning, settings)
    recorded, quick = steps_of(StackedNetworks(networks, seeds), learning, settings, recorder)
    assert plain.recorded is None and recorder.recorded > 0
    for number, (network, seed) in enumerate(zip(networks, seeds, strict=True)):
        expected, _ = steps_of(Trainable(network, seed), learning, settings)
        assert [step[number] for step in launched] == pytest.approx([step[0] for step in expected], rel=1e-9)
    assert len({loss for step in launched for loss in step}) == 3 * len(launched)
    for step, other in zip(recorded, launched, strict=True):
        assert step == pytest.approx(other, rel=1e-6)  # the rate is a number in fp32 here, and in fp64 there
    assert_alike([quick.trainable.network], [plain.trainable.network], 1e-6)


def test_in_bf16_they_compute_in_a_copy(bert: LoadedModel) -> None:
    networks, learning = learners(bert, "pos", treebank(9), 2)
    networks = [network.to(torch.float32) for network in networks]
    expected, _ = steps_of(StackedNetworks(networks, [1, 2]), learning, QUICK, Recorder())
    for record in (Recorder(), None):  # a copy in bf16, or autocast
        settings = replace(QUICK, precision="bf16")
        rough, stepper = steps_of(StackedNetworks(networks, [1, 2]), learning, settings, record)
        assert {weight.dtype for weight in stepper.trainable.network.parameters()} == {torch.float32}
        assert rough != expected
        for step, other in zip(rough, expected, strict=True):
            assert step == pytest.approx(other, rel=0.05)


@pytest.mark.parametrize("wrong", [0, 1])
@pytest.mark.parametrize("saving", [False, True])
def test_one_that_goes_astray_ends_the_training_of_all(
    bert: LoadedModel, tmp_path: Path, wrong: int, saving: bool
) -> None:
    networks, learning = learners(bert, "pos", treebank(9), 2)
    with torch.no_grad():
        next(networks[wrong].parameters()).fill_(math.inf)
    checkpoints = Checkpoints(tmp_path, "run", steps=1) if saving else None
    with pytest.raises(DivergenceError, match=f"by step {1 if saving else 3}"):
        train_stacked(networks, learning, QUICK, seeds=[1, 1], checkpoints=checkpoints)
    assert Checkpoints(tmp_path, "run").latest() is None


def quiet(model: LoadedModel) -> LoadedModel:
    """A copy without dropout, neither in its body nor in a head."""
    made = clone(model)
    config: Any = made.body.config
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    without_dropout(made.body)
    return made


def altered(model: LoadedModel) -> LoadedModel:
    """A copy whose weights are somewhat different."""
    made = clone(model)
    chance = torch.Generator().manual_seed(1)
    for weight in made.body.parameters():
        weight.data += 0.02 * torch.randn(weight.shape, generator=chance)
    return made


def reshaped(model: LoadedModel, **sizes: int) -> LoadedModel:
    config: Any = copy.deepcopy(model.body.config)
    config.update(sizes)
    network: nn.Module = type(model.body)(config, add_pooling_layer=False)
    return wrap_network("other", network, network, model.tokenizer)


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(
    ("told", "seeds"),
    [({}, (3, 4, 3)), ({"character_noise": 0.5}, (3, 3, 3)), ({"tokens": 60}, (3, 3, 3))],
    ids=["seeds", "noise", "tokens"],
)
def test_models_are_finetuned_as_each_by_itself(
    bert: LoadedModel, told: dict[str, Any], seeds: tuple[int, ...]
) -> None:
    models = [quiet(bert), altered(quiet(bert)), quiet(bert)]
    before = [fingerprint(model.body) for model in models]
    bank, dev = treebank(24), treebank(9, seed=1)
    settings = settings_for(POS.defaults, epochs=2, batch=8, learning_rate=1e-3, **told)
    expected = [finetune(model, POS, bank, dev, settings, seed=seed) for model, seed in zip(models, seeds, strict=True)]
    found = finetune_stacked(models, POS, bank, dev, settings, seeds=seeds)
    assert [tuned.model for tuned in found] == models
    for tuned, one in zip(found, expected, strict=True):
        assert tuned.labels == one.labels and tuned.task is POS
        assert told_of(tuned.log) == told_of(one.log)
        assert [report.loss for report in tuned.log] == pytest.approx([report.loss for report in one.log], rel=1e-8)
        assert_alike([tuned.network], [one.network])
    assert [fingerprint(model.body) for model in models] == before, "the models handed in were changed"


def test_models_of_other_shapes_are_refused(bert: LoadedModel) -> None:
    other = reshaped(bert, intermediate_size=64)
    finetune(other, POS, treebank(6), treebank(3), QUICK)  # nothing is wrong with it
    with pytest.raises(UsageError, match="only models of one shape, with one tokenizer and equal settings"):
        finetune_stacked([bert, other], POS, treebank(6), treebank(3), QUICK, seeds=[0, 0])


def test_the_wrong_corpus_is_an_error_for_all(bert: LoadedModel) -> None:
    with pytest.raises(UsageError, match="dev: the corpus is empty"):
        finetune_stacked([bert, bert], POS, treebank(6), treebank(3)[:0], QUICK, seeds=[0, 0])


@pytest.mark.parametrize(
    ("told", "one_seed", "several"),
    [
        ({}, True, True),
        ({"patience": 2, "precision": "bf16"}, True, True),
        ({"subword_dropout": 0.1}, True, False),
        ({"character_noise": 0.1}, True, False),
        ({"tokens": 60}, True, False),
        ({"accumulate": 2}, False, False),
    ],
)
def test_settings_that_go_together(bert: LoadedModel, told: dict[str, Any], one_seed: bool, several: bool) -> None:
    settings = settings_for(POS.defaults, **told)
    assert can_stack([bert, bert], POS, treebank(6), settings, [4, 4]) is one_seed
    assert can_stack([bert, bert], POS, treebank(6), settings, [4, 5]) is several


def test_models_that_go_together(bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(other: LoadedModel) -> bool:
        answers = {can_stack(pair, POS, treebank(6), QUICK, [0, 0]) for pair in ([bert, other], [other, bert])}
        (answer,) = answers
        return answer

    tokenizer: Any = copy.deepcopy(bert.tokenizer)
    assert ask(replace(bert, tokenizer=tokenizer)) and ask(altered(bert))
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    assert not ask(replace(bert, tokenizer=tokenizer))
    slow: Any = SimpleNamespace(is_fast=False)
    assert not ask(replace(bert, tokenizer=slow))
    assert not ask(replace(bert, max_length=bert.max_length - 1))
    assert not ask(reshaped(bert, num_hidden_layers=2))
    monkeypatch.setattr(finetuning, "init_distributed", lambda: WorkerGroup(0, 2))
    assert not ask(bert), "several processes"


@pytest.mark.parametrize("name", ["pos", "parse", "nli", "qa"])
def test_a_head_drawn_once_is_the_one_each_network_would_draw(bert: LoadedModel, name: str) -> None:
    task, labels = TASKS[name], TASKS[name].labels(corpus_for(TASKS[name].corpus))
    models, seeds = [bert, altered(bert), altered(bert), bert], [3, 3, 4, 4]
    together = init_networks(models, task, labels, seeds)
    by_itself = [init_networks([model], task, labels, [seed])[0] for model, seed in zip(models, seeds, strict=True)]
    found, expected = ([fingerprint(network) for network in networks] for networks in (together, by_itself))
    assert found == expected and len(set(found)) == len(found)
    weights = [weight.data_ptr() for network in together for weight in network.parameters()]
    assert len(set(weights)) == len(weights), "no two share a weight"


def test_outside_randomness_is_left_as_it_was(bert: LoadedModel) -> None:
    before = torch.get_rng_state()
    finetune_stacked([bert, bert], POS, treebank(6), treebank(3), QUICK, seeds=[0, 1])
    assert torch.equal(torch.get_rng_state(), before)


def test_what_a_stack_cannot_do_is_refused(bert: LoadedModel) -> None:
    networks, learning = learners(bert, "pos", treebank(8), number=2)
    settings = settings_for(TASKS["pos"].defaults, epochs=1)
    with pytest.raises(UsageError, match="second loss"):
        train_stacked(networks, replace(learning, extra=lambda *_: torch.zeros(())), settings, seeds=(0, 0))
    with pytest.raises(UsageError, match="accumulate > 1"):
        train_stacked(networks, learning, replace(settings, accumulate=2), seeds=(0, 0))
