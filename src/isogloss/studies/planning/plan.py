"""A planned study: its runs, the stages that they need, and the jobs that compute what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from isogloss.core.errors import InputError
from isogloss.store.study_records import Run
from isogloss.studies.planning import job as job_module
from isogloss.studies.planning.fingerprints import Fingerprints
from isogloss.studies.planning.job import Job
from isogloss.studies.planning.stages import FineTuningStage, Stage
from isogloss.studies.schema.study import Study


@dataclass(frozen=True)
class Plan:
    """All runs of a study and the stages that they need. `missing`: files and models that could not be read."""

    study: Study
    device: str
    runs: tuple[Run, ...]
    stages: dict[str, Stage]
    missing: dict[str, InputError]
    fingerprints: Fingerprints = field(default_factory=Fingerprints)  # hashes of what it reads

    @property
    def goals(self) -> set[str]:
        return {goal for run in self.runs for goal in run.goals}

    def jobs(self, done: Iterable[str]) -> list[Job]:
        """What is left to compute: one job for every model and every fine-tuning that a missing result needs."""
        done = set(done)
        missing: dict[str, Stage] = {}
        for run in self.runs:
            for goal in run.goals:
                self._collect_missing(goal, done, missing)
        groups: dict[str, list[Stage]] = {}
        for stage in missing.values():
            groups.setdefault(_job_name(stage), []).append(stage)
        labels = self._labels()
        discarded = self.study.networks == "discard"
        return [
            Job(
                name=name,
                label=labels[name],
                stages=tuple(stages),
                needs=tuple(
                    {_job_name(missing[id]) for stage in stages for id in stage.needs if id in missing} - {name}
                ),
                discard=(name,) if discarded and isinstance(self.stages[name], FineTuningStage) else (),
                threads=self.study.threads,
                module=job_module.STAGE_FUNCTIONS_MODULE,
            )
            for name, stages in groups.items()
        ]

    def _labels(self) -> dict[str, str]:
        """The label of each job: that of the first run that it is done for."""
        labels: dict[str, str] = {}
        for run in self.runs:
            first = run.finetuned or run.goals[0]
            labels.setdefault(first, run.label)
            for measured in (run.similarity, run.distances):
                if "before" in measured:
                    labels.setdefault(measured["before"], f"{run.label}, before")
            for id in self.stages[first].needs:
                self._label_model(id, f"model {run.model} {run.changes}", labels)
        return labels

    def _label_model(self, id: str, label: str, labels: dict[str, str]) -> None:
        labels.setdefault(id, label)
        for needed in self.stages[id].needs:
            self._label_model(needed, f"{label} (begun)", labels)

    def _collect_missing(self, id: str, done: set[str], missing: dict[str, Stage]) -> None:
        """Add a stage and the stages that it needs to `missing`, unless done; needed stages come first."""
        if id in done or id in missing:
            return
        for needed in self.stages[id].needs:
            self._collect_missing(needed, done, missing)
        missing[id] = self.stages[id]


def _job_name(stage: Stage) -> str:
    """The job that computes a stage: that of the network it reads, or its own."""
    return stage.network_id or stage.id
