"""Adapters in every family: identity at first, the published equations, copies, files, the inverse."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import LISTED, SENTENCES, UNLISTED, build_masked, build_scheme
from torch import Tensor, nn
from transformers import AutoModel, AutoModelForMaskedLM

from isogloss.core.errors import InputError, UnknownName, UsageError
from isogloss.models.adapters.files import adapters_in, save_adapter
from isogloss.models.adapters.hooks import adapter_sites, stack_of
from isogloss.models.adapters.lora import lora
from isogloss.models.adapters.modules import Bottleneck, Coupling, Mixture
from isogloss.models.adapters.weights import member_weights
from isogloss.models.bilstm.baseline import bilstm
from isogloss.models.families import FAMILIES
from isogloss.models.interventions.adapters import language_adapter, task_adapter, use_adapter
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import sentence_states

PLACEMENTS = ("pfeiffer", "houlsby")
TEXT = SENTENCES[:3]


@pytest.fixture(scope="session")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with its head."""
    return build_masked(tmp_path_factory.mktemp("masked"))


@pytest.fixture(scope="session")
def schemes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    return lambda norm: build_scheme(norm, False, tmp_path_factory.mktemp(norm))


def own(model: LoadedModel) -> LoadedModel:
    network, body = copy.deepcopy((model.network, model.body))
    return replace(model, network=network, body=body)


def with_sense(model: LoadedModel, seed: int = 3) -> LoadedModel:
    """Adapters that are the identity no longer."""
    stack = stack_of(model.body)
    assert stack is not None
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, weight in stack.named_parameters():
            if "logits" not in name:
                weight.normal_(0, 0.3)
    return model


def states(model: LoadedModel) -> Tensor:
    return torch.from_numpy(sentence_states(model, TEXT, layers=[model.layer_names[-1]]).collect())


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("family", LISTED)
def test_a_new_adapter_changes_nothing_and_a_trained_one_does(family: str, placement: Any, tiny: Any) -> None:
    model = own(tiny(family))
    before = states(model)
    language_adapter(2, placement=placement)(model, seed=0)
    assert torch.equal(states(model), before)
    task_adapter(4, placement=placement)(model, seed=0)
    assert torch.equal(states(model), before)
    changed = states(with_sense(model))
    assert (changed - before).abs().max() > 1e-3
    every = sentence_states(model, TEXT).collect(), sentence_states(tiny(family), TEXT).collect()
    assert all(abs(a - b).max() > 1e-4 for a, b in zip(*every, strict=True))  # the invertible one changes layer 0


def test_places_are_known_wherever_families_are() -> None:
    assert all(family.adapters for family in FAMILIES.values())


@pytest.mark.parametrize("family", UNLISTED)
def test_families_that_are_not_described_are_refused(family: str, tiny: Any) -> None:
    with pytest.raises(UsageError, match=r"is not listed in models/families"):
        language_adapter()(own(tiny(family)), seed=0)


def watched(model: LoadedModel, block: int) -> tuple[dict[str, Tensor], Tensor]:
    """What passes through the places of one block, seen before any adapter is there, and the block's output."""
    places, seen = adapter_sites(model), {}
    module = model.blocks[block]

    def keep(name: str) -> Any:
        return lambda _m, _i, output: seen.__setitem__(name, output[0] if isinstance(output, tuple) else output)

    handles = [module.get_submodule(places.feed_forward).register_forward_hook(keep("r"))]
    handles.append(module.register_forward_hook(keep("out")))
    if places.norm:
        norm = module.get_submodule(places.norm)
        handles.append(norm.register_forward_pre_hook(lambda _m, args: seen.__setitem__("sum", args[0])))
    ids = torch.arange(5, 15)[None]
    with torch.no_grad():
        model.body(input_ids=ids, attention_mask=torch.ones_like(ids))
    for handle in handles:
        handle.remove()
    return seen, seen["out"]


