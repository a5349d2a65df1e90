"""Packed rows give the states, losses and gradients of padded rows, in every family that supports them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import LISTED, SENTENCES, build, build_scheme

import isogloss as ig
from isogloss.models.families import FAMILIES
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.packing import can_pack, pack_rows, packed_body
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks.examples import Batch, ExampleSizes, collate
from isogloss.tasks.windows import encode_sentences

PACKING = [family for family in LISTED if FAMILIES[family].packs_texts]
SCHEMES = [("post", False), ("normformer", False), ("pre", True)]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=60), st.integers(60, 200))
def test_every_text_is_in_one_row_and_no_row_is_too_long(lengths: list[int], row_tokens: int) -> None:
    rows = pack_rows(lengths, row_tokens)
    assert sorted(text for row in rows for text in row) == list(range(len(lengths)))
    tokens = [sum(lengths[text] for text in row) for row in rows]
    assert max(tokens) <= row_tokens
    assert sum(count <= row_tokens / 2 for count in tokens) <= 1  # else two rows would be one


def test_random_batches_of_real_lengths_waste_little() -> None:
    """Lengths like those of English-EWT; padded to the longest, more than half of a batch would be padding."""
    rng = np.random.default_rng(0)
    lengths = rng.lognormal(3.05, 0.71, (300, 32)).astype(int) + 1
    packed = sum(max(64, row.max()) * len(pack_rows(row.tolist(), max(64, int(row.max())))) for row in lengths)
    padded = sum(32 * int(row.max()) for row in lengths)
    assert 1 - lengths.sum() / packed < 0.1
    assert 1 - lengths.sum() / padded > 0.5


def batches(model: LoadedModel) -> tuple[Batch, Batch]:
    """The same sentences, padded and packed."""
    examples = encode_sentences(model, [sentence.split() for sentence in SENTENCES])
    shape = ExampleSizes(examples, 64).shape(np.arange(len(examples)))
    assert shape.packed_rows < shape.rows
    return collate(examples, padding_id(model)), collate(examples, padding_id(model), shape)


def check_states(model: LoadedModel) -> None:
    padded, packed = batches(model)
    assert packed.packing is not None
    model.body.eval()
    with torch.no_grad():
        expected = model.body(**padded.inputs).last_hidden_state
        with packed_body(model.body, packed.packing, model.family):
            states = model.body(**packed.inputs).last_hidden_state
        after = model.body(**padded.inputs).last_hidden_state
    tokens = padded.attention_mask.bool()
    torch.testing.assert_close(states[tokens], expected[tokens], rtol=1e-4, atol=1e-5)
    assert torch.equal(after, expected), "the body stays changed"


@pytest.mark.parametrize("family", PACKING)
def test_states_are_those_of_padded_rows(tmp_path: Path, family: str) -> None:
    check_states(ig.load_model(build(family, tmp_path)))


@pytest.mark.parametrize(("norm", "causal"), SCHEMES)
def test_states_of_every_norm_scheme(tmp_path: Path, norm: str, causal: bool) -> None:
    check_states(ig.load_model(build_scheme(norm, causal, tmp_path)))


def test_local_attention_is_not_packed(tmp_path: Path) -> None:
    model = ig.load_model(build("llama", tmp_path))
    assert can_pack(model.body, model.family)
    model.body.config.sliding_window = 8
    assert not can_pack(model.body, model.family)
    assert not FAMILIES["gemma3_text"].packs_texts
    assert not FAMILIES["modernbert"].packs_texts
