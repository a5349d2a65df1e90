from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from toy import fingerprint

import isogloss as ig
from isogloss.core.errors import UnknownName, UsageError
from isogloss.models.loading.load import load_model
from isogloss.models.tokenization.training import KINDS
from isogloss.training.language_modeling.pretrain import pretrain
from isogloss.training.language_modeling.step import LanguageModelStepper

LAB = ig.Laboratory(0)
TEXTS = {"qla": LAB.text("qla", 150), "qlb": LAB.text("qlb", 60)}
SMALL: dict[str, Any] = {"layers": 1, "width": 16, "vocabulary": 400, "steps": 4, "batch": 4, "length": 32}
SMALL |= {"evaluations": 0, "device": "cpu"}


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_from_raw_text_to_a_folder_that_every_library_loads(tmp_path: Path) -> None:
    out = tmp_path / "model"
    options = {**SMALL, "steps": 120, "learning_rate": 5e-3}
    model = pretrain(TEXTS, out, probes=LAB.parallel(["qla", "qlb"], 20), **options)
    evaluations = rows(out / "evaluations.tsv")
    for lang in TEXTS:
        values = [float(r["value"]) for r in evaluations if r["target"] == lang and r["index"] == "perplexity"]
        assert len(values) == 2 and values[1] < 0.85 * values[0]
    assert {(r["step"], r["layer"], r["index"]) for r in evaluations if r["index"] != "perplexity"} == {
        (step, layer, index) for step in ("0", "120") for layer in "01" for index in ("cka", "matching")
    }
    assert [row["step"] for row in rows(out / "log.tsv")] == ["50", "100", "120"]
    assert not (out / "unfinished").exists()
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "120 steps" in card and "| qla | 150 |" in card

    stock: Any = transformers.AutoModelForMaskedLM.from_pretrained(out)
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    assert transformers.AutoModel.from_pretrained(out).config.hidden_size == 16
    inputs = tokenizer(TEXTS["qla"][0], return_tensors="pt")
    with torch.no_grad():
        ours: Any = model.network
        assert torch.equal(stock(**inputs).logits, ours(**inputs).logits)
    assert load_model(out, device="cpu").layers == 1
    assert stock.config.hidden_dropout_prob == 0.1  # for fine-tuning
    tied = stock.cls.predictions.decoder.weight.data_ptr() == stock.bert.embeddings.word_embeddings.weight.data_ptr()
    assert tied


def test_it_goes_on_where_it_was_interrupted_and_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {**SMALL, "checkpoint_steps": 1, "dropout": 0.2}
    whole = pretrain(TEXTS, tmp_path / "whole", **options)
    original = LanguageModelStepper.step

    def interrupted(self: LanguageModelStepper, number: int, learning_rate: float) -> int:
        if number == 2:
            raise KeyboardInterrupt
        return original(self, number, learning_rate)

    with monkeypatch.context() as patch:
        patch.setattr(LanguageModelStepper, "step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pretrain(TEXTS, tmp_path / "cut", **options)
    assert not (tmp_path / "cut" / "config.json").exists()
    resumed = pretrain(TEXTS, tmp_path / "cut", **options)
    assert fingerprint(resumed.network) == fingerprint(whole.network)

    def never(*_: Any) -> int:
        raise AssertionError("trained again")

    monkeypatch.setattr(LanguageModelStepper, "step", never)
    assert fingerprint(pretrain(TEXTS, tmp_path / "cut", **options).network) == fingerprint(whole.network)
    with pytest.raises(UsageError, match="another run"):
        pretrain(TEXTS, tmp_path / "cut", **{**options, "seed": 1})


@pytest.mark.parametrize("kind", KINDS)
def test_every_tokenizer_makes_a_model(tmp_path: Path, kind: str) -> None:
    model = pretrain(TEXTS, tmp_path / "m", tokenizer=kind, **{**SMALL, "steps": 2})
    assert model.tokenizer.decode(model.tokenizer("ab")["input_ids"], skip_special_tokens=True).strip() == "ab"


@pytest.mark.parametrize("norm", [None, "post", "pre", "normformer"])
@pytest.mark.parametrize("objective", ["mlm", "clm"])
def test_every_norm_and_objective(tmp_path: Path, norm: str | None, objective: str) -> None:
    options = {**SMALL, "norm": norm, "objective": objective, "precision": "bf16"}
    model = pretrain(TEXTS, tmp_path / "m", **options)
    assert model.family.causal == (objective == "clm")
    assert (model.final_norm is None) == (norm == "post" or (norm is None and objective == "mlm"))


def test_translations_are_read_together(tmp_path: Path) -> None:
    pairs = LAB.parallel(["qla", "qlb"], 60)
    model = pretrain(pairs, tmp_path / "m", objective="tlm", **{**SMALL, "length": 64})
    assert not model.family.causal
    with pytest.raises(UsageError, match="objective 'tlm'"):
        pretrain(pairs, tmp_path / "n", **SMALL)


def test_a_tokenizer_of_another_model_may_be_used(tmp_path: Path) -> None:
    pretrain(TEXTS, tmp_path / "one", **SMALL)
    other = pretrain(TEXTS, tmp_path / "two", tokenizer=tmp_path / "one", **SMALL)
    assert other.tokenizer.get_vocab() == load_model(tmp_path / "one", device="cpu").tokenizer.get_vocab()
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    pretrain(TEXTS, tmp_path / "two", tokenizer=tmp_path / "copy", **SMALL)  # the same run: what it holds counts
    pretrain(TEXTS, tmp_path / "characters", tokenizer="characters", **SMALL)
    with pytest.raises(UsageError, match="another run"):
        pretrain(TEXTS, tmp_path / "two", tokenizer=tmp_path / "characters", **SMALL)
    with pytest.raises(UnknownName, match="known: wordpiece"):
        pretrain(TEXTS, tmp_path / "three", tokenizer="wordpeace", **SMALL)


def test_a_folder_with_a_model_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="contains a model already"):
        pretrain(TEXTS, tmp_path, **SMALL)
