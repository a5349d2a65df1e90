"""Fine-tuning stages: one network at a time, or all networks of a job as one stack."""

from __future__ import annotations

import warnings
from pathlib import Path

from isogloss.core.hashing import digest
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.studies.execution.corpus_loader import load_bitexts, load_training_data
from isogloss.studies.execution.models import build_model
from isogloss.studies.execution.worker_context import WorkerContext
from isogloss.studies.planning.stages import FineTuningStage
from isogloss.training.adjustment.replay import BoundReplay, alignment_replay
from isogloss.training.engine.checkpoints import Checkpoints
from isogloss.training.engine.progress import DivergenceError, EpochMetrics
from isogloss.training.engine.settings import settings_for
from isogloss.training.finetuning.finetune import can_stack, finetune, finetune_stacked
from isogloss.training.finetuning.stored_results import finetuned_checkpoints, write_finetuned

MIN_CHECKPOINT_SECONDS = 60.0  # of training between two checkpoints


def compute_finetuning(stage: FineTuningStage, folder: Path | None, context: WorkerContext) -> None:
    """Train a network; without a folder it is only kept in memory for the other stages of the job."""
    if stage.id not in context.networks and len(context.pending) > 1:
        train_stack(context)
    if stage.id not in context.networks:
        train_network(stage, context)
    if folder:
        write_finetuned(context.networks[stage.id], folder)


def train_network(stage: FineTuningStage, context: WorkerContext) -> None:
    work = context.store.work(stage.id)
    model = build_model(stage.model, context, work)
    train, dev, task = load_training_data(stage.corpora, model, context)
    context.networks[stage.id] = finetune(
        model,
        task,
        train,
        dev,
        settings_for(task.defaults, **stage.settings),
        seed=stage.seed,
        extra_loss=_replay(stage, model, context, work),
        checkpoints=finetuned_checkpoints(context.store, stage.id, min_seconds=MIN_CHECKPOINT_SECONDS),
        progress=lambda report: report_progress(report, context),
    )


def train_stack(context: WorkerContext) -> None:
    """Train all fine-tunings of the job as one stack; if that is impossible or one diverges, none is trained here."""
    stages, context.pending = context.pending, []  # stacking is tried once
    first, models = stages[0], [build_model(stage.model, context, context.store.work(stage.id)) for stage in stages]
    train, dev, task = load_training_data(first.corpora, models[0], context)
    settings, seeds = settings_for(task.defaults, **first.settings), [stage.seed for stage in stages]
    if not can_stack(models, task, train, settings, seeds):
        why = "stacked training needs BERT-like models of one shape and tokenizer, without gradient accumulation"
        warnings.warn(f"{len(stages)} runs cannot be stacked and are trained one by one: {why}", stacklevel=2)
        return
    name = digest([stage.id for stage in stages])
    folder = context.store.work(first.id) / f"checkpoints-{name}"
    try:
        networks = finetune_stacked(
            models,
            task,
            train,
            dev,
            settings,
            seeds=seeds,
            checkpoints=Checkpoints(folder, name, min_seconds=MIN_CHECKPOINT_SECONDS),
            progress=lambda report: report_progress(report, context),
        )
    except DivergenceError as error:
        warnings.warn(f"{error}; the {len(stages)} runs of the stack are trained one by one", stacklevel=2)
        return
    context.networks.update(zip((stage.id for stage in stages), networks, strict=True))


def report_progress(report: EpochMetrics, context: WorkerContext) -> None:
    context.report(
        epoch=report.epoch,
        step=report.step,
        steps=report.steps,
        loss=report.loss,
        best=report.best,
        tokens_per_second=report.tokens_per_second,
    )


def _replay(stage: FineTuningStage, model: LoadedModel, context: WorkerContext, work: Path) -> BoundReplay | None:
    """The second loss of a fine-tuning with continual learning."""
    if stage.continual is None:
        return None
    options, spec = stage.continual.options, stage.continual.original
    original = build_model(spec, context, work / "original") if spec else model
    bitexts = load_bitexts(options.bitext, options.sentences, context)
    values = options.model_dump(exclude={"bitext", "sentences", "settings", "changes"})
    replay = alignment_replay(bitexts, **values, **options.settings)
    return replay.bind(original, model, stage.seed)
