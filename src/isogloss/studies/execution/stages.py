"""The function that computes each kind of stage."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Any

from isogloss.core.hardware import limited_threads
from isogloss.studies.execution.finetuning import compute_finetuning
from isogloss.studies.execution.measurements import compute_distances, compute_evaluation, compute_similarity
from isogloss.studies.execution.models import compute_model
from isogloss.studies.execution.worker_context import StageFunction, WorkerContext
from isogloss.studies.planning.stages import (
    DistancesStage,
    EvaluationStage,
    FineTuningStage,
    ModelStage,
    SimilarityStage,
    Stage,
)


def _with_threads(function: StageFunction) -> StageFunction:
    """The function with the number of threads of the study: the last bits of sums depend on it."""

    @wraps(function)
    def compute(stage: Any, folder: Path | None, context: WorkerContext) -> None:
        with limited_threads(context.threads):
            function(stage, folder, context)

    return compute


STAGE_FUNCTIONS: dict[type[Stage], StageFunction] = {
    ModelStage: _with_threads(compute_model),
    FineTuningStage: _with_threads(compute_finetuning),
    EvaluationStage: _with_threads(compute_evaluation),
    SimilarityStage: _with_threads(compute_similarity),
    DistancesStage: _with_threads(compute_distances),
}
