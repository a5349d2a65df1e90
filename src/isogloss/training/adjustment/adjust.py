"""Cross-lingual adjustment: train a model so that words and their translations get similar vectors (Equation 1)."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal

import numpy as np
from torch import Tensor, nn

from isogloss import __version__
from isogloss.core.errors import UsageError
from isogloss.core.files import atomic_write
from isogloss.core.hashing import digest
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import Layer, LoadedModel, clone
from isogloss.models.loading.save import save_model
from isogloss.models.tokenization.batching import IntArray
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks.examples import Batch, Example, ExampleSizes, Shape, collate
from isogloss.training.adjustment.bitext_readability import bitext_readability
from isogloss.training.adjustment.loss import AlignmentLoss, resolve_layers
from isogloss.training.adjustment.pairs import PIECES, encode_pairs
from isogloss.training.adjustment.settings import (
    AdjustmentSettings,
    LossOptions,
    PairedTokens,
    PairOptions,
    WordPooling,
)
from isogloss.training.engine.batch_shapes import round_length_up
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.epochs import train
from isogloss.training.engine.identity import corpus_identity, model_identity
from isogloss.training.engine.objective import Objective, ShapedLoss
from isogloss.training.engine.progress import EpochMetrics, ProgressCallback
from isogloss.training.engine.settings import Precision
from isogloss.training.language_modeling.model_files import RUN_FILE, UNFINISHED_FOLDER, is_finished

ADJUSTMENT_VERSION = 1  # increased when the same run would give other weights
POOL_BATCHES = 50  # batches of similar length: its loss reads states inside the body, which packed rows rearrange
Bitexts = Corpus[AlignedPair] | Sequence[Corpus[AlignedPair]]


def adjust(
    model: LoadedModel | str | os.PathLike[str],
    bitext: Bitexts,
    *,
    layers: Layer | Sequence[Layer] = "last",
    words: WordPooling = "mean",
    tokens: PairedTokens = "words+specials",
    regularise: Literal["words", "all"] = "words",
    one_to_one: bool = False,
    drop_identical: bool = False,
    max_words: int | None = None,
    reduction: Literal["sum", "mean"] = "sum",
    pull: float = 1.0,
    hold: float = 1.0,
    contrastive: Literal["weak", "strong"] | None = None,
    contrastive_weight: float = 1.0,
    temperature: float = 0.1,
    normalise: bool = False,
    epochs: int = 1,
    batch: int = 32,
    learning_rate: float = 5e-5,
    warmup: float = 0.1,
    weight_decay: float = 0.0,
    clip: float = math.inf,
    precision: Precision = "auto",
    out: str | os.PathLike[str] | None = None,
    seed: int = 0,
    device: str | None = None,
    checkpoint_steps: int | None = None,
    progress: ProgressCallback | None = None,
) -> LoadedModel:
    """Adjust a model on word-aligned sentence pairs; the model passed in is not modified.

    All defaults are the published values. As an intervention of `transfer`: `partial(adjust, bitext=bitext)`.

    Args:
        model: A model, its name or its folder.
        bitext: Word-aligned sentence pairs of one language pair, or of several, which are mixed.
        layers: Layers whose states are compared: "last" or numbers from 0; the losses of several are added.
        words: Vector of a word: the mean, first or last of its sub-words; "pieces": the bitext links sub-words.
        tokens: Tokens that are paired: "words+specials" (or "all"), "words", "cls" or "cls+sep".
        regularise: Source vectors kept close to the original model: "words", or "all" as in the released code.
        one_to_one: Leave out words with several links.
        drop_identical: Leave out links between identical words.
        max_words: Leave out sentences with more words than this.
        reduction: "sum" (Equation 1) or "mean" (as in the released code).
        pull: Weight of the term that pulls translations together.
        hold: Weight of the term that keeps the source close to the original model.
        contrastive: Additional contrastive objective: "weak" or "strong".
        contrastive_weight: Weight of the contrastive objective.
        temperature: Temperature of the contrastive objective.
        normalise: Compare z-normalised vectors.
        epochs: Number of passes over the bitext.
        batch: Number of sentence pairs per step.
        learning_rate: Learning rate after the warm-up.
        warmup: Share of the steps in which the learning rate rises.
        weight_decay: Weight decay of AdamW; biases and norms are not decayed.
        clip: Largest norm of the gradient; infinite: no clipping.
        precision: "fp32", "bf16" or "auto" (bf16 on a GPU).
        out: Folder for the model. The same call resumes after an interruption.
        seed: Random seed of order and dropout.
        device: Device of a model that is loaded by name.
        checkpoint_steps: Steps between checkpoints, besides one every ten minutes and after each epoch.
        progress: Called with the metrics during training.
    """
    pairs = PairOptions(words, tokens, regularise, one_to_one, drop_identical, max_words)
    loss = LossOptions(reduction, pull, hold, contrastive, contrastive_weight, temperature, normalise)
    settings = AdjustmentSettings(
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        warmup=warmup,
        weight_decay=weight_decay,
        clip=clip,
        precision=precision,
    )
    if init_distributed().world_size > 1:
        raise UsageError("adjustment runs in one process: its loss is over whole steps; start it without torchrun")
    loaded = model if isinstance(model, LoadedModel) else load_model(model, device=device)
    original, bitexts = in_fp32(loaded), bitext_list(bitext)
    resolved = resolve_layers(original, layers)
    examples = encode_pairs(original, bitexts, pairs)
    options = (resolved, asdict(pairs), asdict(loss), asdict(settings), settings.bf16(original.device), seed)
    run = digest(ADJUSTMENT_VERSION, model_identity(loaded), [corpus_identity(corpus) for corpus in bitexts], *options)
    folder = None if out is None else Path(out)
    if folder and is_finished(folder, run):
        head: Literal["mlm", "clm"] = "clm" if loaded.family.causal else "mlm"
        return load_model(folder, head=None if loaded.network is loaded.body else head, device=original.device)
    texts = {} if words == PIECES else bitext_readability(original, bitexts)
    objective = adjustment_objective(original, examples, AlignmentLoss(original, resolved, loss, len(bitexts)))
    adjusted, checkpoints = clone(original), None
    if folder:
        checkpoints = Checkpoints(folder / UNFINISHED_FOLDER / "checkpoints", run, steps=checkpoint_steps)
    log = train(adjusted.body, objective, settings, seed=seed, checkpoints=checkpoints, progress=progress)
    if folder is None:
        return adjusted
    used = {"layers": resolved, **asdict(pairs), **asdict(loss), **asdict(settings), "clip": str(settings.clip)}
    text_records = {name: asdict(text) for name, text in texts.items()}
    metadata: dict[str, object] = {"run": run, "made_from": loaded.name, "options": used, "texts": text_records}
    save_adjusted(adjusted, folder, metadata, log)
    return replace(adjusted, name=os.fspath(folder))


def adjustment_objective(model: LoadedModel, examples: Sequence[Example], loss: AlignmentLoss) -> Objective:
    """The objective of the training loop. There is no dev score, so the last epoch is kept."""
    pad_token_id, sizes = padding_id(model), ExampleSizes(examples)

    def batch(items: IntArray, shape: Shape | None = None) -> Batch:
        return collate([examples[i] for i in items], pad_token_id, shape)

    def eager_loss(network: nn.Module, items: IntArray) -> Tensor:
        return loss(network, batch(items).to(next(network.parameters()).device))

    def recorded_loss(network: nn.Module, batch: Batch) -> Tensor:
        return loss(network, batch, padded=True)

    terms = np.array([len(example.arrays["pair_source"]) for example in examples])
    shaped = ShapedLoss(lambda items: round_length_up(sizes.shape(items), model.max_length), batch, recorded_loss)
    lengths = np.array([example.tokens for example in examples])
    return Objective(lengths, terms, eager_loss, None, shaped=shaped, pool_batches=POOL_BATCHES)


def bitext_list(bitext: Bitexts) -> list[Corpus[AlignedPair]]:
    return [bitext] if isinstance(bitext, Corpus) else list(bitext)


def in_fp32(model: LoadedModel) -> LoadedModel:
    """The model, or a copy in fp32 if it has weights of lower precision."""
    if all(weights.itemsize >= 4 for weights in model.body.parameters()):
        return model
    fp32_model = clone(model)
    fp32_model.network.float()
    return fp32_model


def save_adjusted(model: LoadedModel, folder: Path, metadata: dict[str, object], log: Sequence[EpochMetrics]) -> None:
    """Write the model, then the run file, which marks the folder as finished."""
    save_model(model, folder)
    shutil.rmtree(folder / UNFINISHED_FOLDER)
    run_record = {"isogloss": __version__, "change": "adjust", **metadata, "log": [asdict(metrics) for metrics in log]}
    with atomic_write(folder / RUN_FILE) as text:
        json.dump(run_record, text, ensure_ascii=False, indent=1)


def read_adjustment_log(folder: Path) -> list[EpochMetrics]:
    """The metrics of each epoch of a finished adjustment."""
    return [EpochMetrics(**row) for row in json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))["log"]]
