"""Training with adapters: the base untouched to the bit, MAD-X end to end, swaps, ensembles of least entropy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from language_toy import CAUSAL, MASKED, TEXT, adapt_with_history, with_head
from test_stepping import Recorder, run, stepper
from toy import treebank

from isogloss.core.errors import UnknownName, UsageError
from isogloss.models.adapters.files import adapters_in, save_adapter
from isogloss.models.adapters.hooks import stack_of
from isogloss.models.adapters.lora import lora
from isogloss.models.adapters.modules import Coupling
from isogloss.models.interventions.adapters import language_adapter, task_adapter, use_adapter
from isogloss.models.loading.loaded_model import LoadedModel, clone
from isogloss.models.tokenization.batching import token_batches
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks import TASKS
from isogloss.tasks.examples import collate
from isogloss.training.engine import batch_shapes as shapes
from isogloss.training.engine.bf16_copy import Bf16Copy
from isogloss.training.engine.settings import TrainingSettings
from isogloss.training.finetuning.adapter_swapping import minimise_entropy, swap_adapter, with_entropy_minimisation
from isogloss.training.finetuning.evaluation import evaluate
from isogloss.training.finetuning.finetune import finetune
from isogloss.training.finetuning.finetuned_files import load_finetuned, save_finetuned
from isogloss.training.finetuning.transfer import transfer
from isogloss.training.language_modeling.losses import causal_loss, masked_loss

QUICK: dict[str, Any] = {"steps": 6, "batch": 8, "length": 32, "learning_rate": 5e-3}
SETTINGS = TrainingSettings(epochs=2, batch=8, learning_rate=5e-3, warmup=0.0)
TASK_NAMES = ("pos", "parse")


def bits(model: Any) -> dict[str, bytes]:
    """All weights but those of adapters."""
    state = model.state_dict().items()
    return {name: t.numpy().tobytes() for name, t in state if ".lora_" not in name and "adapters." not in name}


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return with_head("bert", tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def folders(masked: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Trained adapters of three languages."""
    out = tmp_path_factory.mktemp("adapters")
    for seed, lang in enumerate(("en", "fr", "es")):
        adapt_with_history(masked, TEXT[seed::3], adapter=language_adapter(2), out=out / lang, seed=seed, **QUICK)
    return {path.name: path for path in sorted(out.iterdir())}


@pytest.mark.parametrize("family", MASKED + CAUSAL)
@pytest.mark.parametrize("kind", ["bottleneck", "lora"])
def test_the_base_is_the_same_to_the_bit(family: str, kind: str, tmp_path: Path) -> None:
    if kind == "lora":
        pytest.importorskip("peft")
    model = with_head(family, tmp_path)
    adapter: Any = language_adapter(2) if kind == "bottleneck" else lora(2)
    trained, history = adapt_with_history(model, TEXT, adapter=adapter, **{**QUICK, "steps": 3})
    assert bits(trained.network) == bits(model.network)
    fresh = adapter(clone(model), seed=0)
    names = [name for name, weight in trained.network.named_parameters() if weight.requires_grad]
    before, after = fresh.network.state_dict(), trained.network.state_dict()
    changed = [name for name in names if not torch.equal(before[name], after[name])]
    assert names and len(changed) > len(names) / 2
    assert history.evaluations


