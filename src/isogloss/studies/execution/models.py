"""Loads the models of a stage and applies their interventions."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from isogloss.core.errors import UsageError
from isogloss.core.seeds import derive_seed
from isogloss.models.bilstm.baseline import BILSTM, bilstm
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel, clone
from isogloss.models.loading.save import save_model
from isogloss.studies.execution.worker_context import WorkerContext
from isogloss.studies.planning.stages import ModelSpec, ModelStage, StageOfModel
from isogloss.training.finetuning.finetune import FineTuned
from isogloss.training.finetuning.stored_results import read_finetuned


def compute_model(stage: ModelStage, folder: Path | None, context: WorkerContext) -> None:
    """Store a model after its interventions."""
    assert folder
    save_model(build_model(stage.model, context, context.store.work(stage.id)), folder / "model")


def build_model(spec: ModelSpec, context: WorkerContext, work: Path) -> LoadedModel:
    """The model that a spec describes; interventions work on a copy of the cached model."""
    model: LoadedModel | None = None
    if spec.base or spec.stored:
        model = context.cache.get("model", spec.stored or spec.base, lambda: _load(spec, context))
        if spec.interventions:
            model = clone(model)
    for position, intervention in spec.interventions:
        seed = intervention.fixed_seed
        if seed is None:
            seed = derive_seed(spec.seed, "change", position)
        start = cast(LoadedModel, model)  # None only before an intervention that creates the model
        model = intervention.arguments.apply(start, seed, work / intervention.name)
    assert model
    return model


def _load(spec: ModelSpec, context: WorkerContext) -> LoadedModel:
    if spec.stored:
        return load_model(context.store.need(spec.stored).checked_folder() / "model", device=context.device)
    assert spec.base
    return bilstm(device=context.device) if spec.base == BILSTM else load_model(spec.base, device=context.device)


def finetuned_network(id: str, context: WorkerContext) -> FineTuned:
    """A fine-tuned network: from this job, or from the store."""
    if id in context.networks:
        return context.networks[id]
    return read_finetuned(context.store.need(id).checked_folder(), context.device)


def measured_model(stage: StageOfModel, context: WorkerContext) -> LoadedModel:
    """What a stage measures: the encoder of the network that it needs, or the model before fine-tuning."""
    if stage.network_id:
        model = finetuned_network(stage.network_id, context).encoder
    else:
        model = build_model(stage.model, context, context.store.work(stage.id))
    if not model.family.blocks:
        raise UsageError(f"{stage.kind}: '{model.name}' has no layers to measure")
    return model