@pytest.mark.parametrize("roles", ["language", "task", "both"])
@pytest.mark.parametrize("family", LISTED)
def test_the_equations_of_mad_x(family: str, roles: str, tiny: Any, schemes: Any) -> None:
    """L = r + U₁ relu(D₁ N(x + r)), T = r + U₂ relu(D₂ L), out = N(x + T), computed here from the plain model."""
    plain = own(tiny(family))
    seen, out = watched(plain, 0)
    r, places = seen["r"], adapter_sites(plain)
    norm = plain.blocks[0].get_submodule(places.norm) if places.norm else nn.Identity()
    total = seen["sum"] if places.norm else out  # x + r
    model = own(plain)
    if roles != "task":
        language_adapter(2, invertible=False)(model, seed=0)
    if roles != "language":
        task_adapter(4)(model, seed=0)
    with_sense(model)
    stack = stack_of(model.body)
    assert stack is not None
    site: Any = stack.sites[0]
    with torch.no_grad():
        states = norm(total)
        if roles != "task":
            added = site.language.members[0](states)
        if roles == "both":
            added = site.task.members[0](r + added)
        elif roles == "task":
            added = site.task.members[0](states)
        expected = norm(total + added)
    _, got = watched(model, 0)
    assert torch.allclose(got, expected, atol=1e-5)
    assert not torch.allclose(got, out, atol=1e-3)


@pytest.mark.parametrize("family", ["bert", "llama", "mt5", "xglm"])
def test_houlsby_changes_both_sublayers(family: str, tiny: Any) -> None:
    model = own(tiny(family))
    language_adapter(2, placement="houlsby", invertible=False)(model, seed=0)
    with_sense(model)
    stack, places = stack_of(model.body), adapter_sites(model)
    assert stack is not None and len(stack.sites) == 2 * model.layers
    seen: list[tuple[Tensor, Tensor]] = []

    class Spy(nn.Module):
        def __init__(self, inner: nn.Module):
            super().__init__()
            self.inner = inner

        def forward(self, states: Tensor) -> Tensor:
            added = self.inner(states)
            seen.append((states, added))
            return added  # type: ignore[no-any-return]

    after: list[Tensor] = []
    for name in (places.attention, places.feed_forward):
        model.blocks[0].get_submodule(name).register_forward_hook(
            lambda _m, _i, output: after.append(output[0] if isinstance(output, tuple) else output)
        )
    for site in list(stack.sites)[:2]:
        site.language = Spy(site.language)  # type: ignore[arg-type, assignment]
    ids = torch.arange(5, 15)[None]
    with torch.no_grad():
        model.body(input_ids=ids, attention_mask=torch.ones_like(ids))
    assert len(seen) == len(after) == 2
    for (residual, added), output in zip(seen, after, strict=True):
        assert torch.allclose(output, residual + added, atol=1e-6)


@given(st.integers(2, 9), st.integers(1, 3), st.integers(0, 2**16))
@settings(max_examples=30)
def test_the_inverse_undoes_the_invertible_adapter(units: int, reduction: int, seed: int) -> None:
    torch.manual_seed(seed)
    coupling = Coupling(units, reduction).double()
    for weight in coupling.parameters():
        nn.init.normal_(weight, 0, 1)
    states = torch.randn(4, units, dtype=torch.float64)
    assert torch.allclose(coupling.inverse(coupling(states)), states, rtol=1e-12, atol=1e-11)
    assert torch.allclose(coupling(coupling.inverse(states)), states, rtol=1e-12, atol=1e-11)
    assert not torch.allclose(coupling(states), states)


def test_the_inverse_comes_right_before_the_output_embeddings(masked: Path) -> None:
    model = load_model(masked, head="mlm", device="cpu")
    language_adapter(2)(model, seed=0)
    with_sense(model)
    stack, network = stack_of(model.body), model.network
    assert stack is not None
    ids = torch.arange(5, 15)[None]
    with torch.no_grad():
        got = network(input_ids=ids).logits
        top = model.body(input_ids=ids)[0]
        transformed = network.cls.predictions.transform(top)  # type: ignore[union-attr, operator]
        decoder: Any = network.get_output_embeddings()  # type: ignore[operator]
        expected = decoder.forward(stack.gate.language.inverse(transformed))  # type: ignore[union-attr, operator]
        entered: list[Tensor] = []
        handle = model.blocks[0].register_forward_pre_hook(lambda _m, args: entered.append(args[0]))
        network(input_ids=ids)
        handle.remove()
        embedded = model.body.embeddings(ids)  # type: ignore[operator]
    assert torch.allclose(got, expected, atol=1e-5)
    assert torch.allclose(entered[0], stack.gate.language(embedded), atol=1e-6)  # type: ignore[misc]


