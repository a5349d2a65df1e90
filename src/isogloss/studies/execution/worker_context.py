"""What the functions that compute stages work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isogloss.store.entries import Store
from isogloss.store.running_jobs import Notice
from isogloss.studies.execution.lru_cache import LruCache
from isogloss.studies.planning.stages import FineTuningStage

if TYPE_CHECKING:
    from isogloss.training.finetuning.finetune import FineTuned


@dataclass
class WorkerContext:
    """The store, what the process has in memory, and the networks that the current job has trained."""

    store: Store
    device: str | None
    cache: LruCache
    notice: Notice
    threads: int = 1
    facts: dict[str, object] = field(default_factory=dict)  # of the job, for notices
    pending: list[FineTuningStage] = field(default_factory=list)  # fine-tunings of the job that are still needed
    networks: dict[str, FineTuned] = field(default_factory=dict)  # trained by this job, by stage

    def report(self, **facts: object) -> None:
        self.notice.write({**self.facts, **facts})


# f(stage, folder, context) writes files into the folder; without one, it only fills `context.networks`
StageFunction = Callable[[Any, Path | None, WorkerContext], None]
