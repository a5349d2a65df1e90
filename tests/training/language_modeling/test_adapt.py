from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from language_toy import CAUSAL, MASKED, TEXT, adapt_with_history, with_head
from tiny_models import build
from toy import fingerprint

import isogloss as ig
from isogloss.core.errors import UnknownName, UsageError
from isogloss.models.loading.load import load_model
from isogloss.training.language_modeling import batches as language_batches
from isogloss.training.language_modeling.heldout import split_texts
from isogloss.training.language_modeling.packing import pack

QUICK: dict[str, Any] = {"epochs": 3, "length": 32, "learning_rate": 5e-3}


def perplexities(evaluations: list[dict[str, Any]], lang: str = "text") -> list[float]:
    return [row["value"] for row in evaluations if row["target"] == lang]


@pytest.mark.parametrize("family", [*MASKED, *CAUSAL])
def test_every_family_learns_and_the_original_stays(tmp_path: Path, family: str) -> None:
    model = with_head(family, tmp_path)
    before = fingerprint(model.network)
    adapted, history = adapt_with_history(model, TEXT, preset="modern", **{**QUICK, "batch": 4, "epochs": 1})
    assert fingerprint(model.network) == before
    assert fingerprint(adapted.network) != before
    first, last = perplexities(history.evaluations)
    assert last < first
    assert adapted.network.base_model is adapted.body or family == "gemma3_text"


def test_the_published_preset_is_the_default(tmp_path: Path) -> None:
    out = tmp_path / "out"
    model = with_head("bert", tmp_path / "m")
    _, history = adapt_with_history(model, TEXT, out=out, length=32)
    sequences = len(pack(model, {"x": split_texts({"x": TEXT})["x"].train}, 32, by_line=True).ids)
    assert history.log[-1].step == -(-20 * sequences // 8)
    settings = (out / "README.md").read_text(encoding="utf-8")
    assert "by_line: True" in settings and "batch: 8" in settings and "learning_rate: 5e-05" in settings


def test_an_epoch_reads_everything_once_and_the_mix_in_its_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    original = language_batches.BatchSampler.at

    def watched(self: Any, step: int) -> Any:
        read.extend(self.order.at(step).tolist())
        sizes.update(self.sequences.languages)
        return original(self, step)

    sizes: dict[str, int] = {}
    monkeypatch.setattr(language_batches.BatchSampler, "at", watched)
    text = [f"{line} {i}" for i, line in enumerate(TEXT)]
    mix = {"fr": TEXT * 3}
    adapt_with_history(with_head("bert", tmp_path), text, mix=mix, mix_share=0.25, epochs=2, batch=4, length=32)
    target = sizes["text"]
    counts = np.bincount(read, minlength=sum(sizes.values()))
    round_size = target + round(target / 3)
    assert len(read) == -(-2 * round_size // 4) * 4
    assert counts[:target].min() >= 2 and counts[:target].max() <= 3  # the last batch reaches into a third epoch
    assert counts[target:].sum() / len(read) == pytest.approx(0.25, abs=0.03)


def test_a_model_without_its_head_gets_it_from_its_folder(tmp_path: Path) -> None:
    whole = with_head("bert", tmp_path)
    bare = load_model(tmp_path, device="cpu")
    with torch.no_grad():
        bare.body.get_input_embeddings().weight[7].fill_(0.5)  # type: ignore[operator]
    adapted = ig.adapt(bare, TEXT, steps=1, length=32, learning_rate=1e-9)
    assert torch.allclose(adapted.body.get_input_embeddings().weight[7], torch.tensor(0.5), atol=1e-5)  # type: ignore
    assert adapted.network is not adapted.body
    assert type(adapted.network) is type(whole.network)


def test_it_goes_on_and_is_read_back(tmp_path: Path) -> None:
    model = with_head("bert", tmp_path / "m")
    adapted, told = adapt_with_history(model, TEXT, out=tmp_path / "out", **QUICK)
    again, history = adapt_with_history(tmp_path / "m", TEXT, out=tmp_path / "out", device="cpu", **QUICK)
    assert fingerprint(again.network) == fingerprint(adapted.network)
    assert history == told
    assert ig.load_model(tmp_path / "out", device="cpu").layers == model.layers


def test_what_cannot_be_adapted_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="encoder-decoder"):
        ig.adapt(build("mt5", tmp_path / "mt5"), TEXT)
    model = with_head("bert", tmp_path / "bert")
    with pytest.raises(UnknownName, match="did you mean 'modern'"):
        ig.adapt(model, TEXT, preset="modem")
    with pytest.raises(UsageError, match="expected others"):
        ig.adapt(model, TEXT, mix={"text": TEXT})
    with pytest.raises(UsageError, match="mix_share"):
        ig.adapt(model, TEXT, mix={"fr": TEXT}, mix_share=1.0)
    untrained = ig.untrained_encoder(TEXT, layers=1, width=16, vocabulary=200)
    with pytest.raises(UsageError, match="'untrained' has no language-model head"):
        ig.adapt(untrained, TEXT)


def test_a_lack_of_memory_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that shares a GPU is tried again after it, not given up as one whose model is wrong."""
    model = load_model(build("bert", tmp_path / "bert"))

    def full(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("isogloss.models.loading.language_model_head.load_model", full)
    with pytest.raises(torch.OutOfMemoryError):
        ig.adapt(model, TEXT)