def test_only_the_new_adapter_is_trained(tiny: Any) -> None:
    model = own(tiny("bert"))
    language_adapter()(model, seed=0)
    names = {name for name, weight in model.network.named_parameters() if weight.requires_grad}
    assert names and all(name.startswith("adapters.") and ".language." in name for name in names)
    task_adapter()(model, seed=0)
    names = {name for name, weight in model.network.named_parameters() if weight.requires_grad}
    assert names and all(name.startswith("adapters.sites.") and ".task.members." in name for name in names)


def test_a_copy_has_adapters_of_its_own(tiny: Any) -> None:
    model = own(tiny("xlm-roberta"))
    language_adapter(2)(model, seed=0)
    other = own(model)
    before = states(model)
    with_sense(other)
    assert torch.equal(states(model), before) and not torch.equal(states(other), before)


def test_the_seed_decides(tiny: Any) -> None:
    def drawn(seed: int) -> Tensor:
        model = language_adapter(2)(own(tiny("bert")), seed=seed)
        return member_weights(model.body, "language")["sites.0.down.weight"]

    state = torch.get_rng_state()
    assert torch.equal(drawn(1), drawn(1)) and not torch.equal(drawn(1), drawn(2))
    assert torch.equal(torch.get_rng_state(), state)
    assert 0.015 < float(drawn(1).std()) < 0.025


@pytest.mark.parametrize("norm", ["post", "pre", "normformer"])
def test_our_own_networks_take_adapters(norm: str, schemes: Any, tmp_path: Path) -> None:
    model = load_model(schemes(norm), head="mlm", device="cpu")
    before = states(model)
    language_adapter(2)(model, seed=0)
    assert torch.equal(states(model), before)
    assert not torch.allclose(states(with_sense(model)), before, atol=1e-3)
    model.network.save_pretrained(tmp_path)  # type: ignore[operator]
    model.tokenizer.save_pretrained(tmp_path)
    assert torch.equal(states(load_model(tmp_path, device="cpu")), states(model))


@pytest.mark.parametrize("family", LISTED)
def test_an_adapter_saved_and_used_again(family: str, tiny: Any, tmp_path: Path) -> None:
    model = with_sense(language_adapter(2)(own(tiny(family)), seed=0))
    save_adapter(model, tmp_path / "fr", lang="fr")
    again = use_adapter(tmp_path / "fr")(own(tiny(family)))
    assert torch.equal(states(again), states(model))
    assert not any(weight.requires_grad for weight in again.network.parameters())
    (listed,) = adapters_in(tmp_path)
    assert (listed.role, listed.lang, listed.options["inner"]) == ("language", "fr", model.hidden_size // 2)


def test_adapters_are_swapped(tiny: Any, tmp_path: Path) -> None:
    for number, lang in enumerate(("fr", "es")):
        save_adapter(with_sense(language_adapter(2 + number)(own(tiny("bert")), seed=0), number), tmp_path / lang)
    model = own(tiny("bert"))
    plain = states(model)
    french = states(use_adapter(tmp_path / "fr")(model))
    spanish = states(use_adapter(tmp_path / "es")(model))
    assert not torch.allclose(french, spanish, atol=1e-3) and not torch.allclose(plain, spanish, atol=1e-3)
    assert torch.equal(states(use_adapter(tmp_path / "fr")(model)), french)


def test_an_ensemble_is_the_weighted_mean(tiny: Any, tmp_path: Path) -> None:
    for number, lang in enumerate(("fr", "es")):
        adapter = language_adapter(2, invertible=False)(own(tiny("bert")), seed=0)
        save_adapter(with_sense(adapter, number), tmp_path / lang)
    both = use_adapter(tmp_path / "fr", tmp_path / "es")(own(tiny("bert")))
    stack = stack_of(both.body)
    assert stack is not None
    mixtures = list(stack.mixtures())
    assert len(mixtures) == both.layers
    assert all(torch.equal(mixture.weights, torch.tensor([0.5, 0.5])) for mixture in mixtures)
    for mixture in mixtures:
        mixture.logits.data = torch.tensor([50.0, -50.0])
    alone = states(use_adapter(tmp_path / "fr")(own(tiny("bert"))))
    assert torch.allclose(states(both), alone, atol=1e-5)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=5))
