"""A job: the unit of work that a backend schedules."""

from __future__ import annotations

from dataclasses import dataclass

from isogloss.studies.planning.stages import FineTuningStage, Stage

DEFAULT_STAGE_FUNCTIONS_MODULE = "isogloss.studies.execution.stages"
STAGE_FUNCTIONS_MODULE = DEFAULT_STAGE_FUNCTIONS_MODULE  # tests have another one


@dataclass(frozen=True)
class Job:
    """Stages that one worker computes one after the other, so that results in memory serve the next stage."""

    name: str
    label: str  # for people
    stages: tuple[Stage, ...]
    needs: tuple[str, ...] = ()  # names of jobs
    discard: tuple[str, ...] = ()  # ids of stages that are removed when the job is done
    threads: int = 1
    seconds: float = 0.0  # measured on stages of the same kind, 0 where unknown; long jobs are scheduled first
    module: str = STAGE_FUNCTIONS_MODULE  # has the functions that compute stages, `STAGE_FUNCTIONS`

    @property
    def finetunings(self) -> list[FineTuningStage]:
        return [stage for stage in self.stages if isinstance(stage, FineTuningStage)]
