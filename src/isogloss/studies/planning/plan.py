"""A planned study: its runs, the stages that they need, and the jobs in which what is left gets done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from isogloss.core.errors import InputError
from isogloss.store.study_records import Run
from isogloss.studies.execution.backends import Job, Stage
from isogloss.studies.schema.study import Study


@dataclass(frozen=True)
class Plan:
    """All runs of a study and the stages that they need. `missing`: files and models that could not be read."""

    study: Study
    device: str
    runs: tuple[Run, ...]
    stages: dict[str, Stage]
    missing: dict[str, InputError]

    @property
    def goals(self) -> set[str]:
        return {goal for run in self.runs for goal in run.goals}

    def jobs(self, done: Iterable[str]) -> list[Job]:
        """What is left to do: a job for every model and every fine-tuning that something missing needs."""
        done = set(done)
        wanted: dict[str, Stage] = {}
        for run in self.runs:
            for goal in run.goals:
                self._gather(goal, done, wanted)
        groups: dict[str, list[Stage]] = {}
        for stage in wanted.values():
            groups.setdefault(_job_of(stage), []).append(stage)
        labels = self._labels()
        discarded = self.study.networks == "discard"
        return [
            Job(
                name=name,
                label=labels[name],
                stages=tuple(stages),
                needs=tuple({_job_of(self.stages[id]) for one in stages for id in one.needs if id in wanted} - {name}),
                discard=(name,) if discarded and name.startswith("finetuned") else (),
                threads=self.study.threads,
            )
            for name, stages in groups.items()
        ]

    def _labels(self) -> dict[str, str]:
        """What people call a job: the first run that it is done for."""
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
        for other in self.stages[id].needs:
            self._label_model(other, f"{label} (begun)", labels)

    def _gather(self, id: str, done: set[str], wanted: dict[str, Stage]) -> None:
        """A stage and what it needs, whatever is not done, what is needed first."""
        if id in done or id in wanted:
            return
        for other in self.stages[id].needs:
            self._gather(other, done, wanted)
        wanted[id] = self.stages[id]


def _job_of(stage: Stage) -> str:
    """The job that a stage belongs to: that of the network it looks at, or its own."""
    looked_at = [id for id in stage.needs if id.startswith("finetuned")]
    return looked_at[0] if looked_at else stage.id