@settings(max_examples=20)
def test_weights_are_on_the_simplex(logits: list[float]) -> None:
    mixture = Mixture([Bottleneck(4, 2) for _ in logits])
    mixture.logits.data = torch.tensor(logits)
    assert float(mixture.weights.sum()) == pytest.approx(1, abs=1e-6) and bool((mixture.weights >= 0).all())


@pytest.mark.parametrize("head", [None, "mlm"])
def test_a_whole_model_with_adapters_is_read_back(head: Any, masked: Path, tmp_path: Path) -> None:
    model = load_model(masked, head="mlm", device="cpu")
    task_adapter(4)(language_adapter(2)(model, seed=0), seed=0)
    with_sense(model)
    model.network.save_pretrained(tmp_path)  # type: ignore[operator]
    model.tokenizer.save_pretrained(tmp_path)
    again = load_model(tmp_path, head=head, device="cpu")
    assert torch.equal(states(again), states(model))
    trained = [name for name, weight in again.network.named_parameters() if weight.requires_grad]
    assert trained and all(".task." in name for name in trained)


def test_plain_transformers_reads_the_model_beneath(masked: Path, tmp_path: Path) -> None:
    model = with_sense(language_adapter(2)(load_model(masked, head="mlm", device="cpu"), seed=0))
    model.network.save_pretrained(tmp_path)  # type: ignore[operator]
    plain, told = AutoModelForMaskedLM.from_pretrained(tmp_path, output_loading_info=True)
    base = AutoModelForMaskedLM.from_pretrained(masked)
    assert not told["missing_keys"]
    assert all(torch.equal(a, b) for a, b in zip(plain.state_dict().values(), base.state_dict().values(), strict=True))


