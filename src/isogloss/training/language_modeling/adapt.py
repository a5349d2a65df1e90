"""Adaptation: a pretrained model is trained further, by its own objective, on raw text of some language."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from isogloss.core.errors import UsageError
from isogloss.core.hashing import digest
from isogloss.core.registry import check_name
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.parallel import ParallelSet
from isogloss.models.adapters.interventions import Adapter, use_adapter
from isogloss.models.loading.language_model_head import with_lm_head
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.training.engine.budget import Budget
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.identity import model_identity
from isogloss.training.language_modeling.evaluation import build_evaluation
from isogloss.training.language_modeling.heldout import split_texts
from isogloss.training.language_modeling.language_sampling import apportion, sampling_shares
from isogloss.training.language_modeling.model_files import (
    UNFINISHED_FOLDER,
    is_finished,
    read_history,
    save_language_model,
)
from isogloss.training.language_modeling.packing import Sequences, pack
from isogloss.training.language_modeling.settings import LanguageModelSettings
from isogloss.training.language_modeling.train import StepMetrics, TrainingHistory, train_language_model

ADAPTATION_VERSION = 1  # of what a run computes: raised when the same run would give other weights
PRESETS: dict[str, dict[str, Any]] = {
    # as released with the study of unseen languages
    "published": {
        "epochs": 20, "batch": 8, "length": 128, "by_line": True, "learning_rate": 5e-5, "warmup": 0.0,
        "decay": "linear", "weight_decay": 0.0,
    },
    # full sequences, a larger batch and a warm-up: the same text in a fraction of the time
    "modern": {
        "epochs": 20, "batch": 32, "length": 128, "by_line": False, "learning_rate": 1e-4, "warmup": 0.06,
        "decay": "linear", "weight_decay": 0.01,
    },
    # for language adapters: the batch and the rate of MAD-X, whose 250,000 steps are for text without end
    "adapter": {
        "epochs": 20, "batch": 64, "length": 128, "by_line": False, "learning_rate": 1e-4, "warmup": 0.0,
        "decay": "linear", "weight_decay": 0.0,
    },
}  # fmt: skip


def adapt(
    model: LoadedModel | str | os.PathLike[str], text: Corpus[str] | Iterable[str], **options: Any
) -> LoadedModel:
    """A model after training on raw `text`; the one handed in stays as it is. Options are those of `adaptation`."""
    return adaptation(model, text, **options)[0]


def adaptation(
    model: LoadedModel | str | os.PathLike[str],
    text: Corpus[str] | Iterable[str],
    *,
    out: str | os.PathLike[str] | None = None,
    recipe: str | None = None,
    epochs: float | None = None,
    steps: int | None = None,
    tokens: int | None = None,
    minutes: float | None = None,
    adapter: Adapter | None = None,
    mix: Mapping[str, Iterable[str]] | None = None,
    mix_share: float = 0.2,
    probes: ParallelSet | None = None,
    evaluations: int = 0,
    seed: int = 0,
    device: str | None = None,
    checkpoint_steps: int | None = None,
    progress: Callable[[StepMetrics], None] | None = None,
    **settings: Any,
) -> tuple[LoadedModel, TrainingHistory]:
    """The adapted model, with the perplexity of held-out lines before and after.

    `recipe`: "published" (20 epochs, line by line, batches of 8), "modern" (joined lines, batches of 32) or "adapter"
    (batches of 64); `settings` of `LanguageModelSettings` change it. It ends after `epochs`, or earlier with `steps`,
    `tokens` or `minutes`.
    `adapter`: `language_adapter()` or `lora()`: it alone is trained, and saved; the model stays as it is.
    `mix`: text of other languages by name, against forgetting; it makes up `mix_share` of what is read. `out`: a
    folder for the model; the same call goes on where it was interrupted.
    """
    workers = init_distributed()
    base = with_lm_head(model, device)
    if adapter is not None:
        base = adapter(base, seed=seed)
    if not any(weight.requires_grad for weight in base.network.parameters()):
        raise UsageError(f"nothing to train: all weights of '{base.name}' are frozen")
    known = PRESETS[check_name(recipe or ("adapter" if adapter else "published"), PRESETS, "recipe")]
    chosen = {"objective": "clm" if base.family.causal else "mlm", "alpha": 1.0, **known, **settings}
    limit = epochs or chosen.pop("epochs")
    chosen.pop("epochs", None)
    plan = LanguageModelSettings(**chosen)
    target = getattr(text, "lang", "text")
    if mix and target in mix:
        raise UsageError(f"mix: '{target}' is the language that the model is adapted to; expected others")
    splits = split_texts({target: text, **(mix or {})})
    sequences = pack(
        base,
        {lang: split.train for lang, split in splits.items()},
        plan.length,
        by_line=plan.by_line,
        words=plan.masking == "words",
    )
    slots = _slots_per_epoch(sequences, mix_share if mix else 0.0, len(splits))
    last = math.ceil(limit * sum(slots) / plan.batch)
    plan = replace(plan, budget=Budget(min(steps or last, last), tokens, minutes))
    folder = None if out is None else Path(out)
    digests = {lang: split.digest for lang, split in splits.items()}
    run = digest(ADAPTATION_VERSION, model_identity(base), digests, slots, asdict(plan), seed)
    if folder and adapter is not None and is_finished(folder, run):
        return use_adapter(folder, train=True)(base), read_history(folder)
    if folder and is_finished(folder, run):
        return load_model(folder, head="clm" if plan.causal else "mlm", device=base.device), read_history(folder)
    history = train_language_model(
        base,
        sequences,
        plan,
        seed=seed,
        slots=slots,
        evaluate=build_evaluation(splits, plan, probes),
        evaluations=evaluations,
        checkpoints=Checkpoints(folder / UNFINISHED_FOLDER / "checkpoints", run, steps=checkpoint_steps)
        if folder
        else None,
        progress=progress,
    )
    if folder and workers.is_main:
        title = f"language {'adapter for' if adapter else 'model, adapted from'} {Path(base.name).name}"
        alone = adapter is not None
        save_language_model(
            folder, base, history, run=run, splits=splits, settings=plan, title=title, adapter_only=alone
        )
        shutil.rmtree(folder / UNFINISHED_FOLDER)
    workers.barrier()
    return replace(base, name=os.fspath(folder)) if folder and adapter is None else base, history


def _slots_per_epoch(sequences: Sequences, mix_share: float, languages: int) -> list[int]:
    """Sequences of each language in an epoch: all of the target's, and a share of the others."""
    if not 0 <= mix_share < 1:
        raise UsageError(f"mix_share: expected a number from 0 up to but not including 1, got {mix_share}")
    target, *others = sequences.languages.values()
    if len(others) + 1 < languages or not others:
        return [target]
    extra = max(len(others), round(target * mix_share / (1 - mix_share)))
    return [target, *apportion(sampling_shares(others), extra)]
