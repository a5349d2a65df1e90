"""Tiny language models with their heads, of any family, and text for them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import torch
from tiny_models import CONFIGS, SENTENCES, tokenizer_of
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

import isogloss as ig
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.language_modeling.model_files import read_history
from isogloss.training.language_modeling.train import TrainingHistory

CAUSAL = ("llama", "qwen2", "gemma3_text", "xglm")
MASKED = ("bert", "xlm-roberta", "xlm-roberta-xl", "modernbert")
TEXT = [f"{sentence} {number}" for sentence in SENTENCES for number in range(6)]


def with_head(family: str, folder: Path) -> LoadedModel:
    """Built, saved and loaded with its head; without dropout."""
    tokenizer: Any = tokenizer_of(family)
    if family in MASKED and tokenizer.mask_token is None:
        tokenizer.mask_token = "<mask>"
    marks = ("bos", "eos", "pad", "cls", "sep")
    ids = {f"{mark}_token_id": getattr(tokenizer, f"{mark}_token_id") for mark in marks}
    ids = {name: number for name, number in ids.items() if number is not None}
    config = AutoConfig.for_model(family, **CONFIGS[family], vocab_size=len(tokenizer), **ids)
    for name in vars(config):
        if "dropout" in name and isinstance(getattr(config, name), float):
            setattr(config, name, 0.0)
    auto: Any = AutoModelForCausalLM if family in CAUSAL else AutoModelForMaskedLM
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        auto.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_model(folder, head="clm" if family in CAUSAL else "mlm", device="cpu")


def adapt_with_history(model: LoadedModel | Path, text: Any, **options: Any) -> tuple[LoadedModel, TrainingHistory]:
    """`adapt`, and the history that it saves; in a temporary folder where there is no `out`."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(options.pop("out", folder))
        return ig.adapt(model, text, out=out, **options), read_history(out)
