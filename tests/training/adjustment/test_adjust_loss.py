"""Equation 1 over a batch against the same word by word: value, gradient, and what must not matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from aligned_toy import bitext, doubled, nudged, slow_loss
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import build
from torch import Tensor, nn

from isogloss.core.errors import UnknownName, UsageError
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import FINAL, LoadedModel
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks.examples import IGNORE_INDEX, Batch, ExampleSizes, collate
from isogloss.training.adjustment.loss import AlignmentLoss, contrastive_loss, resolve_layers, unit_vectors, z_normalise
from isogloss.training.adjustment.pairs import encode_pairs
from isogloss.training.adjustment.settings import LossOptions, PairOptions

PAIRS = bitext(9)


@pytest.fixture(scope="module")
def models(bert: LoadedModel) -> tuple[LoadedModel, LoadedModel]:
    """An original in double precision, and what became of it."""
    original = doubled(bert)
    return original, nudged(original)


def batch_of(model: LoadedModel, options: PairOptions, pairs: Any = PAIRS) -> Batch:
    return collate(encode_pairs(model, [pairs], options), padding_id(model))


def gradients(loss: Tensor, network: nn.Module) -> Tensor:
    network.zero_grad()
    torch.autograd.backward(loss)
    found = torch.cat([p.grad.flatten() for p in network.parameters() if p.grad is not None])
    network.zero_grad()
    return found


@pytest.mark.parametrize(
    ("options", "slow"),
    [
        ({}, {}),
        ({"words": "first"}, {"words": "first"}),
        ({"words": "last", "tokens": "words"}, {"words": "last", "takes": ("words",)}),
        ({"tokens": "all", "reduction": "mean"}, {"mean": True}),
        ({"tokens": "cls"}, {"takes": ("cls",)}),
        ({"tokens": "cls+sep", "regularise": "all"}, {"takes": ("cls", "sep"), "everything_held": True}),
        ({"tokens": "words", "regularise": "all"}, {"takes": ("words",), "everything_held": True}),
        ({"one_to_one": True, "reduction": "mean"}, {"one_to_one": True, "mean": True}),
        ({"one_to_one": True, "drop_identical": True}, {"one_to_one": True, "drop_identical": True}),
    ],
)
def test_value_and_gradient_are_those_of_the_slow_loss(
    models: tuple[LoadedModel, LoadedModel], options: dict[str, Any], slow: dict[str, Any]
) -> None:
    original, now = models
    kinds = {name: value for name, value in options.items() if name != "reduction"}
    loss = AlignmentLoss(original, [3], LossOptions(reduction=options.get("reduction", "sum")))
    ours = loss(now.body, batch_of(original, PairOptions(**kinds)))
    theirs = slow_loss(now, original, PAIRS, layer=3, **slow)
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=0)
    torch.testing.assert_close(gradients(ours, now.body), gradients(theirs, now.body), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_inner_layers(models: tuple[LoadedModel, LoadedModel], layer: int) -> None:
    original, now = models
    batch = batch_of(original, PairOptions())
    one = AlignmentLoss(original, [layer], LossOptions())(now.body, batch)
    torch.testing.assert_close(one, slow_loss(now, original, PAIRS, layer=layer), rtol=1e-10, atol=0)
    last = AlignmentLoss(original, [3], LossOptions())(now.body, batch)
    both = AlignmentLoss(original, [layer, 3], LossOptions())(now.body, batch)
    torch.testing.assert_close(both, one + last, rtol=1e-12, atol=0)


@pytest.mark.parametrize("family", ["xlm-roberta", "modernbert", "mt5", "llama", "qwen2", "isogloss"])
def test_every_kind_of_family(tmp_path: Path, family: str) -> None:
    original = doubled(load_model(build(family, tmp_path), device="cpu"))
    now = nudged(original)
    layers = resolve_layers(original, "last")
    assert (layers == (FINAL,)) == (original.family.final_norm is not None)
    ours = AlignmentLoss(original, layers, LossOptions())(now.body, batch_of(original, PairOptions()))
    torch.testing.assert_close(ours, slow_loss(now, original, PAIRS, layer=layers[0]), rtol=1e-8, atol=0)


@given(st.integers(0, 10_000), st.sampled_from(["mean", "first", "last"]), st.sampled_from(["words", "all", "cls+sep"]))
@settings(max_examples=15)
def test_any_bitext(models: tuple[LoadedModel, LoadedModel], seed: int, words: str, tokens: str) -> None:
    original, now = models
    pairs, options = bitext(3, seed), PairOptions(words=words, tokens=tokens)
    takes = {"words": ("words",), "all": ("words", "cls", "sep"), "cls+sep": ("cls", "sep")}[tokens]
    try:
        batch = batch_of(original, options, pairs)
    except UsageError:
        assert not any(pair.alignment.sure for pair in pairs)
        return
    theirs = slow_loss(now, original, pairs, layer=3, words=words, takes=takes)
    ours = AlignmentLoss(original, [3], LossOptions())(now.body, batch)
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=0)


def test_weights_of_the_two_terms(models: tuple[LoadedModel, LoadedModel]) -> None:
    original, now = models
    batch = batch_of(original, PairOptions())

    def value(pull: float, hold: float) -> Tensor:
        return AlignmentLoss(original, [3], LossOptions(pull=pull, hold=hold))(now.body, batch).detach()

    torch.testing.assert_close(value(0.3, 2.0), 0.3 * value(1, 0) + 2 * value(0, 1))
    assert float(value(0, 1)) > 0
    assert float(AlignmentLoss(original, [3], LossOptions(pull=0))(original.body, batch)) == 0, "nothing has moved yet"


def wider(batch: Batch, model: LoadedModel) -> list[Batch]:
    """The same batch with more padding, other padding, and examples that are none."""
    examples = encode_pairs(model, [PAIRS], PairOptions())
    shape = ExampleSizes(examples).shape(np.arange(len(examples)))
    larger = replace(shape, length=shape.length + 5, rows=shape.rows + 4, examples=shape.examples + 2)
    larger = replace(larger, widths=tuple(width + 3 for width in shape.widths[:-1]) + shape.widths[-1:])
    filled = collate(examples, padding_id(model), larger)
    other = replace(filled, input_ids=filled.input_ids.where(filled.attention_mask == 1, 7))
    return [filled, other]


def test_the_original_is_read_without_dropout(bert: LoadedModel) -> None:
    """Even where whoever holds it has left it in training mode; the network itself has dropout."""
    options = LossOptions(pull=0)
    batch = batch_of(bert, PairOptions())
    careless = replace(bert, body=nudged(bert).body.train())
    loss = AlignmentLoss(careless, [3], options)
    still = nudged(bert).body.eval()
    with torch.no_grad():
        assert float(loss(still, batch)) == 0 and careless.body.training
        assert float(loss(still.train(), batch)) > 0


def test_padding_does_not_leak(models: tuple[LoadedModel, LoadedModel]) -> None:
    original, now = models
    batch = batch_of(original, PairOptions())
    options = [LossOptions(), LossOptions(reduction="mean", normalise=True), LossOptions(contrastive="strong")]
    for loss in (AlignmentLoss(original, [3], one) for one in options):
        value = loss(now.body, batch)
        for padded in wider(batch, original):
            again = loss(now.body, padded)
            torch.testing.assert_close(again, value, rtol=1e-10, atol=0)
            torch.testing.assert_close(gradients(again, now.body), gradients(value, now.body), rtol=1e-7, atol=1e-9)
            value = loss(now.body, batch)


def test_sentences_do_not_leak_into_each_other(models: tuple[LoadedModel, LoadedModel]) -> None:
    """The loss of a batch is the sum of its parts', whatever they lie beside."""
    original, now = models
    loss = AlignmentLoss(original, [3], LossOptions())
    parts = [loss(now.body, batch_of(original, PairOptions(), PAIRS[i : i + 3])) for i in (0, 3, 6)]
    torch.testing.assert_close(loss(now.body, batch_of(original, PairOptions())), sum(parts), rtol=1e-10, atol=0)


