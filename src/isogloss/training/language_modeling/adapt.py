"""Adaptation: further training of a pretrained model, with its pretraining objective, on raw text of a language."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from isogloss.core.errors import UsageError
from isogloss.core.hashing import digest
from isogloss.core.registry import check_name
from isogloss.core.settings import SettingValues
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.parallel import ParallelSet
from isogloss.models.interventions.adapters import Adapter, use_adapter
from isogloss.models.loading.language_model_head import with_lm_head
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.readability import readability, warn_if_unreadable
from isogloss.training.engine.budget import Budget, Decay
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.identity import model_identity
from isogloss.training.engine.settings import Precision
from isogloss.training.language_modeling.evaluation import build_evaluation
from isogloss.training.language_modeling.heldout import split_texts
from isogloss.training.language_modeling.language_sampling import apportion, sampling_shares
from isogloss.training.language_modeling.model_files import UNFINISHED_FOLDER, is_finished, save_language_model
from isogloss.training.language_modeling.packing import Sequences, pack
from isogloss.training.language_modeling.settings import LanguageModelSettings, MaskingUnit, Objective, Optimizer
from isogloss.training.language_modeling.train import StepMetrics, train_language_model

ADAPTATION_VERSION = 1  # increased when the same run would give other weights
PRESETS: dict[str, SettingValues] = {
    # as released with Muller et al. (2021)
    "published": {
        "epochs": 20, "batch": 8, "length": 128, "by_line": True, "learning_rate": 5e-5, "warmup": 0.0,
        "decay": "linear", "weight_decay": 0.0,
    },
    # full sequences, a larger batch and a warm-up: the same text in a fraction of the time
    "modern": {
        "epochs": 20, "batch": 32, "length": 128, "by_line": False, "learning_rate": 1e-4, "warmup": 0.06,
        "decay": "linear", "weight_decay": 0.01,
    },
    # for language adapters: batch and learning rate of MAD-X (which trains for 250,000 steps)
    "adapter": {
        "epochs": 20, "batch": 64, "length": 128, "by_line": False, "learning_rate": 1e-4, "warmup": 0.0,
        "decay": "linear", "weight_decay": 0.0,
    },
}  # fmt: skip


def adapt(
    model: LoadedModel | str | os.PathLike[str],
    text: Corpus[str] | Iterable[str],
    *,
    preset: str | None = None,
    epochs: float | None = None,
    steps: int | None = None,
    tokens: int | None = None,
    minutes: float | None = None,
    adapter: Adapter | None = None,
    mix: Mapping[str, Iterable[str]] | None = None,
    mix_share: float = 0.2,
    objective: Objective | None = None,
    batch: int | None = None,
    length: int | None = None,
    optimizer: Optimizer | None = None,
    learning_rate: float | None = None,
    warmup: float | None = None,
    decay: Decay | None = None,
    weight_decay: float | None = None,
    clip: float | None = None,
    alpha: float | None = None,
    masking: MaskingUnit | None = None,
    mask_share: float | None = None,
    by_line: bool | None = None,
    confine: bool | None = None,
    accumulate: int | None = None,
    precision: Precision | None = None,
    compiled: bool | None = None,
    probes: ParallelSet | None = None,
    evaluations: int = 0,
    out: str | os.PathLike[str] | None = None,
    seed: int = 0,
    device: str | None = None,
    checkpoint_steps: int | None = None,
    progress: Callable[[StepMetrics], None] | None = None,
) -> LoadedModel:
    """Train a model further on raw text of a language; the model passed in is not modified.

    Training ends after `epochs`, or earlier with `steps`, `tokens` or `minutes`. Settings that are None have the value
    of the preset, or else the default of `LanguageModelSettings`. As an intervention of `transfer`:
    `partial(adapt, text=text)`.

    Args:
        model: A model, its name or its folder.
        text: Lines of raw text.
        preset: "published" (20 epochs, one line per sequence, batches of 8; the default), "modern" (joined lines,
            batches of 32) or "adapter" (batches of 64; the default with `adapter`).
        epochs: Number of passes over the text.
        steps: Largest number of steps.
        tokens: Largest number of tokens.
        minutes: Largest number of minutes; the result then depends on the machine.
        adapter: `language_adapter()` or `lora()`: only the adapter is trained and saved.
        mix: Text of other languages by name, against forgetting.
        mix_share: Share of `mix` in the training text.
        objective: "mlm" or "clm"; by default that of the model.
        batch: Number of sequences per step.
        length: Number of tokens per sequence.
        optimizer: "adamw", or "muon" for the matrices within layers.
        learning_rate: Peak learning rate.
        warmup: Share of the budget in which the learning rate rises.
        decay: Schedule after the warm-up: "cosine", "linear", "plateau" or "constant".
        weight_decay: Weight decay; biases and norms are not decayed.
        clip: Largest norm of the gradient.
        alpha: Exponent of language sampling.
        masking: Unit of masking: "tokens", "words" or "spans".
        mask_share: Share of the tokens that are masked.
        by_line: One sequence per line instead of joined lines.
        confine: Restrict attention to single lines within joined sequences.
        accumulate: Number of parts of a step, to save memory; with dropout, the masks and so the result differ.
        precision: "fp32", "bf16" or "auto" (bf16 on a GPU).
        compiled: Compile the network; by default on a GPU only.
        probes: Parallel text on which alignment is measured at every evaluation.
        evaluations: Number of evaluations between the first and the last.
        out: Folder for the model. The same call resumes after an interruption.
        seed: Random seed of order, masks and dropout.
        device: Device of a model that is loaded by name.
        checkpoint_steps: Steps between checkpoints, besides one every ten minutes.
        progress: Called with the metrics during training.
    """
    options: SettingValues = {
        "objective": objective, "batch": batch, "length": length, "optimizer": optimizer,
        "learning_rate": learning_rate, "warmup": warmup, "decay": decay, "weight_decay": weight_decay, "clip": clip,
        "alpha": alpha, "masking": masking, "mask_share": mask_share, "by_line": by_line, "confine": confine,
        "accumulate": accumulate, "precision": precision, "compiled": compiled,
    }  # fmt: skip
    workers, folder = init_distributed(), None if out is None else Path(out)
    base = with_lm_head(model, device)
    if adapter is not None:
        base = adapter(base, seed=seed)
    if not any(weight.requires_grad for weight in base.network.parameters()):
        raise UsageError(f"nothing to train: all weights of '{base.name}' are frozen")
    settings, preset_epochs = _settings(base, preset or ("adapter" if adapter else "published"), options)
    target = getattr(text, "lang", "text")
    if mix and target in mix:
        raise UsageError(f"mix: '{target}' is the language that the model is adapted to; expected others")
    splits = split_texts({target: text, **(mix or {})})
    for lang, split in splits.items():
        held_out = [line if isinstance(line, str) else " ".join(line) for line in split.held_out]
        warn_if_unreadable(base, readability(base, held_out), lang)
    lines = {lang: split.train for lang, split in splits.items()}
    sequences = pack(base, lines, settings.length, by_line=settings.by_line, words=settings.masking == "words")
    slots = _slots_per_epoch(sequences, mix_share if mix else 0.0, len(splits))
    last = math.ceil((epochs or preset_epochs) * sum(slots) / settings.batch)
    settings = replace(settings, budget=Budget(min(steps or last, last), tokens, minutes))
    digests = {lang: split.digest for lang, split in splits.items()}
    run = digest(ADAPTATION_VERSION, model_identity(base), digests, slots, asdict(settings), seed)
    if folder and is_finished(folder, run):
        if adapter is not None:
            return use_adapter(folder, train=True)(base)
        return load_model(folder, head="clm" if settings.causal else "mlm", device=base.device)
    checkpoints = None
    if folder:
        checkpoints = Checkpoints(folder / UNFINISHED_FOLDER / "checkpoints", run, steps=checkpoint_steps)
    history = train_language_model(
        base,
        sequences,
        settings,
        seed=seed,
        slots=slots,
        evaluate=build_evaluation(splits, settings, probes),
        evaluations=evaluations,
        checkpoints=checkpoints,
        progress=progress,
    )
    if folder and workers.is_main:
        title = f"language {'adapter for' if adapter else 'model, adapted from'} {Path(base.name).name}"
        save_language_model(folder, base, history, run, splits, settings, title, adapter_only=adapter is not None)
    workers.barrier()
    return replace(base, name=os.fspath(folder)) if folder and adapter is None else base


def _settings(model: LoadedModel, preset: str, options: SettingValues) -> tuple[LanguageModelSettings, float]:
    """The settings of the preset with the options that are not None, and the number of epochs of the preset."""
    values: SettingValues = {"objective": "clm" if model.family.causal else "mlm", "alpha": 1.0}
    values |= PRESETS[check_name(preset, PRESETS, "preset")]
    values |= {name: value for name, value in options.items() if value is not None}
    epochs = values.pop("epochs")
    return LanguageModelSettings(**values), epochs


def _slots_per_epoch(sequences: Sequences, mix_share: float, languages: int) -> list[int]:
    """Sequences of each language in an epoch: all of the target language, and a share of the others."""
    if not 0 <= mix_share < 1:
        raise UsageError(f"mix_share: expected a number of at least 0 and below 1, got {mix_share}")
    target, *mixed = sequences.languages.values()
    if len(mixed) + 1 < languages or not mixed:
        return [target]
    extra = max(len(mixed), round(target * mix_share / (1 - mix_share)))
    return [target, *apportion(sampling_shares(mixed), extra)]