@pytest.mark.parametrize("family", MASKED + CAUSAL)
def test_the_inverse_is_part_of_every_loss(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = language_adapter(2)(with_head(family, tmp_path), seed=0)
    calls = []
    inverse = Coupling.inverse
    monkeypatch.setattr(Coupling, "inverse", lambda self, states: calls.append(states.shape) or inverse(self, states))
    ids = torch.arange(5, 15)[None]
    if family in CAUSAL:
        causal_loss(model.network, ids, torch.ones_like(ids), ids)
    else:
        masked_loss(model.network, ids, torch.ones_like(ids), torch.tensor([[2, 4]]), ids[:, :2])
    assert len(calls) == 1 and calls[0][-1] == model.hidden_size


def test_a_language_adapter_lowers_perplexity(masked: LoadedModel) -> None:
    _, history = adapt_with_history(masked, TEXT, adapter=language_adapter(2), **{**QUICK, "steps": 40})
    first, *_, last = [row["value"] for row in history.evaluations]
    assert last < 0.8 * first


def test_what_is_written_is_the_adapter_alone(masked: LoadedModel, folders: dict[str, Path]) -> None:
    assert {"adapter.json", "adapter.safetensors", "isogloss.json", "README.md"} <= {
        path.name for path in folders["en"].iterdir()
    }
    assert not (folders["en"] / "model.safetensors").exists()
    assert {one.role for one in adapters_in(folders["en"].parent)} == {"language"}
    adapter = language_adapter(2)
    again, history = adapt_with_history(masked, TEXT[0::3], adapter=adapter, out=folders["en"], seed=0, **QUICK)
    used = use_adapter(folders["en"])(clone(masked))
    assert all(torch.equal(a, b) for a, b in zip(again.body.parameters(), used.body.parameters(), strict=True))
    assert history.log[-1].step == 6
    with pytest.raises(UsageError, match="another run"):
        adapt_with_history(masked, TEXT, adapter=language_adapter(2), out=folders["en"], seed=0, **QUICK)


def test_training_goes_on_from_a_saved_adapter(masked: LoadedModel, folders: dict[str, Path]) -> None:
    further, _ = adapt_with_history(masked, TEXT, adapter=use_adapter(folders["en"], train=True), **QUICK)
    used = use_adapter(folders["en"])(clone(masked))
    assert not all(torch.equal(a, b) for a, b in zip(further.body.parameters(), used.body.parameters(), strict=True))
    with pytest.raises(UsageError, match="nothing to train"):
        adapt_with_history(masked, TEXT, adapter=use_adapter(folders["en"]), **QUICK)


@pytest.mark.parametrize("task", TASK_NAMES)
def test_mad_x_end_to_end(task: str, bert: LoadedModel, folders: dict[str, Path], tmp_path: Path) -> None:
    """Source adapter below, a task adapter above; only it and the head are trained; then other languages' adapters."""
    stacked = clone(bert)
    with pytest.warns(UserWarning, match="other weights"):  # the toy's adapters are for another tiny BERT
        use_adapter(folders["en"])(stacked)
    task_adapter(4)(stacked, seed=0)
    train, dev = treebank(24), treebank(6, seed=1)
    tuned = finetune(stacked, TASKS[task], train, dev, SETTINGS)
    network: Any = tuned.network
    assert bits(network.body) == bits(bert.body)
    language = {n: t for n, t in network.body.state_dict().items() if ".language." in n}
    assert language and all(torch.equal(t, stacked.body.state_dict()[n]) for n, t in language.items())
    new = {n: t for n, t in network.body.state_dict().items() if ".task." in n and "logits" not in n}
    assert any(not torch.equal(t, stacked.body.state_dict()[n]) for n, t in new.items())
    with pytest.warns(UserWarning, match="other weights"):
        french = swap_adapter(tuned, use_adapter(folders["fr"]))
    with pytest.warns(UserWarning, match="other weights"):
        back = swap_adapter(french, use_adapter(folders["en"]))
    scores = [_logits(one, dev) for one in (tuned, french, back)]
    assert not torch.equal(scores[0], scores[1]) and torch.equal(scores[0], scores[2])
    save_finetuned(tuned, tmp_path / "tuned")
    read = load_finetuned(tmp_path / "tuned", device="cpu")
    assert torch.equal(_logits(read, dev), scores[0])


def _logits(tuned: Any, corpus: Any) -> torch.Tensor:
    examples = tuned.task.encode(tuned.model, corpus, tuned.labels)
    with torch.no_grad():
        return tuned.task.entropy(tuned.network, collate(examples, padding_id(tuned.model)))


def test_transfer_swaps_adapters_for_each_target(masked: LoadedModel, folders: dict[str, Path], tmp_path: Path) -> None:
    model = replace(masked, network=masked.body)
    train, dev = treebank(24), treebank(6, seed=1)
    test = {"fr": treebank(8, "fr"), "es": treebank(8, "es")}
    before = [use_adapter(folders["en"]), task_adapter(4)]
    swap = {"fr": use_adapter(folders["fr"]), "es": use_adapter(folders["fr"], folders["es"], weights="entropy")}
    options: dict[str, Any] = {"before": before, "epochs": 1, "batch": 8, "learning_rate": 5e-3}
    results = transfer(model, "pos", train, dev, test, swap=swap, out=tmp_path, **options)
    assert set(results.frame["target"]) == {"fr", "es", "en"}
    assert "task_adapter" in results.frame["changes"][0]
    again = transfer(model, "pos", train, dev, test, swap=swap, out=tmp_path, **options)
    assert again.frame.equals(results.frame)
    transfer(model, "pos", train, dev, test, out=tmp_path, **options)
    kinds = sorted(path.parent.name for path in tmp_path.glob("entries/*/*"))
    assert kinds == ["evaluation", "evaluation", "finetuned"]  # one network, evaluated with and without swaps
    with pytest.raises(UnknownName, match="test set to swap"):
        transfer(model, "pos", train, dev, test, swap={"de": use_adapter(folders["fr"])}, **options)


def _ensemble(masked: LoadedModel, folders: dict[str, Path], task: str) -> tuple[Any, Any]:
    model = clone(replace(masked, network=masked.body))
    use_adapter(folders["en"], folders["fr"], folders["es"])(model)
    stack = stack_of(model.body)
    assert stack is not None
    torch.manual_seed(0)
    with torch.no_grad():
        for part in stack.parts("language"):
            for weight in part.members.parameters():
                weight.normal_(0, 0.2)  # so that it matters which of them is used
    task_adapter(4)(model, seed=0)
    tuned = finetune(model, TASKS[task], treebank(24), treebank(6, seed=1), SETTINGS)
    examples = tuned.task.encode(tuned.model, treebank(10, "fr"), tuned.labels)
    return tuned, collate(examples, padding_id(tuned.model))


@pytest.mark.parametrize("task", TASK_NAMES)
@pytest.mark.parametrize("rate", [1.0, 10.0, 1000.0])
def test_entropy_falls_and_weights_add_up(task: str, rate: float, masked: LoadedModel, folders: Any) -> None:
    tuned, batch = _ensemble(masked, folders, task)
    network: Any = tuned.network.eval()
    with torch.no_grad():
        uniform = float(tuned.task.entropy(network, batch))
    visited = minimise_entropy(network, lambda: tuned.task.entropy(network, batch), rate=rate)
    with torch.no_grad():
        found = float(tuned.task.entropy(network, batch))
    assert visited[0] == pytest.approx(uniform) and found == pytest.approx(min(visited)) and found <= uniform
    if rate <= 10:
        assert found < uniform
    mixtures = list(stack_of(network.body).mixtures())  # type: ignore[union-attr]
    assert len(mixtures) == tuned.model.layers + 1  # every block's, and that of the invertible ones
    for mixture in mixtures:
        assert float(mixture.weights.sum()) == pytest.approx(1, abs=1e-6)
    assert any(float((mixture.weights - 1 / 3).abs().max()) > 1e-4 for mixture in mixtures) or rate > 10
    assert not any(mixture.logits.requires_grad for mixture in mixtures)


def test_the_gradient_is_that_of_finite_differences(masked: LoadedModel, folders: Any) -> None:
    tuned, batch = _ensemble(masked, folders, "pos")
    network: Any = tuned.network.eval().double()
    first = next(iter(stack_of(network.body).mixtures()))  # type: ignore[union-attr]

    def entropy(shift: float) -> float:
        first.logits.data = torch.tensor([shift, 0.0, 0.0], dtype=torch.float64)
        with torch.no_grad():
            return float(_double_entropy(network, batch))

    slope = (entropy(1e-4) - entropy(-1e-4)) / 2e-4
    first.logits.data.zero_()
    first.logits.requires_grad_(True)
    (gradient,) = torch.autograd.grad(_double_entropy(network, batch), [first.logits])
    assert float(gradient[0]) == pytest.approx(slope, rel=1e-4)
    assert float(gradient.sum()) == pytest.approx(0, abs=1e-10)  # moving all logits alike moves no weight


def _double_entropy(network: Any, batch: Any) -> torch.Tensor:
    logs = batch.words(network(**batch.inputs).logits)[batch.word_mask].log_softmax(-1)
    return -(logs.exp() * logs).sum(-1).mean()


def test_an_evaluation_finds_weights_batch_by_batch(masked: LoadedModel, folders: Any) -> None:
    tuned, _ = _ensemble(masked, folders, "pos")
    corpus = treebank(30, "fr")
    examples = tuned.task.encode(tuned.model, corpus, tuned.labels)
    batches = len(list(token_batches([example.tokens for example in examples], 64)))
    seen: list[list[float]] = []
    task = replace(tuned.task, predict=lambda network, batch, labels: _noted(tuned, network, batch, labels, seen))
    result = evaluate(
        tuned.network, with_entropy_minimisation(task), tuned.model, {"fr": corpus}, tuned.labels, tokens=64
    )
    assert len(seen) == batches > 1 and len({tuple(weights) for weights in seen}) > 1
    assert len(result["fr"].predictions) == 30


def _noted(tuned: Any, network: Any, batch: Any, labels: Any, seen: list[list[float]]) -> list[Any]:
    seen.append(next(iter(stack_of(network.body).mixtures())).weights.tolist())  # type: ignore[union-attr]
    return tuned.task.predict(network, batch, labels)  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["bottleneck", "lora"])