def test_words_and_special_tokens_do_not_leak(models: tuple[LoadedModel, LoadedModel]) -> None:
    """Only states that take part have a gradient."""
    original, _ = models
    examples = encode_pairs(original, [PAIRS], PairOptions(tokens="words", words="first"))
    arrays = collate(examples, 0).arrays
    states = torch.randn(len(examples), 40, 16, dtype=torch.float64, requires_grad=True)
    vectors = unit_vectors(states, arrays["source_unit"])
    torch.autograd.backward(vectors[(arrays["regularised"] == 1).nonzero(as_tuple=True)].sum())
    assert states.grad is not None
    for row, example in zip(states.grad, examples, strict=True):
        unit = example.arrays["source_unit"]
        taking_part = np.flatnonzero((unit != IGNORE_INDEX) & (example.arrays["regularised"][np.maximum(unit, 0)] == 1))
        assert row.abs().sum(1).nonzero().flatten().tolist() == taking_part.tolist()
        assert 0 not in taking_part and len(unit) - 1 not in taking_part


def test_bf16_has_an_original_in_bf16(bert: LoadedModel) -> None:
    loss = AlignmentLoss(bert, [3], LossOptions(pull=0))
    shadow = nudged(bert).body.bfloat16()
    shadow.load_state_dict(bert.body.state_dict())
    assert float(loss(shadow, batch_of(bert, PairOptions()))) == 0


