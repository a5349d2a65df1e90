"""RANDOM-INIT on every family: what changes, what does not, and where the new weights come from."""

from __future__ import annotations

import ast
import copy
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tiny_models import CONFIGS, UNLISTED, build_masked, new_scheme, tokenizer_of
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoModelForTextEncoding, GPT2Config, GPT2Model
from transformers.pytorch_utils import Conv1D

import isogloss as ig
from isogloss.core.errors import UnknownName, UsageError
from isogloss.models.bilstm.baseline import bilstm
from isogloss.models.families import FAMILIES
from isogloss.models.interventions.reinit import Reinit, reinit
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel, wrap_network
from isogloss.models.normformer.blocks import ResidualLinear, Scale

# families that the tiny models leave out → the one of the same build
SIBLINGS = {"roberta": "xlm-roberta", "t5": "mt5", "mistral": "llama", "qwen3": "qwen2", "gemma2": "gemma3_text"}
MORE = {"qwen3": {"head_dim": 8}}
Weights = dict[str, Tensor]

families = pytest.mark.parametrize("model_type", FAMILIES)


def fresh(model_type: str, **options: Any) -> LoadedModel:
    """A family's tiny model from its configuration."""
    sibling = SIBLINGS.get(model_type, model_type)
    tokenizer: Any = tokenizer_of(sibling)
    ids = {"pad_token_id": tokenizer.pad_token_id, "bos_token_id": None, "eos_token_id": None}
    common = {**CONFIGS[sibling], **MORE.get(model_type, {}), **ids, "vocab_size": len(tokenizer) + 3}
    auto: Any = AutoModelForTextEncoding if model_type in ("t5", "mt5") else AutoModel
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        body = auto.from_config(AutoConfig.for_model(model_type, **{**common, **options}))
    if hasattr(body, "decoder") and hasattr(body, "encoder"):
        body = body.get_encoder()
    return wrap_network(model_type, body, body, tokenizer)


