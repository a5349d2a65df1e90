"""Several networks as one: what comes out, and every gradient, is what each network has by itself."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pytest
import tiny_models
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from transformers import BertForTokenClassification

from isogloss.models.heads import biaffine
from isogloss.models.heads.biaffine import BiaffineParser
from isogloss.models.heads.task_head import with_head
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.attention import padded_attention
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks.examples import IGNORE_INDEX, Batch, Example, ExampleSizes, Shape, collate
from isogloss.tasks.losses import mean_cross_entropy
from isogloss.training.stacking.stack import STACKABLE_MODEL_TYPES, StackedNetworks, stack_networks, stackable

Tiny = Callable[[str], LoadedModel]
HEADS = ["token", "sequence", "span", "parser"]
LABELS = ("a", "b", "c")


@pytest.fixture(scope="module")
def stackable_model(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """A tiny model of any family that can be stacked; RoBERTa is not among those that other tests build."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tiny_models.CONFIGS, "roberta", tiny_models.SIZES)
        patch.setitem(tiny_models.ADDED, "roberta", "<s> $A </s>")
        roberta = load_model(tiny_models.build("roberta", tmp_path_factory.mktemp("roberta")), device="cpu")
    return lambda family: roberta if family == "roberta" else tiny(family)


@pytest.fixture(autouse=True)
def _small_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(biaffine, "ARC_UNITS", 24)
    monkeypatch.setattr(biaffine, "RELATION_UNITS", 12)


def network_of(model: LoadedModel, head: str, seed: int, labels: tuple[str, ...] = LABELS) -> nn.Module:
    """A network with random weights of its own, everywhere, in fp64 and without dropout."""
    torch.manual_seed(seed)
    kind: Any = head
    made = (
        BiaffineParser(model, labels)
        if head == "parser"
        else with_head(model, kind, labels[:2] if head == "span" else labels)
    )
    with torch.no_grad():
        for weight in made.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.1)
    return made.double().eval()


def networks_of(model: LoadedModel, head: str, number: int = 3) -> list[nn.Module]:
    return [network_of(model, head, seed) for seed in range(number)]


def random_examples(seed: int, vocabulary: int, segments: bool) -> list[Example]:
    """Four texts of one to three windows, with a place and a head for each word."""
    chance = np.random.default_rng(seed)
    found = []
    for _ in range(4):
        lengths = chance.integers(3, 12, size=chance.integers(1, 4))
        windows = tuple(chance.integers(6, vocabulary, size=n).astype(np.int32) for n in lengths)
        sides = tuple(chance.integers(0, 2, size=n).astype(np.int32) for n in lengths) if segments else ()
        window = chance.integers(0, len(lengths), size=chance.integers(1, 7))
        heads = chance.integers(0, len(window) + 1, size=len(window))
        found.append(
            Example(windows, sides, {"window": window, "position": chance.integers(0, lengths[window]), "heads": heads})
        )
    return found


def batches_of(model: LoadedModel, head: str, number: int = 3) -> list[Batch]:
    """Batches of one shape, which is larger than any of them needs."""
    config: Any = model.body.config
    segments = head in ("sequence", "span") and config.model_type == "bert"
    texts = [random_examples(seed, config.vocab_size, segments) for seed in range(number)]
    least = one_shape(texts)
    shape = replace(least, length=least.length + 1, rows=least.rows + 1, examples=least.examples + 1)
    return [collate(examples, padding_id(model), shape) for examples in texts]


def one_shape(texts: list[list[Example]]) -> Shape:
    return reduce(operator.or_, (ExampleSizes(examples).shape(np.arange(len(examples))) for examples in texts))


def outputs(network: Any, head: str, batch: Batch, filler: int) -> Tensor:
    """What a network says of windows and words; 0 for padding, of which nobody asks."""
    if head == "parser":
        scores = network(**batch.inputs, places=batch.token_index, word_mask=batch.word_mask)
        relations = network.relations(scores, batch.arrays["heads"].clamp(min=0))
        arcs = scores.arcs.where(torch.isfinite(scores.arcs), 0)
        return torch.cat([arcs, relations], -1) * batch.word_mask[..., None]
    answer = network(**batch.inputs)
    if head == "token":
        return batch.words(answer.logits) * batch.word_mask[..., None]
    text = batch.input_ids[:, 0] != filler  # not a row that fills up the shape
    if head == "sequence":
        return torch.mul(answer.logits, text[:, None])
    return torch.stack([answer.start_logits, answer.end_logits], -1) * (batch.attention_mask * text[:, None])[..., None]


def gradients(network: nn.Module, answers: Tensor, weights: Tensor) -> dict[str, Tensor | None]:
    """Of the sum of all answers, each with a weight of its own."""
    torch.autograd.backward((answers * weights).sum())
    return {name: weight.grad for name, weight in network.named_parameters()}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("family", sorted(STACKABLE_MODEL_TYPES))
