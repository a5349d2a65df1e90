"""The choice of a scoring script, for tasks whose data sets are published with different ones (question answering).

Which script applies follows from the data set; `scorer` selects another one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name
from isogloss.core.settings import Setting, check_settings
from isogloss.tasks import TASKS

if TYPE_CHECKING:  # study files are planned without torch
    from isogloss.tasks.task import Task

Scorer = Literal["squad", "mlqa"]


@dataclass(frozen=True)
class ScoringSettings:
    """How predictions are scored."""

    scorer: Annotated[
        Scorer | None, Setting("Script that scores answers (task qa): squad or mlqa; by default that of the data set.")
    ] = None

    def __post_init__(self) -> None:
        check_settings(self)


def with_scorer(task: Task, scorer: str | None = None) -> Task:
    """The task with a chosen scoring script; None keeps that of each data set."""
    if scorer is None:
        return task
    if not task.scorers:
        tasks = ", ".join(name for name in TASKS if TASKS[name].scorers)
        raise UsageError(f"scorer: the task '{task.name}' has only one scorer; '{scorer}' is for the task {tasks}")
    check_name(scorer, task.scorers, "scorer")
    gold, check_gold = partial(task.gold, scorer=scorer), partial(task.check_gold, scorer=scorer)
    return replace(task, scorer=scorer, gold=gold, check_gold=check_gold)
