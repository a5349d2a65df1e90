"""Cross-lingual adjustment: a model is changed so that words and their translations get like vectors (Equation 1)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from isogloss import __version__
from isogloss.core.errors import UsageError
from isogloss.core.files import atomic_write
from isogloss.core.hashing import digest
from isogloss.core.registry import check_name
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import Layer, LoadedModel, clone
from isogloss.models.loading.save import save_model
from isogloss.models.tokenization.batching import IntArray
from isogloss.models.tokenization.encoding import padding_id
from isogloss.tasks.examples import Batch, Example, ExampleSizes, Shape, collate
from isogloss.training.adjustment.loss import AlignmentLoss, resolve_layers
from isogloss.training.adjustment.pairs import encode_pairs
from isogloss.training.adjustment.settings import AdjustmentSettings, LossOptions, PairOptions
from isogloss.training.engine.batch_shapes import round_length_up
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.distributed import init_distributed
from isogloss.training.engine.identity import corpus_identity, model_identity
from isogloss.training.engine.loop import train
from isogloss.training.engine.objective import Objective, ShapedLoss
from isogloss.training.engine.progress import EpochMetrics, ProgressCallback
from isogloss.training.language_modeling.model_files import RUN_FILE, UNFINISHED_FOLDER, is_finished

ADJUSTMENT_VERSION = 1  # of what a run computes: raised when the same run would give other weights
Bitexts = Corpus[AlignedPair] | Sequence[Corpus[AlignedPair]]


def adjust(model: LoadedModel | str | os.PathLike[str], bitext: Bitexts, **options: Any) -> LoadedModel:
    """A model after adjustment on word-aligned sentence pairs; the one handed in stays as it is.

    Options are those of `adjustment`.
    """
    return adjustment(model, bitext, **options)[0]


def adjustment(
    model: LoadedModel | str | os.PathLike[str],
    bitext: Bitexts,
    *,
    layers: Layer | Sequence[Layer] = "last",
    out: str | os.PathLike[str] | None = None,
    seed: int = 0,
    device: str | None = None,
    checkpoint_steps: int | None = None,
    progress: ProgressCallback | None = None,
    **options: Any,
) -> tuple[LoadedModel, list[EpochMetrics]]:
    """The adjusted model, and how training went.

    `bitext`: one language pair, or several that are mixed. `layers`: whose states are f, "last" or numbers from 0;
    of several the losses are added. `out`: a folder for the model; the same call goes on where it was interrupted.
    Other options say which words take part (`PairOptions`: words, tokens, regularise, one_to_one, drop_identical,
    max_words), which loss (`LossOptions`: reduction, contrastive, normalise …) and how it is minimised
    (`AdjustmentSettings`: epochs, batch, learning_rate, warmup, precision …); all defaults are as published.
    """
    if init_distributed().world_size > 1:
        raise UsageError("adjustment runs in one process: its loss is over whole steps; start it without torchrun")
    pairs, loss, settings = options_of(options, PairOptions, LossOptions, AdjustmentSettings)
    if settings.accumulate > 1:
        raise UsageError("accumulate: the loss of adjustment is over whole steps; lower batch instead")
    bitexts = bitext_list(bitext)
    loaded = model if isinstance(model, LoadedModel) else load_model(model, device=device)
    original = in_fp32(loaded)
    chosen = resolve_layers(original, layers)
    examples = encode_pairs(original, bitexts, pairs)
    adjusted = clone(original)
    corpora = [corpus_identity(corpus) for corpus in bitexts]
    run = digest(ADJUSTMENT_VERSION, model_identity(loaded), corpora, chosen, asdict(pairs),
                   asdict(loss), asdict(settings), settings.bf16(original.device), seed)  # fmt: skip
    folder = None if out is None else Path(out)
    if folder and is_finished(folder, run):
        head: Any = None if loaded.network is loaded.body else "clm" if loaded.family.causal else "mlm"
        return load_model(folder, head=head, device=original.device), read_log(folder)
    objective = adjustment_objective(original, examples, AlignmentLoss(original, chosen, loss, len(bitexts)))
    checkpoints = (
        Checkpoints(folder / UNFINISHED_FOLDER / "checkpoints", run, steps=checkpoint_steps) if folder else None
    )
    log = train(adjusted.body, objective, settings, seed=seed, checkpoints=checkpoints, progress=progress)
    if folder is None:
        return adjusted, log
    chosen_options = {"layers": chosen, **asdict(pairs), **asdict(loss), **asdict(settings), "clip": str(settings.clip)}
    save_adjusted(adjusted, folder, {"run": run, "made_from": loaded.name, "options": chosen_options}, log)
    return replace(adjusted, name=os.fspath(folder)), log


def adjustment_objective(model: LoadedModel, examples: Sequence[Example], loss: AlignmentLoss) -> Objective:
    """Adjustment as the training loop sees it; there is no dev score, so the last epoch is kept."""
    filler, sizes = padding_id(model), ExampleSizes(examples)

    def batch(items: IntArray, shape: Shape | None = None) -> Batch:
        return collate([examples[i] for i in items], filler, shape)

    def launched(network: nn.Module, items: IntArray) -> Tensor:
        return loss(network, batch(items).to(next(network.parameters()).device))

    def recorded(network: nn.Module, batch: Batch) -> Tensor:
        return loss(network, batch, padded=True)

    terms = np.array([len(example.arrays["pair_source"]) for example in examples])
    shaped = ShapedLoss(lambda items: round_length_up(sizes.shape(items), model.max_length), batch, recorded)
    return Objective(np.array([example.tokens for example in examples]), terms, launched, None, shaped=shaped)


@dataclass(frozen=True, eq=False, repr=False)
class Adjusting:
    """What `adjusting` makes: a model change for `transfer(before=[…])`, done anew for every seed."""

    bitexts: Sequence[Corpus[AlignedPair]]
    options: dict[str, Any]

    def __call__(self, model: LoadedModel, *, seed: int) -> LoadedModel:
        return adjust(model, self.bitexts, seed=seed, **self.options)

    def __repr__(self) -> str:
        data = [f"{one.lang} {len(one)}" for one in self.bitexts]
        return f"adjust({', '.join([*data, *(f'{name}={value!r}' for name, value in self.options.items())])})"


def adjusting(bitext: Bitexts, **options: Any) -> Adjusting:
    """Adjustment as a model change; options are those of `adjustment`."""
    kinds = (PairOptions, LossOptions, AdjustmentSettings)
    options_of({name: value for name, value in options.items() if name != "layers"}, *kinds)  # wrong ones are told now
    return Adjusting(bitext_list(bitext), options)


def options_of(given: dict[str, Any], *kinds: Any) -> list[Any]:
    """Options sorted into the dataclasses that they belong to, the first that has the name; an unknown one is an error.

    >>> options_of({"tokens": "words", "batch": 8}, PairOptions, AdjustmentSettings)[0].tokens
    'words'
    """
    owners: dict[str, Any] = {}
    for kind in kinds:
        owners = {field.name: kind for field in fields(kind)} | owners
    for name in given:
        check_name(name, owners, "option of adjustment")
    told = {name: value for name, value in given.items() if value is not None}
    return [kind(**{name: value for name, value in told.items() if owners[name] is kind}) for kind in kinds]


def bitext_list(bitext: Bitexts) -> list[Corpus[AlignedPair]]:
    return [bitext] if isinstance(bitext, Corpus) else list(bitext)


def in_fp32(model: LoadedModel) -> LoadedModel:
    """The model itself, or a copy in fp32 of one in less."""
    if all(weights.itemsize >= 4 for weights in model.body.parameters()):
        return model
    fp32_model = clone(model)
    fp32_model.network.float()
    return fp32_model


def save_adjusted(model: LoadedModel, folder: Path, told: dict[str, Any], log: Sequence[EpochMetrics]) -> None:
    """Write the model as any other is loaded; the note comes last, and its presence says that all is there."""
    save_model(model, folder)
    shutil.rmtree(folder / UNFINISHED_FOLDER)
    note = {"isogloss": __version__, "change": "adjust", **told, "log": [asdict(report) for report in log]}
    with atomic_write(folder / RUN_FILE) as text:
        json.dump(note, text, ensure_ascii=False, indent=1)


def read_log(folder: Path) -> list[EpochMetrics]:
    """The log of a finished adjustment."""
    return [EpochMetrics(**row) for row in json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))["log"]]