def test_a_stack_says_what_each_network_says(stackable_model: Tiny, family: str, head: str) -> None:
    model = stackable_model(family)
    networks, batches = networks_of(model, head), batches_of(model, head)
    assert stackable(networks)
    assert (head in ("sequence", "span") and family == "bert") == (batches[0].token_type_ids is not None)
    whole, filler = stack_networks(networks), padding_id(model)
    parts = outputs(whole, head, batches[0].stack(*batches[1:]), filler).chunk(3)
    assert (parts[0] - parts[1]).abs().max() > 0.01, "the parts differ, or this shows nothing"
    for part, network, batch in zip(parts, networks, batches, strict=True):
        expected = outputs(network, head, batch, filler)
        assert expected.abs().max() > 0.1
        torch.testing.assert_close(part, expected, rtol=0, atol=1e-10)
    with padded_attention(whole):  # as in recorded steps
        again = outputs(whole, head, batches[0].stack(*batches[1:]), filler)
    torch.testing.assert_close(again, torch.cat(parts), rtol=0, atol=1e-10)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("family", sorted(STACKABLE_MODEL_TYPES))
def test_every_weight_has_the_gradient_that_it_has_alone(stackable_model: Tiny, family: str, head: str) -> None:
    model = stackable_model(family)
    networks, batches, filler = networks_of(model, head), batches_of(model, head), padding_id(model)
    whole = stack_networks(networks)
    answers = outputs(whole, head, batches[0].stack(*batches[1:]), filler)
    weights = torch.randn(answers.shape, generator=torch.Generator().manual_seed(9), dtype=answers.dtype)
    found = gradients(whole, answers, weights)
    for number, (network, batch, own) in enumerate(zip(networks, batches, weights.chunk(3), strict=True)):
        expected = gradients(network, outputs(network, head, batch, filler), own)
        assert found.keys() == expected.keys()
        for name, alone in expected.items():
            stack = found[name]
            assert stack is not None and alone is not None, name
            torch.testing.assert_close(stack[number], alone, rtol=0, atol=1e-10)
        assert max(float(alone.abs().max()) for alone in expected.values() if alone is not None) > 0.1


@pytest.mark.parametrize("head", HEADS)
def test_networks_get_back_what_they_gave(tiny: Tiny, head: str) -> None:
    networks = networks_of(tiny("bert"), head)
    before = [copy.deepcopy(network.state_dict()) for network in networks]
    stack = StackedNetworks(networks, seeds=[0, 0, 0])
    with torch.no_grad():
        for network in networks:
            for weight in network.parameters():
                weight.zero_()
    stack.update_members()
    for network, expected in zip(networks, before, strict=True):
        assert network.state_dict().keys() == expected.keys()
        for name, value in network.state_dict().items():
            assert torch.equal(value, expected[name]), name
    with torch.no_grad():
        for weight in stack.network.parameters():
            weight.add_(1)
    assert all(torch.equal(v, before[0][name]) for name, v in networks[0].state_dict().items()), "weights are shared"


def test_a_stack_of_one_is_the_network(tiny: Tiny) -> None:
    model = tiny("bert")
    (network,), (batch,) = networks_of(model, "token", 1), batches_of(model, "token", 1)
    torch.testing.assert_close(stack_networks([network])(**batch.inputs).logits, network(**batch.inputs).logits)


def test_what_can_be_stacked(tiny: Tiny) -> None:
    networks: list[Any] = networks_of(tiny("bert"), "token", 2)
    one, other = networks
    assert stackable([one, other]) and stackable([one])
    assert not stackable([one, network_of(tiny("bert"), "token", 0, ("a", "b"))]), "other labels"
    assert not stackable([one, network_of(tiny("bert"), "sequence", 0)]), "another head"
    config: Any = copy.deepcopy(one.config)
    config.update({"num_hidden_layers": 2})
    assert not stackable([one, type(one)(config)]), "fewer layers"


def test_two_heads_may_have_the_same_shapes(tiny: Tiny) -> None:
    networks = [network_of(tiny("bert"), head, 0, ("a", "b")) for head in ("token", "span")]
    shapes = [[weight.shape for weight in network.parameters()] for network in networks]
    assert shapes[0] == shapes[1]
    assert not stackable(networks)


@pytest.mark.parametrize("other", [{"num_attention_heads": 4}, {"hidden_act": "relu"}, {"layer_norm_eps": 0.1}])
def test_networks_whose_weights_have_the_same_shapes_may_differ(tiny: Tiny, other: dict[str, Any]) -> None:
    configs: list[Any] = [copy.deepcopy(tiny("bert").body.config) for _ in range(2)]
    configs[1].update(other)
    build: Any = BertForTokenClassification
    assert not stackable([build(config) for config in configs])


@pytest.mark.parametrize("head", ["token", "parser"])
@pytest.mark.parametrize("family", ["xlm-roberta", "modernbert", "llama"])
def test_families_are_not_mixed(tiny: Tiny, family: str, head: str) -> None:
    bert, other = network_of(tiny("bert"), head, 0), network_of(tiny(family), head, 0)
    assert not stackable([bert, other]) and not stackable([other, bert])


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("family", ["modernbert", "llama", "xlm-roberta-xl"])
def test_families_that_are_not_tested_stay_apart(tiny: Tiny, family: str, head: str) -> None:
    assert not stackable(networks_of(tiny(family), head, 2))


