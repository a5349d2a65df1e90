"""How a corpus becomes a loss, a prediction and a score: one file per task. The list below is all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isogloss.core.registry import Registry

if TYPE_CHECKING:  # listing the names loads no torch
    from isogloss.tasks.task import Task

TASKS: Registry[Task] = Registry(
    "task",
    {
        "pos": "isogloss.tasks.pos:TASK",
        "parse": "isogloss.tasks.parse:TASK",
        "ner": "isogloss.tasks.ner:TASK",
        "nli": "isogloss.tasks.nli:TASK",
        "qa": "isogloss.tasks.qa:TASK",
    },
)
