"""From raw text to a language model: tokenizer, network, training, and a folder that any library loads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import transformers
from torch import nn

from isogloss.core.errors import UnknownName, UsageError
from isogloss.core.hashing import digest
from isogloss.corpora.parallel import ParallelSet
from isogloss.models.loading.library_messages import quiet_library
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.placement import resolve_device
from isogloss.models.loading.save import atomic_folder
from isogloss.models.loading.untrained import untrained_model
from isogloss.models.tokenization.training import KINDS, train_tokenizer
from isogloss.training.engine.budget import Budget
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.identity import tokenizer_identity
from isogloss.training.language_modeling.evaluation import build_evaluation
from isogloss.training.language_modeling.heldout import TextSplit, split_texts
from isogloss.training.language_modeling.language_sampling import balanced_lines
from isogloss.training.language_modeling.model_files import UNFINISHED_FOLDER, is_finished, save_language_model
from isogloss.training.language_modeling.packing import Text, pack
from isogloss.training.language_modeling.settings import DEFAULT_BUDGET, LanguageModelSettings
from isogloss.training.language_modeling.train import StepMetrics, train_language_model

PRETRAINING_VERSION = 2  # of what a run computes: raised when the same run would give other weights
MAX_TOKENIZER_CHARACTERS = 100_000_000  # characters that a tokenizer is trained on at most
SAVED_DROPOUT = 0.1


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
    steps: int | None = None,
    tokens: int | None = None,
    minutes: float | None = None,
    dropout: float = 0.0,
    probes: ParallelSet | None = None,
    evaluations: int = 10,
    seed: int = 0,
    half: bool = False,
    device: str | None = None,
    checkpoint_steps: int | None = None,
    progress: Callable[[StepMetrics], None] | None = None,
    **settings: Any,
) -> LoadedModel:
    """Train a language model from scratch on text by language, and save it in the folder `out`.

    For the objective "tlm" the text is a parallel set: a sequence is a sentence with its translation.

    `norm`: post, pre or normformer (post for an encoder, Llama's for a decoder, where not given).
    `tokenizer`: a kind to train (wordpiece, bpe, unigram, characters, bytes), or a folder that has one. `alphabet`:
    letters that a trained one shall know in any case. The budget is `steps`, `tokens` or `minutes`, whichever ends
    first (10 000 steps where none is given). `dropout` is that of this training; the saved model is set to the usual
    0.1. `probes`: parallel text on which alignment is watched.
    `half` saves the weights in fp16.
    `settings` are those of `LanguageModelSettings` (objective, batch, length, learning_rate, alpha, masking …).
    A run that was interrupted goes on when it is called again; a finished one is read back.
    """
    workers, folder = init_distributed(), Path(out)
    place = resolve_device(device)
    budget = Budget(steps if steps or tokens or minutes else DEFAULT_BUDGET.steps, tokens, minutes)
    plan = LanguageModelSettings(**{"by_line": settings.get("objective") == "tlm", **settings}, budget=budget)
    splits = split_texts(_pairs(texts, plan) if isinstance(texts, ParallelSet) else texts)
    given_tokenizer = None if tokenizer in KINDS else _read_tokenizer(tokenizer)
    run = digest(PRETRAINING_VERSION, {lang: split.digest for lang, split in splits.items()},
                   tokenizer if given_tokenizer is None else tokenizer_identity(given_tokenizer), vocabulary,
                   alphabet, layers, width, heads, norm, dropout, asdict(plan), seed)  # fmt: skip
    if not is_finished(folder, run):
        run_tokenizer = given_tokenizer or _trained_tokenizer(
            folder / UNFINISHED_FOLDER / "tokenizer", str(tokenizer), splits, vocabulary, alphabet, plan
        )
        sizes: dict[str, Any] = {
            "layers": layers,
            "width": width,
            "heads": heads,
            "norm": norm,
            "length": max(512, plan.length),
        }
        model = untrained_model(run_tokenizer, causal=plan.causal, dropout=dropout, seed=seed, **sizes)
        nn.Module.to(model.network, place)
        history = train_language_model(
            model,
            pack(
                model,
                {lang: split.train for lang, split in splits.items()},
                plan.length,
                by_line=plan.by_line,
                words=plan.masking == "words",
            ),
            plan,
            seed=seed,
            evaluate=build_evaluation(splits, plan, probes),
            evaluations=evaluations,
            checkpoints=Checkpoints(folder / UNFINISHED_FOLDER / "checkpoints", run, steps=checkpoint_steps),
            progress=progress,
        )
        if workers.is_main:
            _set_saved_dropout(model)
            save_language_model(
                folder,
                model,
                history,
                run=run,
                splits=splits,
                settings=plan,
                title="language model, trained from scratch",
                half=half,
            )
            shutil.rmtree(folder / UNFINISHED_FOLDER)
        workers.barrier()
    return load_model(folder, head="clm" if plan.causal else "mlm", device=place)


def _pairs(parallel: ParallelSet, settings: LanguageModelSettings) -> dict[str, list[Text]]:
    """Each sentence of the first language with its translation into every other."""
    if settings.objective != "tlm":
        raise UsageError("a parallel set is for the objective 'tlm'; the others read text by language")
    source, *others = parallel.languages
    if not others:
        raise UsageError(f"the objective 'tlm' needs two languages or more, got {source} only")
    return {f"{source}-{lang}": list(zip(parallel.texts[source], parallel.texts[lang])) for lang in others}


def _trained_tokenizer(
    folder: Path,
    kind: str,
    splits: Mapping[str, TextSplit],
    vocabulary: int,
    alphabet: str,
    settings: LanguageModelSettings,
) -> Any:
    """The tokenizer of this run, trained on text in which languages are balanced, or that of an interrupted one. It is
    kept, for training it again might not give the same one."""
    workers = init_distributed()
    if workers.is_main and not folder.exists():
        texts = {lang: split.train for lang, split in splits.items()}
        characters = {lang: split.characters for lang, split in splits.items()}
        text = balanced_lines(texts, characters, alpha=settings.alpha, max_characters=MAX_TOKENIZER_CHARACTERS)
        trained = train_tokenizer(
            text, kind, vocabulary, alphabet=alphabet, causal=settings.causal, length=max(512, settings.length)
        )
        with atomic_folder(folder) as part:
            trained.save_pretrained(part)
    workers.barrier()
    return _read_tokenizer(folder)


def _read_tokenizer(folder: str | os.PathLike[str]) -> Any:
    if not Path(folder).is_dir():
        raise UnknownName(f"unknown tokenizer '{folder}'; known: {', '.join(KINDS)}, or a folder with a tokenizer")
    with quiet_library():
        return transformers.AutoTokenizer.from_pretrained(folder)


def _set_saved_dropout(model: LoadedModel) -> None:
    """What later fine-tuning expects."""
    config: Any = model.body.config
    for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
        if hasattr(config, name):
            setattr(config, name, SAVED_DROPOUT)