@pytest.mark.parametrize("frozen", [0, 1])
def test_frozen_weights_stay_apart(tiny: Tiny, frozen: int) -> None:
    networks = networks_of(tiny("bert"), "token", 2)
    next(networks[frozen].parameters()).requires_grad_(False)
    assert not stackable(networks)


def test_parts_that_nobody_knows_to_stack_stay_apart(tiny: Tiny) -> None:
    networks: list[Any] = networks_of(tiny("bert"), "token", 2)
    for network in networks:
        network.added = nn.Conv1d(2, 2, 1)
    assert not stackable(networks)


@st.composite
def batches(draw: Any) -> list[Batch]:
    """Up to four batches of one shape, each of its own contents."""
    texts = [draw(st.lists(texts_with_words(), min_size=1, max_size=3)) for _ in range(draw(st.integers(1, 4)))]
    return [collate(examples, 0, one_shape(texts)) for examples in texts]


@st.composite
def texts_with_words(draw: Any) -> Example:
    windows = draw(st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=4), min_size=1, max_size=3))
    window = draw(st.lists(st.integers(0, len(windows) - 1), max_size=4))
    position = [draw(st.integers(0, len(windows[one]) - 1)) for one in window]
    arrays = {"window": window, "position": position, "tags": draw(st.lists(st.integers(0, 9), max_size=3))}
    return Example(
        tuple(np.array(one, dtype=np.int32) for one in windows),
        tuple(np.array(one, dtype=np.int32) % 2 for one in windows),
        {name: np.array(values, dtype=np.int64) for name, values in arrays.items()},
    )


@given(batches())
def test_batches_one_below_the_other_have_the_words_of_each(given: list[Batch]) -> None:
    first, *others = given
    rows, size = first.input_ids.shape
    joined = first.stack(*others)
    assert joined.stack_size == len(given) and len(joined) == len(given) * len(first)
    assert torch.equal(joined.input_ids, torch.cat([batch.input_ids for batch in given]))
    assert torch.equal(joined.attention_mask, torch.cat([batch.attention_mask for batch in given]))
    assert joined.token_type_ids is not None
    assert torch.equal(
        joined.token_type_ids, torch.cat([batch.token_type_ids for batch in given if batch.token_type_ids is not None])
    )
    assert joined.arrays.keys() == first.arrays.keys()
    for name, value in joined.arrays.items():
        assert torch.equal(value, torch.cat([batch.arrays[name] for batch in given]))
    starts = [batch.first_row + number * rows for number, batch in enumerate(given)]
    assert torch.equal(joined.first_row, torch.cat(starts))
    states = torch.arange(len(given) * rows * size, dtype=torch.float32).view(-1, size, 1)
    words = [batch.words(own)[batch.word_mask] for batch, own in zip(given, states.chunk(len(given)), strict=True)]
    assert torch.equal(joined.words(states)[joined.word_mask], torch.cat(words))
    assert joined.map(lambda tensor: tensor).stack_size == len(given)


def test_one_batch_below_nothing_is_itself() -> None:
    batch = collate([Example((np.array([1, 2]),), arrays={"tags": np.array([1])})], 0)
    assert batch.stack_size == 1 and batch.stack().stack_size == 1
    assert torch.equal(batch.stack().first_row, batch.first_row)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.integers(0, 1000))
def test_the_loss_of_each_part_is_its_own(parts: int, rows: int, words: int, seed: int) -> None:
    chance = torch.Generator().manual_seed(seed)
    scores = torch.randn(parts * rows, words, 3, generator=chance)
    target = torch.randint(0, 3, (parts * rows, words), generator=chance)
    target = target.masked_fill(torch.rand(target.shape, generator=chance) < 0.4, IGNORE_INDEX)
    target[-rows:] = IGNORE_INDEX if seed % 2 else target[-rows:]
    expected = [mean_cross_entropy(a, b) for a, b in zip(scores.chunk(parts), target.chunk(parts), strict=True)]
    found = mean_cross_entropy(scores, target, parts)
    assert found.shape == ((parts,) if parts > 1 else ())
    torch.testing.assert_close(found.flatten(), torch.stack(expected))
    assert not seed % 2 or found.flatten()[-1] == 0, "nothing to learn from"


def test_the_loss_of_a_part_is_a_mean_over_its_targets() -> None:
    """By hand: a part with two targets, one with one, one with none."""
    scores = torch.tensor([[[0.0, 0.0]] * 2, [[1.0, 2.0]] * 2, [[5.0, 1.0]] * 2])
    target = torch.tensor([[0, 1], [1, IGNORE_INDEX], [IGNORE_INDEX, IGNORE_INDEX]])
    second = np.log(np.exp(1) + np.exp(2)) - 2
    torch.testing.assert_close(mean_cross_entropy(scores, target, 3), torch.tensor([np.log(2), second, 0.0]).float())