def test_steps_with_adapters_can_be_recorded(kind: str, bert: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same losses and weights as in plain steps, and the base untouched in both."""
    if kind == "lora":
        pytest.importorskip("peft")
    monkeypatch.setattr(shapes, "LAUNCH_MS", 1e6)
    model = clone(bert)
    if kind == "lora":
        lora(2)(model, seed=0)
    else:
        task_adapter(4)(language_adapter(2)(model, seed=0), seed=0)
    plain, recorder = stepper(model, "pos"), Recorder()
    recorded = stepper(model, "pos", record=recorder)
    trained, weights = plain.updater.parameters, plain.trainable.network.parameters()
    assert sum(p.numel() for p in trained) < 0.5 * sum(p.numel() for p in weights)
    np.testing.assert_allclose(run(recorded), run(plain), rtol=1e-4)
    assert recorder.recorded > 0
    for steps in (plain, recorded):
        assert bits(steps.trainable.network.body) == bits(bert.body)  # type: ignore[arg-type]


def test_a_copy_in_bf16_trains_the_adapters(bert: LoadedModel) -> None:
    """As on a GPU: the copy computes, its gradients go to the weights that are trained, and to no others."""
    model = task_adapter(4)(language_adapter(2)(clone(bert), seed=0), seed=0)
    network = TASKS["pos"].network(model, TASKS["pos"].labels(treebank(8)))
    shadow = Bf16Copy(network, bf16=True)
    ids = torch.arange(5, 15)[None]
    shadow.network(input_ids=ids, attention_mask=torch.ones_like(ids)).logits.sum().backward()
    shadow.collect_gradients()
    graded = {name for name, weight in network.named_parameters() if weight.grad is not None}
    trained = {name for name, weight in network.named_parameters() if weight.requires_grad}
    assert graded == trained and any(".task." in name for name in graded)


def test_a_network_with_lora_is_read_back(bert: LoadedModel, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    model = lora(2)(clone(bert), seed=0)
    tuned = finetune(model, TASKS["pos"], treebank(16), treebank(4, seed=1), SETTINGS)
    assert bits(tuned.network.body) == bits(bert.body)
    save_finetuned(tuned, tmp_path / "tuned")
    read = load_finetuned(tmp_path / "tuned", device="cpu")
    assert torch.equal(_logits(read, treebank(6, seed=2)), _logits(tuned, treebank(6, seed=2)))


def test_what_has_no_adapters_is_told(masked: LoadedModel, folders: Any) -> None:
    model = clone(replace(masked, network=masked.body))
    tuned = finetune(model, TASKS["pos"], treebank(8), treebank(4, seed=1), replace(SETTINGS, epochs=1))
    with pytest.raises(UsageError, match="not fine-tuned with adapters"):
        swap_adapter(tuned, use_adapter(folders["fr"]))
    with pytest.raises(UsageError, match="no ensemble"):
        minimise_entropy(tuned.network, lambda: torch.zeros(()))


def test_a_task_adapter_can_be_saved(masked: LoadedModel, folders: Any, tmp_path: Path) -> None:
    model = clone(replace(masked, network=masked.body))
    task_adapter(4)(use_adapter(folders["en"])(model), seed=0)
    tuned = finetune(model, TASKS["pos"], treebank(16), treebank(4, seed=1), replace(SETTINGS, epochs=1))
    network: Any = tuned.network
    save_adapter(replace(model, network=network.body, body=network.body), tmp_path, role="task")
    again = use_adapter(tmp_path)(use_adapter(folders["en"])(clone(replace(masked, network=masked.body))))
    for name, weight in again.body.state_dict().items():
        assert torch.equal(weight, network.body.state_dict()[name])