@torch.no_grad()
def shaken(model: LoadedModel) -> LoadedModel:
    """The model with weights that no initialiser gives, padding rows, norms and biases included."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        for parameter in model.network.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3 + 0.5)
    return model


def from_files(model_type: str, folder: Path) -> LoadedModel:
    model: Any = shaken(fresh(model_type))
    model.body.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    loaded = load_model(folder, device="cpu")
    assert any(getattr(weights, "_is_hf_initialized", False) for weights in loaded.body.parameters())
    return loaded


def weights_of(network: nn.Module) -> Weights:
    return {name: tensor.detach().clone() for name, tensor in network.named_parameters()}


def everything(network: nn.Module) -> Weights:
    buffers = {f"buffer {name}": tensor.clone() for name, tensor in network.named_buffers()}
    return {**weights_of(network), **buffers}


def changed_by(change: Reinit, model: LoadedModel, seed: int = 0) -> set[str]:
    """The names of parameters and buffers that are not what they were."""
    before = everything(model.network)
    assert change(model, seed=seed) is model
    after = everything(model.network)
    assert before.keys() == after.keys()
    return {name for name in before if not torch.equal(before[name], after[name])}


def after(change: Reinit, model: LoadedModel, seed: int = 0) -> Weights:
    """All weights after the change; the model stays as it is."""
    network, body = copy.deepcopy((model.network, model.body))
    changed = wrap_network(model.name, network, body, model.tokenizer)
    return weights_of(change(changed, seed=seed).network)


def part_of(name: str) -> str:
    """What a parameter of a block is, by its name: an account of its own beside the table of families."""
    if re.search("norm|scale", name.lower()):
        return "norm"
    if re.match(r"(intermediate|output|fc[12]|mlp|feed_forward|layer\.1)\b", name):
        return "feed-forward"
    assert re.match(r"(attention|self_attn|attn|layer\.0)\b", name)
    return "attention"


def named(model: LoadedModel, numbers: set[int], parts: set[str]) -> set[str]:
    """The names of the parameters of these layers and parts."""
    found = set()
    for name, _ in model.body.named_parameters():
        inside = re.match(rf"{re.escape(model.family.blocks)}\.(\d+)\.(.+)", name)
        if inside and int(inside[1]) + 1 in numbers and part_of(inside[2]) in parts:
            found.add(name)
    return found


def embedding_names(model: LoadedModel) -> set[str]:
    return {name for name, _ in model.body.named_parameters() if name.startswith(model.family.embeddings)}


def final_norm_names(model: LoadedModel) -> set[str]:
    return {name for name in weights_of(model.body) if name.startswith(model.family.final_norm or "none")}


WHOLE = {"attention", "feed-forward", "norm"}
CHOICES: list[tuple[Reinit, set[int], set[str], bool]] = [
    (reinit("1-2"), {1, 2}, WHOLE, False),
    (reinit("1,3"), {1, 3}, WHOLE, False),
    (reinit("2", parts="attention"), {2}, {"attention"}, False),
    (reinit("1-2", parts="feed-forward", scheme="pytorch"), {1, 2}, {"feed-forward"}, False),
    (reinit("2-3", keep_norms=True), {2, 3}, {"attention", "feed-forward"}, False),
    (reinit("3", embeddings=True), {3}, WHOLE, True),
    (reinit("embeddings", scheme="pytorch"), set(), WHOLE, True),
]


@pytest.mark.parametrize("origin", ["configuration", "files"])
@families
def test_exactly_what_is_named_changes(model_type: str, origin: str, tmp_path: Path) -> None:
    model = fresh(model_type) if origin == "configuration" else from_files(model_type, tmp_path)
    for change, numbers, parts, embeddings in CHOICES if origin == "configuration" else CHOICES[::3]:
        shaken(model)
        expected = named(model, numbers, parts) | (embedding_names(model) if embeddings else set())
        assert expected, change
        assert changed_by(change, model) == expected, change


@families
def test_all_is_every_block_and_no_more(model_type: str) -> None:
    model = shaken(fresh(model_type))
    expected = named(model, set(range(1, model.layers + 1)), WHOLE)
    others = {name for name in weights_of(model.body) if name not in expected | embedding_names(model)}
    assert {name for name in others if not name.startswith("pooler.")} == final_norm_names(model)
    assert changed_by(reinit("all"), model) == expected


@families
def test_parts_and_norms_divide_a_block(model_type: str) -> None:
    model = fresh(model_type)
    chosen = {
        part: {id(weights) for weights in change.parameters_of(model)}
        for part, change in {
            "attention": reinit("2", parts="attention"),
            "feed-forward": reinit("2", parts="feed-forward"),
            "both": reinit("2", keep_norms=True),
        }.items()
    }
    whole = {id(weights) for weights in model.blocks[1].parameters()}
    norms = {id(weights) for name in model.family.norms for weights in model.blocks[1].get_submodule(name).parameters()}
    assert chosen["attention"] and chosen["feed-forward"] and norms
    assert not chosen["attention"] & chosen["feed-forward"] and not chosen["both"] & norms
    assert chosen["attention"] | chosen["feed-forward"] == chosen["both"]
    assert chosen["both"] | norms == whole


@families
def test_kept_norms_are_kept_after_the_embeddings_too(model_type: str) -> None:
    model = shaken(fresh(model_type))
    changed = changed_by(reinit("embeddings", keep_norms=True), model)
    assert changed == {name for name in embedding_names(model) if "norm" not in name.lower()}


WIDE = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4, "d_model": 64, "d_ff": 128, "ffn_dim": 128}


@families
def test_new_weights_are_as_those_of_a_new_model(model_type: str) -> None:
    """Of each parameter: the same constants, the same padding row, the same mean and deviation."""
    sizes = {name: size for name, size in WIDE.items() if name in CONFIGS[SIBLINGS.get(model_type, model_type)]}
    model = fresh(model_type, **sizes)
    reference = weights_of(model.body)
    reinit("all", embeddings=True)(shaken(model), seed=5)
    drawn = weights_of(model.body)
    for name in named(model, set(range(1, model.layers + 1)), WHOLE) | embedding_names(model):
        new, old = drawn[name], reference[name]
        assert torch.equal(new == 0, old == 0), name
        if (old == old.flatten()[0]).all():
            assert torch.equal(new, old), name
            continue
        assert not torch.equal(new, old), name
        within = 6 / old.numel() ** 0.5  # six standard errors of the ratio of two deviations
        assert new.std() / old.std() == pytest.approx(1, abs=within), name
        assert abs(new.mean() - old.mean()) < 6 * old.std() * (2 / old.numel()) ** 0.5, name


def test_bert_is_drawn_as_published() -> None:
    """N(0, initializer_range), zero biases, norms 1 and 0."""
    model = reinit("all", embeddings=True)(shaken(fresh("bert", hidden_size=64, initializer_range=0.07)), seed=1)
    for name, weights in weights_of(model.body).items():
        if name.startswith("pooler."):
            continue
        if "LayerNorm" in name:
            assert (weights == (1 if name.endswith("weight") else 0)).all()
        elif name.endswith("bias"):
            assert (weights == 0).all()
        else:
            drawn = weights[1:] if "word_embeddings" in name else weights  # after the padding row
            assert stats.kstest(drawn.flatten().numpy(), "norm", (0, 0.07)).pvalue > 1e-4, name
    assert (weights_of(model.body)["embeddings.word_embeddings.weight"][0] == 0).all()


def test_the_defaults_of_pytorch() -> None:
    """U(±1/√inputs) for weights and biases of projections, N(0, 1) for tables, norms 1 and 0."""
    model = shaken(fresh("bert", hidden_size=64, intermediate_size=128))
    reinit("all", embeddings=True, scheme="pytorch")(model, seed=1)
    inner = weights_of(model.body)
    for name, module in model.body.named_modules():
        if isinstance(module, nn.Linear) and not name.startswith("pooler."):
            bound = module.in_features**-0.5 * (1 + 1e-6)  # rounded to single precision
            for weights in (inner[f"{name}.weight"], inner[f"{name}.bias"]):
                assert weights.abs().max() <= bound
                assert stats.kstest(weights.flatten().numpy(), "uniform", (-bound, 2 * bound)).pvalue > 1e-4, name
        elif isinstance(module, nn.LayerNorm):
            assert (inner[f"{name}.weight"] == 1).all() and (inner[f"{name}.bias"] == 0).all()
        elif isinstance(module, nn.Embedding):
            drawn = inner[f"{name}.weight"][1 if module.padding_idx == 0 else 0 :]
            assert stats.kstest(drawn.flatten().numpy(), "norm").pvalue > 1e-4, name


@families
def test_pytorch_has_the_last_word_where_it_has_one(model_type: str) -> None:
    model = reinit("2", scheme="pytorch")(shaken(fresh(model_type)), seed=1)
    for module in model.blocks[1].modules():
        if isinstance(module, nn.Linear):
            assert module.weight.abs().max() <= module.in_features**-0.5 * (1 + 1e-6)
            assert module.weight.std().item() == pytest.approx((3 * module.in_features) ** -0.5, rel=0.2)


def test_pytorch_default_of_transposed_projections() -> None:
    """GPT-2 multiplies by weights of shape (inputs, outputs): U(±1/√inputs), as a linear layer of the same size."""
    config = GPT2Config(n_embd=64, n_layer=2, n_head=2, n_positions=32, vocab_size=50, initializer_range=0.02)
    body: Any = GPT2Model(config)
    model = wrap_network("gpt2", body, body, tokenizer_of("bert"))
    reinit("all", scheme="pytorch")(shaken(model), seed=1)
    projections = [module for module in body.h.modules() if isinstance(module, Conv1D)]
    assert len(projections) == 2 * 4
    for module in projections:
        bound = module.nx**-0.5 * (1 + 1e-6)
        for weights in (module.weight, module.bias):
            drawn = weights.detach().flatten().numpy()
            assert stats.kstest(drawn, "uniform", (-bound, 2 * bound)).pvalue > 1e-4
    assert all((norm.weight == 1).all() for norm in body.h.modules() if isinstance(norm, nn.LayerNorm))


def test_weights_without_a_pytorch_default_are_refused() -> None:
    class Experts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.up = nn.Parameter(torch.zeros(2, 4, 4))

    model = fresh("bert")
    model.blocks[0].experts = Experts()
    model.body._init_weights = lambda module: [nn.init.zeros_(weights) for weights in module.parameters()]  # type: ignore[method-assign]
    with pytest.raises(UsageError, match="no default for the weights of Experts; use scheme='model'"):
        reinit("1", scheme="pytorch")(model, seed=0)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("norm", ["pre", "normformer"])
def test_norm_schemes_are_drawn_as_they_say(norm: str, scaled: bool) -> None:
    tokenizer = tokenizer_of("bert")
    options: dict[str, Any] = {"width": 64, "layers": 4, "initializer_range": 0.2, "scaled_init": scaled}
    network: Any = new_scheme(norm, vocab_size=len(tokenizer), **options)
    model = reinit("1-4")(shaken(wrap_network(norm, network, network.base_model, tokenizer)), seed=2)
    residual = 0.2 / (8**0.5 if scaled else 1)
    kinds = set()
    for module in [module for block in model.blocks for module in block.modules()]:
        kinds.add(type(module))
        if isinstance(module, nn.Linear):
            deviation = residual if isinstance(module, ResidualLinear) else 0.2
            drawn = module.weight.detach().flatten().numpy()
            assert stats.kstest(drawn, "norm", (0, deviation)).pvalue > 1e-4
            assert (module.bias == 0).all()
        elif isinstance(module, (nn.LayerNorm, Scale)):
            assert (module.weight == 1).all()
    assert ResidualLinear in kinds
    assert (norm == "normformer") == (Scale in kinds)


@families
def test_a_layer_does_not_depend_on_what_else_is_drawn(model_type: str) -> None:
    model = shaken(fresh(model_type))
    everywhere = after(reinit("all", embeddings=True), model)
    before, alone = weights_of(model.body), after(reinit("2"), model)
    attention, embeddings = after(reinit("2", parts="attention"), model), after(reinit("embeddings"), model)
    second = named(model, {2}, WHOLE)
    assert all(torch.equal(alone[name], everywhere[name]) for name in second)
    for name in named(model, {2}, {"attention"}):
        assert torch.equal(attention[name], alone[name])
    for name in embedding_names(model):
        assert torch.equal(embeddings[name], everywhere[name])
        assert torch.equal(alone[name], before[name])


@families
def test_layers_and_seeds_differ(model_type: str) -> None:
    model = shaken(fresh(model_type))
    first, again, other = (after(reinit("all"), model, seed) for seed in (0, 0, 1))
    assert all(torch.equal(first[name], again[name]) for name in first)
    drawn = [name for name in named(model, set(range(1, model.layers + 1)), WHOLE) if first[name].std() > 0]
    assert len(drawn) >= 4 * model.layers
    assert not any(torch.equal(first[name], other[name]) for name in drawn)
    for shape in {first[name].shape for name in drawn}:  # no two weights of the model are the same draw
        alike = [tuple(first[name].flatten().tolist()) for name in drawn if first[name].shape == shape]
        assert len(set(alike)) == len(alike)


def test_the_state_of_randomness_neither_matters_nor_changes() -> None:
    model, drawn = shaken(fresh("mt5")), []
    with torch.random.fork_rng(devices=[]):
        for state in (8, 9):
            torch.manual_seed(state)
            before = torch.random.get_rng_state()
            drawn.append(after(reinit("all", scheme="pytorch"), model))
            assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(drawn[0][name], drawn[1][name]) for name in drawn[0])


@pytest.mark.parametrize("scheme", ["model", "pytorch"])
def test_precision_only_rounds(scheme: Any) -> None:
    model, change = shaken(fresh("bert")), reinit("1-2", scheme=scheme)
    whole = after(change, model)
    model.network.to(torch.bfloat16)
    half = after(change, model)
    for name in named(model, {1, 2}, WHOLE):
        assert half[name].dtype == torch.bfloat16
        assert torch.equal(half[name], whole[name].to(torch.bfloat16))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("scheme", ["model", "pytorch"])
@families
def test_a_gpu_gets_the_same_weights(model_type: str, scheme: Any) -> None:
    model, change = shaken(fresh(model_type)), reinit("1,3", embeddings=True, scheme=scheme)
    here = after(change, model)
    model.network.to("cuda")
    state = torch.cuda.get_rng_state()
    there = after(change, model)
    assert torch.equal(state, torch.cuda.get_rng_state())
    assert all(there[name].is_cuda and torch.equal(here[name], there[name].cpu()) for name in here)


def test_marks_of_the_model_library_stay(tmp_path: Path) -> None:
    """A later `init_weights`, as when a head is added, must not draw what was loaded again."""
    model: Any = from_files("bert", tmp_path)
    reinit("1")(model, seed=0)
    before = everything(model.body)
    model.body.init_weights()
    assert all(torch.equal(before[name], tensor) for name, tensor in everything(model.body).items())


def test_t5_keeps_relative_positions_with_the_attention_of_layer_1() -> None:
    name = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    assert name in changed_by(reinit("1", parts="attention"), shaken(fresh("mt5")))
    assert name not in changed_by(reinit("2-3"), shaken(fresh("mt5")))


def test_tied_embeddings_stay_tied_and_heads_stay(tmp_path: Path) -> None:
    build_masked(tmp_path)
    model: Any = shaken(load_model(tmp_path, head="mlm", device="cpu"))
    layer = {name for name, _ in model.network.named_parameters() if ".layer.0." in name}
    assert changed_by(reinit("1"), model) == layer
    tables = {name for name, _ in model.network.named_parameters() if ".embeddings." in name}
    assert changed_by(reinit("embeddings"), model) == tables
    assert model.network.cls.predictions.decoder.weight is model.body.embeddings.word_embeddings.weight


def test_the_network_is_still_whole() -> None:
    model = shaken(fresh("bert"))
    ids = torch.arange(5, 12)[None]
    with torch.no_grad():
        before = model.body(input_ids=ids, output_hidden_states=True).hidden_states
        reinit("2")(model, seed=0)
        states = model.body(input_ids=ids, output_hidden_states=True).hidden_states
    same = [torch.equal(old, new) for old, new in zip(before, states, strict=True)]
    assert same == [True, True, False, False]
    assert all(weights.requires_grad and weights.grad is None for weights in model.body.parameters())


@pytest.mark.parametrize("model_type", UNLISTED)
def test_families_that_are_not_described_have_whole_layers(model_type: str) -> None:
    model = shaken(fresh(model_type))
    inside = f"{model.family.blocks}.1."
    expected = {name for name, _ in model.body.named_parameters() if name.startswith(inside)}
    assert changed_by(reinit("2"), model) == expected
    for change in (reinit("1", parts="attention"), reinit("1", keep_norms=True), reinit("embeddings")):
        with pytest.raises(UsageError, match=f"'{model_type}' is not listed; only whole layers can be re-initialised"):
            change(model, seed=0)


@pytest.mark.parametrize(
    "text", ["", "x", "1-", "-1", "2-1", "1,,2", "1;2", "1-2-3", "1.5", "ALL", "12345", "٣", "1\n2"]
)
def test_malformed_layers_say_what_is_expected(text: str) -> None:
    with pytest.raises(UsageError, match="expected layers such as 1-2 or 1,3,5-8, all, or embeddings, got") as error:
        reinit(text)
    assert len(str(error.value).splitlines()) == 1


@given(st.text(max_size=8) | st.text("0123456789-, al", max_size=8))
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        change = reinit(text)
    except UsageError:
        return
    assert eval(repr(change), {"reinit": reinit}) == change


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 4)), min_size=1, max_size=4))
def test_ranges_and_lists_name_their_layers(ranges: list[tuple[int, int]]) -> None:
    model = TWELVE
    spans = [(first, min(first + more, 12)) for first, more in ranges]
    text = ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in spans)
    wanted = {number for first, last in spans for number in range(first, last + 1)}
    chosen = {id(weights) for weights in reinit(text).parameters_of(model)}
    for number, block in enumerate(model.blocks, 1):
        assert {id(weights) in chosen for weights in block.parameters()} == {number in wanted}
    assert len(chosen) == len(reinit(text).parameters_of(model))


TWELVE = fresh("bert", num_hidden_layers=12)


@pytest.mark.parametrize(
    ("text", "got"), [("0", "0; its embeddings"), ("0-2", "0-2; its"), ("2,4", "4"), ("1-9999", "1-9999")]
)
def test_layers_that_a_model_does_not_have(text: str, got: str) -> None:
    model = shaken(fresh("bert"))
    before = weights_of(model.body)
    with pytest.raises(UsageError, match=rf"reinit\('{text}'\): the layers of 'bert' are 1-3, got {got}"):
        reinit(text)(model, seed=0)
    assert all(torch.equal(before[name], weights) for name, weights in weights_of(model.body).items())


def test_wrong_options_are_told() -> None:
    with pytest.raises(UnknownName, match="did you mean 'attention'"):
        reinit("1", parts="atention")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match=r"unknown scheme 'torch'.*known: model, pytorch"):
        reinit("1", scheme="torch")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="'bilstm' has no pretrained layers"):
        reinit("1")(bilstm(units=4, device="cpu"), seed=0)


def test_weights_that_are_elsewhere_are_refused() -> None:
    model = fresh("bert")
    model.network.to("meta")
    with pytest.raises(UsageError, match="load the model without device_map"):
        reinit("1")(model, seed=0)


def test_weights_that_no_initialiser_knows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model: Any = shaken(fresh("bert"))
    monkeypatch.setattr(type(model.body), "_init_weights", lambda self, module: None)
    before = weights_of(model.body)
    with pytest.raises(UsageError, match="BertModel does not initialise these weights"):
        reinit("1")(model, seed=0)
    assert all(torch.equal(before[name], weights) for name, weights in weights_of(model.body).items())


def test_it_shows_what_it_was_asked() -> None:
    assert ig.reinit is reinit
    assert repr(reinit(" 1, 3-4 ")) == "reinit('1,3-4')"
    assert reinit("1-2", embeddings=True) == reinit("embeddings,1-2", embeddings=True)
    assert repr(reinit("all", parts="feed-forward", keep_norms=True, scheme="pytorch")) == (
        "reinit('all', parts='feed-forward', keep_norms=True, scheme='pytorch')"
    )


def test_it_needs_no_table_library() -> None:
    """Nothing that is imported on the way imports polars."""
    source = Path(ig.__file__).parents[1]
    waiting, seen = ["isogloss.models.interventions.reinit"], set[str]()
    while waiting:
        module = waiting.pop()
        file = source / (module.replace(".", "/") + ".py")
        file = file if file.exists() else source / module.replace(".", "/") / "__init__.py"
        if module in seen or not file.exists():
            continue
        seen.add(module)
        imports = imported(file)
        assert "polars" not in imports, module
        waiting += [name for name in imports if name.startswith("isogloss")] + [module.rpartition(".")[0] or module]
    assert {"isogloss.models", "isogloss.models.loading.loaded_model", "isogloss.core.errors"} <= seen


def imported(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found
