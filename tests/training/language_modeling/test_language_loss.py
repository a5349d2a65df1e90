from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from language_toy import CAUSAL, MASKED, TEXT, with_head
from torch import nn

from isogloss.core.errors import UsageError
from isogloss.models.states.attention import unpadded_attention
from isogloss.models.tokenization.training import train_tokenizer
from isogloss.training.engine.budget import Budget
from isogloss.training.language_modeling.batches import BatchSampler
from isogloss.training.language_modeling.losses import causal_loss, masked_lm_head, masked_loss, next_tokens
from isogloss.training.language_modeling.masking import IGNORED_LABEL
from isogloss.training.language_modeling.packing import pack
from isogloss.training.language_modeling.settings import LanguageModelSettings

SETTINGS = {"batch": 4, "length": 24, "budget": Budget(steps=3)}


@pytest.mark.parametrize("by_line", [False, True])
@pytest.mark.parametrize("family", MASKED)
def test_the_masked_loss_is_the_model_librarys(tmp_path: Path, family: str, by_line: bool) -> None:
    """The head at masked places only gives what the whole forward pass with labels everywhere gives."""
    model = with_head(family, tmp_path)
    settings = LanguageModelSettings(by_line=by_line, **SETTINGS)  # type: ignore[arg-type]
    batch = BatchSampler(model, pack(model, {"x": TEXT}, 24, by_line=by_line), settings, 0).at(1)
    assert batch.positions is not None
    everywhere = torch.full_like(batch.ids, IGNORED_LABEL).scatter(1, batch.positions, batch.labels)
    network: Any = model.network
    expected = network(input_ids=batch.ids, attention_mask=batch.attention, labels=everywhere).loss
    found = masked_loss(network, batch.ids, batch.attention, batch.positions, batch.labels) / batch.terms
    assert float(found.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)


@pytest.mark.parametrize("by_line", [False, True])
@pytest.mark.parametrize("family", CAUSAL)
def test_the_causal_loss_is_the_model_librarys(tmp_path: Path, family: str, by_line: bool) -> None:
    model = with_head(family, tmp_path)
    settings = LanguageModelSettings("clm", by_line=by_line, **SETTINGS)  # type: ignore[arg-type]
    batch = BatchSampler(model, pack(model, {"x": TEXT}, 24, by_line=by_line), settings, 0).at(0)
    labels = batch.ids if batch.attention is None else batch.ids.masked_fill(~batch.attention, IGNORED_LABEL)
    network: Any = model.network
    attention = None if batch.attention is None else batch.attention.long()
    expected = network(input_ids=batch.ids, attention_mask=attention, labels=labels).loss
    found = causal_loss(network, batch.ids, batch.attention, batch.labels) / batch.terms
    assert float(found.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)


def test_next_tokens() -> None:
    present = torch.tensor([[True, True, False]])
    assert next_tokens(torch.tensor([[5, 6, 7]]), None).tolist() == [[6, 7, IGNORED_LABEL]]
    assert next_tokens(torch.tensor([[5, 6, 7]]), present).tolist() == [[6, IGNORED_LABEL, IGNORED_LABEL]]


def test_an_unknown_head_is_named() -> None:
    with pytest.raises(UsageError, match="head of Linear"):
        masked_lm_head(nn.Linear(2, 2))


@pytest.mark.parametrize("family", ["bert", "modernbert", "llama", "gemma3_text"])
def test_attention_without_masks_is_the_same(tmp_path: Path, family: str) -> None:
    """Also of families with local attention, whose windows (8 tokens) are shorter than the sequences."""
    model = with_head(family, tmp_path)
    network: Any = model.network
    ids = torch.randint(6, 100, (3, 30))
    expected = network(input_ids=ids).logits
    with unpadded_attention(network):
        assert network.config._attn_implementation == "isogloss_unpadded"
        assert torch.allclose(network(input_ids=ids).logits, expected, atol=1e-6)
    assert network.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("family", ["bert", "llama"])
def test_confined_attention_sees_no_other_line(tmp_path: Path, family: str) -> None:
    model = with_head(family, tmp_path)
    network: Any = model.network
    causal = family == "llama"
    settings = LanguageModelSettings("clm" if causal else "mlm", confine=True, **SETTINGS)  # type: ignore[arg-type]
    batches = BatchSampler(model, pack(model, {"x": ["The cat sat.", "Yes"] * 4}, 24), settings, 0)
    batch = batches.at(0)
    assert batch.attention is not None and batch.attention.shape == (4, 1, 24, 24)
    ends = torch.isin(batch.ids[0], batches.separator).nonzero()[:, 0].tolist()
    first, second = ends[0], ends[1]
    changed = batch.ids[:1].clone()
    changed[0, second - 1] = 9
    before, after = (
        network(input_ids=x, attention_mask=batch.attention[:1]).logits[0] for x in (batch.ids[:1], changed)
    )
    assert torch.allclose(before[: first + 1], after[: first + 1], atol=1e-6)
    assert not torch.allclose(before[second], after[second], atol=1e-4)
    free = [network(input_ids=x).logits[0] for x in (batch.ids[:1], changed)]
    if not causal:
        assert not torch.allclose(free[0][: first + 1], free[1][: first + 1], atol=1e-4)


def test_settings_that_make_no_sense_are_refused() -> None:
    wrong: list[dict[str, Any]] = [{"batch": 0}, {"learning_rate": 0.0}, {"warmup": 1.0}, {"alpha": 2.0}]
    for settings in [*wrong, {"confine": True, "by_line": True}]:
        with pytest.raises(UsageError):
            LanguageModelSettings(**settings)


def test_a_tokenizer_for_causal_models_has_no_mask(tmp_path: Path) -> None:
    assert train_tokenizer(TEXT, "bytes", 300, causal=True).mask_token is None
