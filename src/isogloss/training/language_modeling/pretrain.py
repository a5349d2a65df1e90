"""Pretraining: from raw text to a tokenizer, a network, and a model folder that transformers loads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from torch import nn
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from isogloss.core.errors import UnknownName, UsageError
from isogloss.core.hashing import digest
from isogloss.corpora.parallel import ParallelSet
from isogloss.models.loading.library_messages import quiet_library
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.placement import resolve_device
from isogloss.models.loading.save import save_tokenizer
from isogloss.models.loading.untrained import untrained_model
from isogloss.models.tokenization.training import KINDS, train_tokenizer
from isogloss.training.engine.budget import Budget, Decay
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.identity import tokenizer_identity
from isogloss.training.engine.settings import Precision
from isogloss.training.language_modeling.evaluation import build_evaluation
from isogloss.training.language_modeling.heldout import TextSplit, split_texts
from isogloss.training.language_modeling.language_sampling import balanced_lines
from isogloss.training.language_modeling.model_files import UNFINISHED_FOLDER, is_finished, save_language_model
from isogloss.training.language_modeling.packing import Text, pack
from isogloss.training.language_modeling.settings import (
    DEFAULT_BUDGET,
    MASK_SHARE,
    SAMPLING_EXPONENT,
    LanguageModelSettings,
    MaskingUnit,
    Objective,
    Optimizer,
)
from isogloss.training.language_modeling.train import StepMetrics, train_language_model

PRETRAINING_VERSION = 2  # increased when the same run would give other weights
MAX_TOKENIZER_CHARACTERS = 100_000_000  # of the text on which a tokenizer is trained
MIN_POSITIONS = 512  # maximum input length of a model that is trained with shorter sequences
SAVED_DROPOUT = 0.1  # usual dropout of fine-tuning


def pretrain(
    texts: Mapping[str, Iterable[Text]] | ParallelSet,
    out: str | os.PathLike[str],
    *,
    tokenizer: str | os.PathLike[str] = "wordpiece",
    vocabulary: int = 8000,
    alphabet: str = "",
    layers: int = 6,
    width: int = 256,
    heads: int | None = None,
    norm: str | None = None,
    dropout: float = 0.0,
    steps: int | None = None,
    tokens: int | None = None,
    minutes: float | None = None,
    objective: Objective = "mlm",
    batch: int = 32,
    length: int = 128,
    optimizer: Optimizer = "adamw",
    learning_rate: float = 1e-3,
    warmup: float = 0.05,
    decay: Decay = "cosine",
    weight_decay: float = 0.01,
    clip: float = 1.0,
    alpha: float = SAMPLING_EXPONENT,
    masking: MaskingUnit = "tokens",
    mask_share: float = MASK_SHARE,
    by_line: bool | None = None,
    confine: bool = False,
    accumulate: int = 1,
    precision: Precision = "auto",
    compiled: bool | None = None,
    probes: ParallelSet | None = None,
    evaluations: int = 10,
    seed: int = 0,
    half: bool = False,
    device: str | None = None,
    checkpoint_steps: int | None = None,
    progress: Callable[[StepMetrics], None] | None = None,
) -> LoadedModel:
    """Train a language model from scratch and save it. The same call resumes after an interruption.

    Training ends after `steps`, `tokens` or `minutes`, whichever comes first (10 000 steps if none is given).

    Args:
        texts: Lines of text by language; a parallel set for the objective "tlm".
        out: Folder for the model.
        tokenizer: Kind of tokenizer to train (wordpiece, bpe, unigram, characters or bytes), or a folder with one.
        vocabulary: Vocabulary size of a trained tokenizer.
        alphabet: Characters that a trained tokenizer knows in any case.
        layers: Number of layers.
        width: Hidden size.
        heads: Number of attention heads; by default one per 64 units.
        norm: "post", "pre" or "normformer"; by default "post" for an encoder and that of Llama for a decoder.
        dropout: Dropout during this training; the configuration of the saved model has 0.1.
        steps: Largest number of steps.
        tokens: Largest number of tokens.
        minutes: Largest number of minutes; the result then depends on the machine.
        objective: "mlm" (masked), "clm" (causal) or "tlm" (masked, over a sentence and its translation).
        batch: Number of sequences per step.
        length: Number of tokens per sequence.
        optimizer: "adamw", or "muon" for the matrices within layers.
        learning_rate: Peak learning rate.
        warmup: Share of the budget in which the learning rate rises.
        decay: Schedule after the warm-up: "cosine", "linear", "plateau" or "constant".
        weight_decay: Weight decay; biases and norms are not decayed.
        clip: Largest norm of the gradient.
        alpha: Exponent of language sampling: 1 samples languages by size, 0 uniformly.
        masking: Unit of masking: "tokens", "words" or "spans".
        mask_share: Share of the tokens that are masked.
        by_line: One sequence per line instead of joined lines; by default for "tlm" only.
        confine: Restrict attention to single lines within joined sequences.
        accumulate: Number of parts of a step, to save memory; with dropout, the masks and so the result differ.
        precision: "fp32", "bf16" or "auto" (bf16 on a GPU).
        compiled: Compile the network; by default on a GPU only.
        probes: Parallel text on which alignment is measured at every evaluation.
        evaluations: Number of evaluations between the first and the last.
        seed: Random seed of weights, order, masks and dropout.
        half: Save the weights in fp16.
        device: Device of the training.
        checkpoint_steps: Steps between checkpoints, besides one every ten minutes.
        progress: Called with the metrics during training.
    """
    settings = LanguageModelSettings(
        objective=objective, batch=batch, length=length, optimizer=optimizer, learning_rate=learning_rate,
        warmup=warmup, decay=decay, weight_decay=weight_decay, clip=clip, alpha=alpha, masking=masking,
        mask_share=mask_share, by_line=objective == "tlm" if by_line is None else by_line, confine=confine,
        accumulate=accumulate, precision=precision, compiled=compiled,
        budget=Budget(steps if steps or tokens or minutes else DEFAULT_BUDGET.steps, tokens, minutes),
    )  # fmt: skip
    workers, folder, target_device = init_distributed(), Path(out), resolve_device(device)
    splits = split_texts(_pairs(texts, settings) if isinstance(texts, ParallelSet) else texts)
    existing = None if tokenizer in KINDS else _read_tokenizer(tokenizer)
    run = digest(PRETRAINING_VERSION, {lang: split.digest for lang, split in splits.items()},
                 tokenizer if existing is None else tokenizer_identity(existing), vocabulary,
                 alphabet, layers, width, heads, norm, dropout, asdict(settings), seed)  # fmt: skip
    if not is_finished(folder, run):
        run_tokenizer = existing or _trained_tokenizer(
            folder / UNFINISHED_FOLDER / "tokenizer", str(tokenizer), splits, vocabulary, alphabet, settings
        )
        model = untrained_model(
            run_tokenizer, causal=settings.causal, norm=norm, layers=layers, width=width, heads=heads,
            length=max(MIN_POSITIONS, length), dropout=dropout, seed=seed,
        )  # fmt: skip
        nn.Module.to(model.network, target_device)
        lines = {lang: split.train for lang, split in splits.items()}
        history = train_language_model(
            model,
            pack(model, lines, length, by_line=settings.by_line, words=masking == "words"),
            settings,
            seed=seed,
            evaluate=build_evaluation(splits, settings, probes),
            evaluations=evaluations,
            checkpoints=Checkpoints(folder / UNFINISHED_FOLDER / "checkpoints", run, steps=checkpoint_steps),
            progress=progress,
        )
        if workers.is_main:
            _set_saved_dropout(model)
            title = "language model, trained from scratch"
            save_language_model(folder, model, history, run, splits, settings, title, half=half)
        workers.barrier()
    return load_model(folder, head="clm" if settings.causal else "mlm", device=target_device)


def _pairs(parallel: ParallelSet, settings: LanguageModelSettings) -> dict[str, list[Text]]:
    """Each sentence of the first language with its translation into every other."""
    if settings.objective != "tlm":
        raise UsageError("a parallel set is for the objective 'tlm'; the others read text by language")
    source, *targets = parallel.languages
    if not targets:
        raise UsageError(f"the objective 'tlm' needs two languages or more, got {source} only")
    return {f"{source}-{lang}": list(zip(parallel.texts[source], parallel.texts[lang])) for lang in targets}


def _trained_tokenizer(
    folder: Path,
    kind: str,
    splits: Mapping[str, TextSplit],
    vocabulary: int,
    alphabet: str,
    settings: LanguageModelSettings,
) -> PreTrainedTokenizerBase:
    """The tokenizer of this run, trained once: a resumed run reads it, because a second training might differ."""
    workers = init_distributed()
    if workers.is_main and not folder.exists():
        texts = {lang: split.train for lang, split in splits.items()}
        characters = {lang: split.characters for lang, split in splits.items()}
        text = balanced_lines(texts, characters, alpha=settings.alpha, max_characters=MAX_TOKENIZER_CHARACTERS)
        positions = max(MIN_POSITIONS, settings.length)
        trained = train_tokenizer(text, kind, vocabulary, alphabet=alphabet, causal=settings.causal, length=positions)
        save_tokenizer(trained, folder)
    workers.barrier()
    return _read_tokenizer(folder)


def _read_tokenizer(folder: str | os.PathLike[str]) -> PreTrainedTokenizerBase:
    if not Path(folder).is_dir():
        raise UnknownName(f"unknown tokenizer '{folder}'; known: {', '.join(KINDS)}, or a folder with a tokenizer")
    with quiet_library():
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder)
    return tokenizer


def _set_saved_dropout(model: LoadedModel) -> None:
    """Set the dropout of the saved configuration, for later fine-tuning."""
    config = model.body.config
    for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
        if hasattr(config, name):
            setattr(config, name, SAVED_DROPOUT)
