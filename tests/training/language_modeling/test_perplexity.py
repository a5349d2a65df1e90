from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from language_toy import TEXT, with_head

from isogloss.core.errors import UsageError
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.language_modeling import perplexity as module
from isogloss.training.language_modeling.perplexity import perplexity


@pytest.mark.parametrize("family", ["llama", "xglm"])
def test_a_causal_models_is_exact(tmp_path: Path, family: str) -> None:
    """Against the model library's loss, line by line and without padding."""
    model = with_head(family, tmp_path)
    network: Any = model.network
    end = [model.tokenizer.eos_token_id]
    total = terms = 0.0
    for line in TEXT:
        ids = [*model.prefix, *model.tokenizer(line, add_special_tokens=False)["input_ids"], *end]
        ids += [*model.suffix]
        with torch.no_grad():
            loss = network(input_ids=torch.tensor([ids]), labels=torch.tensor([ids])).loss
        total, terms = total + float(loss) * (len(ids) - 1), terms + len(ids) - 1
    assert perplexity(model, TEXT, length=160) == pytest.approx(math.exp(total / terms), rel=1e-5)


def test_a_model_that_knows_nothing_has_the_vocabularys_size(tmp_path: Path) -> None:
    model = with_head("bert", tmp_path)
    network: Any = model.network
    with torch.no_grad():
        network.cls.predictions.decoder.weight.zero_()
        network.cls.predictions.decoder.bias.zero_()
    assert perplexity(model, TEXT, length=40) == pytest.approx(len(model.tokenizer), rel=1e-5)


def test_batches_do_not_matter_and_seeds_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_head("bert", tmp_path)
    expected = perplexity(model, TEXT, length=40)
    assert perplexity(model, TEXT, length=40, seed=1) != expected
    monkeypatch.setattr(module, "BATCH_TOKENS", 50)
    assert perplexity(model, TEXT, length=40) == pytest.approx(expected, rel=1e-5)


def test_without_a_head_or_without_text_there_is_none(bert: LoadedModel, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="without its head"):
        perplexity(bert, TEXT)
    with pytest.raises(UsageError, match="no text"):
        perplexity(with_head("bert", tmp_path), [])