def slow_contrast(s: Tensor, t: Tensor, temperature: float, strong: bool) -> list[float]:
    missed = []
    for i in range(len(s)):
        one = []
        for x, y, X, Y in ((s, t, s, t), (t, s, t, s)):
            others = [y[j] for j in range(len(y))] + ([X[j] for j in range(len(x)) if j != i] if strong else [])
            scores = [float(torch.cosine_similarity(x[i], other, dim=0)) / temperature for other in others]
            one.append(np.log(np.exp(scores).sum()) - scores[i])
            assert Y is y
        missed.append(float(np.mean(one)))
    return missed


@pytest.mark.parametrize("strong", [False, True])
def test_contrast_is_that_of_its_formula(strong: bool) -> None:
    generator = torch.Generator().manual_seed(3)
    s, t = (torch.randn(6, 4, generator=generator, dtype=torch.float64, requires_grad=True) for _ in range(2))
    known = torch.tensor([True, True, False, True, True, False])
    missed = contrastive_loss(s, t, known, 0.5, strong=strong)
    assert missed[~known].tolist() == [0, 0]
    np.testing.assert_allclose(missed[known].tolist(), slow_contrast(s[known], t[known], 0.5, strong))
    torch.autograd.backward(missed.sum())
    for side in (s, t):
        assert side.grad is not None and side.grad.isfinite().all() and not side.grad[~known].any()


def test_z_normalisation_is_by_group() -> None:
    vectors = torch.tensor(np.random.default_rng(0).normal(3, 5, (40, 6)))
    group = torch.tensor([0, 1, IGNORE_INDEX, 1] * 10)
    z = z_normalise(vectors, group, 2)
    for number in (0, 1):
        own = vectors[group == number].numpy()
        np.testing.assert_allclose(z[group == number].numpy(), (own - own.mean(0)) / own.std(0), rtol=1e-5)
    assert torch.equal(z[group == IGNORE_INDEX], vectors[group == IGNORE_INDEX])


def test_options_reach_the_loss(models: tuple[LoadedModel, LoadedModel]) -> None:
    original, now = models
    batch = batch_of(original, PairOptions())
    plain = AlignmentLoss(original, [3], LossOptions())(now.body, batch)
    choices: list[Callable[[], LossOptions]] = [
        lambda: LossOptions(contrastive="weak"),
        lambda: LossOptions(contrastive="strong"),
        lambda: LossOptions(normalise=True),
    ]
    values = [float(AlignmentLoss(original, [3], one())(now.body, batch)) for one in choices]
    assert len({float(plain), *values}) == 4 and np.isfinite(values).all()


def test_wrong_options_are_told(bert: LoadedModel) -> None:
    for wrong in ({"reduction": "summ"}, {"contrastive": "week"}):
        with pytest.raises(UnknownName, match="did you mean"):
            LossOptions(**wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="temperature"):
        LossOptions(temperature=0)
    with pytest.raises(UsageError, match="0 … 3"):
        resolve_layers(bert, 4)
    with pytest.raises(UsageError, match="at least one"):
        resolve_layers(bert, [])
    assert resolve_layers(bert, [1, "last", 3]) == (1, 3)
