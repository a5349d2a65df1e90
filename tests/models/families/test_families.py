"""The table of families against the modules of real networks, and the search for those not in it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tiny_models import CONFIGS, LISTED, SIZES, UNLISTED
from torch import nn
from transformers import AutoConfig, AutoModel

from isogloss.core.errors import UsageError
from isogloss.models.families import FAMILIES
from isogloss.models.families.discovery import discover_family, family_of

MORE = {  # listed beside the families that are tested in full, of the same build
    "roberta": SIZES,
    "t5": CONFIGS["mt5"],
    "mistral": SIZES,
    "qwen3": SIZES | {"head_dim": 8},
    "gemma2": SIZES | {"head_dim": 8},
}


def body_of(model_type: str, options: dict[str, Any]) -> Any:
    with torch.random.fork_rng(devices=[]):
        return AutoModel.from_config(AutoConfig.for_model(model_type, **{"pad_token_id": 0} | options, vocab_size=50))


def test_every_family_of_the_table_is_tested() -> None:
    assert set(FAMILIES) == set(LISTED) | set(MORE)


@pytest.mark.parametrize("model_type", FAMILIES)
def test_the_table_describes_the_network(model_type: str) -> None:
    body = body_of(model_type, CONFIGS.get(model_type) or MORE[model_type])
    family = FAMILIES[model_type]
    blocks = list(body.get_submodule(family.blocks))
    assert len(blocks) == body.config.num_hidden_layers
    embeddings = body.get_submodule(family.embeddings)
    assert body.get_input_embeddings() in list(embeddings.modules())
    if family.final_norm:
        assert "Norm" in type(body.get_submodule(family.final_norm)).__name__
    for block in blocks:
        parts = [block.get_submodule(name) for name in family.attention + family.feed_forward + family.norms]
        held = [id(parameter) for part in parts for parameter in part.parameters()]
        assert sorted(held) == sorted(id(parameter) for parameter in block.parameters())
        for name in family.norms:
            assert all(parameter.ndim == 1 for parameter in block.get_submodule(name).parameters())


@pytest.mark.parametrize("model_type", [*LISTED, *MORE])
def test_exploring_a_listed_family_finds_what_the_table_says(model_type: str) -> None:
    body = body_of(model_type, CONFIGS.get(model_type) or MORE[model_type])
    if hasattr(body, "encoder") and hasattr(body, "decoder"):
        body, prefix = body.get_encoder(), "encoder."
    else:
        prefix = ""
    found, listed = discover_family(body), FAMILIES[model_type]
    assert prefix + found.blocks == listed.blocks
    assert (prefix + found.final_norm if found.final_norm else None) == listed.final_norm
    assert found.causal == listed.causal


@pytest.mark.parametrize(
    ("model_type", "blocks", "norm", "causal"),
    [("gpt_neox", "layers", "final_layer_norm", True), ("distilbert", "transformer.layer", None, False)],
)
def test_unlisted_families_are_explored(model_type: str, blocks: str, norm: str | None, causal: bool) -> None:
    assert model_type in UNLISTED
    family = family_of(body_of(model_type, CONFIGS[model_type]))
    assert (family.blocks, family.final_norm, family.causal) == (blocks, norm, causal)


def test_blocks_that_are_shared_are_refused() -> None:
    body = body_of("albert", {**SIZES, "embedding_size": 8})
    with pytest.raises(UsageError, match=r"'albert' .* cannot be inferred: expected one list of 3 blocks, found"):
        family_of(body)


def test_two_lists_of_equal_length_are_refused() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.config = AutoConfig.for_model("gpt_neox", **SIZES)
            self.up = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
            self.down = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))

    with pytest.raises(UsageError, match="found up of 3, down of 3"):
        discover_family(Twice())