@pytest.mark.parametrize("family", LISTED)
def test_lora_in_every_family(family: str, tiny: Any, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    model = own(tiny(family))
    before, names = states(model), set(model.body.state_dict())
    lora(2)(model, seed=0)
    assert torch.allclose(states(model), before, atol=1e-6)
    assert names <= set(model.body.state_dict())  # the model's own weights keep their names
    trained = {name for name, weight in model.network.named_parameters() if weight.requires_grad}
    assert trained and all(".lora_" in name for name in trained)
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in model.network.parameters():
            if weight.requires_grad:
                weight.normal_(0, 0.3)
    changed = states(model)
    assert (changed - before).abs().max() > 1e-3
    save_adapter(model, tmp_path / "lora")
    again = use_adapter(tmp_path / "lora")(own(tiny(family)))
    assert torch.equal(states(again), changed)
    assert torch.equal(states(own(again)), changed)


def test_lora_within_a_saved_model(masked: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    model = lora(2)(load_model(masked, head="mlm", device="cpu"), seed=0)
    with torch.no_grad():
        for weight in model.network.parameters():
            if weight.requires_grad:
                weight.normal_(0, 0.3)
    model.network.save_pretrained(tmp_path)  # type: ignore[operator]
    model.tokenizer.save_pretrained(tmp_path)
    again = load_model(tmp_path, device="cpu")
    assert torch.equal(states(again), states(model))
    _, told = AutoModel.from_pretrained(tmp_path, output_loading_info=True)
    assert not {name for name in told["missing_keys"] if not name.startswith("pooler")}
    own(again).network.load_state_dict(again.network.state_dict())


def test_reading_adapters_draws_no_numbers(tiny: Any, tmp_path: Path) -> None:
    save_adapter(language_adapter(2)(own(tiny("bert")), seed=0), tmp_path)
    state = torch.get_rng_state()
    use_adapter(tmp_path)(own(tiny("bert")))
    assert torch.equal(torch.get_rng_state(), state)


def test_a_network_without_blocks_is_refused() -> None:
    with pytest.raises(UsageError, match=r"is not listed in models/families"):
        task_adapter()(bilstm(device="cpu"), seed=0)


def test_what_does_not_fit_is_told(tiny: Any, masked: Path, tmp_path: Path) -> None:
    model = language_adapter(2)(own(tiny("bert")), seed=0)
    save_adapter(model, tmp_path / "a")
    with pytest.raises(InputError, match="model_type is xlm-roberta, got bert"):
        use_adapter(tmp_path / "a")(own(tiny("xlm-roberta")))
    with pytest.raises(InputError, match=r"with adapter\.json, got none there"):
        use_adapter(tmp_path)(own(tiny("bert")))
    with pytest.raises(UsageError, match="the model has adapters with placement='pfeiffer'"):
        task_adapter(placement="houlsby")(model, seed=0)
    with pytest.raises(UsageError, match="no inverse"):
        use_adapter(tmp_path / "a", tmp_path / "a")(load_model(masked, head="mlm", device="cpu"))
    with pytest.raises(UsageError, match="no trained adapter"):
        save_adapter(tiny("bert"), tmp_path / "b")
    with pytest.raises(UnknownName, match="did you mean 'pfeiffer'"):
        language_adapter(placement="pfeifer")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="above 0"):
        task_adapter(0)
    with pytest.raises(UsageError, match="expected at least one folder"):
        use_adapter()
    with pytest.raises(UsageError, match="for several"):
        use_adapter("a", weights="entropy")


def test_damaged_files_are_told(tiny: Any, tmp_path: Path) -> None:
    save_adapter(language_adapter(2)(own(tiny("bert")), seed=0), tmp_path)
    note = json.loads((tmp_path / "adapter.json").read_text())
    (tmp_path / "adapter.json").write_text(json.dumps({**note, "options": {"inner": 3, "invertible": 2}}))
    with pytest.raises(InputError, match=r"sites\.0\.down\.weight of shape \(3, 16\), got \(8, 16\)"):
        use_adapter(tmp_path)(own(tiny("bert")))
    (tmp_path / "adapter.safetensors").write_bytes(b"none")
    with pytest.raises(InputError, match="the weights of an adapter"):
        use_adapter(tmp_path)(own(tiny("bert")))
    (tmp_path / "adapter.json").write_text("{}")
    with pytest.raises(InputError, match="the description of an adapter"):
        use_adapter(tmp_path)(own(tiny("bert")))


def test_another_models_adapter_is_warned_of(tiny: Any, tmp_path: Path) -> None:
    save_adapter(language_adapter(2)(own(tiny("bert")), seed=0), tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        use_adapter(tmp_path)(own(tiny("bert")))
    other = own(tiny("bert"))
    with torch.no_grad():
        other.blocks[0].output.LayerNorm.bias.add_(1.0)  # type: ignore[union-attr, operator]
    with pytest.warns(UserWarning, match="trained with other weights"):
        use_adapter(tmp_path)(other)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bert", "llama"])
def test_adapters_can_be_compiled_whole(family: str, tiny: Any) -> None:
    model = own(tiny(family))
    task_adapter(4)(language_adapter(2)(model, seed=0), seed=0)
    with_sense(model)
    ids = torch.arange(5, 15)[None]
    with torch.no_grad():
        plain = model.body(input_ids=ids, use_cache=False)[0]
        compiled: Any = torch.compile(
            lambda x: model.body(input_ids=x, use_cache=False)[0], backend="eager", fullgraph=True
        )
        assert torch.allclose(compiled(ids), plain, atol=1e-5)
