"""Schemes of normalisation against a slow reference implementation, BERT, and each other without their norms."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import SENTENCES, build_scheme, new_scheme
from torch import nn
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM, BertConfig, BertForMaskedLM

import isogloss as ig
from isogloss.core.errors import UnknownName, UsageError
from isogloss.models.families.discovery import family_of
from isogloss.models.loading.load import load_model
from isogloss.models.normformer.bert_conversion import SHARED_OPTIONS, module_pairs, to_bert
from isogloss.models.normformer.blocks import Scale
from isogloss.models.normformer.config import NORMS, IsoglossConfig
from isogloss.models.normformer.create import AUTO_CLASSES
from isogloss.models.normformer.heads import IsoglossForMaskedLM, IsoglossForSequenceClassification
from isogloss.models.normformer.network import IsoglossModel
from isogloss.models.states.hidden_states import sentence_states

SCHEMES = [(norm, causal) for norm in NORMS for causal in (False, True)]
COMPONENTS = ("head_scale", "attention_output_norm", "inner_norm", "residual_scale")
ABLATIONS = [("normformer", {name: False}) for name in COMPONENTS]
SIZES = {
    "vocab_size": 30,
    "hidden_size": 12,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 16,
    "initializer_range": 0.4,
}
IDS = torch.tensor([[5, 9, 2, 17, 29, 1, 4]])
schemes = pytest.mark.parametrize(("norm", "causal"), SCHEMES)


def body_of(norm: str, causal: bool = False, seed: int = 3, **options: Any) -> IsoglossModel:
    """A body whose norms, biases and scales are not the identity."""
    torch.manual_seed(seed)
    body = IsoglossModel(IsoglossConfig(norm=norm, causal=causal, **SIZES | options))
    return shaken(body).eval()


def shaken(network: Any) -> Any:
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return network


def states_of(body: nn.Module, ids: torch.Tensor, **inputs: Any) -> torch.Tensor:
    """Raw states of the layers 0 … L and the output, `[layer, text, token, unit]`, by hooks on the blocks."""
    states: list[torch.Tensor] = []
    handles = [block.register_forward_hook(lambda _m, _a, out: states.append(out)) for block in body.layers]  # type: ignore[union-attr]
    handles.append(body.layers[0].register_forward_pre_hook(lambda _m, args: states.append(args[0])))  # type: ignore[union-attr, index]
    with torch.no_grad():
        states.append(body(ids, **inputs).last_hidden_state)
    for handle in handles:
        handle.remove()
    return torch.stack(states)


# The textbook: one text, one token, one head at a time, in double precision.


def textbook(network: IsoglossModel, ids: list[int]) -> np.ndarray:
    config: Any = network.config
    weights = {name: value.double().numpy() for name, value in network.state_dict().items()}

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        return weights[f"{name}.weight"] @ x + weights[f"{name}.bias"]

    def norm(name: str, x: np.ndarray) -> np.ndarray:
        spread = math.sqrt(((x - x.mean()) ** 2).mean() + config.layer_norm_eps)
        return (x - x.mean()) / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def attention(name: str, xs: list[np.ndarray], token: int) -> np.ndarray:
        size = config.hidden_size // config.num_attention_heads
        seen = range(token + 1) if config.causal else range(len(xs))
        heads = []
        for head in range(config.num_attention_heads):
            part = slice(head * size, (head + 1) * size)
            query = linear(f"{name}.query", xs[token])[part]
            scores = [float(query @ linear(f"{name}.key", xs[t])[part]) / math.sqrt(size) for t in seen]
            shares = [math.exp(score - max(scores)) for score in scores]
            values = [linear(f"{name}.value", xs[t])[part] for t in seen]
            mixed = sum(share / sum(shares) * value for share, value in zip(shares, values, strict=True))
            heads.append(mixed * weights[f"{name}.head_scale.weight"][head] if config.head_scale else mixed)
        out = linear(f"{name}.output", np.concatenate(heads))
        return norm(f"{name}.output_norm", out) if config.attention_output_norm else out

    def feed_forward(name: str, x: np.ndarray) -> np.ndarray:
        inner = np.array([v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in linear(f"{name}.up", x)])
        return linear(f"{name}.down", norm(f"{name}.norm", inner) if config.inner_norm else inner)

    words, places = weights["embeddings.word_embeddings.weight"], weights["embeddings.position_embeddings.weight"]
    xs = [norm("embeddings.norm", words[id] + places[place]) for place, id in enumerate(ids)]
    layers = [xs]
    for number in range(config.num_hidden_layers):
        block = f"layers.{number}"
        a, f = f"{block}.attention_norm", f"{block}.feed_forward_norm"
        tokens = range(len(ids))
        if config.norm == "post":
            ys = [norm(a, xs[t] + attention(f"{block}.attention", xs, t)) for t in tokens]
            xs = [norm(f, y + feed_forward(f"{block}.feed_forward", y)) for y in ys]
        else:
            normed = [norm(a, x) for x in xs]
            ys = [xs[t] + attention(f"{block}.attention", normed, t) for t in tokens]
            scale = weights[f"{block}.residual_scale.weight"] if config.residual_scale else 1.0
            xs = [scale * y + feed_forward(f"{block}.feed_forward", norm(f, y)) for y in ys]
        layers.append(xs)
    layers.append(xs if config.norm == "post" else [norm("final_norm", x) for x in xs])
    return np.array(layers)


@schemes
def test_every_layer_is_the_textbooks(norm: str, causal: bool) -> None:
    body = body_of(norm, causal)
    got = states_of(body, IDS)[:, 0].numpy()
    np.testing.assert_allclose(got, textbook(body, IDS[0].tolist()), rtol=1e-4, atol=2e-5)


@settings(max_examples=15)
@given(st.data())
def test_any_shape_and_any_choice_of_components(data: st.DataObject) -> None:
    heads, ids = data.draw(st.integers(1, 4)), data.draw(st.lists(st.integers(0, 29), min_size=1, max_size=6))
    options: dict[str, Any] = {name: data.draw(st.booleans()) for name in COMPONENTS}
    options |= {"num_attention_heads": heads, "hidden_size": heads * data.draw(st.integers(1, 4))}
    options |= {"num_hidden_layers": data.draw(st.integers(1, 2)), "intermediate_size": data.draw(st.integers(1, 9))}
    options |= {"layer_norm_eps": 1e-2}  # two units or one: an honest norm would blow up rounding
    body = body_of("normformer", data.draw(st.booleans()), **options)
    got = states_of(body, torch.tensor([ids]))[:, 0].numpy()
    np.testing.assert_allclose(got, textbook(body, ids), rtol=1e-3, atol=1e-4)


def without_norms(norm: str, causal: bool, **options: Any) -> IsoglossModel:
    body = body_of(norm, causal, **options)
    torch.manual_seed(8)
    with torch.no_grad():
        for name, parameter in sorted(body.named_parameters()):
            if "norm" not in name and "scale" not in name:
                parameter.copy_(torch.randn_like(parameter) * 0.3)
    for module in list(body.modules()):
        for name, part in module.named_children():
            if isinstance(part, nn.LayerNorm):
                setattr(module, name, nn.Identity())
            elif isinstance(part, Scale):
                nn.init.ones_(part.weight)
    return body


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_without_their_norms_all_schemes_compute_the_same_function(causal: bool, dropout: float) -> None:
    """Bit for bit, with dropout too: it falls in the same places."""
    options = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    results = []
    for norm in NORMS:
        body = without_norms(norm, causal, **options).train()
        torch.manual_seed(5)
        results.append(states_of(body, IDS))
    assert all(torch.equal(results[0], other) for other in results[1:])
    assert results[0].std() > 0.1
    whole = [states_of(body_of(norm, causal), IDS)[-1] for norm in NORMS]
    assert min((whole[a] - whole[b]).abs().max() for a, b in ((0, 1), (0, 2), (1, 2))) > 0.1, "norms do matter"


@pytest.mark.parametrize(("norm", "off"), ABLATIONS)
def test_each_component_of_normformer_counts(norm: str, off: dict[str, bool]) -> None:
    whole, less = body_of(norm), body_of(norm, **off)
    gone = set(whole.state_dict()) - set(less.state_dict())
    assert gone
    less.load_state_dict({name: value for name, value in whole.state_dict().items() if name not in gone})
    assert (states_of(whole, IDS)[-1] - states_of(less, IDS)[-1]).abs().max() > 0.01


# BERT.


def as_isogloss(bert: BertForMaskedLM) -> IsoglossForMaskedLM:
    """The inverse of `to_bert`."""
    options = {name: getattr(bert.config, name) for name in SHARED_OPTIONS}
    network = IsoglossForMaskedLM(IsoglossConfig(norm="post", type_vocab_size=bert.config.type_vocab_size, **options))
    for ours, theirs in module_pairs(network, bert):
        ours.load_state_dict(theirs.state_dict())
    types: Any = network.model.embeddings.token_type_embeddings
    types.load_state_dict(bert.bert.embeddings.token_type_embeddings.state_dict())
    return network


def answer(network: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    with torch.no_grad():
        output = network.eval()(**batch)
    return (output.last_hidden_state if "last_hidden_state" in output else output.logits)[
        batch["attention_mask"].bool()
    ]


def test_a_post_ln_network_is_a_bert_both_ways() -> None:
    torch.manual_seed(0)
    bert = shaken(BertForMaskedLM(BertConfig(**SIZES, type_vocab_size=2)))
    ids = torch.tensor([[5, 9, 2, 17, 29, 4], [7, 7, 3, 0, 0, 0]])
    batch = {"input_ids": ids, "attention_mask": (ids != 0).long()}
    batch |= {"token_type_ids": torch.tensor([[0, 0, 0, 1, 1, 1]] * 2)}
    ours = as_isogloss(bert)
    torch.testing.assert_close(answer(ours, batch), answer(bert, batch), rtol=0, atol=1e-6)
    again = to_bert(ours)
    torch.testing.assert_close(answer(again, batch), answer(bert, batch), rtol=0, atol=1e-6)
    assert all(torch.equal(again.state_dict()[name], value) for name, value in bert.state_dict().items())


def test_a_new_post_ln_encoder_is_a_bert_of_the_same_weights() -> None:
    options: dict[str, Any] = {"vocab_size": 30, "layers": 2, "width": 16, "heads": 2, "seed": 4}
    bert, pre = new_scheme("post", **options), new_scheme("pre", **options)
    assert type(bert) is BertForMaskedLM
    post, weights = as_isogloss(bert).state_dict(), pre.state_dict()
    assert set(weights) - set(post) == {"model.final_norm.weight", "model.final_norm.bias"}
    assert all(torch.equal(post[name], weights[name]) for name in set(weights) & set(post))


# Training.


@schemes
@pytest.mark.parametrize("checkpointing", [False, True])
def test_gradients_reach_every_parameter(norm: str, causal: bool, checkpointing: bool) -> None:
    network = new_scheme(norm, causal=causal, vocab_size=30, layers=2, width=16, heads=2, initializer_range=0.4)
    network = shaken(network)
    if checkpointing:
        network.gradient_checkpointing_enable()
    network.train()
    network(input_ids=IDS, labels=IDS).loss.backward()
    for name, parameter in network.named_parameters():
        largest = 0.0 if parameter.grad is None else float(parameter.grad.abs().max())
        if name.endswith("key.bias"):  # shifts all scores of a token alike, which a softmax does not see
            assert largest < 1e-5
        else:
            assert largest > 1e-4, name


@schemes
def test_gradient_checkpointing_changes_nothing(norm: str, causal: bool) -> None:
    plain, checked = (new_scheme(norm, causal=causal, vocab_size=30, layers=2, width=16, heads=2) for _ in range(2))
    checked.gradient_checkpointing_enable()
    for network in (plain, checked):
        torch.manual_seed(2)
        network.train()(input_ids=IDS, labels=IDS).loss.backward()
    for one, other in zip(plain.parameters(), checked.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)


@schemes
def test_training_in_half_precision_stays_close(norm: str, causal: bool) -> None:
    network = shaken(new_scheme(norm, causal=causal, vocab_size=30, layers=2, width=32, heads=2, dropout=0.0))
    whole = network(input_ids=IDS, labels=IDS).loss
    with torch.autocast("cpu", torch.bfloat16):
        half = network(input_ids=IDS, labels=IDS, attention_mask=torch.ones_like(IDS)).loss
    half.backward()
    assert abs(half.item() - whole.item()) < 0.05
    assert all(torch.isfinite(parameter.grad).all() for parameter in network.parameters())


@schemes
def test_losses_are_those_of_the_logits(norm: str, causal: bool) -> None:
    network = shaken(new_scheme(norm, causal=causal, vocab_size=30, layers=1, width=16)).eval()
    labels = torch.tensor([[5, -100, 2, 17, -100, 1, 4]])
    output = network(input_ids=IDS, labels=labels)
    logs = output.logits[0].double().log_softmax(-1)
    shift = int(causal)
    asked = [(place, int(label)) for place, label in enumerate(labels[0]) if label >= 0 and place >= shift]
    expected = -sum(logs[place - shift, label] for place, label in asked) / len(asked)
    assert output.loss.item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.slow
@schemes
def test_it_compiles_as_one_graph(norm: str, causal: bool) -> None:
    torch.compiler.reset()
    body = body_of(norm, causal)
    compiled: Any = torch.compile(body, fullgraph=True, dynamic=False, backend="eager")
    for inputs in ({}, {"attention_mask": torch.ones_like(IDS)}):
        got = compiled(IDS, output_hidden_states=True, **inputs).hidden_states
        want = body(IDS, output_hidden_states=True, **inputs).hidden_states
        assert len(got) == 4 and all(torch.equal(a, b) for a, b in zip(got, want, strict=True))


# What a token sees.


@schemes
@pytest.mark.parametrize("left", [False, True])
def test_padding_changes_nothing(norm: str, causal: bool, left: bool) -> None:
    body = body_of(norm, causal)
    alone = states_of(body, IDS)
    padding = torch.zeros(1, 4, dtype=torch.long)
    ids = torch.cat([padding, IDS] if left else [IDS, padding], 1)
    positions = (torch.arange(11)[None] - 4).clamp(0) if left else None
    got = states_of(body, ids, attention_mask=(ids != 0).long(), position_ids=positions)
    assert torch.isfinite(got).all()
    torch.testing.assert_close(got[:, :, 4:] if left else got[:, :, :7], alone, rtol=1e-4, atol=1e-5)


@schemes
@pytest.mark.parametrize("masked", [False, True])
def test_only_a_causal_network_is_blind_to_what_follows(norm: str, causal: bool, masked: bool) -> None:
    body = body_of(norm, causal)
    other = IDS.clone()
    other[0, 4] = 8
    mask = {"attention_mask": torch.ones_like(IDS)} if masked else {}
    difference = (states_of(body, IDS, **mask) - states_of(body, other, **mask)).abs().amax((0, 1, 3))
    if causal:
        assert difference[:4].max() == 0
    assert difference[4 if causal else 0 :].min() > 1e-3


@schemes
def test_a_mask_of_pairs_is_used_as_it_is(norm: str, causal: bool) -> None:
    """Two texts in one row that do not see each other are two texts."""
    body = body_of(norm, causal)
    text = torch.tensor([0, 0, 0, 1, 1, 1, 1])
    seen = (text[:, None] == text)[None, None]
    seen = seen & torch.ones(7, 7, dtype=torch.bool).tril() if causal else seen
    got = states_of(body, IDS, attention_mask=seen, position_ids=torch.tensor([[0, 1, 2, 0, 1, 2, 3]]))
    apart = torch.cat([states_of(body, IDS[:, :3]), states_of(body, IDS[:, 3:])], 2)
    torch.testing.assert_close(got, apart, rtol=1e-4, atol=1e-5)


# Saving, loading, measuring.


@pytest.fixture(scope="module")
def scheme(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, bool], Path]:
    return cache(lambda norm, causal: build_scheme(norm, causal, tmp_path_factory.mktemp(f"{norm}-{causal}")))


@schemes
def test_what_is_saved_is_what_is_loaded(scheme: Callable, norm: str, causal: bool, tmp_path: Path) -> None:
    folder = scheme(norm, causal)
    auto: Any = AutoModelForCausalLM if causal else AutoModelForMaskedLM
    network, told = auto.from_pretrained(folder, output_loading_info=True)
    assert not told["missing_keys"] and not told["unexpected_keys"]
    network.save_pretrained(tmp_path)
    again = auto.from_pretrained(tmp_path)
    first, second = network.state_dict(), again.state_dict()
    assert first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)
    assert again.get_output_embeddings().weight is again.get_input_embeddings().weight
    body = AutoModel.from_pretrained(folder)
    batch = {"input_ids": IDS, "attention_mask": torch.ones_like(IDS)}
    assert torch.equal(answer(body, batch), answer(network.base_model, batch))
    loaded = ig.load_model(folder, head="clm" if causal else "mlm", device="cpu")
    assert torch.equal(answer(loaded.network, batch), answer(network, batch))
    assert loaded.family.causal == causal
    assert (loaded.final_norm is None) == (norm == "post")
    assert loaded.layer_names == (0, 1, 2, 3, *([] if norm == "post" else ["final"]))


@schemes
def test_states_of_every_layer_are_those_of_a_plain_pass(scheme: Callable, norm: str, causal: bool) -> None:
    model = load_model(scheme(norm, causal), head="clm" if causal else "mlm", device="cpu")
    got = sentence_states(model, SENTENCES, layers=model.layer_names, budget=60).collect()
    body = model.body if isinstance(model.body, IsoglossModel) else as_isogloss(model.network).model  # type: ignore[arg-type]
    for number, text in enumerate(SENTENCES):
        ids = model.tokenizer(text)["input_ids"]
        want = textbook(body, ids)[: len(model.layer_names), 1:-1].mean(1)  # type: ignore[arg-type]
        np.testing.assert_allclose(got[:, number], want, rtol=1e-3, atol=1e-4)
        if number == 1:
            break  # the textbook is slow


@pytest.mark.slow
def test_a_fresh_process_loads_it_by_the_public_name(scheme: Callable) -> None:
    code = "import sys, isogloss as ig; assert ig.load_model(sys.argv[1], device='cpu').layers == 3"
    subprocess.run([sys.executable, "-c", code, str(scheme("normformer", True))], check=True)
    code = "import sys, isogloss.models.normformer.create, transformers as t; t.AutoModel.from_pretrained(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(scheme("normformer", True))], check=True)


@pytest.mark.parametrize("norm", ["pre", "normformer"])
@pytest.mark.parametrize("causal", [False, True])
def test_a_larger_vocabulary_stays_tied(norm: str, causal: bool) -> None:
    network = new_scheme(norm, causal=causal, vocab_size=20, layers=1, width=8)
    network.resize_token_embeddings(26, mean_resizing=False)
    assert network.get_output_embeddings().weight is network.get_input_embeddings().weight
    assert network(input_ids=torch.tensor([[25]])).logits.shape == (1, 1, 26)


@pytest.mark.parametrize("causal", [False, True])
def test_a_texts_label_is_read_from_the_right_token(causal: bool) -> None:
    torch.manual_seed(1)
    config = IsoglossConfig(norm="pre", causal=causal, **SIZES)
    network: Any = IsoglossForSequenceClassification(config).eval()
    ids = torch.cat([IDS, torch.zeros(1, 2, dtype=torch.long)], 1)
    got = network(ids, (ids != 0).long(), labels=torch.tensor([1]))
    states = network.model(IDS).last_hidden_state[0]
    text = states[-1] if causal else network.pooler(states[0])
    torch.testing.assert_close(got.logits[0], network.classifier(text), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network(IDS).logits, got.logits, rtol=1e-4, atol=1e-5)
    assert got.loss.item() == pytest.approx(-got.logits[0].log_softmax(-1)[1].item(), rel=1e-5)


def test_an_answers_loss_is_the_mean_of_both_ends() -> None:
    torch.manual_seed(1)
    network: Any = AUTO_CLASSES["AutoModelForQuestionAnswering"](IsoglossConfig(**SIZES)).eval()
    output = network(IDS, start_positions=torch.tensor([2]), end_positions=torch.tensor([5]))
    ends = [output.start_logits[0].log_softmax(-1)[2], output.end_logits[0].log_softmax(-1)[5]]
    assert output.loss.item() == pytest.approx(-sum(ends).item() / 2, rel=1e-5)


# Sizes and first weights.


@pytest.mark.parametrize("norm", NORMS)
def test_the_number_of_parameters(norm: str) -> None:
    vocabulary, width, inner, layers, heads, length = 50, 24, 96, 2, 3, 32
    body = new_scheme(
        norm, vocab_size=vocabulary, layers=layers, width=width, heads=heads, max_length=length
    ).base_model
    block = 4 * (width * width + width) + (2 * width * inner + inner + width) + 4 * width
    whole = (vocabulary + length) * width + 2 * width + layers * block
    whole += {"post": width, "pre": 2 * width, "normformer": 2 * width}[norm]  # BERT's one token type, the final norm
    if norm == "normformer":
        whole += layers * (heads + 2 * width + 2 * inner + width)
    assert sum(parameter.numel() for parameter in body.parameters()) == whole


@schemes
def test_first_weights(norm: str, causal: bool) -> None:
    network = new_scheme(norm, causal=causal, vocab_size=200, layers=2, width=64, heads=4, initializer_range=0.03)
    for name, parameter in network.named_parameters():
        if name.endswith("bias") or "token_type" in name:
            assert not parameter.any(), name
        elif parameter.ndim == 1:
            assert (parameter == 1).all(), name
        else:
            assert parameter.std().item() == pytest.approx(0.03, rel=0.06), name
            assert abs(parameter.mean().item()) < 0.002
    assert not network.get_input_embeddings().weight[0].any(), "padding"


def test_scaled_first_weights() -> None:
    network = new_scheme("pre", vocab_size=50, layers=8, width=64, heads=4, scaled_init=True).base_model
    for block in network.layers:  # type: ignore[union-attr]
        for part in (block.attention.output, block.feed_forward.down):  # type: ignore[union-attr]
            assert part.weight.std().item() == pytest.approx(0.02 / 4, rel=0.06)  # type: ignore[union-attr]
        assert block.feed_forward.up.weight.std().item() == pytest.approx(0.02, rel=0.06)  # type: ignore[union-attr]


def test_the_seed_decides_and_the_global_generator_does_not() -> None:
    options: dict[str, Any] = {"vocab_size": 30, "layers": 1, "width": 8}
    torch.manual_seed(1)
    one = new_scheme("normformer", seed=3, **options).state_dict()
    after = torch.rand(1)
    torch.manual_seed(1)
    assert torch.rand(1) == after, "left as it was"
    same, other = (new_scheme("normformer", seed=seed, **options).state_dict() for seed in (3, 4))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["lm_head.dense.weight"], other["lm_head.dense.weight"])


# Refusals.


def test_wrong_arguments_are_one_clear_line() -> None:
    with pytest.raises(UnknownName, match="unknown norm 'normformr'; did you mean 'normformer'"):
        new_scheme("normformr", vocab_size=10)
    with pytest.raises(UsageError, match="inner_norm is a part of norm='normformer', got norm='pre'"):
        new_scheme("pre", vocab_size=10, inner_norm=True)
    with pytest.raises(UsageError, match="10 units cannot be divided evenly among 3 heads"):
        new_scheme("pre", vocab_size=10, width=10, heads=3)
    with pytest.raises(UsageError, match="load it as a causal one"):
        AUTO_CLASSES["AutoModelForMaskedLM"](IsoglossConfig(causal=True, **SIZES))
    with pytest.raises(UsageError, match="needs causal=True"):
        AUTO_CLASSES["AutoModelForCausalLM"](IsoglossConfig(**SIZES))
    with pytest.raises(UsageError, match="positions for 16 tokens, got 17"):
        body_of("pre")(torch.ones(1, 17, dtype=torch.long))
    with pytest.raises(UsageError, match="either input_ids or inputs_embeds"):
        body_of("pre")()


@schemes
def test_parts_of_a_block_hold_each_parameter_once(norm: str, causal: bool) -> None:
    body = body_of(norm, causal)
    family = family_of(body)
    for block in body.layers:
        parts = [block.get_submodule(name) for name in family.attention + family.feed_forward + family.norms]
        held = [id(parameter) for part in parts for parameter in part.parameters()]
        assert sorted(held) == sorted(id(parameter) for parameter in block.parameters())


@pytest.mark.parametrize("norm", NORMS)
def test_the_head_may_be_applied_to_chosen_tokens_only(norm: str) -> None:
    """As pretraining does, through the names that BERT and XLM-R have."""
    network: Any = shaken(new_scheme(norm, vocab_size=30, layers=1, width=16)).eval()
    head = network.cls if norm == "post" else network.lm_head
    states = network.base_model(input_ids=IDS, attention_mask=None)[0]
    torch.testing.assert_close(head(states[:, [1, 4]]), network(input_ids=IDS).logits[:, [1, 4]])
